"""The category of an answer, such as APPROVE or billing, and how it is found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, TypeAlias

from adknb.compare.answers import json_of
from adknb.core.errors import SpecError
from adknb.core.escape import one_line
from adknb.core.specs import LlmAgent

Given: TypeAlias = Collection[str] | str | Callable[[str], str | None]
"""Words (`["APPROVE", "REJECT"]`), a field (`"json:category"`), or a function of the answer."""

MOST: Final = 8
"""Different answers that are still taken for categories; more are free text."""
WORDS: Final = 3
"""Words of an answer that may be a category as a whole."""
CHARACTERS: Final = 40
"""Its characters; also those of a word in capitals."""
_JSON: Final = "json:"
_SHOWN: Final = 60
_CAPITALS: Final = re.compile(rf"""[\s*`"'#>(\[]*([A-Z][A-Z_]{{1,{CHARACTERS - 1}}})(?!\w)""")
"""The first word, perhaps in quotation marks or Markdown."""
_NAMED: Final = re.compile(r"(?<!\w)[A-Z][A-Z_]+(?!\w)")
_TEXT: Final = r'"(?:[^"\\\n]|\\.)*"'
_TOKEN: Final = re.compile(rf"({_TEXT})\s*(?::\s*({_TEXT}(?:\s*\|\s*{_TEXT})*|))?|([{{}}\[\]])")
"""A quoted text, with the quoted text or texts behind its colon where it is a field's name; or a bracket."""


@dataclass(frozen=True, slots=True)
class Categories:
    """How the category of a step's answer is found. `rule` says it in words; "" when its answers have none."""

    rule: str
    find: Callable[[str], str]

    @classmethod
    def of(cls, agent: LlmAgent | None, answers: Iterable[str], given: Given | None = None) -> Self:
        """How the categories of an agent's answers are found: as `given`, or by the first of these that holds.

        1. A field of its output_schema has an enum.
        2. The JSON that its instruction shows has a field of alternatives: `"category": "billing|outage|other"`.
        3. At least half of the answers begin with a word in capitals, at most `MOST` different ones. The instruction,
           where it has a text, names at least one of them: `Reply APPROVE or REJECT: <reason>`.
        4. Every answer has at most `WORDS` words and `CHARACTERS` characters, and there are at most `MOST` different ones.

        Blank answers do not count. Raises `SpecError` when `given` is nothing of what `Given` names.
        """
        if given is not None:
            return cls(*_given(given))
        instruction = agent.instruction if agent is not None and isinstance(agent.instruction, str) else None
        said = [answer for answer in answers if answer.strip()]
        rule: tuple[str, Callable[[str], str]] | None = None
        if agent is not None and agent.output_schema is not None:
            rule = _of_schema(agent.output_schema)
        if rule is None and instruction is not None:
            rule = _of_example(instruction)
        if rule is None and _begin_in_capitals(said, instruction):
            rule = "the first word in capitals", _first_capitals
        if rule is None and _are_short(said):
            rule = "the whole answer", _whole
        return cls(*rule or ("", _none))

    def category(self, answer: str) -> str:
        """The answer's category; "" when it has none: it is no JSON, lacks the field, begins otherwise."""
        return self.find(answer)


def flip(before: str, after: str) -> str:
    """`APPROVE→REJECT`; "" when both categories are equal. A missing one shows as `none`."""
    return "" if before == after else f"{before or 'none'}→{after or 'none'}"


def _given(given: Given) -> tuple[str, Callable[[str], str]]:
    if isinstance(given, str):
        path = tuple(given.removeprefix(_JSON).split("."))
        if not given.startswith(_JSON) or not all(path):
            raise SpecError(
                f"categories: {given!r} names no field. A field of the JSON is given as 'json:category' (or "
                "'json:result.category'), words as a list: ['APPROVE', 'REJECT']."
            )
        return _by_field(path)
    if callable(given):
        return "a function", _Function(given)
    if isinstance(given, Collection) and given and all(isinstance(word, str) and word.strip() for word in given):
        return f"the first of {_listed(given)} in the answer", _Words.of(given)
    raise SpecError(
        f"categories: {given!r} is none of a list of words (['APPROVE', 'REJECT']), a field of the JSON "
        "('json:category') and a function of the answer."
    )


def _of_schema(schema: Mapping[str, Any]) -> tuple[str, Callable[[str], str]] | None:
    """By the schema's first field with an enum, the fields inside its objects included, those of lists not."""
    waiting: list[tuple[tuple[str, ...], Mapping[str, Any]]] = [((), schema)]
    while waiting:
        path, inner = waiting.pop()
        if path and inner.get("enum"):
            return _by_field(path, inner["enum"])
        properties: Mapping[str, Any] = inner.get("properties") or {}
        waiting += [((*path, name), properties[name]) for name in reversed(list(properties))]
    return None


def _of_example(instruction: str) -> tuple[str, Callable[[str], str]] | None:
    """By the first field of alternatives, `"a|b"` or `"a" | "b"`, in a JSON object that the instruction shows."""
    for path, value in _example_texts(instruction):
        words = [word.strip(' "') for word in value.split("|")]
        if len(words) > 1 and all(words):
            return _by_field(path, words)
    return None


def _example_texts(instruction: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The text fields of the objects in an instruction, by their paths; what is inside a list is left out."""
    around: list[str | None] = []
    name: str | None = None
    for quoted, value, bracket in _TOKEN.findall(instruction):
        if bracket in ("{", "["):
            around.append(name if bracket == "{" else bracket)
        elif bracket:
            del around[-1:]
        elif value and around and "[" not in around:
            yield (*(each for each in around if each is not None), quoted[1:-1]), value
        name = quoted[1:-1] if quoted and not value else None


def _by_field(path: tuple[str, ...], words: Sequence[str] = ()) -> tuple[str, Callable[[str], str]]:
    return f"the field {one_line('.'.join(path), _SHOWN)} of the JSON", _Field(path, tuple(words))


def _begin_in_capitals(said: Sequence[str], instruction: str | None) -> bool:
    words = [word for answer in said if (word := _first_capitals(answer))]
    different = set(words)
    is_named = not instruction or not different.isdisjoint(_NAMED.findall(instruction))
    return bool(words) and 2 * len(words) >= len(said) and len(different) <= MOST and is_named


def _are_short(said: Sequence[str]) -> bool:
    different = {_whole(answer) for answer in said} - {""}
    return 0 < len(different) <= MOST and all(map(_is_short, said))


def _first_capitals(answer: str) -> str:
    match = _CAPITALS.match(answer)
    return match.group(1) if match else ""


def _whole(answer: str) -> str:
    """The answer in lower case without its last punctuation; "" when it is too long for a category."""
    return " ".join(answer.split()).casefold().rstrip(".,;:!?…") if _is_short(answer) else ""


def _is_short(answer: str) -> bool:
    text = answer.strip()
    return len(text) <= CHARACTERS and len(text.split()) <= WORDS


def _none(answer: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class _Field:
    """A field's value as text. One of `words` comes as it is spelled there, whatever its case in the answer."""

    path: tuple[str, ...]
    words: tuple[str, ...]

    def __call__(self, answer: str) -> str:
        value: Any = json_of(answer)
        for name in self.path:
            value = value.get(name) if isinstance(value, dict) else None
        if value is None or isinstance(value, (dict, list)):
            return ""
        text = value.strip() if isinstance(value, str) else json.dumps(value)
        return next((word for word in self.words if word.casefold() == text.casefold()), text)


@dataclass(frozen=True, slots=True)
class _Words:
    """The given word that stands first in the answer, in its own case before any other."""

    words: tuple[str, ...]
    exact: re.Pattern[str]
    any_case: re.Pattern[str]

    @classmethod
    def of(cls, given: Collection[str]) -> Self:
        words = tuple(sorted((word.strip() for word in given), key=len, reverse=True))  # NOT APPROVED before NOT
        either = "|".join(f"({re.escape(word)})" for word in words)
        whole = rf"(?<!\w)(?:{either})(?!\w)"
        return cls(words, re.compile(whole), re.compile(whole, re.IGNORECASE))

    def __call__(self, answer: str) -> str:
        match = self.exact.search(answer) or self.any_case.search(answer)
        return self.words[match.lastindex - 1] if match and match.lastindex else ""


@dataclass(frozen=True, slots=True)
class _Function:
    """A user's function. Raises `SpecError` when it fails, or returns something else than a text or None."""

    function: Callable[[str], str | None]

    def __call__(self, answer: str) -> str:
        name = getattr(self.function, "__name__", repr(self.function))
        try:
            category = self.function(answer)
        except Exception as error:
            raise SpecError(
                f"categories: the function {name} failed on the answer {one_line(answer, _SHOWN)!r}: {error!r}. "
                "Return None for an answer without a category."
            ) from error
        if category is not None and not isinstance(category, str):
            raise SpecError(f"categories: the function {name} must return a text or None, not {category!r}")
        return category or ""


def _listed(words: Collection[str]) -> str:
    shown = ", ".join(one_line(word, _SHOWN) for word in list(words)[:MOST])
    return f"{shown} and {len(words) - MOST} more" if len(words) > MOST else shown
