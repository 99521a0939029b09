"""The modules of this room, which import google-adk: loaded when they are first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from adknb.core.errors import NotSupported
from adknb.core.specs import BaseAgent


def load(module: str) -> Any:
    """The module `adknb.adk.<module>`. Raises `NotSupported` where google-adk is not installed."""
    try:
        return import_module(f"adknb.adk.{module}")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("google"):
            raise
        raise NotSupported(
            "rules='python' runs the real google-adk, which is not installed here: pip install 'adknb[adk]'"
        ) from error


def is_mirrored(agent: BaseAgent) -> bool:
    """Whether an agent describes one of google-adk."""
    return hasattr(agent, "original") and type(agent).__module__ == "adknb.adk.mirror"
