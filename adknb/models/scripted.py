"""A model whose replies are written in advance, for lessons and tests that must give the same every time."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from adknb.core.content import Content, Part
from adknb.core.errors import ReplyMissingError, SpecError, near_names
from adknb.core.requests import LlmRequest, LlmResponse

NOTE: Final = "scripted: ignores your prompt"
FUNCTION_NOTE: Final = "scripted: a function answers"

ReplyFunction: TypeAlias = Callable[[LlmRequest], Any]
"""Takes the request and returns a reply, or an awaitable of one."""

_Answer: TypeAlias = LlmResponse | BaseException


class ScriptedModel:
    """Answers each agent with the replies written for it, in order.

    `replies` maps an agent's name to its list of replies, or to a function of the `LlmRequest`. One function may stand
    for all agents, and a plain list for a pipeline in which only one agent asks. A reply is a text, a dict (sent as
    JSON text), a `Part` or a list of parts (a part may be a dict), a `Content`, an `LlmResponse`, or an exception to
    raise. Raises `SpecError` for anything else, and `ReplyMissingError` when an agent asks and no reply is left.

    An agent's n-th request in a session gets its n-th reply: a fresh session begins at the first, and a step that is
    run again gets the same reply again.
    """

    def __init__(
        self,
        replies: Mapping[str, Sequence[Any] | ReplyFunction] | Sequence[Any] | ReplyFunction,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.replies: Final = replies
        self._scripts: dict[str, list[_Answer] | ReplyFunction] = {}
        self._plain: list[_Answer] | None = None
        self._function: ReplyFunction | None = None
        if isinstance(replies, Mapping):
            self._scripts = {agent: _script(script, f"replies for {agent!r}") for agent, script in replies.items()}
        elif callable(replies):
            self._function = replies
        else:
            self._plain = _answers(replies, "replies")

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        """Yield the agent's reply, whole; it is never streamed in pieces."""
        source = self._scripts.get(request.agent)
        if source is None:
            source = self._source(request.agent)
        if isinstance(source, list):
            if request.ordinal >= len(source):
                raise self._used_up(request, source)
            answer = source[request.ordinal]
        else:
            reply = source(request)
            if inspect.isawaitable(reply):
                reply = await reply
            answer = _answer(reply, f"reply to {request.agent!r}", FUNCTION_NOTE)
        if isinstance(answer, BaseException):
            raise answer.with_traceback(None)
        yield LlmResponse(
            answer.content, answer.usage, answer.partial, answer.finish_reason,
            answer.error_code, answer.error_message, answer.note,
        )  # fmt: skip

    def _source(self, agent: str) -> list[_Answer] | ReplyFunction:
        """What answers an agent that no script names: the function, or the plain list if no other agent uses it."""
        if self._function is not None:
            return self._function
        if self._plain is not None and not self._scripts:
            self._scripts[agent] = self._plain
            return self._plain
        raise self._missing(agent)

    def _missing(self, agent: str) -> ReplyMissingError:
        if self._plain is not None:
            first = next(iter(self._scripts))
            message = (
                f"{agent!r} has no scripted replies: the plain list serves one agent, and {first!r} asked first. "
                f"Write one list each: ScriptedModel({{{first!r}: […], {agent!r}: […]}})."
            )
        else:
            message = (
                f"{agent!r} has no scripted replies.{near_names(agent, self._scripts)} "
                f"Give it some: ScriptedModel({{{agent!r}: ['…']}})."
            )
        error = ReplyMissingError(message)
        error.agent = agent
        return error

    def _used_up(self, request: LlmRequest, script: Sequence[_Answer]) -> ReplyMissingError:
        count = len(script)
        written = f"only {count} {'is' if count == 1 else 'are'} scripted" if count else "none is scripted"
        error = ReplyMissingError(
            f"{request.agent!r} asks for reply {request.ordinal + 1} of this session, but {written}. "
            "Add replies to its list, or start a fresh session."
        )
        error.agent = request.agent
        return error

    def __repr__(self) -> str:
        return f"ScriptedModel({self.name!r}, {', '.join(self._scripts) or 'any agent'})"


def _script(script: object, place: str) -> list[_Answer] | ReplyFunction:
    return script if callable(script) else _answers(script, place)


def _answers(replies: object, place: str) -> list[_Answer]:
    if isinstance(replies, str) or not isinstance(replies, Sequence):
        raise SpecError(f"ScriptedModel: {place}: a list of replies or a function is needed, not {replies!r}")
    return [_answer(reply, f"{place}: reply {number}", NOTE) for number, reply in enumerate(replies, 1)]


def _answer(reply: object, place: str, note: str) -> _Answer:
    """A reply as it will be given: a response, or an exception to raise."""
    if isinstance(reply, BaseException):
        return reply
    if isinstance(reply, type) and issubclass(reply, BaseException):
        return reply()
    if isinstance(reply, LlmResponse):
        return LlmResponse(
            reply.content, reply.usage, reply.partial, reply.finish_reason,
            reply.error_code, reply.error_message, reply.note or note,
        )  # fmt: skip
    return LlmResponse(_content(reply, place), note=note)


def _content(reply: object, place: str) -> Content:
    if isinstance(reply, str):
        return Content.model(reply)
    if isinstance(reply, Content):
        return reply
    if isinstance(reply, Part):
        return Content("model", (reply,))
    try:
        if isinstance(reply, Mapping):
            return Content.model(json.dumps(dict(reply), ensure_ascii=False))
        if isinstance(reply, (list, tuple)):
            return Content("model", tuple(_part(part) for part in reply))
    except (TypeError, ValueError) as error:
        raise SpecError(f"ScriptedModel: {place}: {error}") from error
    raise SpecError(
        f"ScriptedModel: {place} is {reply!r}; "
        "write a text, a dict, a list of parts, a Content, an LlmResponse or an exception"
    )


def _part(part: object) -> Part:
    if isinstance(part, Part):
        return part
    if isinstance(part, Mapping):
        return Part.from_dict(part)
    raise TypeError(f"{part!r} is no part; write a Part or a dict such as {{'text': '…'}}")
