"""A model behind an OpenAI-compatible API: OpenAI itself, vLLM, Ollama, llama.cpp's server, a gateway."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from importlib.util import find_spec
from typing import Any, Final

from adknb.core.content import Content
from adknb.core.errors import ModelError, NotSupported
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.models.chat import chat_messages, chat_tools, encodable, response_format
from adknb.models.chat_answer import ChatAnswer, Malformed
from adknb.models.clients import shared_client
from adknb.models.endpoint import Endpoint, first_set
from adknb.models.faults import Caller, details_text, is_timeout, transport_errors

OPENAI_URL: Final = "https://api.openai.com/v1"
KEY_VARIABLE: Final = "OPENAI_API_KEY"
URL_VARIABLE: Final = "OPENAI_BASE_URL"

_SAME_NAME: Final = ("temperature", "top_p", "presence_penalty", "frequency_penalty", "seed")
_TRANSLATED: Final = (
    "max_output_tokens", "stop_sequences", "top_k", "candidate_count", "response_schema", "response_mime_type",
)  # fmt: skip


class OpenAIModel:
    """Answers with the model `name` of an OpenAI-compatible API, through the `openai` SDK (extra `openai`).

    `base_url` is the API's address (`http://localhost:8000/v1`); without it the variable `OPENAI_BASE_URL`, else OpenAI.
    `api_key` is the key, else the variable `OPENAI_API_KEY`; it goes to whatever address is given. Only OpenAI insists
    on one. `headers` go with each request, `extra_body` beside its other fields (`{"reasoning_effort": "low"}`).

    `timeout` is in seconds, for each silence of the server. A request that is answered 408, 409, 429 or 5xx, or not at
    all, is sent again up to `max_retries` times, after the wait that the server asks for (up to two minutes) or else
    0.5 to 8 s. Once an answer has begun to stream it is not asked for again.

    Each content becomes one message, as ADK Java writes them. `plain_messages` is for servers whose chat template
    demands that roles alternate, or that each message be one string: neighbours of one role become one message.
    Thoughts of earlier replies are not sent back. Lone surrogates go as U+FFFD.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        extra_body: Mapping[str, Any] | None = None,
        timeout: float = 600.0,
        max_retries: int = 4,
        plain_messages: bool = False,
    ) -> None:
        if find_spec("openai") is None:
            raise ModelError("an OpenAI-compatible model needs the extra `openai`: pip install 'adknb[openai]'")
        if not name:
            raise ModelError("an OpenAI-compatible model needs its name, as the server calls it: openai/NAME")
        self.name = name
        url = base_url or first_set(os.environ, [URL_VARIABLE]) or OPENAI_URL
        self._endpoint: Final = Endpoint(url, api_key or first_set(os.environ, [KEY_VARIABLE]), headers or {})
        self._is_openai: Final = self._endpoint.host == "openai.com" or self._endpoint.host.endswith(".openai.com")
        if self._is_openai and self._endpoint.key is None:
            raise ModelError(
                f"{name} at {self._endpoint.url} needs a key. Set the variable {KEY_VARIABLE} to it, "
                "or give the address of a server of your own (base_url)."
            )
        self._extra_body: Final = dict(extra_body or {})
        self._plain: Final = plain_messages
        self._caller: Final = Caller(name, self._endpoint, KEY_VARIABLE, timeout)
        self._max_retries: Final = max_retries

    @property
    def identity(self) -> str:
        """What recorded replies belong to: the name, with a hash of `extra_body` where there is one."""
        if not self._extra_body:
            return self.name
        written = json.dumps(self._extra_body, sort_keys=True, default=str)
        return f"{self.name}+{hashlib.sha256(written.encode()).hexdigest()[:12]}"

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        """Yield the answer with its finish reason and usage; before it, with `stream`, each piece as it comes.

        A refusal, and an answer that a content filter cut off, have an `error_code`. Raises `ContextLengthError` for a
        request that is too long, `NotSupported` for parts and settings that the API has no word for, `ModelError` for
        all else that goes wrong.
        """
        body = self.body(request)
        answer = ChatAnswer()
        failure: ModelError | None = None
        try:
            if stream:
                async with aclosing(self._chunks(body)) as chunks:
                    async for chunk in chunks:
                        piece = answer.add(chunk)
                        if piece is not None:
                            yield LlmResponse(Content("model", (piece,)), partial=True)
            else:
                answer.add_whole(await self._whole(body))
            if stream and answer.finish_reason is None:
                failure = self._caller.cut(request, len(answer.text))
            else:
                response = answer.response()
        except Malformed as what:
            failure = self._caller.unreadable(request, str(what))
        except (_sdk().OpenAIError, *transport_errors(), ValueError) as error:
            failure = self._failure(request, error, answer)
        if failure is not None:  # raised here, where no error of the SDK is its context: those hold the key
            raise failure
        yield response

    def body(self, request: LlmRequest) -> dict[str, Any]:
        """What is sent for a request, beside the fields that stream it. Raises `NotSupported` and `ModelError`."""
        config = request.config
        self._check(request)
        messages = chat_messages(request, plain=self._plain, tools=True)
        if not messages:
            raise ModelError(f"the request to {self.name} has no text; give an instruction or a message").of_agent(
                request.agent
            )
        body: dict[str, Any] = {"model": self.name, "messages": messages}
        body.update({name: config[name] for name in _SAME_NAME if config.get(name) is not None})
        if config.get("max_output_tokens") is not None:
            body["max_completion_tokens" if self._is_openai else "max_tokens"] = config["max_output_tokens"]
        if config.get("top_k") is not None:
            body["top_k"] = int(config["top_k"])
        if config.get("stop_sequences"):
            body["stop"] = list(config["stop_sequences"])
        bound = response_format(config)
        if bound is not None:
            body["response_format"] = bound
        if request.tools:
            body["tools"] = chat_tools(request)
        sent: dict[str, Any] = encodable({**body, **self._extra_body})
        return sent

    def _check(self, request: LlmRequest) -> None:
        given = {name: value for name, value in request.config.items() if value is not None}
        unknown = next((name for name in given if name not in _SAME_NAME and name not in _TRANSLATED), None)
        if unknown is not None:
            problem = (
                f"an OpenAI-compatible API has no word for {unknown!r}; remove it, or say what the server understands: "
                "OpenAIModel(…, extra_body={…})"
            )
        elif self._is_openai and "top_k" in given:
            problem = "OpenAI's models take no top_k; remove it"
        elif given.get("candidate_count", 1) > 1:
            problem = "one candidate is read; remove candidate_count"
        else:
            return
        raise NotSupported(problem).of_agent(request.agent)

    async def _whole(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        client = await self._client()
        completion = await client.post("/chat/completions", cast_to=object, body=body)
        if not isinstance(completion, Mapping):
            raise Malformed(f"it is no JSON object: {completion}")
        return completion

    async def _chunks(self, body: Mapping[str, Any]) -> AsyncGenerator[Mapping[str, Any]]:
        client = await self._client()
        streamed = {**body, "stream": True, "stream_options": {"include_usage": True}}
        stream = await client.post(
            "/chat/completions", cast_to=object, body=streamed, stream=True, stream_cls=_sdk().AsyncStream[object]
        )
        async with stream:
            async for chunk in stream:
                yield chunk

    async def _client(self) -> Any:
        settings = ("openai", *self._endpoint.settings, self._caller.timeout, self._max_retries)
        return await shared_client(settings, self._open, _close)

    def _open(self) -> Any:
        return _sdk().AsyncOpenAI(
            base_url=self._endpoint.url,
            api_key=self._endpoint.key or "none",
            default_headers=self._endpoint.headers,
            timeout=self._caller.timeout,
            max_retries=self._max_retries,
        )

    def _failure(self, request: LlmRequest, error: Any, answer: ChatAnswer) -> ModelError:
        sdk = _sdk()
        cause: BaseException = error.__cause__ or error
        if isinstance(error, sdk.APIStatusError):
            said = details_text(error.body, error.response.text)
            return self._caller.answered(request, error.status_code, said, _tries(error), error.response.headers)
        if isinstance(error, sdk.APITimeoutError) or is_timeout(error):
            return self._caller.silent(request, _tries(error))
        if isinstance(error, (sdk.APIConnectionError, *transport_errors())):
            if answer.text or answer.thought:
                return self._caller.cut(request, len(answer.text))
            return self._caller.unreachable(request, cause, _tries(error))
        if isinstance(error, sdk.APIError):  # an error in the midst of a stream
            return self._caller.failed(request, f"stopped with an error: {error.message}", "")
        return self._caller.unreadable(request, f"{type(error).__name__}: {error}")

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, base_url={self._endpoint.url!r})"


def _sdk() -> Any:
    return importlib.import_module("openai")


async def _close(client: Any) -> None:
    await client.close()


def _tries(error: Any) -> int:
    """How often it was sent, as the SDK tells the server."""
    request = getattr(error, "request", None)
    return 1 + int(request.headers.get("x-stainless-retry-count", 0)) if request is not None else 1
