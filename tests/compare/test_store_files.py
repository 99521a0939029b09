"""The store's file: what is read back, half-written lines, files of something else, places that cannot be written, two at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adknb import LlmRequest, SpecError
from adknb.compare.comparison import Comparison
from adknb.compare.lab import compare_variants
from adknb.compare.records import SentPiece, StepRecord, TrialRecord
from adknb.compare.store import Store
from adknb.core.errors import AdknbError
from tests.compare.pipelines import Asked, two_steps

INPUTS = ["one", "two", "three"]


def both() -> Asked:
    return Asked({"A": "a", "B": "b"})


def made(
    store: Any, asked: Asked, inputs: Any = INPUTS, variants: Any = ("default", "none"), **options: Any
) -> Comparison:
    return compare_variants(options.pop("root", two_steps()), inputs, variants, model=asked, store=store, **options)


def record(key: str = "k", error: str = "", **fields: Any) -> TrialRecord:
    return TrialRecord(**{"variant": "v", "input": "1", "repeat": 0, "key": key, "error": error, **fields})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "trials.jsonl"


TEXT = st.text(st.characters(exclude_categories=()))
RECORDS = st.builds(
    TrialRecord,
    variant=TEXT, input=TEXT, repeat=st.integers(0, 9), answer=TEXT, error=TEXT, ms=st.floats(0, 1e9), key=TEXT,
    steps=st.lists(
        st.builds(
            StepRecord,
            step=TEXT, agent=TEXT, channels=st.dictionaries(TEXT, st.integers(0)), cost=st.none() | st.floats(0, 1),
            tools=st.lists(TEXT, max_size=2).map(tuple), answer=TEXT, guarded=st.booleans(), seed=st.none() | st.integers(),
            prompts=st.lists(
                st.lists(st.builds(SentPiece, TEXT, TEXT, TEXT, st.integers(0), TEXT, author=st.none() | TEXT), max_size=2).map(tuple),
                max_size=2,
            ).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
)  # fmt: skip


@given(st.lists(RECORDS, max_size=3, unique_by=lambda record: record.key))
def test_what_is_kept_is_read_back(tmp_path_factory: pytest.TempPathFactory, records: list[TrialRecord]) -> None:
    path = tmp_path_factory.mktemp("store") / "trials.jsonl"
    store = Store(path)
    with store.writing():
        store.keep(records)
    assert [Store(path).finished([record.key]) for record in records] == [
        None if record.error else [record] for record in records
    ]


def test_of_two_lines_with_one_key_the_later_counts(path: Path) -> None:
    store = Store(path)
    with store.writing():
        store.keep([record("k", answer="old"), record("k", answer="new")])
    assert (len(store), Store(path).finished(["k"])) == (1, [record("k", answer="new")])


@pytest.mark.parametrize("left", ['{"tr', '{"trial": ', '{"trial": {"variant": "v", "inp', "whole"])
def test_a_half_written_last_line_is_asked_again(path: Path, left: str) -> None:
    made(path, both(), ["one"])
    lines = path.read_bytes().splitlines(keepends=True)
    torn = lines[1].rstrip(b"\n") if left == "whole" else left.encode()
    path.write_bytes(lines[0] + torn)
    assert len(Store(path)) == 1
    assert path.read_bytes() == lines[0] + torn  # reading changes nothing: another comparison may be at that line
    second = both()
    made(path, second, ["one"])
    assert len(second.requests) == 2
    assert len(Store(path)) == len(path.read_bytes().splitlines()) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"variant,input\n", "line 1: it is no trial of a comparison (JSONDecodeError: Expecting value"),
        (b"notes", "line 1: it is no trial of a comparison (JSONDecodeError: Expecting value"),
        (b'{"key": 1}\n', "line 1: it is no trial of a comparison (KeyError: 'trial')"),
        (b"[]\n", "line 1: it is no trial of a comparison (TypeError: "),
        (b'\n{"trial": {}}\n', "line 2: it is no trial of a comparison (trial.variant: Field required)"),
        (b'{"trial": null}\n', "line 1: it is no trial of a comparison (trial: Input should be a dictionary"),
        (b'{"trial": {"steps": [], "variant": 1}}\n', "line 1: it is no trial of a comparison (trial.variant: "),
        (
            b'{"trial": {"variant": "v", "input": "1", "repeat": 0, "steps": [{}]}}\n',
            "line 1: it is no trial of a comparison (trial.steps.0.step: Field required)",
        ),
        (b"[" * 100_000 + b"\n", "line 1: it is no trial of a comparison (RecursionError: "),
        (b"\xff\xfe\n", "line 1: it is no trial of a comparison (UnicodeDecodeError: "),
    ],
)
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    asked = both()
    with pytest.raises(SpecError) as failure:
        made(path, asked)
    assert str(failure.value).startswith(f"{path}, {message}")
    assert str(failure.value).endswith("or delete the line: its trial is asked again.")
    assert (path.read_bytes(), asked.requests) == (content, [])


@pytest.mark.parametrize(
    ("changes", "step_changes", "wrong"),
    [
        ({"key": [1]}, {}, "trial.key: Input should be a valid string"),
        ({"repeat": "x"}, {}, "trial.repeat: Input should be a valid integer"),
        ({"error": None}, {}, "trial.error: Input should be a valid string"),
        ({}, {"input_tokens": None}, "trial.steps.0.input_tokens: Input should be a valid integer"),
        ({}, {"answer": 5}, "trial.steps.0.answer: Input should be a valid string"),
        ({}, {"twice": {"a": "b"}}, "trial.steps.0.twice.a: Input should be a valid integer"),
        ({}, {"cost": "much"}, "trial.steps.0.cost: Input should be a valid number"),
        ({}, {"prompts": [[["text"]]]}, "trial.steps.0.prompts.0.0.1: Field required"),
    ],
)
def test_a_trial_with_a_value_of_another_type_is_refused_when_it_is_read(
    tmp_path: Path, changes: dict[str, object], step_changes: dict[str, object], wrong: str
) -> None:
    path = tmp_path / "trials.jsonl"
    made(path, both(), ["one"])
    first, *rest = path.read_text("ascii").splitlines(keepends=True)
    trial = json.loads(first)["trial"] | changes
    trial["steps"][0] |= step_changes
    path.write_text(json.dumps({"trial": trial}) + "\n" + "".join(rest), "ascii")
    with pytest.raises(SpecError) as failure:
        Store(path)
    assert f"line 1: it is no trial of a comparison ({wrong}" in str(failure.value)


def test_a_device_is_no_store() -> None:
    """/dev/zero has no end, and could not be read to one."""
    with pytest.raises(
        SpecError, match=r"^the store /dev/zero is no regular file\. Name another one to keep the trials in\.$"
    ):
        Store("/dev/zero")


def test_a_store_is_a_path() -> None:
    number: Any = 5
    with pytest.raises(SpecError, match=r"^a store is the path of a file, not 5$"):
        Store(number)


def test_an_empty_file_is_a_store(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    path.touch()
    assert made(path, both(), ["one"]).missing == 0
    assert len(Store(path)) == 2


@pytest.mark.parametrize(
    "place", [Path("/proc/trials.jsonl"), Path("/dev/null/trials.jsonl"), Path("/proc/trials/trials.jsonl")]
)
def test_a_place_that_cannot_be_written(place: Path) -> None:
    asked = both()
    with pytest.raises(SpecError, match=f"the store {place} cannot be written: "):
        made(place, asked)
    assert asked.requests == []


def test_a_directory_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=f"the store {tmp_path} cannot be read: Is a directory"):
        Store(tmp_path)


def test_the_home_directory_may_be_written_short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    made("~/trials.jsonl", both(), ["one"])
    assert len(Store(tmp_path / "trials.jsonl")) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_ends_the_comparison_with_a_clear_error(tmp_path: Path) -> None:
    store = Store(tmp_path / "trials.jsonl")
    with pytest.raises(AdknbError, match="a finished trial could not be written to /dev/full: No space left on device"):
        store._append(Path("/dev/full"), b"line\n")


def test_what_was_written_before_a_failure_stays_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second trial's line is written by halves; the file is as it was before it, and goes on later."""
    open_path = Path.open
    opened: list[memoryview] = []

    class Half:
        def __init__(self, file: Any) -> None:
            self._file = file

        def __enter__(self) -> Half:
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def seek(self, *where: int) -> int:
            return int(self._file.seek(*where))

        def write(self, data: memoryview) -> int:
            if len(opened) > 3:
                raise OSError(28, "No space left on device")
            opened.append(data)
            return int(self._file.write(data[: len(data) // 2]))

    def opening(self: Path, mode: str = "r", buffering: int = -1, **options: Any) -> Any:
        file = open_path(self, mode, buffering, **options)
        return Half(file) if mode == "ab" and buffering == 0 else file

    store = Store(path)
    with store.writing():
        store.keep([record("first")])
        whole = path.read_bytes()
        with monkeypatch.context() as patched:
            patched.setattr(Path, "open", opening)
            with pytest.raises(
                AdknbError, match=r"could not be written to .*: No space left on device. What stands there is whole"
            ):
                store.keep([record("second")])
        assert path.read_bytes() == whole
        assert store.finished(["second"]) is None
        store.keep([record("third")])
    assert len(Store(path)) == 2


def test_a_failing_store_ends_the_comparison_with_its_own_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Store, records: Any) -> None:
        raise AdknbError("full")

    monkeypatch.setattr(Store, "keep", fail)
    with pytest.raises(AdknbError, match="full"):
        made(path, both())


# two at once


def test_two_comparisons_on_one_file(path: Path) -> None:
    first, second = both(), both()

    def answer(request: LlmRequest) -> str:
        if not second.requests:
            with pytest.raises(
                SpecError, match=f"another comparison writes into {path} now. Wait for it, or name another file."
            ):
                made(path, second)
            second.requests.append(request)
        return request.agent.lower()

    first = Asked(answer)
    made(path, first, ["one"], concurrency=1)
    assert len(second.requests) == 1
    assert len(Store(path)) == 2


def test_a_store_takes_in_what_another_one_wrote_since(path: Path) -> None:
    store = Store(path)
    made(path, both(), ["one"])
    assert (len(store), store.found) == (0, 0)
    asked = both()
    made(store, asked, ["one", "two"])
    assert (len(asked.requests), len(store), store.found) == (4, 4, 0)


def test_a_store_whose_file_was_deleted_begins_anew(path: Path) -> None:
    store = Store(path)
    made(store, both(), ["one", "two"])
    path.unlink()
    asked = both()
    made(store, asked, ["one"])
    assert (len(asked.requests), len(store)) == (4, 2)
