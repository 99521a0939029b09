"""The bench in plain Python: no notebook, no IPython."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

from adknb import AdknbError, ModelError, RunConfig, RunStateError, ScriptedModel, SpecError
from adknb.core.run import Run
from adknb.notebook.bench import Bench
from adknb.notebook.pipelines import AgentOptions
from adknb.notebook.records import TurnRequest
from adknb.notebook.undo import UNDO_LIMIT


def model() -> ScriptedModel:
    return ScriptedModel(lambda request: f"{request.agent} says {request.ordinal + 1}")


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.use(model=model())
    for name, prompt in (("A", "Agent A."), ("B", "B reads {a}."), ("C", "C reads {b}.")):
        bench.put_agent("p", name, prompt, AgentOptions(key=name.lower()))
    return bench


def test_write_run_and_look(bench: Bench) -> None:
    run = bench.run("p", "hi")
    assert (run.output, run is bench.last, bench.runs) == ("C says 1", True, [run])
    assert bench.pipelines["p"]["B"].prompt == "B reads {a}."
    assert bench.namespace["p"].sub_agents[1].instruction == "B reads {a}."
    assert bench.record(run.id[:4]).pipeline == "p"


def test_the_bench_of_the_process_needs_no_notebook() -> None:
    script = (
        "import sys, adknb\n"
        "adknb.bench.put_agent('ticket', 'A', 'Prompt.')\n"
        "adknb.bench.use(model='echo')\n"
        "print(adknb.bench.run('ticket', 'hi').output, adknb.last.status, adknb.bench.pipelines['ticket'].names())\n"
        "print('IPython' in sys.modules, 'pandas' in sys.modules, 'ipywidgets' in sys.modules)\n"
        "print(adknb.bench.pipelines['ticket'].to_python().splitlines()[-1])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0].endswith("completed ['A']")
    assert lines[1:] == [
        "False False False",
        '    print(Runner(ticket, model="local").run(" ".join(sys.argv[1:])).output)',
    ]


def test_a_session_s_turns(bench: Bench) -> None:
    def turn(message: str, cell: str | None = None, **options: Any) -> Run:
        return bench.run("p", TurnRequest(message, session="chat", cell=cell, **options))

    first, second = turn("one", "c1"), turn("two", "c2")
    assert (first.output, second.output) == ("C says 1", "C says 2")
    again = turn("uno", "c1")
    assert (again.turn, again.parent, second.stale) == (0, first, True)
    assert bench.undo() == f"run {again.id} of p"
    assert (bench.sessions["chat"].turns, second.stale) == ([first, second], False)
    assert turn("three", "c1", append=True).turn == 2
    assert turn("zwei", turn=2).turn == 1


def test_a_turn_run_again_keeps_or_changes_its_limit(bench: Bench) -> None:
    limited = TurnRequest("one", session="chat", cell="c", config=RunConfig(max_llm_calls=3))
    assert bench.run("p", limited).config.max_llm_calls == 3
    assert bench.run("p", TurnRequest("two", session="chat", cell="c")).config.max_llm_calls == 3
    changed = TurnRequest("two", session="chat", cell="c", config=RunConfig(max_llm_calls=2))
    with pytest.raises(AdknbError, match="asked its models 2 times"):
        bench.run("p", changed)
    assert bench.last is not None
    assert (bench.last.config.max_llm_calls, bench.last.status) == (2, "failed")


def test_options_of_a_run_are_kept_when_it_goes_on(bench: Bench) -> None:
    other = ScriptedModel(lambda request: f"other {request.agent}")
    bench.run("p", TurnRequest("hi", pause=True), model=other, strategy="none")
    run = bench.continue_run()
    assert (run.output, run.strategy) == ("other C", "none")
    run = bench.run_from("C", strategy="default")
    assert (run.output, run.strategy, run.label) == ("other C", "default", "mixed")
    bench.use(strategy="none")
    assert bench.run_from("C").strategy == "default"
    assert bench.run("p", "hi").strategy == "none"


def test_a_trial_is_no_run_to_go_on_from_unless_it_is_named(bench: Bench) -> None:
    run = bench.run("p", TurnRequest("hi", session="chat"))
    trial = bench.try_step("B", "Tried.")
    session = bench.sessions["chat"]
    assert (bench.last is trial, trial.session is session, session.turns) == (True, False, [run])
    assert bench.run_from("C").parent is run
    further = bench.step(run=trial.id)
    assert (further.parent, further.session is session, bench.record(further.id).trial) == (trial, False, True)
    assert bench.sessions["chat"] is session


def test_several_sessions_share_values_and_undo_takes_them_back() -> None:
    def count(context: Any) -> None:
        context.state["app:n"] = context.state.get("app:n", 0) + 1

    bench = Bench({"count": count})
    bench.use(model=model())
    bench.put_agent("p", "A", "n={app:n}", AgentOptions(callbacks={"before_agent": ("count",)}))

    def seen(session: str) -> str | None:
        run = bench.run("p", TurnRequest("hi", session=session))
        return (run.step("A").requests[0].sent.system_instruction or "").partition("\n")[0]

    assert [seen("one"), seen("two"), seen("one")] == ["n=1", "n=2", "n=3"]
    bench.use(stream=True)
    bench.undo()  # must not bring back what session "two" last knew
    assert seen("two") == "n=4"
    bench.undo()
    bench.undo()
    assert (bench.sessions["one"].state["app:n"], seen("two")) == (1, "n=3")


def test_a_change_that_fails_changes_nothing(bench: Bench) -> None:
    before = dict(bench.pipelines)

    def broken() -> None:
        with bench.change("broken"):
            bench.pipelines["q"] = bench.pipelines["p"]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    assert (bench.pipelines, bench.last_change) == (before, "p: C added")


def test_a_run_that_did_not_begin_leaves_no_trace(bench: Bench) -> None:
    run = bench.run("p", TurnRequest("hi", session="chat"))
    bench.order(["B", "A", "C"])
    label = bench.last_change
    with pytest.raises(RunStateError, match="Run the pipeline from its start"):
        bench.run_from("C")
    with pytest.raises(RunStateError, match=f"run {run.id} has no step 'X'"):
        bench.rewind("X")
    with pytest.raises(AdknbError, match="not a JSON number"):
        bench.run("p", TurnRequest("hi", session="new", state={"x": float("nan")}))
    assert (bench.runs, list(bench.sessions), bench.last_change) == ([run], ["chat"], label)
    assert bench.sessions["chat"].turns == [run]


def test_a_callback_cannot_run_the_bench_and_the_run_is_kept() -> None:
    bench = Bench()
    bench.namespace["again"] = lambda context: bench.run("p", "inner")
    bench.use(model=model())
    bench.put_agent("p", "A", "Prompt.", AgentOptions(callbacks={"before_agent": ("again",)}))
    with pytest.raises(RunStateError, match="the bench is running something already"):
        bench.run("p", "hi")
    assert [run.status for run in bench.runs] == ["failed"]
    bench.put_agent("p", "A", "Prompt.")
    assert bench.run("p", "hi").status == "completed"


def test_another_thread_is_refused_while_a_run_goes_on(bench: Bench) -> None:
    started, go_on = threading.Event(), threading.Event()

    def wait(context: Any) -> None:
        started.set()
        assert go_on.wait(20)

    bench.namespace["wait"] = wait
    bench.put_agent("p", "A", "Prompt.", AgentOptions(key="a", callbacks={"before_agent": ("wait",)}))
    thread = threading.Thread(target=lambda: bench.run("p", "hi"))
    thread.start()
    assert started.wait(20)
    try:
        for work in (lambda: bench.run("p", "hi"), bench.undo, lambda: bench.put_agent("p", "D", "x")):
            with pytest.raises(RunStateError, match="the bench is running something already"):
                work()
    finally:
        go_on.set()
        thread.join()
    assert ([run.status for run in bench.runs], bench.pipelines["p"].names()) == (["completed"], ["A", "B", "C"])


def test_versions(bench: Bench) -> None:
    bench.put_agent("p", "B", "Second.", AgentOptions(key="b"))
    bench.put_agent("p", "B", "Second.", AgentOptions(key="b"))
    assert [version.prompt for version in bench.pipelines["p"]["B"].versions] == ["B reads {a}."]
    bench.restore_version("B", 1)
    assert bench.pipelines["p"]["B"].prompt == "B reads {a}."
    with pytest.raises(SpecError, match=r"agent 'B' has versions 1 to 2, not 3\. See them: %adk history B"):
        bench.restore_version("B", 3)


def test_settings(bench: Bench) -> None:
    class LastTwo:
        name = "last_two"

        def contents(self, history: Any) -> Any:
            return history.included("default")[-2:]

    bench.use(strategy=LastTwo(), user="u2")
    run = bench.run("p", "hi")
    assert (run.strategy, run.user_id, len(run.step("C").requests[0].sent.contents)) == ("last_two", "u2", 2)
    bench.use(strategy={"C": "none"})
    assert bench.run("p", "hi").strategy == "C=none"
    with pytest.raises(SpecError, match=r"there is no setting 'modle'\. Did you mean 'model'\?"):
        bench.use(modle="x")
    with pytest.raises(ModelError, match="there is no model 'gpt'"):
        bench.use(model="gpt")


def test_undo_goes_back_so_far_and_no_further(bench: Bench) -> None:
    for number in range(UNDO_LIMIT + 5):
        bench.put_agent("p", "A", f"Prompt {number}")
    for _ in range(UNDO_LIMIT):
        bench.undo()
    assert bench.pipelines["p"]["A"].prompt == "Prompt 4"
    with pytest.raises(RunStateError, match="there is nothing to undo"):
        bench.undo()


def test_two_pipelines_with_an_agent_of_one_name(bench: Bench) -> None:
    bench.copy("p", "q")
    bench.put_agent("q", "A", "In q.")
    assert bench.namespace["A"].instruction == "In q."
    bench.put_agent("p", "B", "In p.")
    assert (bench.namespace["A"].instruction, bench.namespace["q"].sub_agents[0].instruction) == ("Agent A.", "In q.")
