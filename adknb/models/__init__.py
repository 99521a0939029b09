"""Who answers: replies written in advance or recorded, an echo, and real models, on this machine or behind an API."""

from adknb.models.echo import EchoModel
from adknb.models.gemini import GeminiModel
from adknb.models.local import LocalModel
from adknb.models.openai import OpenAIModel
from adknb.models.replay import ReplayModel, recording
from adknb.models.request_key import request_key
from adknb.models.resolve import register_model, resolve_model
from adknb.models.scripted import ScriptedModel

__all__ = [
    "EchoModel",
    "GeminiModel",
    "LocalModel",
    "OpenAIModel",
    "ReplayModel",
    "ScriptedModel",
    "recording",
    "register_model",
    "request_key",
    "resolve_model",
]
