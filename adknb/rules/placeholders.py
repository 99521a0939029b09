"""An instruction cut at its placeholders. All three SDKs match them alike; what counts as a name is each one's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

from adknb.core.errors import AdknbError, MissingArtifactError, MissingKeyError, near_names
from adknb.rules.base import Placeholder, Template

_PLACEHOLDER: Final = re.compile(r"\{+[^{}]*\}+")


def pieces(instruction: str, placeholder: Callable[[str], Placeholder | None]) -> Template:
    """Literal text and placeholders in turn. `placeholder` reads a match; None lets it pass through as text."""
    found: list[str | Placeholder] = []
    end = 0
    for match in _PLACEHOLDER.finditer(instruction):
        read = placeholder(match.group())
        if read is not None:
            if match.start() > end:
                found.append(instruction[end : match.start()])
            found.append(read)
            end = match.end()
    if end < len(instruction):
        found.append(instruction[end:])
    return tuple(found)


def missing(placeholder: Placeholder, agent: str, known: Collection[str]) -> AdknbError:
    """The error for a required placeholder without a value, in our words; each rule set adds its ADK's."""
    name = placeholder.name
    if placeholder.artifact:
        return MissingArtifactError(
            f"agent {agent!r}: the instruction needs the artifact {name!r}, which nobody saved. Save it in an earlier step, or "
            f"make it optional: {{artifact.{name}?}}"
        )
    return MissingKeyError(
        f"agent {agent!r}: the instruction needs the state key {name!r}, which nobody wrote.{near_names(name, known)} Write it "
        f"in an earlier step (output_key={name!r}), start with it (state={{{name!r}: …}}), or make it optional: {{{name}?}}",
        name,
    )
