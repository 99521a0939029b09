"""A request of google-adk as adknb's, as it was when the model was called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.adk.events import Event as GoogleEvent
from google.adk.models import LlmRequest as GoogleRequest
from google.genai import types

from adknb.adk.wire import to_content
from adknb.core.content import Content
from adknb.core.events import USER, Event
from adknb.core.requests import LlmRequest, Segment
from adknb.core.specs import LlmAgent
from adknb.rules.base import Placeholder
from adknb.runtime.tree import LlmNode

_TRANSFER: Final = "\nYou have a list of other agents to transfer to:"  # extensions/_agent_transfer.py
_SCHEMA_NOTE: Final = "IMPORTANT: You have access to other tools, but you must provide your final response using the"
_OTHER_AGENT: Final = "For context:"  # context/_fencing.py
_APART: Final = {"system_instruction", "tools", "response_schema"}


@dataclass(frozen=True, slots=True)
class Seen:
    """What an agent could see when its request was built: the state, and the session's events, google-adk's own.

    `system` is its system instruction before callbacks and plugins could change it.
    """

    system: str | None
    state: Mapping[str, Any]
    events: Sequence[GoogleEvent]


def sent_request(
    node: LlmNode, model: str, request: GoogleRequest, seen: Seen | None, known: Mapping[str, Event]
) -> LlmRequest:
    """`request` with the origin of each piece, as far as it can be told. `known` maps ids to adknb's events."""
    contents = [content for each in request.contents if (content := to_content(each)) is not None]
    return LlmRequest(
        node.name,
        model,
        _system(system_text(request), node, seen),
        contents,
        sources(contents, node.name, seen.events if seen is not None else (), known),
        _declarations(request.config.tools or ()),
        _config(request.config),
    )


def system_text(request: GoogleRequest) -> str | None:
    """The system instruction; of several contents the texts, a blank line between them."""
    given = request.config.system_instruction
    if given is None or isinstance(given, str):
        return given
    content = types.Content.model_validate(given) if isinstance(given, dict) else given
    parts = content.parts or () if isinstance(content, types.Content) else content
    return "\n\n".join(str(getattr(part, "text", part)) for part in (parts if isinstance(parts, Iterable) else [parts]))


def _system(text: str | None, node: LlmNode, seen: Seen | None) -> list[Segment]:
    """The text with what callbacks and plugins added to it, or put in its place."""
    if text is None or seen is None or seen.system is None:
        return _segments(text, node, {} if seen is None else seen.state)
    if not text.startswith(seen.system):
        return [Segment(text, "callback")]
    added = text[len(seen.system) :]
    lead = "\n\n" if added.startswith("\n\n") else ""
    separator = [Segment(lead, "separator")] if lead else []
    rest = [Segment(added[len(lead) :], "callback")] if len(added) > len(lead) else []
    return [*_segments(seen.system, node, seen.state), *separator, *rest]


def _segments(text: str | None, node: LlmNode, state: Mapping[str, Any]) -> list[Segment]:
    """The text cut into what the agents' own words make of it; what is then left has one origin by how it begins."""
    if text is None:
        return []
    result: list[Segment] = []
    rest = text
    for section in _expected(node, state):
        written = "".join(segment.text for segment in section)
        if not written or not rest.startswith(written):
            continue
        result.extend(section)
        rest = rest[len(written) :]
        if rest.startswith("\n\n"):
            result.append(Segment("\n\n", "separator"))
            rest = rest[2:]
    note, found, transfer = rest.partition(_TRANSFER)
    if found:
        lead = note.removesuffix("\n\n")
        result.extend([Segment(lead, _origin(lead))] if lead else [])
        result.extend([Segment("\n\n", "separator")] if lead != note else [])
        result.append(Segment(found + transfer, "transfer"))
    elif rest:
        result.append(Segment(rest, _origin(rest)))
    return result


def _origin(text: str) -> str:
    return "schema note" if text.startswith(_SCHEMA_NOTE) else "instruction"


