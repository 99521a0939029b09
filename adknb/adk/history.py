"""Which history a request of google-adk carries, as google-adk itself says it: for prompts that were not sent."""

from __future__ import annotations

from collections.abc import Sequence

from google.adk.flows.llm_flows.contents import _get_contents, _get_current_turn_contents

from adknb.adk.sent import sources
from adknb.adk.wire import from_event, to_content
from adknb.core.errors import UnknownCallError
from adknb.core.events import Event
from adknb.core.specs import IncludeContents, LlmAgent
from adknb.rules.base import Sourced


def contents(agent: LlmAgent, branch: str | None, events: Sequence[Event], include: IncludeContents) -> list[Sourced]:
    """The contents, each with the event that it came from as far as that can be told.

    Raises `UnknownCallError` for an answer to a call that is not there.
    """
    stored = [from_event(event) for event in events]
    read = _get_contents if include is IncludeContents.DEFAULT else _get_current_turn_contents
    try:
        given = read(branch, stored, agent.name)
    except ValueError as error:
        raise UnknownCallError(f"agent {agent.name!r}: google-adk cannot build this history: {error}").as_adk(
            "ValueError", str(error)
        ) from error
    found = [content for each in given if (content := to_content(each)) is not None]
    known = {event.id: event for event in events}
    return list(zip(found, sources(found, agent.name, stored, known), strict=True))
