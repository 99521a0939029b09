"""A user's own agents of google-adk: tools, callbacks, plugins, transfer, agents of their own class, parts of runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")

from google.adk.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.apps import App
from google.adk.plugins import BasePlugin
from google.adk.tools import ToolContext
from google.adk.tools.agent_tool import AgentTool

import adknb
from adknb import NotSupported, Runner, ScriptedModel, SpecError, Variant, compare_variants
from adknb.core.content import FunctionCall, Part
from adknb.core.errors import LlmCallsLimitExceededError, MissingKeyError, ModelError
from adknb.core.requests import LlmResponse, Segment
from adknb.core.run import Run, RunConfig
from adknb.core.usage import Usage

pytestmark = [
    pytest.mark.filterwarnings("ignore:(Sequential|Parallel|Loop)Agent is deprecated"),
    pytest.mark.filterwarnings("ignore:The `plugins` argument is deprecated"),  # what google-adk's AgentTool does
]


def call(name: str, **arguments: Any) -> list[Part]:
    return [Part(function_call=FunctionCall(name, arguments))]


def look_up(order: str, tool_context: ToolContext) -> dict[str, str]:
    """Look an order up."""
    tool_context.state["order"] = order
    return {"status": "late"}


def note(callback_context: Any) -> None:
    callback_context.state["seen"] = True


def shape(run: Run) -> list[tuple[str, str, int, int, int, int]]:
    """Name, status, requests and events of each step, and where its events are."""
    return [
        (step.name, step.status, len(step.requests), len(step.events), step.start, step.stop) for step in run.step_runs
    ]


class Postscript(BasePlugin):  # type: ignore[misc,unused-ignore]
    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.append_instructions(["Be kind."])


def desk() -> LlmAgent:
    billing = LlmAgent(
        name="Billing", model="gemini-2.5-flash", instruction="Bill {order?}.", description="Bills.", output_key="bill"
    )
    expert = LlmAgent(name="Expert", instruction="Explain.", description="Explains.")
    return LlmAgent(
        name="Desk",
        model="gemini-2.5-flash",
        instruction="Help.",
        tools=[look_up, AgentTool(expert)],
        sub_agents=[billing],
        before_agent_callback=note,
    )


DESK_REPLIES: dict[str, list[Any]] = {
    "Desk": [
        call("look_up", order="7"),
        call("Expert", request="why?"),
        call("transfer_to_agent", agent_name="Billing"),
    ],
    "Expert": ["because"],
    "Billing": ["billed", "billed again"],
}


def test_tools_callbacks_plugins_and_transfer() -> None:
    own = desk()
    before = own.model_dump(exclude={"sub_agents", "tools", "parent_agent"})
    runner = Runner(App(name="shop", root_agent=own, plugins=[Postscript("ps")]), model=ScriptedModel(DESK_REPLIES))
    run = runner.run("hi")
    assert run.rules == "python"
    assert shape(run) == [
        ("Desk", "completed", 3, 7, 1, 8), ("Expert", "completed", 1, 0, 5, 5), ("Billing", "completed", 1, 1, 8, 9)
    ]  # fmt: skip
    assert run.session.state == {"seen": True, "order": "7", "bill": "billed"}
    assert run.output == "billed"
    sent = run.step("Billing").requests[0].sent
    assert sent.model == "gemini-2.5-flash"
    assert sent.system[:5] == [
        Segment("Bill ", "instruction"),
        Segment("7", "state", "order"),
        Segment(".", "instruction"),
        Segment("\n\n", "separator"),
        Segment(
            'You are an agent. Your internal name is "Billing". The description about you is "Bills.".', "identity"
        ),
    ]
    assert [segment.origin for segment in sent.system[5:]] == ["separator", "transfer", "separator", "callback"]
    assert sent.system[-1].text == "Be kind."
    first = run.step("Desk").requests[0].sent
    assert sorted(first.tools) == ["Expert", "look_up", "transfer_to_agent"]
    assert [source and source.author for source in sent.sources] == ["user"] + ["Desk"] * 6
    assert own.model_dump(exclude={"sub_agents", "tools", "parent_agent"}) == before
    assert own.sub_agents[0].model == "gemini-2.5-flash"
    again = runner.run("more", session=run.session)
    assert shape(again) == [("Billing", "completed", 1, 1, 1, 2)]
    assert again.output == "billed again"


class Story(BaseAgent):  # type: ignore[misc,unused-ignore]
    writer: LlmAgent
    critics: list[LlmAgent]

    async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Any]:
        for agent in (self.writer, *self.critics):
            async for event in agent.run_async(ctx):
                yield event


def test_an_agent_of_the_users_own_class_in_a_sequence_with_a_parallel() -> None:
    writer = LlmAgent(name="Writer", instruction="Write.", output_key="draft")
    critic = LlmAgent(name="Critic", instruction="Criticise {draft}.", output_key="verdict")
    story = Story(name="Story", writer=writer, critics=[critic], sub_agents=[writer, critic])
    both = ParallelAgent(
        name="Both", sub_agents=[LlmAgent(name=name, instruction=name, output_key=name) for name in ("A", "B")]
    )
    runner = Runner(
        SequentialAgent(name="root", sub_agents=[both, story]),
        model=ScriptedModel({"A": ["a"], "B": ["b"], "Writer": ["once"], "Critic": ["fine"]}),
    )
    run = runner.run("go")
    assert sorted((step.name, step.branch) for step in run.step_runs) == [
        ("A", "Both.A"), ("B", "Both.B"), ("Critic", None), ("Story", None), ("Writer", None)
    ]  # fmt: skip
    assert run.session.state == {"A": "a", "B": "b", "draft": "once", "verdict": "fine"}
    assert [(entry.path, entry.moment, len(entry.events)) for entry in run.journal] == [
        ("root/Both", "step", 2), ("root/Story", "step", 2)
    ]  # fmt: skip
    trial = runner.step(run, "Story", trial=True)
    assert trial.step("Critic").requests[0].sent.system == run.step("Critic").requests[0].sent.system
    assert len(run.session.history) == 5


def looped() -> SequentialAgent:
    loop = LoopAgent(
        name="Loop",
        sub_agents=[LlmAgent(name="C", instruction="Criticise {w}.", output_key="c")],
        max_iterations=2,
        before_agent_callback=note,
    )
    return SequentialAgent(name="root", sub_agents=[LlmAgent(name="W", instruction="Write.", output_key="w"), loop])


def test_step_by_step_is_as_at_once() -> None:
    runner = Runner(looped(), model=ScriptedModel({"W": ["w"], "C": ["c1", "c2"]}))
    whole = runner.run("go")
    stepped = runner.run("go", pause=True)
    names = []
    while stepped.status != "completed":
        stepped = runner.step(stepped)
        names.append([step.name for step in stepped.step_runs])
    assert names == [["W"], ["W", "C"], ["W", "C#1", "C#2"]]

    def said(run: Run) -> Any:
        sent = [
            (request.sent.system_instruction, request.sent.contents)
            for step in run.step_runs
            for request in step.requests
        ]
        events = [(event.author, event.text, event.actions.state_delta) for event in run.turn_events]
        return sent, events, run.session.state, [(entry.path, entry.moment) for entry in run.journal]

    assert said(stepped) == said(whole)
    rewound = runner.rewind(whole, "C#2")
    assert rewound.session.state == {"w": "w", "seen": True, "c": "c1"}
    assert said(runner.continue_run(rewound)) == said(whole)


def test_compared_run_and_paired() -> None:
    root = SequentialAgent(
        name="root",
        sub_agents=[
            LlmAgent(name="W", instruction="Write.", output_key="w"),
            LlmAgent(name="C", instruction="Criticise {w}."),
        ],
    )
    model = ScriptedModel(lambda request: str(request.system_instruction).split("\n")[0])
    variants = ["default", "none", Variant("new", prompts={"C": "Praise {w}."})]
    for kind in ("run", "paired"):
        comparison = compare_variants(root, ["go"], variants, model=model, kind=kind)
        answers = {record.variant: record.steps[-1].answer for record in comparison.records}
        assert answers == {"default": "Criticise Write..", "none": "Criticise Write..", "new": "Praise Write.."}
        tokens = {record.variant: record.steps[-1].input_tokens for record in comparison.records}
        assert tokens["none"] < tokens["default"]
    assert root.sub_agents[1].instruction == "Criticise {w}."


def test_a_model_object_of_the_user_answers_and_is_heard() -> None:
    from google.adk.models import BaseLlm, LlmRequest, LlmResponse as GoogleResponse
    from google.genai import types

    class Own(BaseLlm):  # type: ignore[misc,unused-ignore]
        async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[Any]:
            usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=9, candidates_token_count=2)
            content = types.Content(role="model", parts=[types.Part(text="mine")])
            yield GoogleResponse(content=content, usage_metadata=usage)

    agent = LlmAgent(name="A", model=Own(model="own-1"), instruction="x")
    run = Runner(agent, model="echo").run("hi")
    request = run.step("A").requests[0]
    assert (run.output, request.sent.model, request.usage) == ("mine", "own-1", Usage(9, 2))
    assert Runner(agent, models="echo").run("hi").output == "hi"


def test_limits_and_missing_keys_are_adknbs_errors() -> None:
    agent = LlmAgent(name="A", instruction="Use {nope}.")
    runner = Runner(agent, model="echo")
    with pytest.raises(MissingKeyError, match="'nope', which nobody wrote") as missing:
        runner.run("hi", state={"nop": 1})
    assert missing.value.adk_message == "\"Context variable not found: `nope` in agent 'A'.\""
    assert missing.value.run is runner.last_run
    assert runner.last_run is not None
    assert shape(runner.last_run) == [("A", "failed", 0, 1, 1, 2)]  # its one event says the error
    loop = LoopAgent(name="L", sub_agents=[LlmAgent(name="B", instruction="x")])
    with pytest.raises(LlmCallsLimitExceededError):
        Runner(loop, model="echo").run("hi", config=RunConfig(max_llm_calls=3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "go"}, "agent 'A' is google-adk's, so google-adk runs it; rules='go' takes agents of adknb."),
        ({"strategy": "state_only"}, "the context strategy 'state_only' chooses the contents itself"),
    ],
)
def test_what_cannot_be_is_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(NotSupported, match=message):
        Runner(LlmAgent(name="A", instruction="x"), model="echo", **options).run("hi")


def test_streamed_pieces_are_shown_and_not_stored() -> None:
    class Pieces:
        name = "pieces"

        async def generate_content_async(self, request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse]:
            from adknb import Content

            for text in ("a", "b") if stream else ():
                yield LlmResponse(Content.model(text), partial=True)
            yield LlmResponse(Content.model("ab"))

    seen: list[str] = []
    runner = Runner(
        LlmAgent(name="A", instruction="x"),
        model=Pieces(),
        observer=lambda run: seen.extend(step.partial for step in run.step_runs if step.partial),
    )
    run = runner.run("hi", config=RunConfig(streaming=True))
    assert [event.text for event in run.turn_events] == ["hi", "ab"]
    assert seen == ["a", "ab"]


def test_nothing_of_google_adk_is_loaded_before_it_is_needed() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from adknb import LlmAgent, Runner; Runner(LlmAgent(name='A', instruction='x'), model='echo').run('hi'); "
        "print([name for name in sys.modules if name.startswith('google.adk')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_runner_still_takes_agents_only() -> None:
    with pytest.raises(SpecError, match="a Runner takes an agent, not 3"):
        Runner(3)


def test_an_agent_of_adknb_needs_a_model() -> None:
    runner = Runner(adknb.LlmAgent(name="A", instruction="x"), rules="python")
    with pytest.raises(ModelError, match="agent 'A' has no model"):
        runner.run("hi")
