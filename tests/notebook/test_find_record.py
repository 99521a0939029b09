"""Which run a line means: the newest that was asked for, never one beside it; what is there is named."""

from __future__ import annotations

import pytest

from adknb import LlmAgent, Run, Runner, RunStateError
from adknb.notebook.records import Record, find_record
from tests.notebook.notebook import Notebook

MAKE = "Make one: %%pipeline p, with the message below it."


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    runner = Runner(LlmAgent(name="A", instruction="x"), model="echo")
    return [runner.run(str(number)) for number in range(5)]


def test_the_newest_that_is_no_trial_and_no_comparisons(runs: list[Run]) -> None:
    records = [Record(runs[0], "p"), Record(runs[1], "p", trial=True), Record(runs[2], "p", variant="none")]
    assert find_record(records, None, "p", None, False).run is runs[0]
    assert find_record(records, None, "p", None, True).run is runs[2]
    assert find_record(records, runs[1].id, "p", None, False).run is runs[1]


def test_only_such_ones_are_named_with_how_to_take_one(runs: list[Run]) -> None:
    records = [Record(runs[0], "p", trial=True), Record(runs[1], "p", variant="none"), Record(runs[2], "q")]
    with pytest.raises(RunStateError) as error:
        find_record(records, None, "p", "q", False)
    assert str(error.value) == (
        f"there is no run of 'p' yet but {runs[1].id} (variant none of a comparison), {runs[0].id} (a trial). Name one: --run "
        f"ID. Or make one: %%pipeline p, with the message below it."
    )


def test_many_are_cut(runs: list[Run]) -> None:
    with pytest.raises(
        RunStateError, match=rf"{runs[4].id} \(a trial\), .*{runs[2].id} \(a trial\) and 2 more \(%adk runs\)\."
    ):
        find_record([Record(run, "p", trial=True) for run in runs], None, "p", None, False)


def test_none_at_all(runs: list[Run]) -> None:
    with pytest.raises(RunStateError, match=rf"^there is no run of 'p' yet\. {MAKE}$"):
        find_record([Record(runs[0], "q", trial=True)], None, "p", None, False)


def test_after_a_comparison(notebook: Notebook) -> None:
    notebook.run("%%agent A --pipeline p\nA")
    notebook.run("%%compare p\nhi")
    run = notebook.bench.last
    assert run is not None
    for line in ("%adk portability p", "%pipeline p --from A", "%adk step A"):
        message = notebook.fail(line).partition(": ")[2]
        assert message.startswith(
            f"there is no run of 'p' yet but {run.id} (variant none of a comparison). Name one: --run ID."
        )
        notebook.run(f"{line} --run {run.id}")
        if len(notebook.bench.runs) > 1:
            notebook.run("%adk undo")
    assert notebook.fail("%adk answer yes").partition(": ")[2] == (
        "no call waits: calls of trials and of comparisons are not answered, and there is no other run yet. Make one: "
        "%%pipeline p --resumable, with the message below it."
    )
