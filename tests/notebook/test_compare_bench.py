"""Comparisons and the bench: dry ones of its runs, what they leave on it, Ctrl-C and going on."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest

import adknb
from adknb import LlmRequest, Run
from adknb.notebook.dry_runs import newest_runs
from tests.notebook.asked import Asked, message_of, messages, newest
from tests.notebook.notebook import Notebook, Output

# dry


def conversation_runs(notebook: Notebook) -> list[Run]:
    notebook.run("%%pipeline p\nhi", "fresh")
    notebook.run("%%pipeline p\nhi", "again")
    notebook.run("%%pipeline p --session chat\none", "one")
    notebook.run("%%pipeline p --session chat\ntwo", "two")
    notebook.run("%%step B\nTried {a}.", "try")
    return notebook.bench.runs[1:4]


def test_dry_works_out_the_newest_run_of_each_conversation(notebook: Notebook, asked: Asked) -> None:
    conversation_runs(notebook)
    asked.requests.clear()
    before = notebook.bench.records
    notebook.run("%compare p --kind dry --variants default none B@1")
    comparison = newest(notebook)
    assert (asked.requests, notebook.bench.records) == ([], before)
    assert messages(comparison) == [("hi",), ("one",), ("two",)]
    assert [
        (row["input"], row["step"], row["input_tokens"], row["status"]) for row in comparison.rows if row["variant"] == "none"
    ] == [
        ("1", "A", 16, "counted, not asked"), ("1", "B", 29, "counted, not asked"),
        ("2", "A", 16, "counted, not asked"), ("2", "B", 29, "counted, not asked"),
        ("3", "A", 16, "counted, not asked"), ("3", "B", 29, "counted, not asked"),
    ]  # fmt: skip


def test_dry_takes_the_runs_of_the_body_s_messages(notebook: Notebook, asked: Asked) -> None:
    conversation_runs(notebook)
    notebook.run("%%compare p --kind dry\none\n+++\ntwo\n---\nhi")
    assert messages(newest(notebook)) == [("two",), ("hi",)]
    assert notebook.fail("%%compare p --kind dry\ntwo") == (
        "UsageError: --kind dry: input 1 ('two'): there is no run of 'p' on this message. Run it first, or choose --kind run or "
        "--kind paired."
    )
    assert notebook.fail("%%compare p --kind dry\nhi\n+++\ntwo") == (
        "UsageError: --kind dry: input 1 ('hi'): there is no run of 'p' on these messages in one session. Run it first, or "
        "choose --kind run or --kind paired."
    )


def test_dry_takes_runs_of_a_variable(notebook: Notebook, asked: Asked) -> None:
    again, one, two = conversation_runs(notebook)
    notebook.names.update(run=two, both=[one, again], rows=["one", "hi"])
    for name, expected in (("run", [("two",)]), ("both", [("one",), ("hi",)]), ("rows", [("one",), ("hi",)])):
        notebook.run(f"%compare p --kind dry --inputs {name}")
        assert messages(newest(notebook)) == expected


def test_dry_takes_a_comparison_s_run_where_there_is_no_other(notebook: Notebook, asked: Asked) -> None:
    notebook.run("%%compare p\nhi")
    notebook.run("%compare p --kind dry")
    assert messages(newest(notebook)) == [("hi",)]
    notebook.run("%%pipeline p\nhi")
    run = notebook.last
    notebook.run("%%compare p --variants state_only\nother")
    other = notebook.last
    notebook.run("%%compare p --variants state_only\nhi")
    assert newest_runs(notebook.bench.records, "p") == {("other",): other, ("hi",): run}


# what it leaves on the bench


def test_the_newest_result_is_the_comparison_or_the_run(
    notebook: Notebook, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adknb.notebook.current.bench", notebook.bench)

    def last() -> object:
        return adknb.last

    assert last() is None
    notebook.run("%%pipeline p\nhi")
    run = last()
    assert run is notebook.last
    notebook.run("%%compare p --out kept\nhi")
    assert last() is notebook.names["kept"]
    notebook.run("%%step B\nTried {a}.")
    assert last() is notebook.last
    notebook.run("%adk undo")
    assert last() is notebook.names["kept"]
    notebook.run("%adk undo")
    assert (last() is run, notebook.bench.runs) == (True, [run])


def test_its_last_run_can_be_looked_at_and_compared_dry(notebook: Notebook, asked: Asked) -> None:
    notebook.run("%%compare p --variants default none --concurrency 1\nhi\n---\nho")
    runs = notebook.run("%adk runs").value
    assert runs[["pipeline", "message", "strategy", "note"]].to_dict("records") == [
        {"pipeline": "p", "message": "ho", "strategy": "none", "note": "last of a comparison: none"}
    ]
    assert notebook.run("%adk steps").value["step"].tolist() == ["A", "B"]
    assert notebook.run("%adk compare").value.run is notebook.last
    assert notebook.run("%adk undo").value.text == "Undone: comparison of p (default, none)."
    assert notebook.fail("%adk compare").partition(": ")[2].startswith("there is no run of 'p' yet.")


def test_nothing_goes_on_from_a_comparison_s_run_by_itself(notebook: Notebook, asked: Asked) -> None:
    notebook.run("%%pipeline p --pause\nhi")
    paused = notebook.last
    notebook.run("%%compare p\nother")
    made = notebook.last
    notebook.run("%adk step")
    assert notebook.last.parent is paused
    notebook.run(f"%adk rewind B --run {made.id}")
    assert notebook.last.parent is made


def test_the_pipeline_compared_is_the_one_in_use(notebook: Notebook, asked: Asked) -> None:
    notebook.run("%%agent Z --pipeline q\nZ.")
    notebook.run("%%compare p\nhi")
    assert notebook.bench.current == "p"


def test_a_failing_input_is_a_row(notebook: Notebook, asked: Asked) -> None:
    def answer(request: LlmRequest) -> str:
        if message_of(request) == "bad":
            raise ValueError("no such ticket")
        return "fine"

    asked.answer = answer
    notebook.run("%%compare p --variants default\ngood\n---\nbad")
    rows = newest(notebook).rows
    assert [(row["input"], row["step"], row["status"]) for row in rows] == [
        ("1", "A", "completed"), ("1", "B", "completed"), ("2", "A", "failed"),
    ]  # fmt: skip
    assert "ValueError: no such ticket" in rows[2]["error"]


def test_the_bench_is_busy_while_it_compares(notebook: Notebook, asked: Asked) -> None:
    notebook.run("def again(ctx): get_ipython().run_cell_magic('compare', 'p', 'inner')")
    notebook.run("%%agent B --key b --before-agent again\nB {a}", "B")
    notebook.run("%%compare p --variants default\nhi")
    assert "the bench is running something already" in newest(notebook).rows[-1]["error"]
    with notebook.bench.busy():
        assert notebook.fail("%%compare p\nhi") == (
            "RunStateError: the bench is running something already. Wait for it, or interrupt the kernel."
        )


# stores and Ctrl-C


def test_a_store_keeps_what_was_asked(notebook: Notebook, asked: Asked, tmp_path: Path) -> None:
    store = f"--store {tmp_path}/trials.jsonl"
    notebook.run(f"%%compare p {store}\nhi")
    assert len(asked.take()) == 4
    notebook.run(f"%%compare p {store} --out again\nhi\n---\nho")
    assert Counter(message for _, message in asked.take()) == {"ho": 3, "For context:": 1}
    assert len(notebook.names["again"].records) == 4
    notebook.run("%%agent B --key b\nAgent B, edited, reads {a}.", "B")
    notebook.run(f"%%compare p {store} --variants B@1+default none --out third\nhi")
    assert asked.take() == [("A", "hi"), ("B", "For context:")]
    runs = len(notebook.bench.runs)
    notebook.run(f"%%compare p {store} --variants B@1+default none\nhi")
    assert (asked.take(), len(notebook.bench.runs)) == ([], runs)


def interrupting(asked: Asked, at: int) -> None:
    """Ctrl-C at the `at`-th request from now on, once."""
    count = 0

    def answer(request: LlmRequest) -> str:
        nonlocal count
        count += 1
        if count == at:
            os.kill(os.getpid(), signal.SIGINT)
        return f"{request.agent} answers"

    asked.answer = answer


CELL = "%%compare p --concurrency 1 --out c\none\n---\ntwo\n---\nthree"
STOPPED = (
    "Stopped: 3 trials are missing. What was done is kept in {}: run the cell again, and only the rest is asked.\n"
)


def stopped(notebook: Notebook, asked: Asked, cell: str) -> Output:
    """Ctrl-C in the fourth trial of six."""
    interrupting(asked, 7)
    output = notebook.cell(cell)
    assert type(output.error) is KeyboardInterrupt
    asked.answer = lambda request: f"{request.agent} answers"
    assert asked.take()[0] == ("A", "one")
    return output


def test_after_ctrl_c_the_same_cell_asks_only_the_rest(notebook: Notebook, asked: Asked) -> None:
    output = stopped(notebook, asked, CELL)
    part = notebook.names["c"]
    assert (part is newest(notebook), part.missing) == (True, 3)
    assert [(record.variant, record.input) for record in part.records] == [
        ("default", "1"),
        ("default", "2"),
        ("none", "1"),
    ]
    unwrapped = output.text.replace("\n  ", " ")
    assert str(part).replace("\n  ", " ") in unwrapped
    assert " ".join(STOPPED.format("this kernel").split()) in " ".join(output.text.split())
    assert notebook.bench.last_change == "comparison of p (default, none)"
    notebook.run(CELL)
    assert [message for agent, message in asked.take() if agent == "A"] == ["three", "three", "two"]
    assert (newest(notebook).missing, len(newest(notebook).records)) == (0, 6)
    notebook.run(CELL)
    assert len(asked.take()) == 12


def test_another_comparison_takes_nothing_from_a_stopped_one(notebook: Notebook, asked: Asked) -> None:
    stopped(notebook, asked, CELL)
    notebook.run("%%compare p\nelse")
    assert len(asked.take()) == 4
    notebook.run("%adk undo")
    notebook.run("%adk undo")
    notebook.run(f"{CELL}\n---\nfour")
    assert Counter(message for agent, message in asked.take() if agent == "A") == {"two": 1, "three": 2, "four": 2}


def test_after_ctrl_c_a_store_goes_on(notebook: Notebook, asked: Asked, tmp_path: Path) -> None:
    cell = CELL.replace("--out c", f"--store {tmp_path}/t.jsonl")
    output = stopped(notebook, asked, cell)
    assert " ".join(STOPPED.format(f"{tmp_path}/t.jsonl").split()) in " ".join(output.text.split())
    notebook.run(CELL)
    assert len(asked.take()) == 12
    notebook.run(cell)
    assert len(asked.take()) == 6


def test_ctrl_c_before_the_first_trial_is_done_changes_nothing(notebook: Notebook, asked: Asked) -> None:
    interrupting(asked, 1)
    before = notebook.state()
    output = notebook.cell("%%compare p --concurrency 1 --out c\none")
    assert type(output.error) is KeyboardInterrupt
    assert (notebook.state(), "Stopped" in output.text) == (before, False)


def test_an_exit_of_the_user_s_shows_what_was_done(notebook: Notebook, asked: Asked) -> None:
    asked.answer = lambda request: exit_at(request, "two")
    with pytest.raises(SystemExit):
        notebook.shell.run_cell_magic("compare", "p --concurrency 1", CELL.partition("\n")[2])
    assert [record.input for record in newest(notebook).records] == ["1", "1"]


def exit_at(request: LlmRequest, message: str) -> str:
    if message_of(request) == message:
        raise SystemExit(3)
    return "fine"
