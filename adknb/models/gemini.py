"""Gemini, sent what ADK Java sends it."""

from __future__ import annotations

import importlib
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from importlib.util import find_spec
from typing import Any, Final

from adknb.core.content import Content
from adknb.core.errors import ModelError, NotSupported
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.models.chat_answer import Malformed
from adknb.models.clients import shared_client
from adknb.models.endpoint import Endpoint, first_set
from adknb.models.faults import LONGEST_WAIT, Caller, details_text, is_timeout, retry_after, transport_errors
from adknb.models.gemini_answer import GeminiAnswer
from adknb.models.gemini_body import gemini_body, is_continued

KEY_VARIABLES: Final = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
"""In the SDK's own order."""

CONTINUED: Final = "sent with ADK's line “Continue output. …”"
"""The note of an answer whose request did not end on the user's words, so that one more line was sent."""

_URL: Final = "https://generativelanguage.googleapis.com"
_VERTEX_URL: Final = "https://aiplatform.googleapis.com"
_URL_VARIABLES: Final = {False: "GOOGLE_GEMINI_BASE_URL", True: "GOOGLE_VERTEX_BASE_URL"}
_VERTEX_VARIABLES: Final = ("GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI")
_AGAIN: Final = (408, 429, 500, 502, 503, 504)


class GeminiModel:
    """Answers with a Gemini model through google-genai (extra `gemini`).

    `api_key` is the key, else the variable `GOOGLE_API_KEY` or `GEMINI_API_KEY`. With `GOOGLE_GENAI_USE_VERTEXAI=true`
    Vertex AI is asked, with the credentials that google-genai finds. `base_url` is for a proxy; `headers` go with each
    request. `timeout` is in seconds. A request that is answered 408, 429 or 5xx, or not at all, is sent again up to
    `max_retries` times, after the wait that the server asks for (up to two minutes) or else 0.5 to 8 s. Once an answer
    has begun to stream it is not asked for again.

    What is sent is the request with the changes of ADK Java's `GeminiUtil`: ids that ADK gave to calls are left out,
    and after contents that do not end on the user's words follows the line `CONTINUE_OUTPUT`; the answer's `note` then
    says so. Lone surrogates go as U+FFFD.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 600.0,
        max_retries: int = 4,
    ) -> None:
        if not _is_installed("google.genai"):
            raise ModelError("a Gemini model needs the extra `gemini`: pip install 'adknb[gemini]'")
        self.name = name
        self._is_vertex: Final = (first_set(os.environ, _VERTEX_VARIABLES) or "").lower() in ("true", "1")
        given = base_url or first_set(os.environ, [_URL_VARIABLES[self._is_vertex]])
        url = given or (_VERTEX_URL if self._is_vertex else _URL)
        self._endpoint: Final = Endpoint(url, api_key or first_set(os.environ, KEY_VARIABLES), headers or {})
        if self._endpoint.key is None and not self._is_vertex and not self._endpoint.is_loopback:
            raise ModelError(
                f"{name} needs a key. Set the variable GEMINI_API_KEY (or GOOGLE_API_KEY) to it, or choose a model "
                "that needs none, such as 'local'."
            )
        self._max_retries: Final = max_retries
        # which of its own settings Vertex AI is entered with is left to the SDK
        self._sdk_key: Final = api_key if self._is_vertex else self._endpoint.key or "none"
        self._base_url: Final = self._endpoint.url if given else None
        self._settings: Final = ("gemini", self._is_vertex, self._sdk_key, *self._endpoint.settings, timeout)
        self._caller: Final = Caller(name, self._endpoint, " or ".join(KEY_VARIABLES), timeout)

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        """Yield the answer with its finish reason and usage; before it, with `stream`, each piece as it comes.

        A blocked request and an answer without content have an `error_code`, and when it is streamed so has one that
        ends otherwise than by STOP (as in ADK Java). Raises `ContextLengthError` for a request that is too long,
        `NotSupported` for answers that adknb has no word for, `ModelError` for all else that goes wrong.
        """
        if (request.config.get("candidate_count") or 1) > 1:
            raise NotSupported("one candidate is read; remove candidate_count").of_agent(request.agent)
        note = CONTINUED if is_continued(request) else None
        answer = GeminiAnswer()
        tries = _Tries()
        failure: ModelError | None = None
        try:
            async with aclosing(self._chunks(gemini_body(request), stream, tries)) as chunks:
                async for chunk in chunks:
                    piece = answer.add(chunk)
                    if stream and piece is not None:
                        yield LlmResponse(Content("model", piece), partial=True)
            if stream and not answer.is_done:
                failure = self._caller.cut(request, len(answer.text))
        except NotSupported as what:
            raise what.of_agent(request.agent) from None
        except Malformed as what:
            failure = self._caller.unreadable(request, str(what))
        except (_sdk().errors.APIError, _auth_errors(), *transport_errors()) as error:
            failure = self._failure(request, error, tries.count, answer)
        if failure is not None:  # raised here, where no error of the SDK is its context: those hold the key
            raise failure
        response = answer.streamed() if stream else answer.whole()
        response.note = note
        yield response

    async def _chunks(self, body: dict[str, Any], stream: bool, tries: _Tries) -> AsyncGenerator[Any]:
        """The answer's chunks; asked for again until the first has come, and not after that."""
        tenacity = importlib.import_module("tenacity")
        again = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(self._max_retries + 1),
            wait=_wait(tenacity.wait_exponential_jitter(initial=0.5, max=8, jitter=0.25)),
            retry=tenacity.retry_if_exception(_may_pass),
            reraise=True,
        )
        first, rest = await again(self._begin, body, stream, tries)
        async with aclosing(rest):
            if first is not None:
                yield first
            async for chunk in rest:
                yield chunk

    async def _begin(self, body: dict[str, Any], stream: bool, tries: _Tries) -> tuple[Any, AsyncGenerator[Any]]:
        tries.count += 1
        chunks = self._ask(body, stream)
        return await anext(chunks, None), chunks

    async def _ask(self, body: dict[str, Any], stream: bool) -> AsyncGenerator[Any]:
        client, _ = await shared_client(self._settings, self._open, _close)
        # The SDK's own translation reorders schemas and drops what it does not know. `extra_body` goes as it is, and
        # replaces the contents that have to be given beside it.
        config = {"http_options": {"extra_body": body}, "automatic_function_calling": {"disable": True}}
        models = client.aio.models
        try:
            if not stream:
                yield await models.generate_content(model=self.name, contents=".", config=config)
                return
            async with aclosing(
                await models.generate_content_stream(model=self.name, contents=".", config=config)
            ) as chunks:
                async for chunk in chunks:
                    yield chunk
        except (AttributeError, KeyError, TypeError, ValueError) as error:  # the SDK's, over what it cannot read
            raise Malformed(f"{type(error).__name__}: {error}") from None

    def _open(self) -> tuple[Any, Any]:
        # where aiohttp happens to be installed the SDK would take that, with other timeouts and retries
        connections = _http_library().AsyncClient(follow_redirects=True)
        options: dict[str, Any] = {
            "base_url": self._base_url,
            "api_version": None if self._is_vertex else "v1beta",  # what ADK Java's client asks
            "headers": self._endpoint.headers,
            "timeout": int(self._caller.timeout * 1000),
            "retry_options": {"attempts": 1},  # the SDK does not honour Retry-After
            "httpx_async_client": connections,
        }
        return _sdk().Client(api_key=self._sdk_key, http_options=options), connections

    def _failure(self, request: LlmRequest, error: Any, tries: int, answer: GeminiAnswer) -> ModelError:
        if isinstance(error, _sdk().errors.APIError):
            if answer.has_begun:
                return self._caller.failed(request, f"stopped with an error: {error.message}", "")
            said = details_text(_body(error), str(error.details))
            return self._caller.answered(request, error.code, said, tries, _headers(error))
        if isinstance(error, _auth_errors()):
            return self._caller.failed(request, f"cannot be entered: {error}", "Check your Google Cloud credentials.")
        if is_timeout(error):
            return self._caller.silent(request, tries)
        if answer.has_begun:
            return self._caller.cut(request, len(answer.text))
        return self._caller.unreachable(request, error, tries)

    def __repr__(self) -> str:
        return f"GeminiModel({self.name!r}, base_url={self._endpoint.url!r})"


