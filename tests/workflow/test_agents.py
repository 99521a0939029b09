"""Agents as steps: one session for the run, a Run for each attempt, history fresh or shared, tokens."""

from __future__ import annotations

from typing import Any

import pytest

from adknb.core.content import Content, FunctionCall, Part
from adknb.core.errors import ModelError, RunStateError, SpecError
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.run import Run
from adknb.core.specs import LlmAgent, SequentialAgent
from adknb.core.usage import Usage
from adknb.models.scripted import ScriptedModel
from adknb.runtime.callbacks import CallbackContext, ToolContext
from adknb.sessions.memory import InMemorySessionService
from adknb.workflow.budget import TokenBudget
from adknb.workflow.cache import ResultCache
from adknb.workflow.errors import AdapterError, StepFailedError
from adknb.workflow.middleware import CallNext, StepReply, StepRequest
from adknb.workflow.retry import RetryPolicy
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow
from tests.workflow.flows import Time, adds, told, workflow

pytestmark = pytest.mark.anyio

TWICE = RetryPolicy(max_attempts=2, backoff=lambda attempt: 0.0)


def steps(*names: str, **policies: Any) -> list[Step]:
    return [Step(name=name, agent=LlmAgent(name=name, output_key=f"{name}_key"), **policies) for name in names]


def contents(run: Run, agent: str) -> list[str]:
    return [content.text for content in run.step(agent).requests[0].sent.contents]


def reply(text: str, tokens: int) -> LlmResponse:
    return LlmResponse(Content.model(text), Usage(tokens - 1, 1))


@pytest.mark.parametrize("rules", ["java", "go", "js"])
async def test_history_starts_fresh_at_each_step(rules: str) -> None:
    flow = SequentialWorkflow(steps("a", "b"), model=ScriptedModel({"a": ["one"], "b": ["two"]}), rules=rules)
    result = await flow.execute("in")
    assert contents(result.run_of("b"), "b") == ["one"]
    assert result.output == "two"


async def test_history_can_be_shared() -> None:
    flow = SequentialWorkflow(steps("a", "b"), model=ScriptedModel({"a": ["one"], "b": ["two"]}), share_history=True)
    assert contents((await flow.execute("in")).run_of("b"), "b") == ["in", "For context:[a] said: one", "one"]


async def test_the_session_holds_a_turn_for_each_step_that_looks_like_any_other() -> None:
    service = InMemorySessionService()
    flow = SequentialWorkflow(
        steps("a", "b"), model=ScriptedModel({"a": ["one"], "b": ["two"]}), session_service=service, app_name="news"
    )
    result = await flow.execute("in", user_id="ann", run_id="run-1")
    session = await service.get_session(app_name="news", user_id="ann", session_id="run-1")
    assert session is result.session
    assert [run.id for run in session.turns] == [result.run_of("a").id, result.run_of("b").id]
    assert [(event.author, event.text, event.actions.state_delta) for event in session.events] == [
        ("user", "in", {}), ("a", "one", {"a_key": "one"}), ("a", "", {"a_output": "one"}),
        ("user", "one", {}), ("b", "two", {"b_key": "two"}), ("b", "", {"b_output": "two"}),
    ]  # fmt: skip
    assert session.history == session.events
    second = session.turns[1]
    assert (second.turn, second.start, second.session, second.previous) == (1, 3, session, session.chain[0])
    assert second.turn_events == session.events[3:]
    assert second.start_state == {"a_key": "one", "a_output": "one"}
    assert session.under_way is None


async def test_a_function_leaves_an_event_in_the_session_that_later_agents_see_if_history_is_shared() -> None:
    flow = SequentialWorkflow(
        [*steps("a"), Step(name="fact-check", agent=adds("!")), *steps("b")],
        model=ScriptedModel({"a": ["one"], "b": ["two"]}), share_history=True,
    )  # fmt: skip
    result = await flow.execute("in")
    assert [run.root.name for run in result.session.turns] == ["a", "b"]
    assert result.run_of("fact-check").output == "one!"
    assert contents(result.run_of("b"), "b") == [
        "in", "For context:[a] said: one", "For context:[fact_check] said: one!", "one!",
    ]  # fmt: skip


