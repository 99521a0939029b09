"""Braces in instructions: what looks like a key and is none, what loses its braces, what passes through."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from adknb.analysis.findings import Finding, Subject
from adknb.analysis.uses import Place, placed, texts
from adknb.core.escape import one_line
from adknb.rules.base import Placeholder, Rules, Template
from adknb.runtime.tree import LlmNode

_BRACES: Final = re.compile(r"\{+[^{}]*\}+")
_LIKE_A_KEY: Final = re.compile(r"\s*((?:(?:app|user|temp)\s*:\s*)?[^\W\d][\w.$:/-]*)\s*(\?*)\s*")
_AROUND: Final = 16
"""Characters shown before and after a placeholder."""


def findings(subject: Subject) -> Iterator[Finding]:
    for node in subject.uses.llm_nodes:
        for _, text, template in texts(node):
            yield from _of_text(subject, node, text, template)


def readable_key(rules: Rules, key: str) -> bool:
    """Whether a placeholder can name the key."""
    pieces = rules.parse(f"{{{key}}}")
    return len(pieces) == 1 and isinstance(pieces[0], Placeholder) and pieces[0].name == key


def mended(rules: Rules, key: str) -> str:
    """The key with its fault mended: `step.extract` is `step_extract`; empty when nothing readable is left."""
    prefix, colon, rest = re.sub(r"\s+", "", key).partition(":")
    if not colon or prefix not in ("app", "user", "temp"):
        prefix, rest = "", f"{prefix}{colon}{rest}"
    candidate = (f"{prefix}:" if prefix else "") + re.sub(r"\W+", "_", rest).strip("_")
    return candidate if readable_key(rules, candidate) else ""


def _of_text(subject: Subject, node: LlmNode, text: str, template: Template) -> Iterator[Finding]:
    passing: list[Place] = []
    for piece, offset in placed(text, template):
        if isinstance(piece, Placeholder):
            if piece.match.startswith("{{") or piece.match.endswith("}}"):
                yield _eaten(node, text, piece, offset)
            continue
        for match in _BRACES.finditer(piece):
            place = Place.at(text, offset + match.start(), match.group())
            like_a_key = _LIKE_A_KEY.fullmatch(match.group().strip("{}"))
            if like_a_key is not None and _was_meant(subject, like_a_key[1]):
                yield _not_substituted(subject, node, place, like_a_key[1], like_a_key[2])
            elif match.group().startswith("{{") and match.group().endswith("}}"):
                yield Finding(
                    "doubled-braces", "warning", node.name, place,
                    "The braces stay doubled: ADK has no escape for braces, and what is no key passes through as it "
                    "is.",
                    "Write single braces.",
                )  # fmt: skip
            else:
                passing.append(place)
    if passing:
        count = "1 pair of braces passes" if len(passing) == 1 else f"{len(passing)} pairs of braces pass"
        yield Finding(
            "braces-pass", "info", node.name, passing[0],
            f"{count} through as text, because no key stands between them (as in a JSON example).",
        )  # fmt: skip


def _was_meant(subject: Subject, name: str) -> bool:
    """Whether a person meant a key. An unknown prefix (`{name:type}`) is rather a format, unless a key follows it."""
    prefix, colon, rest = name.partition(":")
    if not colon or prefix.strip() in ("app", "user", "temp"):
        return True
    return rest in subject.uses.keys or rest in subject.given


def _not_substituted(subject: Subject, node: LlmNode, place: Place, name: str, marks: str) -> Finding:
    rules = subject.rules
    optional = "?" if marks else ""
    better = mended(rules, name)
    if readable_key(rules, name):
        reason = (
            "one '?' alone may follow the name" if len(marks) > 1 else "the '?' must follow the name without a space"
        )
    else:
        reason = f"{name!r} is no name that a placeholder can have"
    written = [write.key for write in subject.uses.writes]
    known = [key for key in dict.fromkeys([*written, *subject.given]) if readable_key(rules, key)]
    fix = f"Write {{{better}{optional}}}." if better else "Use letters, digits and underscores."
    writers = [write.node.name for write in subject.uses.writers(name)]
    close = get_close_matches(better or name, known, n=1, cutoff=0.6)
    if writers and better != name:
        fix = f"Write {{{better}{optional}}}, and name the output_key of {', '.join(writers)} so too."
    elif close and close[0] != better:
        fix = f"Did you mean {{{close[0]}{optional}}}? {fix}"
    return Finding(
        "not-substituted", "warning", node.name, place,
        f"{place.text} is never substituted: {reason}. The model reads it as it stands.", fix,
    )  # fmt: skip


def _eaten(node: LlmNode, text: str, placeholder: Placeholder, offset: int) -> Finding:
    match = placeholder.match
    end = offset + len(match)
    line = text.rfind("\n", 0, offset) + 1
    stop = text.find("\n", end)
    before = text[max(line, offset - _AROUND) : offset]
    after = text[end : min(end + _AROUND, stop if stop >= 0 else len(text))]
    opened, closed = len(match) - len(match.lstrip("{")), len(match) - len(match.rstrip("}"))
    inner = "{" + match.strip("{}") + "}"
    if opened == closed:
        fix = f"Write {inner} for the value. ADK has no escape for braces: where they are text, use other brackets."
    else:
        fix = f"Put spaces between the braces: {'{ ' * (opened - 1)}{inner}{' }' * (closed - 1)}"
    return Finding(
        "braces-eaten", "warning", node.name, Place.at(text, offset, match),
        f"{one_line(match, 80)} is replaced with all its braces: {one_line(before + match + after, 120)} becomes "
        f"{one_line(before + 'VALUE' + after, 120)}.",
        fix,
    )  # fmt: skip
