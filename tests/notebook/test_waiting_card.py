"""Cards of what waits for an answer: the words in both forms, after the answer too, and nothing of a hostile question acts."""

from __future__ import annotations

from adknb import Run
from tests.runtime.asking import asks, looped, runner

ASKED = 'ask({"question":"ok?"}), asked by B'
ANSWER = f"! Waiting for {ASKED}. Answer: %adk answer VALUE, or Runner.answer('call-1', …)"


def warnings(shown: object) -> list[str]:
    return [line for line in str(shown).splitlines() if line.startswith("!")]


def head(run: Run) -> str:
    return " ".join(str(run).split()[:2])


def test_a_waiting_run_says_for_what_and_how_to_answer() -> None:
    run = runner().run("go")
    assert (head(run), warnings(run)) == ("p: waiting", [ANSWER])
    assert warnings(run.session) == [ANSWER]
    for html in (run.to_html(), run.session.to_html()):
        assert "Waiting for ask({&quot;question&quot;:&quot;ok?&quot;}), asked by B." in html
        assert '<span class="adknb-chip adknb-warn">waiting</span>' in html


def test_afterwards_it_says_where_the_answer_came() -> None:
    bench = runner()
    run = bench.run("go")
    done = bench.answer(None, "yes")
    assert (head(run), warnings(run)) == ("p: waiting", [f"! Waited for {ASKED}; answered in turn 2"])
    assert (head(done), warnings(done), warnings(run.session)) == ("p: completed", [], [])
    first = next(line for line in str(run.session).splitlines() if " waiting " in line)
    assert first.endswith("answered in turn 2")
    assert ">answered in turn 2</td>" in run.session.to_html()


def test_a_turn_that_was_run_again() -> None:
    bench = runner(B=[asks(id=None)])
    run = bench.run("go")
    bench.rerun(run)
    assert warnings(run) == [f"! Waited for {ASKED}; its turn was run again since"]


def test_one_of_several_is_named() -> None:
    run = runner(B=[[asks(id="call-1"), asks(id="call-2")]]).run("go")
    assert [line.partition("Answer: ")[2].partition(",")[0] for line in warnings(run)] == [
        "%adk answer call-1 VALUE",
        "%adk answer call-2 VALUE",
    ]


def test_what_resumable_mode_leaves_out_stands_in_the_card() -> None:
    bench = runner(looped(), B=[asks()])
    bench.run("go")
    assert warnings(bench.answer(None, "yes")) == [
        "! B asks below the loop 'l', which ADK does not enter again: its answer runs B alone, not C, more rounds of l, D"
    ]


def test_a_hostile_question_is_text() -> None:
    run = runner(B=[asks("<img src=x onerror=alert(1)>\x1b[2J")]).run("go")
    for shown in (run, run.session):
        assert "<img" not in shown.to_html()
        assert "\x1b" not in str(shown)