async def test_a_failed_attempt_leaves_its_run_but_no_trace_in_the_session() -> None:
    def writes(context: CallbackContext) -> None:
        context.state["user:tier"] = "gold"
        context.state["count"] = context.state.get("count", 0) + 1

    agent = LlmAgent(name="a", before_agent_callback=writes)
    flow = SequentialWorkflow(
        [Step(name="a", agent=agent, retry_policy=TWICE)], model=ScriptedModel([ConnectionError("refused"), "yes"])
    )
    result = await flow.execute("in")
    assert [run.status for run in result.runs["a"]] == ["failed", "completed"]
    assert [run.start_state for run in result.runs["a"]] == [{}, {}]
    assert result.session.state == {"count": 1, "user:tier": "gold", "a_output": "yes"}
    assert result.session.scopes.user == {"tier": "gold"}
    assert len(result.session.turns) == 1


async def test_what_failed_attempts_asked_counts_for_later_replies_of_a_scripted_model() -> None:
    agent = LlmAgent(name="a")
    flow = SequentialWorkflow(
        [Step(name="first", agent=agent, retry_policy=TWICE), Step(name="second", agent=agent)],
        model=ScriptedModel([ConnectionError("refused"), "one", "two"]),
    )
    result = await flow.execute("in")
    assert result.output == "two"
    assert result.session.turns[1].asked == {"a": 2}


async def test_failed_attempts_of_a_later_step_count_too() -> None:
    agent = LlmAgent(name="a")
    down = ConnectionError("refused")
    three = RetryPolicy(max_attempts=3, backoff=lambda attempt: 0.0)
    flow = SequentialWorkflow(
        [Step(name="first", agent=agent), Step(name="second", agent=agent, retry_policy=three), Step(name="third", agent=agent)],
        model=ScriptedModel(["one", down, down, "two", "three"]),
    )  # fmt: skip
    result = await flow.execute("in")
    assert [outcome.payload for outcome in result.outcomes] == ["one", "two", "three"]
    assert [run.asked for run in result.session.turns] == [{}, {"a": 3}, {"a": 4}]


async def test_temp_keys_end_with_their_step() -> None:
    def writes(context: CallbackContext) -> None:
        context.state["temp:x"] = 1

    flow = SequentialWorkflow(
        [Step(name="a", agent=LlmAgent(name="a", before_agent_callback=writes))], model=ScriptedModel(["one"])
    )
    assert (await flow.execute("in")).session.state == {"a_output": "one"}


async def test_a_step_may_be_a_whole_pipeline() -> None:
    inner = SequentialAgent(name="inner", sub_agents=[LlmAgent(name="x"), LlmAgent(name="y", instruction="{a_output}")])
    flow = SequentialWorkflow(
        [Step(name="a", agent=adds("!")), Step(name="b", agent=inner)], model=ScriptedModel({"x": ["1"], "y": ["2"]})
    )
    result = await flow.execute("in")
    assert result.output == "2"
    assert [step.name for step in result.run_of("b").step_runs] == ["x", "y"]


async def test_a_step_s_model_answers_instead_of_the_agents_own() -> None:
    own, small = ScriptedModel(["own"], name="own"), ScriptedModel(["not asked", "small"], name="small")
    agent = LlmAgent(name="a", model=own)
    flow = SequentialWorkflow([Step(name="a", agent=agent), Step(name="b", agent=agent, model=small)])
    result = await flow.execute("in")
    assert (result.data.context["a_output"], result.data.context["b_output"]) == ("own", "small")


async def test_a_call_that_an_adk_made_an_event_of_has_failed() -> None:
    silent = LlmResponse(error_code="SAFETY", error_message="blocked")
    with pytest.raises(StepFailedError, match="the step ended with SAFETY: blocked") as caught:
        await SequentialWorkflow(steps("a"), model=ScriptedModel([silent])).execute("in")
    assert isinstance(caught.value.__cause__, ModelError)


async def test_no_run_is_known_of_a_step_that_was_not_asked() -> None:
    flow = workflow(Step(name="a", agent=adds("a")), Step(name="b", agent=adds("b"), condition=lambda data: False))
    result = await flow.execute("in")
    with pytest.raises(RunStateError, match=r"step 'b' asked nothing in workflow run .*: it was skipped, resumed"):
        result.run_of("b")
    with pytest.raises(RunStateError, match=r"did not get past a step 'x'\. There are: 'a', 'b'\."):
        result.outcome_of("x")


