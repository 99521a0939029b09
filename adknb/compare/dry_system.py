"""A sent system instruction with another prompt in the place of the agent's own, on the state that it was sent from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adknb.core.errors import NotSupported
from adknb.core.requests import LlmRequest, Segment
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.rules.base import Rules, Sections

_SDK: Final = {"schema note": "schema_note", "identity": "identity", "transfer": "transfer"}


def with_prompt(
    sent: LlmRequest, agent: LlmAgent, root: BaseAgent, prompt: str, state: Mapping[str, Any], rules: Rules
) -> list[Segment]:
    """The system instruction of `sent`, had `prompt` been the agent's instruction.

    `state` is the state when it was sent. Raises `MissingKeyError` as a run would, and `NotSupported` where a callback
    rewrote the system instruction, or an artifact is inserted that was not inserted before.
    """
    parts = _sections(sent, agent, root, rules.identity(agent) is not None)
    instruction = _filled(sent, agent, prompt, state, rules) if prompt else None
    return rules.system(
        Sections(
            parts.get("schema_note"), parts.get("global_instruction"), instruction, parts.get("identity"),
            parts.get("transfer"),
        )
    )  # fmt: skip


def _sections(sent: LlmRequest, agent: LlmAgent, root: BaseAgent, has_identity: bool) -> dict[str, list[Segment]]:
    """What the system instruction was made of. Of the user's texts the global instruction comes first."""
    sections: list[list[Segment]] = [[]] if sent.system else []
    for segment in sent.system:
        if segment.origin == "separator":
            sections.append([])
        else:
            sections[-1].append(segment)
    sdk = {_SDK[section[0].origin]: section for section in sections if section and section[0].origin in _SDK}
    own = [section for section in sections if section not in sdk.values()]
    written: dict[str, object] = {}
    if isinstance(root, LlmAgent) and root.global_instruction != "":
        written["global_instruction"] = root.global_instruction
    if agent.instruction != "":
        written["instruction"] = agent.instruction
    names = list(written)
    if len(own) < len(names):  # a function that says nothing leaves no section
        names = [name for name in names if isinstance(written[name], str)]
    if len(own) > len(names):  # both are functions
        names = [section[0].origin.replace(" ", "_") for section in own if section]
    is_rewritten = any(segment.origin == "callback" for segment in sent.system)
    if is_rewritten or len(own) != len(names) or has_identity != ("identity" in sdk):
        raise NotSupported("a before_model_callback rewrote the system instruction, so another prompt's is not known")
    return {**sdk, **dict(zip(names, own, strict=True))}


def _filled(
    sent: LlmRequest, agent: LlmAgent, prompt: str, state: Mapping[str, Any], rules: Rules
) -> list[Segment] | None:
    """The prompt with its placeholders substituted; what was inserted by key before is inserted the same again."""
    inserted = {(each.origin, each.key): each.text for each in sent.system if each.key is not None}
    before = rules.parse(agent.instruction) if isinstance(agent.instruction, str) else []
    absent = {each.name for each in before if not isinstance(each, str) and each.artifact}
    segments: list[Segment] = []
    for piece in rules.parse(prompt):
        if isinstance(piece, str):
            segments.append(Segment(piece, "instruction"))
            continue
        origin = "artifact" if piece.artifact else "state"
        text = inserted.get((origin, piece.name))
        if text is None and piece.artifact and piece.name not in absent:
            raise NotSupported(f"the artifact {piece.name!r} was not inserted before, so its text is not known here")
        if text is None and not piece.artifact and piece.name in state:
            text = rules.text_of(state[piece.name])
        elif text is None and not piece.artifact:
            text = rules.text_without_value(piece.name)
        if text is not None:
            segments.append(Segment(text, origin, piece.name))
        elif not piece.optional:
            raise rules.missing(piece, agent.name, state)
    return segments
