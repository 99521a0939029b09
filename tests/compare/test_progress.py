"""How far a comparison is, how many of its trials are under way at once, and in what order they stand."""

from __future__ import annotations

import random
from typing import Any

import anyio
import pytest

from adknb import LlmAgent, LlmRequest, ModelError
from adknb.compare.lab import Lab, compare_variants
from adknb.compare.progress import Progress
from tests.compare.pipelines import Asked, texts, two_steps

INPUTS = [str(number) for number in range(10)]


class Crowd:
    """A model that notes how many ask it at once and whom it answered when, and takes its time."""

    def __init__(self, seed: int = 1) -> None:
        self.now = self.most = 0
        self.times = random.Random(seed)
        self.answered: list[tuple[str, int]] = []

    async def answer(self, request: LlmRequest) -> str:
        self.now += 1
        self.most = max(self.most, self.now)
        await anyio.sleep(self.times.random() / 100)
        self.now -= 1
        self.answered.append((texts(request)[0], request.repeat))
        return f"{request.agent} {texts(request)[0]}"


@pytest.mark.parametrize("kind", ["run", "paired"])
@pytest.mark.parametrize(("limit", "most"), [(1, 1), (3, 3), (None, 8), (100, {"run": 20, "paired": 10})])
def test_no_more_trials_are_under_way_than_was_said(kind: Any, limit: int | None, most: Any) -> None:
    crowd = Crowd()
    comparison = compare_variants(two_steps(), INPUTS, kind=kind, model=Asked(crowd.answer), concurrency=limit)
    assert crowd.most == (most[kind] if isinstance(most, dict) else most)
    assert comparison.missing == 0


def test_rows_stand_in_one_order_whatever_finishes_first() -> None:
    orders = []
    for seed in (1, 2):
        crowd = Crowd(seed)
        lab = Lab(
            LlmAgent(name="A"),
            INPUTS,
            {"b": "default", "a": "none"},
            model=Asked(crowd.answer),
            repeat=2,
            concurrency=7,
        )
        records = lab.run().records
        orders.append(crowd.answered)
        assert [(record.variant, record.input, record.repeat, record.answer) for record in records] == [
            (variant, str(place), repeat, f"A {text}")
            for variant in ("b", "a")
            for place, text in enumerate(INPUTS, 1)
            for repeat in (0, 1)
        ]
    assert orders[0] != orders[1]


def test_whole_inputs_come_first_and_repeats_last() -> None:
    asked = Asked({"A": "a"})
    compare_variants(LlmAgent(name="A"), ["one", "two"], model=asked, repeat=2, concurrency=1)
    assert [(texts(request)[0], request.repeat) for request in asked.requests] == [
        ("one", 0), ("one", 0), ("two", 0), ("two", 0), ("one", 1), ("one", 1), ("two", 1), ("two", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["run", "paired"])
def test_trials_are_counted(kind: Any) -> None:
    def answer(request: LlmRequest) -> str:
        if texts(request)[0] == "3":
            raise ModelError("busy")
        return "a"

    seen: list[tuple[int, int, int, int]] = []
    one: list[Progress] = []

    def watch(progress: Progress) -> None:
        seen.append((progress.done, progress.failed, progress.kept, progress.total))
        one.append(progress)

    compare_variants(
        LlmAgent(name="A"), INPUTS, kind=kind, model=Asked(answer), progress=watch, repeat=2, concurrency=1
    )
    size = 2 if kind == "paired" else 1
    assert [done for done, _, _, _ in seen] == list(range(0, 41, size))
    assert {(kept, total) for _, _, kept, total in seen} == {(0, 40)}
    assert seen[-1] == (40, 4, 0, 40)
    assert all(each is one[0] for each in one)


@pytest.mark.parametrize(
    ("done", "kept", "failed", "seconds", "expected"),
    [
        (0, 0, 0, 5.0, "0 of 1,200 trials"),
        (23, 0, 0, 5.75, "23 of 1,200 trials · 4.0 a second · 5 min left"),
        (1000, 0, 1, 250.0, "1,000 of 1,200 trials · 4.0 a second · 50 s left · 1 failed"),
        (10, 0, 0, 20.0, "10 of 1,200 trials · 30.0 a minute · 40 min left"),
        (10, 0, 0, 600.0, "10 of 1,200 trials · 1.0 a minute · 19.8 h left"),
        (200, 200, 0, 5.0, "200 of 1,200 trials · 200 kept from before"),
        (300, 200, 2, 50.0, "300 of 1,200 trials · 2.0 a second · 8 min left · 200 kept from before · 2 failed"),
        (1200, 200, 0, 100.0, "1,200 of 1,200 trials · 10.0 a second · 200 kept from before"),
        (1200, 1200, 0, 0.1, "1,200 of 1,200 trials · 1,200 kept from before"),
    ],
)
def test_in_words(
    done: int, kept: int, failed: int, seconds: float, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 1000.0 + seconds)
    assert str(Progress(1200, done, failed, kept, started=1000.0)) == expected


def test_nothing_is_left_to_say_before_the_first() -> None:
    progress = Progress(3)
    assert (progress.rate, progress.left) == (0.0, None)
