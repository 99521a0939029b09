"""What callbacks and tools receive, and how callbacks are called."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from adknb.core.content import Content, Part
from adknb.core.errors import AdknbError, AgentError, SpecError
from adknb.core.events import Event, EventActions
from adknb.core.requests import LlmResponse
from adknb.core.run import Session
from adknb.core.specs import Callback, Callbacks, as_tuple
from adknb.core.state import State
from adknb.runtime.context import InvocationContext
from adknb.runtime.interrupts import UsersCode


class CallbackContext:
    """What an agent or model callback receives (ADK's `CallbackContext`).

    A write to `state` is visible to every agent at once and stands in the delta of the event that follows.
    """

    def __init__(self, context: InvocationContext, actions: EventActions) -> None:
        self._context = context
        self.actions = actions
        self.state: State = context.invocation.state(actions.state_delta)

    @property
    def agent_name(self) -> str:
        return self._context.node.name

    @property
    def invocation_id(self) -> str:
        return self._context.invocation_id

    @property
    def user_content(self) -> Content:
        """The message that started this turn."""
        return self._context.user_content

    @property
    def session(self) -> Session:
        return self._context.session

    def text_of(self, value: object) -> str:
        """A value as the text that a placeholder would insert (Java prints a map `{a=1}`)."""
        return self._context.invocation.rules.text_of(value)

    async def save_artifact(self, filename: str, artifact: Part) -> int:
        """Store a part under a name; returns its version, from 0."""
        if not isinstance(artifact, Part):
            raise SpecError(f"artifact {filename!r}: save a Part (Part.from_text, Part.from_bytes), not {artifact!r}")
        version = await self._context.invocation.artifacts.save_artifact(self.session, filename, artifact)
        self.actions.artifact_delta[filename] = version
        return version

    async def load_artifact(self, filename: str, version: int | None = None) -> Part | None:
        """The part stored under a name, its newest version unless one is named; None when there is none."""
        return await self._context.invocation.artifacts.load_artifact(self.session, filename, version)

    async def list_artifacts(self) -> list[str]:
        return await self._context.invocation.artifacts.list_artifacts(self.session)


class ToolContext(CallbackContext):
    """What a tool receives: a callback's context, the call's id, and `actions` to set (`escalate`,
    `skip_summarization`, `transfer_to_agent`)."""

    def __init__(self, context: InvocationContext, actions: EventActions, function_call_id: str | None) -> None:
        super().__init__(context, actions)
        self.function_call_id = function_call_id


class ReadonlyContext(CallbackContext):
    """What an instruction function receives: the state as it is, to read."""

    def __init__(self, context: InvocationContext) -> None:
        super().__init__(context, EventActions())
        self.state = context.state


async def call(agent: str, kind: str, function: Callback, *arguments: Any) -> Any:
    """Call a user's function, sync or async. What it raises becomes an `AgentError` that names it."""
    try:
        with UsersCode():
            result = function(*arguments)
            return await result if inspect.isawaitable(result) else result
    except AdknbError:
        raise
    except Exception as error:
        name = getattr(function, "__name__", repr(function))
        raise AgentError(f"agent {agent!r}: {kind} {name} raised {type(error).__name__}: {error}") from error


async def agent_callbacks(context: InvocationContext, kind: str, functions: Callbacks) -> Event | None:
    """Call before- or after-agent callbacks in order until one returns content.

    The event holds that content and every state change; None when there is neither (ADK's `BaseAgent.callCallback`).
    """
    actions = EventActions()
    callback_context = CallbackContext(context, actions)
    for function in as_tuple(functions):
        content = as_content(await call(context.node.name, kind, function, callback_context), context.node.name, kind)
        if content is not None:
            return context.event(content, actions=actions)
    if actions.state_delta or (actions.artifact_delta and context.invocation.rules.artifacts_make_events):
        return context.event(actions=actions)
    return None


async def model_callbacks(
    context: InvocationContext, kind: str, functions: Callbacks, actions: EventActions, subject: object
) -> LlmResponse | None:
    """Call model callbacks with the request or reply until one returns a reply. State changes go into `actions`."""
    callback_context = CallbackContext(context, actions)
    for function in as_tuple(functions):
        result = await call(context.node.name, kind, function, callback_context, subject)
        if isinstance(result, LlmResponse):
            return result
        content = as_content(result, context.node.name, kind)
        if content is not None:
            return LlmResponse(content=content, note=f"answered by {getattr(function, '__name__', kind)}")
    return None


async def tool_callbacks(
    context: ToolContext, kind: str, functions: Callbacks, *arguments: Any
) -> dict[str, Any] | None:
    """Call tool callbacks until one returns a result."""
    for function in as_tuple(functions):
        result = await call(context.agent_name, kind, function, *arguments)
        if result is not None:
            if not isinstance(result, Mapping):
                raise AgentError(f"agent {context.agent_name!r}: {kind} must return a dict or None, not {result!r}")
            return dict(result)
    return None


def as_content(value: object, agent: str, kind: str) -> Content | None:
    """A callback's answer: `Content`, text, or None."""
    if value is None or isinstance(value, Content):
        return value
    if isinstance(value, str):
        return Content.model(value)
    raise AgentError(f"agent {agent!r}: {kind} must return None, a Content or text, not {type(value).__name__}")
