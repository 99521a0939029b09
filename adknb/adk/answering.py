"""Who answers an agent under google-adk: a model of adknb's, or google-adk's own."""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.adk.models import BaseLlm, LlmRequest as GoogleRequest, LlmResponse as GoogleResponse
from pydantic import PrivateAttr

from adknb.adk.mirror import Mirrored
from adknb.core.errors import ModelError
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.runtime.tree import LlmNode

Ask = Callable[[GoogleRequest, bool], AsyncGenerator[GoogleResponse]]


@dataclass(frozen=True, slots=True)
class GoogleOwn:
    """Stands for the model that google-adk finds for an agent itself; adknb listens and does not ask it."""

    name: str

    def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        raise ModelError(f"model {self.name!r} is google-adk's, which asks it itself")


class Heard(BaseLlm):
    """What google-adk calls in place of an agent's model. `ask` answers, and writes down what was sent."""

    _ask: Ask = PrivateAttr()
    _own: BaseLlm | None = PrivateAttr(None)

    def __init__(self, model: str, ask: Ask, own: BaseLlm | None) -> None:
        super().__init__(model=model)
        self._ask = ask
        self._own = own

    @property
    def capabilities(self) -> Any:
        """Those of the model that answers; of adknb's models what google-adk tells from the name."""
        if self._own is not None:
            return self._own.capabilities
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # addressed to whoever named the model
            return super().capabilities

    async def generate_content_async(
        self, llm_request: GoogleRequest, stream: bool = False
    ) -> AsyncGenerator[GoogleResponse]:
        async for response in self._ask(llm_request, stream):
            yield response


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
    if isinstance(value, BaseLlm) or value is None or (theirs and value is own):
        node.model = GoogleOwn(own.model if isinstance(own, BaseLlm) else str(own or "google-adk's default"))
        node.model_name = node.model.name
    else:
        node.model = resolve(value)
        node.model_name = own if value is not own and isinstance(own, str) else node.model.name
    node.is_complete = True


def _own_model(node: LlmNode) -> Any:
    """The model that the agent names, or its nearest LLM ancestor."""
    at: Any = node
    while at is not None:
        if isinstance(at, LlmNode) and at.agent.model is not None:
            return at.agent.model
        at = at.parent
    return None