class _Tries:
    """How often the request was sent."""

    count = 0


def _sdk() -> Any:
    return importlib.import_module("google.genai")


def _http_library() -> Any:
    """The one that the SDK is built on: httpx2 since version 3."""
    return importlib.import_module("httpx2" if int(_sdk().__version__.split(".")[0]) >= 3 else "httpx")


def _auth_errors() -> Any:
    return importlib.import_module("google.auth.exceptions").GoogleAuthError


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package above it is missing
        return False


async def _close(opened: tuple[Any, Any]) -> None:
    client, connections = opened
    client.close()
    await connections.aclose()


def _headers(error: Any) -> Mapping[str, str]:
    """The headers of an error's response; where Google puts the wait into the body, as if it stood there too."""
    headers = {name.lower(): value for name, value in (getattr(error.response, "headers", None) or {}).items()}
    for detail in _body(error).get("details") or ():
        if isinstance(detail, Mapping) and "retryDelay" in detail:
            headers.setdefault("retry-after", str(detail["retryDelay"]).removesuffix("s"))
    return headers


def _body(error: Any) -> Mapping[str, Any]:
    """What an error's body says under `error`, or at all; empty where it is no object."""
    body = error.details.get("error", error.details) if isinstance(error.details, Mapping) else None
    return body if isinstance(body, Mapping) else {}


def _may_pass(error: BaseException) -> bool:
    """Whether the same request may be answered later."""
    if isinstance(error, _sdk().errors.APIError):
        asked = retry_after(_headers(error))
        return error.code in _AGAIN and (asked is None or asked <= LONGEST_WAIT)
    return isinstance(error, transport_errors())


def _wait(otherwise: Any) -> Any:
    """Seconds to wait: what the server asks for, else `otherwise`."""

    def seconds(state: Any) -> float:
        error = state.outcome.exception()
        asked = retry_after(_headers(error)) if isinstance(error, _sdk().errors.APIError) else None
        return float(asked if asked is not None else otherwise(state))

    return seconds
