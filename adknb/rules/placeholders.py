"""An instruction cut at its placeholders. All three SDKs match them alike; what counts as a name is each one's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

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
