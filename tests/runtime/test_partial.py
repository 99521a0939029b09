"""A streamed piece is shown as it comes, and leaves nothing behind."""

from collections.abc import AsyncGenerator

from adknb import (
    Content,
    FunctionCall,
    LlmAgent,
    LlmRequest,
    LlmResponse,
    LongRunningFunctionTool,
    Part,
    RunConfig,
    Runner,
)  # fmt: skip


def approve() -> dict[str, str]:
    """Asks a person to approve."""
    return {"status": "pending"}


class Streaming:
    """Streams a text, then a text with a call that takes long; its whole reply is a thought, which writes no key."""

    name = "streaming"

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        call = Part(function_call=FunctionCall("approve", {}, "call-1"))
        yield LlmResponse(Content.model("We "), partial=True)
        yield LlmResponse(Content("model", (Part(text="half"), call)), partial=True)
        yield LlmResponse(Content("model", (Part(text="Hm.", thought=True),)))


async def test_a_piece_writes_no_output_key() -> None:
    """Not even one with a long-running call, which makes an event a final response; a call's events share their actions."""
    agent = LlmAgent(name="Draft", tools=[LongRunningFunctionTool(approve)], output_key="draft")
    runner = Runner(agent, model=Streaming())
    events = [event async for event in runner.stream("Help.", config=RunConfig(streaming=True))]
    assert [event.partial for event in events if event.author == "Draft"] == [True, True, False]
    assert runner.last_run is not None
    session = runner.last_run.session
    assert [(event.author, event.partial, event.actions.state_delta) for event in session.events] == [
        ("user", False, {}),
        ("Draft", False, {}),
    ]
    assert dict(session.state) == {}
