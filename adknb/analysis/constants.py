"""State keys as a class of constants: Python that is valid whatever the keys are called."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from adknb.core.escape import one_line, visible

_COMMENT: Final = 1_000
_WORD_START: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHER: Final = re.compile(r"[^A-Za-z0-9]+")


def constant_names(keys: Iterable[str]) -> dict[str, str]:
    """A constant's name for each key: `user:tier` is USER_TIER. Of keys that would share one, later ones get `_2`, …"""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for key in keys:
        base = name = _constant(key)
        number = 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        names[key] = name
    return names


def constants_class(pipeline: str, entries: Sequence[tuple[str, Mapping[str, str]]]) -> str:
    """A Python module: one class, each key with its facts as comments above it. Empty facts are left out."""
    names = constant_names(key for key, _ in entries)
    lines = [
        '"""The state keys of a pipeline."""',  # first, or a comment could name the file's encoding
        "", f"# Pipeline: {one_line(pipeline, _COMMENT)}", "", "", "class StateKeys:",
        '    """Every state key: who writes it, who reads it, and what it holds."""',
    ]  # fmt: skip
    for key, facts in entries:
        lines.append("")
        lines.extend(f"    # {fact}: {one_line(text, _COMMENT)}" for fact, text in facts.items() if text)
        lines.append(f"    {names[key]} = {literal(key)}")
    return "\n".join(lines) + "\n"


def literal(text: str) -> str:
    """The text as Python source in double quotes; whatever would not be seen is written as an escape."""
    written = repr(text) if visible(text) == text else ascii(text)
    return written if written.startswith('"') else '"' + written[1:-1].replace('"', '\\"') + '"'


def _constant(key: str) -> str:
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode("ascii")
    name = _OTHER.sub("_", _WORD_START.sub("_", plain)).strip("_").upper()
    if not name:
        return "KEY"
    return f"KEY_{name}" if name[0].isdigit() else name
