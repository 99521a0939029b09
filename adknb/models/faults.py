"""What goes wrong between here and an API, in words that name the step and the way out."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final

from adknb.core.errors import ContextLengthError, ModelConnectionError, ModelError, ModelTimeoutError
from adknb.core.escape import one_line
from adknb.core.requests import LlmRequest
from adknb.models.endpoint import Endpoint

LONGEST_WAIT: Final = 120.0
"""Seconds. A server that asks for a longer wait is not asked again."""

_SHOWN: Final = 600
_TOO_LONG: Final = re.compile(
    r"context[ _](?:length|size|window)|input token count|input tokens exceed|prompt is too long", re.IGNORECASE
)
_COUNTED: Final = re.compile(
    r"(?:resulted in|requested|request has|you passed|contains|token count(?: is)?|n_prompt_tokens\W+)\s*\(?(\d[\d,]*)",
    re.IGNORECASE,
)
_LIMIT: Final = re.compile(
    r"(?:context (?:length|size|window)(?: is| of)?(?: only)?|tokens allowed|limit of|supports up to|n_ctx\W+)\s*\(?(\d[\d,]*)",
    re.IGNORECASE,
)
_WAYS: Final = {
    401: "Check the key in {key}.",
    403: "Check that the key in {key} may use this model.",
    404: "Check the model's name and the base URL.",
    429: "Wait, ask for less at once, or look at the quota.",
}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the model's name, where it is, the variable that holds its key, and how long it waits (seconds)."""

    name: str
    endpoint: Endpoint
    key_variable: str
    timeout: float

    def answered(
        self, request: LlmRequest, status: int, said: str, tries: int, headers: Mapping[str, str]
    ) -> ModelError:
        """The server refused or failed; `said` is its own text."""
        if status in (400, 413, 422) and _TOO_LONG.search(said):
            return self._too_long(request, said)
        asked = retry_after(headers)
        wait = f"It asks to wait {asked:g} s. " if asked is not None else ""
        way = _WAYS.get(status, "The server failed; try again later." if status >= 500 else "")
        what = f"answered {status}{_phrase(status)}{_after(tries)}: {said}"
        failure = self.failed(request, what, wait + way.format(key=self.key_variable))
        failure.status, failure.retry_after = status, asked
        return failure

    def silent(self, request: LlmRequest, tries: int) -> ModelError:
        """No answer, or no more of it, came in time."""
        return self.failed(
            request,
            f"was silent for {self.timeout:g} s{_after(tries)}",
            "Give it longer (timeout=…), or try again later.",
            ModelTimeoutError,
        )

    def unreachable(self, request: LlmRequest, cause: BaseException, tries: int) -> ModelError:
        """No connection, or one that broke before the answer began."""
        reason = f" ({type(cause).__name__}: {cause})"
        return self.failed(
            request,
            f"cannot be reached{_after(tries)}{reason}",
            "Is it running, and the base URL right?",
            ModelConnectionError,
        )

    def cut(self, request: LlmRequest, characters: int) -> ModelError:
        """The stream ended before the model said that it was done."""
        return self.failed(
            request,
            f"broke off after {characters} characters of its answer",
            "Run the step again; nothing was stored.",
            ModelConnectionError,
        )

    def unreadable(self, request: LlmRequest, what: str) -> ModelError:
        """The answer is not what such an API answers."""
        return self.failed(request, f"answered what cannot be read: {what}", "")

    def failed(self, request: LlmRequest, what: str, way: str, kind: type[ModelError] = ModelError) -> ModelError:
        """The error of this call: the step, the model and its address, what happened, the way out. Nothing secret."""
        where = f"{self.name} at {self.endpoint.url}"
        sentence = one_line(self.endpoint.hide(what), _SHOWN).rstrip(".")
        return kind(f"{where} {sentence}. {way.strip()}".strip()).of_agent(request.agent)

    def _too_long(self, request: LlmRequest, said: str) -> ModelError:
        tokens, limit = _number(_COUNTED, said), _number(_LIMIT, said)
        where = f"{self.name} at {self.endpoint.url}"
        if tokens is not None and limit is not None:
            what = f"the request has {tokens} tokens, and {where} takes {limit}"
        else:
            what = f"the request is longer than {where} takes: {one_line(self.endpoint.hide(said), _SHOWN).rstrip('.')}"
        way = "Shorten the prompt, or send less history (include_contents='none')."
        return ContextLengthError(f"{what}. {way}", tokens, limit).of_agent(request.agent)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait (`Retry-After`, a number or a date); None where it says nothing."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        return _seconds_until(value)


def transport_errors() -> tuple[type[BaseException], ...]:
    """The errors of the HTTP libraries that the SDKs have loaded, which of them it is depends on their version."""
    found = [sys.modules[module].HTTPError for module in ("httpx", "httpx2") if module in sys.modules]
    return (*found, TimeoutError, ConnectionError)


def is_timeout(error: BaseException) -> bool:
    """Whether an error of `transport_errors` says that time ran out."""
    return isinstance(error, TimeoutError) or any("Timeout" in kind.__name__ for kind in type(error).__mro__)


def details_text(body: Any, text: str) -> str:
    """What an error's body says: its message, with its code and the token counts beside it; or the text as it is."""
    if not isinstance(body, Mapping):
        return text
    said = str(body.get("message") or body.get("detail") or text)
    beside = [f"{name}: {body[name]}" for name in ("n_prompt_tokens", "n_ctx") if name in body]
    if isinstance(body.get("code"), str):
        beside.append(body["code"])
    return f"{said.rstrip('.')} ({', '.join(beside)})" if beside else said


def _seconds_until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except ValueError:
        return None


def _number(pattern: re.Pattern[str], said: str) -> int | None:
    match = pattern.search(said)
    return int(match.group(1).replace(",", "")) if match else None


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""


def _after(tries: int) -> str:
    return f" after {tries} tries" if tries > 1 else ""
