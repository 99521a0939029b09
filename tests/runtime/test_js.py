"""What runs differently under ADK JavaScript's rules, as its published SDK was seen to run, beside the recorded cases."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from adknb import (
    AgentError,
    CallbackContext,
    Content,
    LlmAgent,
    LlmRequest,
    LlmResponse,
    LongRunningFunctionTool,
    LoopAgent,
    Part,
    Run,
    RunConfig,
    Runner,
    ScriptedModel,
    SequentialAgent,
)
from adknb.core.content import Blob, FunctionCall
from adknb.core.errors import ReplyMissingError
from adknb.core.usage import Usage


class Replies:
    """Answers with these replies in turn; raises those that are errors."""

    name = "replies"

    def __init__(self, *replies: str | Content | LlmResponse | Exception) -> None:
        self.replies = list(replies)

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        content = Content.model(reply) if isinstance(reply, str) else reply
        yield content if isinstance(content, LlmResponse) else LlmResponse(content)


def calls(*names: str) -> Content:
    return Content("model", tuple(Part(function_call=FunctionCall(name, {})) for name in names))


def run(*agents: LlmAgent, **options: Any) -> Run:
    return Runner(SequentialAgent(name="p", sub_agents=agents), rules="js", **options).run("hi")


def said(run: Run) -> list[tuple[str, str | None, str | None, str | None]]:
    """Each event's author, text (or the tools it calls or answers), error code and message."""
    return [
        (
            event.author,
            None
            if event.content is None
            else event.text
            or ",".join(
                [*(call.name for call in event.function_calls), *(done.name for done in event.function_responses)]
            ),
            event.error_code,
            event.error_message,
        )
        for event in run.turn_events[1:]
    ]


def boom(*arguments: Any, **named: Any) -> None:
    """Fail."""
    raise ValueError("boom")


def look() -> dict[str, Any]:
    """Look something up."""
    return {"found": True}


@pytest.mark.parametrize("callback", ["before_model_callback", "after_model_callback"])
def test_a_callback_of_the_model_that_raises_leaves_an_event_and_the_sequence_goes_on(callback: str) -> None:
    made = run(
        LlmAgent(name="A", output_key="k", model=Replies("a")).model_copy(update={callback: boom}),
        LlmAgent(name="B", instruction="{k?}", model=Replies("b")),
    )
    assert said(made) == [("A", None, "UNKNOWN_ERROR", "boom"), ("B", "b", None, None)]
    assert made.status == "completed"
    assert made.step("A").notes[0].startswith("became an event: AgentError: agent 'A': ")


def test_a_callback_of_the_agent_that_raises_ends_the_run() -> None:
    with pytest.raises(AgentError):
        run(LlmAgent(name="A", instruction="go", model=Replies("a"), before_agent_callback=boom))


def test_after_a_tool_call_that_failed_the_model_is_asked_again() -> None:
    made = run(LlmAgent(name="A", tools=[look], before_tool_callback=boom, model=Replies(calls("look"), "a")))
    assert said(made) == [("A", "look", None, None), ("A", None, "UNKNOWN_ERROR", "boom"), ("A", "a", None, None)]
    assert [part.to_dict().keys() for part in made.step("A").requests[1].sent.contents[-1].parts] == [{"function_call"}]


def test_an_error_of_the_api_keeps_its_code() -> None:
    error = RuntimeError('{"error":{"code":429,"message":"slow down"}}')
    assert said(run(LlmAgent(name="A", model=Replies(error)))) == [("A", None, "429", "slow down")]


def test_a_reply_that_a_script_lacks_is_no_models_error() -> None:
    with pytest.raises(ReplyMissingError):
        run(LlmAgent(name="A"), model=ScriptedModel({"A": []}))


def test_a_long_running_tool_that_raises_leaves_its_call_open() -> None:
    tool = LongRunningFunctionTool(boom_without_arguments)
    made = run(LlmAgent(name="A", tools=[tool], model=Replies(calls("boom_without_arguments"))))
    assert said(made) == [("A", "boom_without_arguments", None, None)]


def boom_without_arguments() -> dict[str, Any]:
    """Fail."""
    raise ValueError("boom")


def test_an_after_tool_callback_does_not_replace_an_error() -> None:
    made = run(
        LlmAgent(
            name="A",
            tools=[boom_without_arguments],
            after_tool_callback=lambda tool, args, context, response: {"fine": True},
            model=Replies(calls("boom_without_arguments"), "a"),
        )
    )
    answer = made.turn_events[2].function_responses[0].response
    assert answer == {"error": "Error in tool 'boom_without_arguments': boom"}


def several() -> list[str]:
    """Several."""
    return ["1", "x"]


def one() -> str:
    """One."""
    return "s"


def nothing() -> None:
    """Nothing."""


def test_what_tools_return_as_an_object() -> None:
    model = Replies(calls("several", "one", "nothing"), "a")
    made = run(LlmAgent(name="A", tools=[several, one, nothing], model=model))
    assert [answer.response for answer in made.turn_events[2].function_responses] == [
        {"results": ["1", "x"]},
        {"result": "s"},
        {},
    ]


