"""What a turn does: sessions, scopes, stale values, clear, limits, errors, plain functions as tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from adknb import (
    AgentNameError,
    BaseAgent,
    CallbackContext,
    Content,
    Event,
    FunctionResponse,
    InMemorySessionService,
    LlmAgent,
    LlmCallsLimitExceededError,
    LlmRequest,
    LlmResponse,
    LongRunningFunctionTool,
    LoopAgent,
    MissingKeyError,
    ModelError,
    Part,
    Run,
    RunConfig,
    Runner,
    RunStateError,
    ScriptedModel,
    SequentialAgent,
    Session,
    SpecError,
    StateValueError,
    ToolContext,
)
from adknb.core.content import FunctionCall
from adknb.core.state import REMOVED


def last(runner: Runner) -> Run:
    """The run that failed or was interrupted."""
    assert runner.last_run is not None
    return runner.last_run


def call(name: str, **args: Any) -> list[Part]:
    return [Part(function_call=FunctionCall(name, args))]


def system(run: Any, step: str, request: int = 1) -> str:
    text = run.step(step).requests[request - 1].sent.system_instruction
    assert isinstance(text, str)
    return text


def test_an_event_is_in_the_session_before_the_next_step_starts() -> None:
    seen: list[list[str]] = []

    def answer(request: LlmRequest) -> str:
        seen.append([event.author for event in last(runner).session.events])
        return "ok"

    root = SequentialAgent(name="p", sub_agents=[LlmAgent(name="A"), LlmAgent(name="B")])
    runner = Runner(root, model=ScriptedModel(answer))
    run = runner.run("hi")
    assert seen == [["user"], ["user", "A"]]
    assert {event.invocation_id for event in run.turn_events} == {run.invocation_id}


def test_a_fresh_run_has_fresh_scopes_and_a_service_shares_them() -> None:
    root = LlmAgent(name="A", instruction="{user:n?}|{app:n?}", output_key="user:n", before_agent_callback=set_app)
    runner = Runner(root, model=ScriptedModel({"A": ["one", "two"]}))
    assert system(runner.run("hi"), "A").startswith("|app\n")
    assert system(runner.run("hi"), "A").startswith("|app\n")
    shared = Runner(root, model=ScriptedModel({"A": ["one", "two"]}), session_service=InMemorySessionService())
    shared.run("hi", session="first")
    assert system(shared.run("hi", session="second"), "A").startswith("one|app\n")
    assert system(shared.run("hi", session="third", user_id="other"), "A").startswith("|app\n")


def set_app(context: CallbackContext) -> None:
    context.state["app:n"] = "app"


def test_turn_start_clear_prevents_the_stale_value() -> None:
    root = SequentialAgent(
        name="p",
        sub_agents=[LlmAgent(name="A", output_key="k"), LlmAgent(name="B", instruction="{k}")],
    )
    replies: dict[str, list[Any]] = {"A": ["first", [Part(text="hm", thought=True)]], "B": ["b1", "b2"]}
    runner = Runner(root, model=ScriptedModel(replies))
    session = runner.run("one").session
    stale = runner.run("two", session=session)
    assert system(stale, "B").startswith("first\n")  # ADK reads last turn's value silently
    session = runner.run("one").session
    with pytest.raises(
        MissingKeyError,
        match=r"agent 'B': the instruction needs the state key 'k', which nobody wrote. Write it in an ",
    ):
        runner.run("two", session=session, clear=["k"])
    assert last(runner).turn_events[0].actions.state_delta == {"k": REMOVED}


def test_temp_keys_live_for_the_turn_unless_kept() -> None:
    def flag(context: CallbackContext) -> None:
        context.state["temp:flag"] = "on"

    root = SequentialAgent(
        name="p",
        sub_agents=[LlmAgent(name="A", instruction="[{temp:flag?}]"), LlmAgent(name="B", before_agent_callback=flag, instruction="[{temp:flag}]")],
    )  # fmt: skip
    model = ScriptedModel({"A": ["a", "a"], "B": ["b", "b"]})
    runner = Runner(root, model=model)
    first = runner.run("one")
    assert system(first, "B").startswith("[on]\n")
    assert first.session.state == {}
    assert system(runner.run("two", session=first.session), "A").startswith("[]\n")
    keeping = Runner(root, model=model, temp_keys="keep")
    kept = keeping.run("one")
    assert kept.session.state == {"temp:flag": "on"}
    assert system(keeping.run("two", session=kept.session), "A").startswith("[on]\n")


def test_tools_of_one_reply_run_in_order_and_see_each_other() -> None:
    def add(n: int, tool_context: ToolContext) -> dict[str, Any]:
        """Add to the sum."""
        tool_context.state["sum"] = tool_context.state.get("sum", 0) + n
        return {"sum": tool_context.state["sum"]}

    root = LlmAgent(name="A", tools=[add])
    run = Runner(root, model=ScriptedModel({"A": [call("add", n=2) + call("add", n="3"), "done"]})).run("hi")
    answer = run.turn_events[2]
    assert [response.response for response in answer.function_responses] == [{"sum": 2}, {"sum": 5}]
    assert answer.actions.state_delta == {"sum": 5}


async def test_async_tools_and_results_that_are_no_dict() -> None:
    async def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    root = LlmAgent(name="A", tools=[double])
    run = await Runner(root, model=ScriptedModel({"A": [call("double", n=4), "done"]})).run_async("hi")
    assert run.turn_events[2].function_responses[0].response == {"result": 8}


def test_a_failing_tool_is_answered_and_named() -> None:
    def bad() -> dict[str, Any]:
        """Fail."""
        raise OSError("disk on fire")

    run = Runner(LlmAgent(name="A", tools=[bad]), model=ScriptedModel({"A": [call("bad"), "done"]})).run("hi")
    assert run.turn_events[2].function_responses[0].response == {
        "status": "error",
        "message": "An internal error occurred.",
    }
    assert run.step("A").notes == ["tool 'bad' failed: OSError: disk on fire"]


def test_a_long_running_call_is_answered_in_the_next_turn() -> None:
    def ask(question: str) -> dict[str, Any]:
        """Ask a person."""
        return {"status": "pending"}

    root = SequentialAgent(
        name="p", sub_agents=[LlmAgent(name="A", tools=[LongRunningFunctionTool(ask)]), LlmAgent(name="B")]
    )
    runner = Runner(root, model=ScriptedModel({"A": [call("ask", question="ok?"), "waiting", "thanks"], "B": ["b1"]}))
    run = runner.run("hi")
    asked = run.turn_events[1]
    assert asked.long_running_tool_ids == {asked.function_calls[0].id}
    answered = runner.run(FunctionResponse("ask", {"answer": "yes"}, asked.function_calls[0].id), session=run.session)
    assert [(step.name, step.output) for step in answered.step_runs] == [("A", "thanks")]


def test_the_call_limit() -> None:
    root = LoopAgent(name="l", sub_agents=[LlmAgent(name="A")])
    runner = Runner(root, model=ScriptedModel(lambda request: "again"))
    with pytest.raises(LlmCallsLimitExceededError, match="asked its models 3 times, which is the limit") as caught:
        runner.run("hi", config=RunConfig(max_llm_calls=3))
    assert caught.value.adk_message == "Max number of llm calls limit of 3 exceeded"
    assert len(last(runner).step_runs) == 4


def test_a_custom_agent_runs_its_children() -> None:
    class Retry(BaseAgent):
        async def _run_async_impl(self, ctx):  # type: ignore[no-untyped-def]
            for _ in range(3):
                async for event in self.sub_agents[0].run_async(ctx):
                    yield event
                if ctx.session.state["verdict"] == "good":
                    break
            yield ctx.event(Content.model("checked"))

    root = Retry(name="retry", sub_agents=[LlmAgent(name="A", output_key="verdict")])
    run = Runner(root, model=ScriptedModel({"A": ["bad", "good", "never"]})).run("hi")
    assert [event.text for event in run.turn_events] == ["hi", "bad", "good", "checked"]
    assert [(step.name, step.output) for step in run.step_runs] == [
        ("retry", "checked"),
        ("A#1", "bad"),
        ("A#2", "good"),
    ]


def test_callbacks_edit_a_copy_of_the_request() -> None:
    def before(context: CallbackContext, request: LlmRequest) -> None:
        request.append_instructions(["Be brief."])
        request.contents.append(Content.user("extra"))

    def after(context: CallbackContext, response: LlmResponse) -> str:
        assert response.content is not None
        return response.content.text.upper()

    root = LlmAgent(name="A", instruction="a", before_model_callback=before, after_model_callback=after, output_key="k")
    run = Runner(root, model=ScriptedModel({"A": ["quiet"]})).run("hi")
    assert system(run, "A") == 'a\n\nYou are an agent. Your internal name is "A".\n\nBe brief.'
    assert [content.text for content in run.step("A").requests[0].sent.contents] == ["hi", "extra"]
    assert run.session.state == {"k": "QUIET"}
    assert [event.text for event in run.session.history] == ["hi", "QUIET"]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: LlmAgent(name="A", output_keys="k"), SpecError, "LlmAgent 'A': there is no field 'output_keys'. Did you mean 'output_key'"),  # type: ignore[call-arg]
        (lambda: LlmAgent(instruction="x"), SpecError, "LlmAgent: the field 'name' is missing"),  # type: ignore[call-arg]
        (lambda: Runner(LlmAgent(name="")), AgentNameError, "an agent needs a name"),
        (lambda: LlmAgent(name="A", output_key=""), SpecError, "output_key: output_key is empty; name a key, or leave it out"),
        (lambda: LoopAgent(name="l", max_iterations=-1), SpecError, "max_iterations: max_iterations must be 0 or more"),
        (lambda: SequentialAgent(name="p", sub_agents=["A"]), SpecError, "sub_agents: a sub-agent must be an agent, not 'A'"),  # type: ignore[list-item]
        (lambda: LlmAgent(name="A", include_contents="all"), SpecError, "include_contents: Input should be 'default' or 'none'"),  # type: ignore[arg-type]
        (lambda: Runner(LlmAgent(name="user")), AgentNameError, "an agent may not be named 'user'"),
        (lambda: Runner(LlmAgent(name="a--b")), AgentNameError, "agent 'a--b': ADK Java allows letters and digits"),
        (
            lambda: Runner(SequentialAgent(name="p", sub_agents=[LlmAgent(name="A"), LlmAgent(name="A")])),
            AgentNameError, "agent 'p' has two sub-agents named 'A'. Rename one.",
        ),
        (lambda: Runner(LlmAgent(name="A"), rules="jav"), SpecError, "there is no rule set 'jav'. Did you mean 'java'?"),
        (lambda: Runner(LlmAgent(name="A"), strategy="non"), SpecError, "there is no context strategy 'non'. Did you mean 'none'?"),
        (lambda: Runner(LlmAgent(name="A"), models={"B": "echo"}), SpecError, "models names the agent 'B', which is not in 'A'. There is: 'A'."),
        (lambda: Runner(LlmAgent(name="A")).run("hi"), ModelError, "agent 'A' has no model."),
        (lambda: Runner(LlmAgent(name="A"), model="echo").run("hi", state={"k": None}), StateValueError, "state key 'k': ADK Java's state cannot hold null"),
        (lambda: Runner(LlmAgent(name="A"), model="echo").run("hi", state={"k": {1, 2}}), StateValueError, "state key 'k': a set cannot be stored"),
        (lambda: Runner(LlmAgent(name="A"), model="echo").run(3), SpecError, "a message is text, a Content or FunctionResponses, not 3"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_mistakes_say_what_where_and_how(make: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)


def test_the_failed_run_is_on_the_error() -> None:
    root = SequentialAgent(
        name="p", sub_agents=[LlmAgent(name="A", output_key="a"), LlmAgent(name="B", instruction="{oops}")]
    )
    with pytest.raises(MissingKeyError) as caught:
        Runner(root, model=ScriptedModel({"A": ["a1"]})).run("hi")
    assert str(caught.value) == (
        "agent 'B': the instruction needs the state key 'oops', which nobody wrote. There is: 'a'. Write it in an earlier "
        "step (output_key='oops'), start with it (state={'oops': …}), or make it optional: {oops?}"
    )
    run = caught.value.run
    assert run is not None
    assert (run.status, run.error, caught.value.agent) == ("failed", caught.value, "B")
    assert (caught.value.adk_type, caught.value.adk_message) == (
        "IllegalArgumentException", "Context variable not found: `oops`.",
    )  # fmt: skip
    assert run.session.state == {"a": "a1"}
    assert [event.author for event in run.session.events] == ["user", "A"]


async def test_stream_yields_events_as_they_come() -> None:
    runner = Runner(LlmAgent(name="A", output_key="k"), model=ScriptedModel({"A": ["a1"]}))
    seen: list[tuple[Event, dict[str, Any]]] = []
    async for event in runner.stream("hi"):
        seen.append((event, dict(last(runner).session.state)))
    assert [(event.text, state) for event, state in seen] == [("a1", {"k": "a1"})]


async def test_run_works_inside_a_running_loop() -> None:
    assert Runner(LlmAgent(name="A"), model="echo").run("hello").output == "hello"


def test_a_message_that_the_store_refuses_is_no_turn() -> None:
    class Full(InMemorySessionService):
        async def append_event(self, session: Session, event: Event) -> Event:
            if event.text == "too much":
                raise OSError("no space left")
            return await super().append_event(session, event)

    runner = Runner(LlmAgent(name="A"), model="echo", session_service=Full())
    session = runner.run("one", session="s").session
    with pytest.raises(OSError, match="no space left"):
        runner.run("too much", session=session)
    again = runner.run("two", session=session)
    assert session.turns[1:] == [again]
    assert [event.text for event in session.history] == ["one", "one", "two", "two"]


def test_a_store_of_ones_own_may_keep_copies_of_the_events() -> None:
    class Copying(InMemorySessionService):
        async def append_event(self, session: Session, event: Event) -> Event:
            await super().append_event(session, replace(event))
            return event

    run = Runner(LlmAgent(name="A"), model="echo", session_service=Copying()).run("hi", session="s")
    assert [event.text for event in run.turn_events] == ["hi", "hi"]


def test_an_agent_of_ones_own_that_yields_nothing_is_refused_where_it_is_written() -> None:
    with pytest.raises(SpecError, match=r"Silent\._run_async_impl has no `yield`"):

        class Silent(BaseAgent):
            async def _run_async_impl(self, ctx: Any) -> None:  # type: ignore[override]
                pass


def test_state_that_is_only_read_refuses_a_write() -> None:
    def writes(ctx: CallbackContext) -> str:
        ctx.state["k"] = "v"
        return "never"

    def deletes(ctx: CallbackContext) -> str:
        del ctx.state["there"]
        return "never"

    for instruction, key in ((writes, "k"), (deletes, "there")):
        with pytest.raises(StateValueError, match=f"state key '{key}' cannot be written here"):
            Runner(LlmAgent(name="A", instruction=instruction), model="echo").run("hi", state={"there": 1})


async def test_a_session_takes_one_run_at_a_time() -> None:
    async def slow() -> dict[str, Any]:
        """Wait."""
        await release.wait()
        return {}

    release = asyncio.Event()
    runner = Runner(LlmAgent(name="A", tools=[slow]), model=ScriptedModel({"A": [call("slow"), "done", "more"]}))
    first = asyncio.ensure_future(runner.run_async("one", session="s"))
    while runner.last_run is None:
        await asyncio.sleep(0)
    with pytest.raises(RunStateError, match=r"session 's' has a run under way \(\w+\)\. Wait for it"):
        await runner.run_async("two", session="s")
    release.set()
    run = await first
    assert [event.text for event in run.session.history if event.text] == ["one", "done"]
    second = await runner.run_async("two", session="s")
    assert [event.text for event in second.past if event.text] == ["one", "done"]


async def test_a_stream_left_early_makes_way_for_the_next_turn() -> None:
    runner = Runner(LlmAgent(name="A"), model=ScriptedModel({"A": ["a1", "a2"]}))
    async for _ in runner.stream("one", session="s"):
        break
    run = await runner.run_async("two", session="s")
    assert [(turn.status, turn.output) for turn in run.session.turns] == [("interrupted", "a1"), ("completed", "a2")]


def test_what_is_changed_in_place_leaves_events_and_snapshots_as_they_were() -> None:
    def add(context: CallbackContext) -> None:
        context.state.setdefault("items", []).append("b")

    agent = LlmAgent(name="A", instruction="{items}", before_agent_callback=add, output_key="k")
    runner = Runner(agent, model=ScriptedModel({"A": ["a", "a"]}))
    run = runner.run("hi", state={"items": ["a"]})
    assert run.start_state == {"items": ["a"]}
    assert system(run, "A").startswith("[a, b]\n")
    again = runner.rerun(run)
    assert system(again, "A").startswith("[a, b]\n")


def test_a_reply_that_spells_the_removed_mark_is_a_value() -> None:
    run = Runner(LlmAgent(name="A", output_key="k"), model=ScriptedModel({"A": ["__ADK_SENTINEL_REMOVED__"]})).run("hi")
    assert run.session.state == {"k": "__ADK_SENTINEL_REMOVED__"}


def test_showing_a_run_is_no_part_of_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def answer(request: LlmRequest) -> str:
        now[0] += 2
        return "a"

    def watch(run: Run) -> None:
        now[0] += 100

    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    run = Runner(LlmAgent(name="A"), model=ScriptedModel(answer), observer=watch).run("hi")
    assert (run.ms, run.step("A").ms, run.step("A").requests[0].ms) == (2000.0, 2000.0, 2000.0)
