"""Who answers an agent under google-adk: a model of adknb's, or google-adk's own."""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from types import new_class
from typing import Any, cast

from google.adk.models import BaseLlm, LlmRequest as GoogleRequest, LlmResponse as GoogleResponse
from pydantic import ConfigDict, PrivateAttr

from adknb.adk.mirror import Mirrored
from adknb.core.errors import ModelError
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.runtime.tree import LlmNode

Ask = Callable[[GoogleRequest, bool], AsyncGenerator[GoogleResponse]]


@dataclass(frozen=True, slots=True)
class GoogleOwn:
    """Stands for a model of google-adk's, which google-adk asks itself: `model`, or the one that it finds for the agent."""

    name: str
    model: BaseLlm | None = None

    def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        raise ModelError(f"model {self.name!r} is google-adk's, which asks it itself")


class Heard(BaseLlm):
    """What google-adk calls in place of a model that it has no class for. `ask` answers, and writes down what was sent."""

    _ask: Ask = PrivateAttr()

    def __init__(self, model: str, ask: Ask) -> None:
        super().__init__(model=model)
        self._ask = ask

    @property
    def capabilities(self) -> Any:
        """What google-adk tells from the name."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # addressed to whoever named the model
            return super().capabilities

    async def generate_content_async(
        self, llm_request: GoogleRequest, stream: bool = False
    ) -> AsyncGenerator[GoogleResponse]:
        async for response in self._ask(llm_request, stream):
            yield response


def heard(model: BaseLlm, ask: Ask) -> BaseLlm:
    """A model of the same class, which shares all that `model` holds, and which `ask` answers for.

    google-adk looks at a model's class and fields where it builds a request: one of `LiteLlm`, `AnthropicLlm` or
    `OpenAIResponsesLlm` is sent the ids of calls that google-adk made up, any other is not
    (google/adk/flows/llm_flows/context/_contents.py).
    """
    of = type(model)

    def generate_content_async(
        self: BaseLlm, llm_request: GoogleRequest, stream: bool = False
    ) -> AsyncGenerator[GoogleResponse]:
        return ask(llm_request, stream)

    members = {
        **{name: getattr(of, name) for name in ("__module__", "__qualname__", "__doc__")},
        "generate_content_async": generate_content_async,
        "model_config": ConfigDict(defer_build=True),  # nothing is ever validated by it
    }
    same = new_class(of.__name__, (of,), exec_body=lambda namespace: namespace.update(members))
    twin: BaseLlm = object.__new__(same)
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__"):
        object.__setattr__(twin, name, getattr(model, name))
    return twin


def find_model(node: LlmNode, resolve: Callable[[Any], Model], default: Any, overrides: Any) -> None:
    """Find who answers the agent and the name that google-adk is told. Raises `ModelError` when there is nobody.

    For an agent of google-adk that names its model, or none, the Runner's `model` answers when there is one; a model object
    of its own only gives way to `models`.
    """
    own = _own_model(node)
    instead = overrides.get(node.name) if isinstance(overrides, Mapping) else overrides
    theirs = isinstance(node.agent, Mirrored)
    is_object = isinstance(own, BaseLlm)
    order = (instead, own, default) if is_object or not theirs else (instead, default, own)
    value = next((model for model in order if model is not None), None)
    if value is None and not theirs:
        raise ModelError(
            f"agent {node.name!r} has no model. Give it one (`LlmAgent(model=…)`), or all of them: `Runner(root, model=…)`."
        )
    if isinstance(value, BaseLlm):
        node.model = GoogleOwn(value.model, value)
        node.model_name = value.model
    elif value is None or (theirs and value is own):
        node.model = GoogleOwn(str(own or "google-adk's default"))
        node.model_name = node.model.name
    else:
        node.model = resolve(value)
        told = own.model if isinstance(own, BaseLlm) else own
        node.model_name = told if value is not own and isinstance(told, str) else node.model.name
    node.is_complete = True


def model_shown(node: LlmNode) -> BaseLlm | None:
    """The model by which google-adk builds the agent's requests; None where it has none, and goes by the name alone.

    That is the one that it asks. Where a model of adknb's stands in for it, it is the one that stands there, if google-adk
    has it: it may need a package that is not installed.
    """
    model = node.model
    own = _own_model(node)
    shown = model.model if isinstance(model, GoogleOwn) else own if isinstance(own, BaseLlm) else None
    if shown is not None or not isinstance(node.agent, Mirrored):
        return shown
    if isinstance(model, GoogleOwn):
        return cast(BaseLlm, node.agent.original.canonical_model)
    if own is None:
        return None
    try:
        return cast(BaseLlm, node.agent.original.canonical_model)
    except (ImportError, ValueError):
        return None


def _own_model(node: LlmNode) -> Any:
    """The model that the agent names, or its nearest LLM ancestor."""
    at: Any = node
    while at is not None:
        if isinstance(at, LlmNode) and at.agent.model is not None:
            return at.agent.model
        at = at.parent
    return None
