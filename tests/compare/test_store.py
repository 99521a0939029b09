"""The store of finished trials: what is asked again and what is not, and files that are not as they should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adknb import LlmAgent, LlmRequest, ModelError, RunConfig
from adknb.compare.comparison import Comparison
from adknb.compare.inputs import Input
from adknb.compare.lab import Lab, compare_variants
from adknb.compare.store import Store
from adknb.compare.variants import Variant
from tests.compare.pipelines import Asked, texts, two_steps

INPUTS = ["one", "two", "three"]


def both() -> Asked:
    return Asked({"A": "a", "B": "b"})


def made(
    store: Any, asked: Asked, inputs: Any = INPUTS, variants: Any = ("default", "none"), **options: Any
) -> Comparison:
    return compare_variants(options.pop("root", two_steps()), inputs, variants, model=asked, store=store, **options)


def without_ms(comparison: Comparison) -> list[dict[str, Any]]:
    return [{**row, "ms": None} for row in comparison.rows]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "trials.jsonl"


# nothing is asked twice


@pytest.mark.parametrize("kind", ["run", "paired"])
def test_a_finished_comparison_asks_nothing_again(path: Path, kind: Any) -> None:
    first, second = both(), both()
    comparison = made(path, first, kind=kind, repeat=2)
    assert len(first.requests) == 3 * 2 * 2 * 2
    again = made(path, second, kind=kind, repeat=2)
    assert second.requests == []
    assert again.records == comparison.records
    assert again.rows == comparison.rows
    assert len(path.read_text().splitlines()) == len(Store(path)) == Store(path).found == 12


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("kind", ["run", "paired"])
def test_stopped_and_taken_up_again(path: Path, kind: Any, stop: type[BaseException]) -> None:
    def answer(request: LlmRequest) -> str:
        if len(first.requests) == 7:
            raise stop
        return request.agent.lower()

    first = Asked(answer)
    lab = Lab(two_steps(), INPUTS, kind=kind, model=first, store=path, concurrency=1)
    with pytest.raises(stop):
        lab.run()
    done = lab.comparison
    assert len(done.records) == {"run": 3, "paired": 2}[kind]
    assert done.missing == 6 - len(done.records)
    second = both()
    comparison = made(path, second, kind=kind)
    assert len(second.requests) == 12 - 2 * len(done.records)
    assert without_ms(comparison) == without_ms(made(None, both(), kind=kind))
    assert [each for each in comparison.records if each in done.records] == list(done.records)


async def test_a_cancelled_comparison_keeps_what_was_finished(path: Path) -> None:
    import asyncio

    tasks = asyncio.all_tasks()
    reached = asyncio.Event()

    async def answer(request: LlmRequest) -> str:
        if "three" in texts(request):
            reached.set()
            await asyncio.sleep(60)
        return request.agent.lower()

    asked = Asked(answer)
    lab = Lab(LlmAgent(name="A"), INPUTS, model=asked, store=path, concurrency=2)
    task = asyncio.ensure_future(lab.run_async())
    await reached.wait()
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(each.variant, each.input) for each in lab.comparison.records] == [
        ("default", "1"), ("default", "2"), ("none", "1"), ("none", "2"),
    ]  # fmt: skip
    assert asyncio.all_tasks() == tasks
    second = Asked({"A": "a"})
    await Lab(LlmAgent(name="A"), INPUTS, model=second, store=path).run_async()
    assert [texts(request) for request in second.requests] == [["three"], ["three"]]


def test_in_memory_a_store_serves_several_comparisons() -> None:
    store, asked = Store(), both()
    made(store, asked, ["one"])
    assert (len(store), store.found, len(asked.requests)) == (2, 0, 4)
    made(store, asked, ["one", "two"])
    assert (len(store), len(asked.requests)) == (4, 8)


def test_a_lab_that_runs_again_asks_nothing_again() -> None:
    asked = both()
    lab = Lab(two_steps(), ["one"], model=asked)
    assert lab.run().rows == lab.run().rows
    assert len(asked.requests) == 4


@pytest.mark.parametrize(
    ("options", "again"),
    [
        ({}, []),
        ({"inputs": ["zero", *INPUTS]}, ["zero"] * 2),
        ({"inputs": INPUTS[::-1]}, []),
        ({"inputs": ["one", "two", "three!"]}, ["three!"] * 2),
        ({"inputs": [Input(("one",), name="first"), Input(("two",), expected="b", name="second")]}, []),
        ({"inputs": ["one", "one", "two"]}, ["one"] * 2),
        ({"inputs": ["one", Input(("two",), {"k": 1})]}, ["two"] * 2),
        ({"inputs": [["one", "two"]]}, ["one", "one", "two", "two"]),
        ({"variants": {"first": "default", "second": "none"}}, []),
        ({"variants": ("none", "default")}, []),
        ({"variants": ("default", "none", "state_only")}, INPUTS),
        ({"variants": {"one": "default", "two": "default"}}, INPUTS),
        ({"variants": ("default", Variant("none", "none", prompts={"A": "Say A."}))}, INPUTS),
        ({"variants": ("default", Variant("none", "none", models={"A": "echo"}))}, []),
        ({"variants": ("default", Variant("none", "none", models=Asked({"A": "a"}, "other")))}, []),
        ({"repeat": 2}, INPUTS * 2),
        ({"seed": 1}, INPUTS * 2),
        ({"config": RunConfig(max_llm_calls=9)}, INPUTS * 2),
        ({"root": LlmAgent(name="A", instruction="Say it.")}, INPUTS * 2),
        ({"kind": "paired"}, INPUTS * 2),
        ({"measures": {"length": len}, "categories": ["a", "b"], "concurrency": 1}, []),
    ],
)  # fmt: skip
def test_what_is_asked_again_after_an_edit(options: dict[str, Any], again: list[str]) -> None:
    store, root = Store(), LlmAgent(name="A", instruction="Say a.")
    made(store, Asked({"A": "a"}), root=root)
    second = Asked({"A": "a"})
    comparison = made(store, second, **{"root": root, **options})
    assert sorted(texts(request)[-1] for request in second.requests) == sorted(again)
    assert comparison.missing == 0
    assert [record.error for record in comparison.records] == [""] * len(comparison.records)


def test_kept_trials_stand_under_the_names_of_now() -> None:
    store = Store()
    made(store, both(), ["one"])
    comparison = made(store, both(), [Input(("one",), name="first")], {"all": "default", "less": "none"})
    assert [(row["variant"], row["input"], row["step"]) for row in comparison.rows] == [
        ("all", "first", "A"), ("all", "first", "B"), ("less", "first", "A"), ("less", "first", "B"),
    ]  # fmt: skip


def test_a_failed_trial_is_kept_for_reading_and_asked_again(path: Path) -> None:
    def answer(request: LlmRequest) -> str:
        if request.agent == "B":
            raise ModelError("busy")
        return "a"

    comparison = made(path, Asked(answer), ["one"])
    assert [record.error for record in comparison.records] == ["ModelError: agent 'B': busy"] * 2
    assert len(Store(path)) == 2
    second = both()
    comparison = made(path, second, ["one"])
    assert (len(second.requests), [record.error for record in comparison.records]) == (4, ["", ""])
    assert len(path.read_text().splitlines()) == 4
    third = both()
    made(path, third, ["one"])
    assert third.requests == []


def test_of_a_paired_trial_all_variants_are_asked_again_when_one_failed(path: Path) -> None:
    variants = [Variant("v1"), Variant("v2", prompts={"B": "Say {what}."})]
    comparison = made(path, both(), ["one"], variants, kind="paired")
    assert [bool(record.error) for record in comparison.records] == [False, True]
    second = both()
    made(path, second, ["one"], variants, kind="paired")
    assert second.agents == ["A", "B", "A"]


def test_progress_tells_of_what_was_kept(path: Path) -> None:
    made(path, both(), ["one"])
    seen: list[tuple[int, int, int]] = []
    made(
        path,
        both(),
        ["one", "two"],
        progress=lambda progress: seen.append((progress.done, progress.kept, progress.total)),
    )
    assert seen == [(2, 2, 4), (3, 2, 4), (4, 2, 4)]
