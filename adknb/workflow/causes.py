"""What an error says beside its text: the errors behind it, an HTTP status, the wait that a server asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adknb.models.faults import retry_after


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


def http_status(error: BaseException) -> int | None:
    """The HTTP status code that an error carries in the ways of ModelError, openai, google-genai, httpx, requests, urllib."""
    response = getattr(error, "response", None)
    for holder, name in ((error, "status"), (error, "status_code"), (error, "code"), (response, "status_code")):
        value = getattr(holder, name, None)
        if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:
            return value
    return None


def asked_wait(error: BaseException) -> float | None:
    """Seconds that a server asked to wait (Retry-After), from the error or one behind it; None where it says nothing."""
    for each in causes(error):
        seconds = getattr(each, "retry_after", None)
        if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds >= 0:
            return float(seconds)
        for holder in (each, getattr(each, "response", None)):
            headers = getattr(holder, "headers", None)
            if isinstance(headers, Mapping):
                asked = retry_after({str(name).lower(): str(value) for name, value in headers.items()})
                if asked is not None:
                    return asked
    return None
