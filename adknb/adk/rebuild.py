"""What google-adk would send on a given session: it builds the request itself, and no model hears of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from google.adk.agents.invocation_context import InvocationContext as GoogleContext
from google.adk.agents.run_config import RunConfig as GoogleRunConfig
from google.adk.models import BaseLlm, LlmRequest as GoogleRequest, LlmResponse as GoogleResponse
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.session import Session as GoogleSession
from google.adk.tools.base_toolset import BaseToolset

from adknb.adk.answering import Ask
from adknb.adk.artifacts import SharedArtifacts
from adknb.adk.build import Builder
from adknb.adk.missing import said
from adknb.adk.sent import Seen, sent_request, system_text
from adknb.adk.wire import from_content, from_event
from adknb.core.errors import NotSupported
from adknb.core.json_values import copied
from adknb.core.requests import LlmRequest
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.runtime.context import InvocationContext
from adknb.runtime.tree import LlmNode, make_node

_CALLBACKS = (
    "before_agent_callback", "after_agent_callback", "before_model_callback", "after_model_callback",
    "before_tool_callback", "after_tool_callback",
)  # fmt: skip


class Asked(BaseException):
    """Control flow: the model would be asked now. Never reaches a user."""

    def __init__(self, request: LlmRequest) -> None:
        super().__init__()
        self.request = request


class QuietBuilder(Builder):
    """Leaves toolsets out: to say which tools it has, one asks its server."""

    def _asked(self, node: LlmNode, original: Any) -> dict[str, Any]:
        update = super()._asked(node, original)
        update["tools"] = [tool for tool in update["tools"] if not isinstance(tool, BaseToolset)]
        return update


async def build_request(context: InvocationContext, node: LlmNode) -> LlmRequest:
    """The request as google-adk builds it on the context's session, without callbacks, plugins and toolsets.

    Raises `MissingKeyError` or `MissingArtifactError` for a value that the instruction needs, as google-adk does.
    """
    invocation = context.invocation
    session = invocation.session
    known = {event.id: event for event in session.history}
    state = copied(session.state)

    def ask_of(asked: LlmNode, own: BaseLlm | None) -> Ask:
        def ask(request: GoogleRequest, stream: bool) -> AsyncGenerator[GoogleResponse]:
            name = own.model if own is not None else asked.model_name
            seen = Seen(system_text(request), state, stored.events)
            return _no_answer(sent_request(asked, request.model or name, request, seen, known))

        return ask

    builder = QuietBuilder(invocation.strategy, session, invocation.complete, ask_of, {})
    tree = make_node(_without_callbacks(invocation.root.agent), None, node.rules)
    builder.build(tree)
    stored = GoogleSession(
        id=session.id, app_name=session.app_name, user_id=session.user_id, state=copied(state),
        events=[from_event(event) for event in session.history],
    )  # fmt: skip
    agent: Any = builder.built[node.path]
    google = GoogleContext(
        session_service=InMemorySessionService(),
        artifact_service=SharedArtifacts(invocation.artifacts, session),
        invocation_id=invocation.run.invocation_id,
        branch=context.branch,
        agent=agent,
        user_content=from_content(invocation.run.message),
        session=stored,
        run_config=GoogleRunConfig(),
    )
    try:
        async with aclosing(agent.run_async(google)) as events:
            async for _ in events:
                continue
    except Asked as asked:
        return asked.request
    except Exception as error:
        meant = said(error, node.rules, node.name, session.state)
        if meant is None:
            raise
        raise meant from error
    raise NotSupported(f"google-adk asks no model where agent {node.name!r} stands in this conversation")


async def _no_answer(request: LlmRequest) -> AsyncGenerator[GoogleResponse]:
    answers: tuple[GoogleResponse, ...] = ()
    for response in answers:
        yield response
    raise Asked(request)


def _without_callbacks(agent: BaseAgent) -> BaseAgent:
    update: dict[str, Any] = {"sub_agents": [_without_callbacks(child) for child in agent.sub_agents]}
    names = _CALLBACKS if isinstance(agent, LlmAgent) else _CALLBACKS[:2]
    return agent.model_copy(update=update | dict.fromkeys(names, ()))