async def test_a_model_that_is_not_there_is_said_before_anything_is_asked() -> None:
    first = adds("a")
    flow = workflow(Step(name="a", agent=first), Step(name="b", agent=LlmAgent(name="b")))
    with pytest.raises(ModelError, match="agent 'b' has no model"):
        await flow.execute("in")
    assert first.seen == []


def test_what_is_no_agent_is_said_before_the_run() -> None:
    class Odd:
        name = "odd"

    with pytest.raises(SpecError, match="step 'a': an agent or a function is needed"):
        SequentialWorkflow([Step(name="a", agent=Odd())]).plan()


# tokens


async def test_tokens_are_those_reported_of_failed_attempts_too() -> None:
    flow = SequentialWorkflow(
        steps(
            "a",
            "b",
            output_adapter=_Picky(),
            retry_policy=RetryPolicy(2, backoff=lambda attempt: 0.0, retry_on=AdapterError),
        ),
        model=ScriptedModel({"a": [reply("bad", 100), reply("one", 20)], "b": [reply("two", 3)]}),
        sleep=Time().sleep,
    )
    result = await flow.execute("in")
    assert (result.token_used, [outcome.tokens for outcome in result.outcomes]) == (123, [120, 3])
    assert [event.tokens for event in result.events if event.step_name] == [0, 100, 0, 20, 0, 3]
    assert result.metadata.token_used == 3


class _Picky:
    def convert(self, data: Any) -> Any:
        if data == "bad":
            raise ValueError("bad")
        return data

    def validate(self, data: Any) -> None:
        return None


async def test_tokens_are_counted_where_the_model_reports_none() -> None:
    result = await SequentialWorkflow(steps("a"), model=ScriptedModel(["hello there"])).execute("in")
    sent = result.run_of("a").step("a").requests[0].sent
    assert sent.system_instruction == 'You are an agent. Your internal name is "a".'
    assert result.token_used == 12 + 1 + 2


async def test_a_call_is_refused_before_it_is_made_when_its_prompt_does_not_fit() -> None:
    model = ScriptedModel({"a": [reply("one", 95)], "b": ["never"]})
    with pytest.raises(
        StepFailedError, match="its prompt has 13 tokens, and 5 are left of the budget of 100"
    ) as caught:
        await SequentialWorkflow(steps("a", "b"), model=model, token_budget=100).execute("in")
    result = caught.value.result
    assert result is not None
    assert (result.token_used, result.limit) == (95, 100)
    assert told(result)[2:] == ["b started 1", "b budget 1", "b failed 1"]
    assert result.run_of("b").step("b").requests[0].reply is None


async def test_a_refused_call_falls_back_and_is_not_tried_again() -> None:
    flow = SequentialWorkflow(
        steps("a", on_error="fallback", fallback=adds("!"), retry_policy=TWICE),
        model=ScriptedModel(["x"]),
        token_budget=5,
    )
    result = await flow.execute("in")
    assert (result.output, result.outcomes[0].attempts, result.token_used) == ("in!", 1, 0)


async def test_a_budget_object_is_shared_by_runs_and_a_number_is_each_run_s() -> None:
    shared = TokenBudget(50)
    flow = SequentialWorkflow(steps("a"), model=ScriptedModel([reply("one", 30)]), token_budget=shared)
    await flow.execute("in")
    await flow.execute("in")
    assert shared.used == 60
    with pytest.raises(StepFailedError):
        await flow.execute("in")
    own = SequentialWorkflow(steps("a"), model=ScriptedModel([reply("one", 30)]), token_budget=50)
    assert [(await own.execute("in")).token_used for _ in range(3)] == [30, 30, 30]


# the cache


async def test_an_answer_that_is_kept_is_not_asked_for_again() -> None:
    calls: list[LlmRequest] = []

    def answer(request: LlmRequest) -> LlmResponse:
        calls.append(request)
        return reply(f"reply {len(calls)}", 50)

    with ResultCache() as cache:
        flow = SequentialWorkflow(steps("a", cache=cache), model=ScriptedModel(answer))
        first, second, other = [await flow.execute(payload) for payload in ("in", "in", "else")]
    assert [result.output for result in (first, second, other)] == ["reply 1", "reply 1", "reply 2"]
    assert [result.token_used for result in (first, second, other)] == [50, 0, 50]
    assert [result.outcomes[0].cached for result in (first, second, other)] == [False, True, False]
    assert told(second) == ["a started 1", "a cache_hit 1"]
    assert second.session.state == first.session.state


