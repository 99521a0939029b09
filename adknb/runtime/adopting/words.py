"""Whose words an event holds: a model's, or those of a callback or of the SDK itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from adknb.core.events import Event
from adknb.core.originals import original_field
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.runtime.tree import SET_MODEL_RESPONSE

_REPORTED: Final = ("model_version", "finish_reason", "usage_metadata", "avg_logprobs", "grounding_metadata")
_SDK_CALLS: Final = "adk_request_"
"""How the calls begin that google-adk makes itself: for credentials, confirmations, input."""
ABORTED: Final = "INVOCATION_ABORTED"
"""The error code of the event with which google-adk seals a cancelled invocation (`events/_abort_events.py`)."""


class Words:
    """Tells a model's replies apart, as far as a session's events say it.

    A reply of a model carries what it reported (tokens, its version, why it stopped). Where no event of the session does,
    an agent's text counts as its model's, and `is_sure` says whether a callback of the agent may have said it.
    """

    def __init__(self, events: Iterable[Event], has_plugins: bool) -> None:
        self._is_reported = any(map(_has_report, events))
        self._has_plugins = has_plugins

    def is_reply(self, event: Event, agent: BaseAgent, answered: Event | None) -> bool:
        """Whether the agent's model said this; `answered` is the event of the same step before it."""
        if not isinstance(agent, LlmAgent) or event.error_code == ABORTED or event.function_responses:
            return False
        if event.content is None:
            return event.error_code is not None
        if any(call.name.startswith(_SDK_CALLS) for call in event.function_calls):
            return False
        if not event.function_calls and answered is not None and answers_by_tool(answered):
            return False
        if self._is_reported and not _has_report(event) and not event.function_calls:
            return not self._may_interject(agent)
        return True

    def is_sure(self, event: Event, agent: LlmAgent) -> bool:
        return _has_report(event) or bool(event.function_calls) or not self._may_interject(agent)

    def _may_interject(self, agent: LlmAgent) -> bool:
        return self._has_plugins or bool(
            agent.before_agent_callback or agent.after_agent_callback or agent.before_model_callback
        )


def reported(event: Event, name: str) -> str | None:
    """What the model said about its reply under ADK Python's `name`: `model_version`, `finish_reason`."""
    value = original_field(event, name)
    return None if value is None else str(getattr(value, "value", value))


def _has_report(event: Event) -> bool:
    return event.usage is not None or any(original_field(event, name) is not None for name in _REPORTED)


def answers_by_tool(event: Event) -> bool:
    """Whether `set_model_response` gave the agent's answer, which the next event says."""
    return any(response.name == SET_MODEL_RESPONSE.name for response in event.function_responses)
