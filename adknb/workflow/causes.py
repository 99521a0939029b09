"""What an error says beside its text: the errors behind it, an HTTP status, the wait that a server asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adknb.workflow.errors import RefusedError


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error, then those that it was raised from, outermost first; a group's members stand behind it."""
    waiting, seen = [error], set[int]()
    while waiting:
        current = waiting.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            waiting.extend(current.exceptions)
        if current.__cause__ is not None:
            waiting.append(current.__cause__)


def is_refusal(error: BaseException) -> bool:
    """A policy refused the call (`RefusedError`), here or behind: nothing was called."""
    return any(isinstance(each, RefusedError) for each in causes(error))


def http_status(error: BaseException) -> int | None:
    """The HTTP status code that an error carries in the ways of ModelError, openai, google-genai, httpx, requests, urllib."""
    response = _attribute(error, "response")
    for holder, name in ((error, "status"), (error, "status_code"), (error, "code"), (response, "status_code")):
        value = _attribute(holder, name)
        if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:
            return value
    return None


def asked_wait(error: BaseException) -> float | None:
    """Seconds that a server asked to wait (Retry-After), from the error or one behind it; None where it says nothing."""
    from adknb.models.faults import retry_after  # with it come the models, and asyncio

    for each in causes(error):
        seconds = _attribute(each, "retry_after")
        if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds >= 0:
            return float(seconds)
        for holder in (each, _attribute(each, "response")):
            headers = _attribute(holder, "headers")
            if isinstance(headers, Mapping):
                asked = retry_after({str(name).lower(): str(value) for name, value in headers.items()})
                if asked is not None:
                    return asked
    return None


def _attribute(holder: object, name: str) -> object:
    """None where there is none, or where a property of somebody else's error raises."""
    try:
        return getattr(holder, name, None)
    except Exception:
        return None