async def test_an_edited_prompt_another_state_and_another_model_get_no_old_answer() -> None:
    with ResultCache() as cache:

        async def ask(instruction: str, tone: str, model: str) -> str:
            agent = LlmAgent(name="a", instruction=instruction)
            flow = SequentialWorkflow(
                [Step(name="a", agent=agent, cache=cache)],
                model=ScriptedModel([f"{instruction} {tone} {model}"], name=model),
            )
            return str((await flow.execute("in", {"tone": tone})).output)

        answers = [
            await ask(*asked)
            for asked in [
                ("v1 {tone}", "x", "m"),
                ("v2 {tone}", "x", "m"),
                ("v1 {tone}", "y", "m"),
                ("v1 {tone}", "x", "n"),
            ]
        ]
        assert answers == ["v1 {tone} x m", "v2 {tone} x m", "v1 {tone} y m", "v1 {tone} x n"]
        assert (cache.hits, cache.misses) == (0, 4)


async def test_tools_run_although_the_replies_are_kept() -> None:
    ran: list[str] = []

    def look_up(topic: str, tool_context: ToolContext) -> str:
        """Look something up."""
        ran.append(topic)
        tool_context.state["found"] = topic
        return f"about {topic}"

    call = [Part(function_call=FunctionCall("look_up", {"topic": "bees"}))]
    with ResultCache() as cache:
        agent = LlmAgent(name="a", tools=[look_up])
        flow = SequentialWorkflow([Step(name="a", agent=agent, cache=cache)], model=ScriptedModel([call, "done"]))
        first, second = await flow.execute("in"), await flow.execute("in")
    assert (first.output, second.output, ran) == ("done", "done", ["bees", "bees"])
    assert (second.outcomes[0].cached, second.session.state["found"]) == (True, "bees")


async def test_errors_and_failed_replies_are_not_kept() -> None:
    with ResultCache() as cache:
        silent = LlmResponse(error_code="SAFETY", error_message="blocked")
        flow = SequentialWorkflow(steps("a", cache=cache, on_error="skip"), model=ScriptedModel(lambda request: silent))
        await flow.execute("in")
        function = adds("a", ValueError("odd"))
        await workflow(Step(name="b", agent=function, cache=cache, on_error="skip")).execute("in")
        assert len(cache) == 0


# middleware


async def test_middleware_is_around_every_attempt_and_may_answer_itself() -> None:
    seen: list[tuple[str, int, Any]] = []

    async def shout(request: StepRequest, call_next: CallNext) -> StepReply:
        seen.append((request.step_name, request.attempt, request.data.payload))
        if request.step_name == "b":
            return StepReply("instead", {"why": "b"}, tokens=7)
        reply = await call_next(request.with_payload(request.data.payload.upper()))
        return reply.with_payload(f"{reply.payload}?")

    function = adds("!", ConnectionError("x"))
    flow = workflow(
        Step(name="a", agent=function, retry_policy=TWICE), Step(name="b", agent=adds("b")), middleware=[shout]
    )
    result = await flow.execute("in")
    assert seen == [("a", 1, "in"), ("a", 2, "in"), ("b", 1, "IN!?")]
    assert function.seen == ["IN", "IN"]
    assert (result.output, result.data.context["a_output"], result.data.context["why"]) == ("instead", "IN!?", "b")
    assert result.session.events[-1].text == "instead"
    assert [outcome.metadata.token_used for outcome in result.outcomes] == [0, 7]


async def test_a_request_s_key_stands_for_prompt_payload_and_state() -> None:
    keys: list[str | None] = []

    async def note(request: StepRequest, call_next: CallNext) -> StepReply:
        keys.append(request.key)
        return await call_next(request)

    async def ask(payload: str, tone: str, instruction: str) -> None:
        agent = LlmAgent(name="a", instruction=instruction)
        flow = SequentialWorkflow([Step(name="a", agent=agent)], model=ScriptedModel(["x"]), middleware=[note])
        await flow.execute(payload, {"tone": tone})

    for asked in [("in", "x", "i"), ("in", "x", "i"), ("on", "x", "i"), ("in", "y", "i"), ("in", "x", "j")]:
        await ask(*asked)
    assert keys[0] == keys[1]
    assert len(set(keys)) == 4