def _expected(node: LlmNode, state: Mapping[str, Any]) -> Iterable[list[Segment]]:
    root = node.root.agent
    if isinstance(root, LlmAgent) and isinstance(root.global_instruction, str):
        yield _filled(node, root.global_instruction, state, "global instruction")
    if isinstance(node.agent.instruction, str):
        yield _filled(node, node.agent.instruction, state, "instruction")
    if node.identity is not None:
        yield node.identity


def _filled(node: LlmNode, instruction: str, state: Mapping[str, Any], origin: str) -> list[Segment]:
    """An instruction with its values. One whose value is not known here matches nothing."""
    result = []
    for piece in node.rules.parse(instruction):
        if isinstance(piece, str):
            result.append(Segment(piece, origin))
        elif piece.artifact or (piece.name not in state and not piece.optional):
            return []
        else:
            result.append(_value(node, piece, state))
    return result


def _value(node: LlmNode, piece: Placeholder, state: Mapping[str, Any]) -> Segment:
    return Segment(node.rules.text_of(state.get(piece.name)), "state", piece.name)


def sources(
    contents: Sequence[Content], agent: str, events: Sequence[GoogleEvent], known: Mapping[str, Event]
) -> list[Event | None]:
    """For each content the first event, after the one before it, that it can have come from."""
    result: list[Event | None] = []
    at = 0
    for content in contents:
        found = next((i for i in range(at, len(events)) if _is_from(content, events[i], agent)), None)
        result.append(known.get(events[found].id) if found is not None else None)
        at = at if found is None else found + 1
    return result


def _is_from(content: Content, event: GoogleEvent, agent: str) -> bool:
    said = to_content(event.content)
    if said is None or not said.parts:
        return False
    if event.author in (agent, USER) and content.role == said.role:
        return _without_ids(content) == _without_ids(said)
    if not (content.parts and (content.parts[0].text or "").startswith(_OTHER_AGENT)):
        return False
    told = content.text
    return f"[{event.author}]" in told and all(
        (part.text or "") in told
        and (part.function_call is None or part.function_call.name in told)
        and (part.function_response is None or part.function_response.name in told)
        for part in said.parts
        if not part.thought
    )


def _without_ids(content: Content) -> list[Any]:
    """The parts as JSON; google-adk sends no ids that it made itself."""
    parts = [part.to_dict() for part in content.parts]
    for part in parts:
        for kind in ("function_call", "function_response"):
            part.get(kind, {}).pop("id", None)
    return parts


def _declarations(tools: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Every declared function by name, as JSON; a tool of the model's own (a search) by the name of its kind."""
    result: dict[str, dict[str, Any]] = {}
    for tool in tools:
        if not isinstance(tool, types.Tool):
            result[getattr(tool, "__name__", type(tool).__name__)] = {}
            continue
        for declaration in tool.function_declarations or ():
            result[declaration.name or ""] = declaration.model_dump(mode="json", exclude_none=True, by_alias=True)
        rest = tool.model_dump(mode="json", exclude_none=True, by_alias=True, exclude={"function_declarations"})
        result.update({name: {"name": name, **(fields or {})} for name, fields in rest.items()})
    return result


def _config(config: types.GenerateContentConfig) -> dict[str, Any]:
    """Every field that is set. HTTP options (headers may hold keys) are not part of what a model is told."""
    dumped = config.model_dump(mode="json", exclude_none=True, exclude=_APART | {"http_options", "labels"})
    schema = config.response_schema
    if schema is not None:
        dumped["response_schema"] = _schema(schema)
    return dumped


def _schema(schema: Any) -> Any:
    if isinstance(schema, types.Schema):
        return schema.model_dump(mode="json", exclude_none=True, by_alias=True)
    if isinstance(schema, Mapping):
        return dict(schema)
    return schema.model_json_schema() if hasattr(schema, "model_json_schema") else str(schema)
