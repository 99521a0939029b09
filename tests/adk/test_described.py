"""adknb's agents as google-adk's: callbacks, tools and instruction functions that are written for adknb."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")

from hypothesis import example, given, strategies as st

from adknb import Content, LlmAgent, LoopAgent, NotSupported, Runner, ScriptedModel, SequentialAgent
from adknb.core.content import FunctionCall, Part
from adknb.core.errors import AgentError, AgentNameError, StateValueError
from adknb.core.events import Event
from adknb.core.specs import BaseAgent, GenerateContentConfig
from adknb.core.tools import FunctionTool, LongRunningFunctionTool
from adknb.rules.base import Placeholder
from adknb.rules.python import PythonRules
from adknb.runtime.callbacks import CallbackContext, ToolContext


def call(name: str, **arguments: Any) -> list[Part]:
    return [Part(function_call=FunctionCall(name, arguments))]


def run(agent: BaseAgent, replies: Any, **options: Any) -> Any:
    return Runner(agent, model=ScriptedModel(replies), rules="python").run("hi", **options)


def test_agent_callbacks_and_an_instruction_function() -> None:
    def before(context: CallbackContext) -> None:
        context.state["list"] = [1, {"a": context.agent_name}]
        context.state.update(message=context.user_content.text)

    async def after(context: CallbackContext) -> str:
        return f"after {context.state['out']['a']}{context.text_of(None)}"

    def instruct(context: Any) -> str:
        return f"As it is {{x}}: {sorted(context.state)}"

    agent = LlmAgent(
        name="A",
        instruction=instruct,
        output_key="out",
        before_agent_callback=before,
        after_agent_callback=after,
        generate_content_config=GenerateContentConfig(temperature=0.5, seed=7, stop_sequences=("x",)),
        output_schema={"type": "object", "properties": {"a": {"type": "string"}}},
    )
    done = run(agent, {"A": ['{"a": "b"}']}, state={"user:u": 1})
    sent = done.step("A").requests[0].sent
    assert (
        sent.system[0].text
        == "As it is {x}: ['list', 'message', 'user:u']\n\nYou are an agent. Your internal name is \"A\"."
    )
    assert sent.config == {
        "temperature": 0.5,
        "seed": 7,
        "stop_sequences": ["x"],
        "response_mime_type": "application/json",
        "response_schema": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
    }
    assert [event.text for event in done.turn_events] == ["hi", "", '{"a": "b"}', "after b"]
    assert done.error is None


def test_model_callbacks_edit_requests_and_answer() -> None:
    def before(context: CallbackContext, request: Any) -> Content | None:
        if context.state.get("asked"):
            return Content.model("no need")
        context.state["asked"] = True
        request.append_instructions(["Be brief."])
        request.contents = [*request.contents, Content.user("and?")]
        request.config["temperature"] = 0.1
        return None

    def after(context: CallbackContext, response: Any) -> str:
        return str(response.content.text).upper()

    agent = LlmAgent(name="A", instruction="x", before_model_callback=before, after_model_callback=after)
    done = run(LoopAgent(name="L", sub_agents=[agent], max_iterations=2), {"A": ["yes"]})
    (request,) = done.step("A#1").requests
    assert [(segment.text, segment.origin) for segment in request.sent.system] == [
        ("x", "instruction"),
        ("\n\n", "separator"),
        ('You are an agent. Your internal name is "A".', "identity"),
        ("\n\n", "separator"),
        ("Be brief.", "callback"),
    ]
    assert [content.text for content in request.sent.contents] == ["hi", "and?"]
    assert request.sent.config == {"temperature": 0.1}
    assert [source and source.author for source in request.sent.sources] == ["user", None]
    assert [event.text for event in done.turn_events] == ["hi", "YES", "no need"]
    assert done.step("A#2").requests == []


def test_tools_and_their_callbacks() -> None:
    seen: list[Any] = []

    async def find(city: str, days: int, where: ToolContext) -> str:
        """Never shown."""
        where.state["city"] = city
        await where.save_artifact("f", Part.from_text("kept"))
        seen.append((city, days, await where.list_artifacts(), (await where.load_artifact("f")).text))  # type: ignore[union-attr]
        return "sunny"

    def ask(question: str) -> None:
        """Ask a person."""

    def before(tool: FunctionTool, args: dict[str, Any], context: ToolContext) -> None:
        seen.append((tool.name, tool.description, context.function_call_id is not None))

    def after(tool: FunctionTool, args: dict[str, Any], context: ToolContext, answer: Any) -> dict[str, Any]:
        return {"said": answer}

    tools = [FunctionTool(find, name="weather", description="The weather."), LongRunningFunctionTool(ask)]
    agent = LlmAgent(
        name="A", instruction="{artifact.f?}", tools=tools, before_tool_callback=before, after_tool_callback=after
    )
    done = run(agent, {"A": [call("weather", city="Bern", days=2), "warm"]})
    assert seen == [("weather", "The weather.", True), ("Bern", 2, ["f"], "kept")]
    declared = done.step("A").requests[0].sent.tools
    assert list(declared) == ["weather", "ask"]
    assert declared["weather"]["description"] == "The weather."
    schema = declared["weather"].get("parametersJsonSchema") or declared["weather"]["parameters"]
    assert sorted(schema["properties"]) == ["city", "days"]
    answers = [response.response for event in done.turn_events for response in event.function_responses]
    assert answers == [{"said": "sunny"}]
    assert done.session.state == {"city": "Bern"}
    assert done.step("A").requests[1].sent.system[0].text.startswith("kept")


def test_a_later_turn_finds_history_state_and_artifacts() -> None:
    agents = [LlmAgent(name="A", instruction="{user:n?}", output_key="user:n"), LlmAgent(name="B", instruction="b")]
    runner = Runner(
        SequentialAgent(name="S", sub_agents=agents),
        rules="python",
        model=ScriptedModel({"A": ["1", "2"], "B": ["x", "y"]}),
    )
    first = runner.run("hi", session="s")
    second = runner.run("again", session=first.session)
    sent = second.step("A").requests[0].sent
    assert sent.system[0] == ("1", "state", "user:n")
    assert [source and (source.author, source.text) for source in sent.sources] == [
        ("user", "hi"), ("A", "1"), ("B", "x"), ("user", "again")
    ]  # fmt: skip
    assert [event.text for event in second.session.history] == ["hi", "1", "x", "again", "2", "y"]
    other = runner.rerun(second, "instead")
    assert [event.text for event in other.session.history] == ["hi", "1", "x", "instead", "2", "y"]


def test_equal_messages_come_from_an_event_each() -> None:
    loop = LoopAgent(name="L", sub_agents=[LlmAgent(name="A", instruction="x")], max_iterations=3)
    done = run(loop, {"A": ["ok", "ok", "ok"]})
    assert done.step("A#3").requests[0].sent.sources == done.turn_events[:3]


def test_a_strategy_for_one_agent() -> None:
    agents = [LlmAgent(name=name, instruction=name) for name in ("A", "B", "C")]
    replies = ScriptedModel(lambda request: request.agent)
    root = SequentialAgent(name="S", sub_agents=agents)
    done = Runner(root, rules="python", model=replies, strategy={"C": "none"}).run("hi")
    counts = {step.name: len(step.requests[0].sent.contents) for step in done.step_runs}
    assert counts == {"A": 1, "B": 2, "C": 1}
    assert done.strategy == "C=none"


def edits_tools(context: CallbackContext, request: Any) -> None:
    request.tools["more"] = {}


def deletes(context: CallbackContext) -> None:
    context.state["a"] = 1
    del context.state["a"]


class Custom(BaseAgent):
    async def _run_async_impl(self, ctx: Any) -> Any:
        yield Event("Custom")


def test_what_a_callback_raises_names_the_agent() -> None:
    def breaks(context: CallbackContext) -> None:
        raise ValueError("no")

    with pytest.raises(AgentError, match="agent 'A': before_agent_callback breaks raised ValueError: no"):
        run(LlmAgent(name="A", before_agent_callback=breaks), {"A": ["x"]})


@pytest.mark.parametrize(
    ("agent", "error", "message"),
    [
        (Custom(name="Mine"), NotSupported, r"agent 'Mine' is a custom agent of adknb \(Custom\)"),
        (LlmAgent(name="A", before_model_callback=edits_tools), NotSupported, "changed the request's tools"),
        (LlmAgent(name="A", before_agent_callback=deletes), StateValueError, "state key 'a' cannot be deleted"),
        (LlmAgent(name="a-b"), AgentNameError, "agent 'a-b': ADK Python allows identifiers only"),
        (LlmAgent(name="user"), AgentNameError, "may not be named 'user'"),
    ],
)
def test_what_google_adk_cannot_say(agent: BaseAgent, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run(agent, {"A": ["x"]})


def test_a_graph_is_no_agent() -> None:
    from google.adk.workflow import Workflow

    with pytest.raises(NotSupported, match="Workflow 'w' is a graph of google-adk and no agent"):
        Runner(Workflow(name="w"), model="echo")


@example("${a} \\{a} {{a}} {a?} $${a}")
@given(st.text(st.sampled_from("{}$\\ a?:1é"), max_size=12) | st.text(max_size=20))
async def test_placeholders_are_read_as_google_adk_reads_them(text: str) -> None:
    from google.adk.flows.llm_flows.prompt import inject_session_state

    names = [piece for piece in PythonRules().parse(text) if isinstance(piece, Placeholder)]
    state = {piece.name: f"<{piece.name}>" for piece in names if not piece.artifact}

    class Context:
        agent_name = "A"

        class _invocation_context:
            artifact_service = None

            class session:
                pass

    Context._invocation_context.session.state = state  # type: ignore[attr-defined]
    if any(piece.artifact for piece in names):
        return
    ours = "".join(piece if isinstance(piece, str) else state[piece.name] for piece in PythonRules().parse(text))
    assert await inject_session_state(text, Context()) == ours
