"""A prompt that is being edited: what in it is inserted, and what lint says of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from adknb.analysis.findings import Finding
from adknb.analysis.lint import lint
from adknb.analysis.uses import Uses
from adknb.core.errors import AdknbError
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.notebook.agent_line import to_line
from adknb.notebook.pipelines import AgentCell, with_instruction
from adknb.rules.base import Placeholder
from adknb.rules.resolve import resolve_rules

FINDINGS: Final = 12
"""Findings that are sent to the editor."""


class Stretch(NamedTuple):
    """A piece of a prompt: `text` as it is, a `placeholder`, or an `optional` or `unknown` one, whose key nobody is known to
    write."""

    text: str
    kind: Literal["text", "placeholder", "optional", "unknown"]


@dataclass(frozen=True, slots=True)
class DraftLint:
    """What is to be said of a draft. Joined, the stretches are the draft."""

    stretches: tuple[Stretch, ...]
    findings: tuple[Finding, ...]
    error: str = ""


def read_draft(root: BaseAgent, agent: str, text: str, rules: str, given: Iterable[str]) -> DraftLint:
    """The draft `text` as the instruction of `agent` in the tree `root`. `given` are keys that are there at the start."""
    known = resolve_rules(rules)
    given = frozenset(given)
    try:
        edited = with_instruction(root, agent, text)
        uses = Uses(edited, known)
        found = lint(edited, rules=known, state=given).of(agent.partition("#")[0])
    except AdknbError as error:
        return DraftLint((Stretch(text, "text"),), (), str(error))

    def kind(placeholder: Placeholder) -> Literal["placeholder", "optional", "unknown"]:
        if placeholder.optional:
            return "optional"
        name = placeholder.name
        is_known = placeholder.artifact or name in given or uses.writers(name) or uses.may_write(name)
        return "placeholder" if is_known else "unknown"

    stretches = tuple(
        Stretch(piece, "text") if isinstance(piece, str) else Stretch(piece.match, kind(piece))
        for piece in known.parse(text)
    )
    return DraftLint(stretches, tuple(found)[:FINDINGS])


def instruction_of(root: BaseAgent, agent: str) -> str | None:
    """The agent's instruction; None when it has none that is text."""
    found = root.find_agent(agent.partition("#")[0])
    return found.instruction if isinstance(found, LlmAgent) and isinstance(found.instruction, str) else None


def cell_text(pipeline: str, agent: AgentCell) -> str:
    """The `%%agent` cell that writes this agent into this pipeline."""
    return f"%%agent {to_line(agent)} --pipeline {shlex.quote(pipeline)}\n{agent.prompt}"


def as_message(read: DraftLint) -> Mapping[str, Any]:
    """The draft's reading as JSON for the editor, which sets it as text."""
    return {
        "stretches": [[stretch.text, stretch.kind] for stretch in read.stretches],
        "findings": [
            {
                "severity": finding.severity,
                "line": finding.place.line if finding.place is not None else None,
                "message": finding.message,
                "fix": finding.fix,
            }
            for finding in read.findings
        ],
        "error": read.error,
    }