def test_an_instruction_function_without_text_leaves_a_blank_line() -> None:
    made = run(LlmAgent(name="A", instruction=lambda context: "", model=Replies("a")))
    assert made.step("A").requests[0].sent.system_instruction == 'You are an agent. Your internal name is "A".\n\n'


def test_usage_alone_leaves_an_event_a_content_without_parts_none() -> None:
    usage = Usage(3, 0)
    assert said(run(LlmAgent(name="A", model=Replies(LlmResponse(usage=usage))))) == [("A", None, None, None)]
    assert said(run(LlmAgent(name="A", model=Replies(Content("model", ()))))) == []


def test_usage_alone_after_a_tool_ends_the_step() -> None:
    model = Replies(calls("look"), LlmResponse(usage=Usage(3, 0)), "never")
    made = run(LlmAgent(name="A", tools=[look], model=model))
    assert said(made) == [("A", "look", None, None), ("A", "look", None, None), ("A", None, None, None)]


def test_a_callback_that_only_saves_an_artifact_leaves_no_event() -> None:
    async def save(context: CallbackContext) -> None:
        await context.save_artifact("n", Part(inline_data=Blob("image/png", b"AB")))

    made = run(LlmAgent(name="A", instruction="{artifact.n}", before_agent_callback=save, model=Replies("a")))
    assert said(made) == [("A", "a", None, None)]
    assert made.step("A").requests[0].sent.system_instruction == (
        'You are an agent. Your internal name is "A".\n\n{"inlineData":{"mimeType":"image/png","data":"QUI="}}'
    )


def test_a_content_without_parts_is_passed_on_as_it_is() -> None:
    made = run(
        LlmAgent(name="A", model=Replies("a"), after_agent_callback=lambda context: Content("model", ())),
        LlmAgent(name="B", model=Replies("b")),
    )
    assert [content.to_dict() for content in made.step("B").requests[0].sent.contents] == [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "user", "parts": [{"text": "For context:"}, {"text": "[A] said: a"}]},
        {"role": "model", "parts": []},
    ]


def test_calls_beyond_the_limit_become_events() -> None:
    loop = LoopAgent(name="l", max_iterations=3, sub_agents=(LlmAgent(name="A", model=Replies("1", "2", "3")),))
    made = Runner(loop, rules="js").run("hi", config=RunConfig(max_llm_calls=2))
    limit = "Max number of llm calls limit of 2 exceeded"
    assert said(made) == [("A", "1", None, None), ("A", "2", None, None), ("A", None, "UNKNOWN_ERROR", limit)]


def setting(**values: Any) -> Callable[[CallbackContext], None]:
    def set_state(context: CallbackContext) -> None:
        context.state.update({key.replace("_", ":"): value for key, value in values.items()})

    return set_state


def test_temp_keys_are_read_in_the_rest_of_the_turn_after_a_pause_too() -> None:
    root = SequentialAgent(
        name="p",
        sub_agents=(
            LlmAgent(name="A", output_key="temp:out", before_agent_callback=setting(temp_t="T"), model=Replies("a")),
            LlmAgent(name="B", instruction="[{temp:t?}][{temp:out?}]", model=Replies("b")),
        ),
    )
    runner = Runner(root, rules="js")
    made = runner.run("hi", pause=True)
    for _ in range(2):
        made = runner.step(made)
    assert made.step("B").requests[0].sent.system_instruction == (
        'You are an agent. Your internal name is "B".\n\n[T][]'
    )
    assert [event.actions.state_delta for event in made.turn_events[1:]] == [{}, {}, {}]
    assert made.session.state == {}


def test_what_no_event_says_is_gone_after_the_turn() -> None:
    model = Replies(RuntimeError("down"), "a")
    agent = LlmAgent(name="A", instruction="{k?}", before_model_callback=_set_k, model=model)
    runner = Runner(agent, rules="js")
    first = runner.run("1")
    assert first.session.state == {}
    second = runner.run("2", session=first.session)
    assert second.step("A").requests[0].sent.system_instruction == 'You are an agent. Your internal name is "A".\n\n'


def _set_k(context: CallbackContext, request: LlmRequest) -> None:
    context.state["k"] = "K"


def test_a_transfer_to_nobody_leaves_an_event_and_the_model_is_asked_again() -> None:
    transfer = Content("model", (Part.from_function_call("transfer_to_agent", {"agentName": "Nobody"}),))
    helper = LlmAgent(name="Helper", model=Replies())
    made = run(LlmAgent(name="Boss", sub_agents=(helper,), model=Replies(transfer, "again")))
    assert said(made) == [
        ("Boss", "transfer_to_agent", None, None),
        ("Boss", "transfer_to_agent", None, None),
        ("Boss", None, "UNKNOWN_ERROR", "Agent Nobody not found in the agent tree."),
        ("Boss", "again", None, None),
    ]


def test_what_a_callback_answers_does_not_count_as_a_call() -> None:
    early = LlmAgent(name="A", before_model_callback=lambda context, request: Content.model("early"), model=Replies())
    loop = LoopAgent(name="l", max_iterations=3, sub_agents=(early,))
    made = Runner(loop, rules="js").run("hi", config=RunConfig(max_llm_calls=1))
    assert said(made) == [("A", "early", None, None)] * 3
