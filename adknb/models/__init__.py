"""Who answers: replies written in advance, an echo, and a real model on this machine."""

from adknb.models.echo import EchoModel
from adknb.models.local import LocalModel
from adknb.models.resolve import register_model, resolve_model
from adknb.models.scripted import ScriptedModel

__all__ = ["EchoModel", "LocalModel", "ScriptedModel", "register_model", "resolve_model"]
