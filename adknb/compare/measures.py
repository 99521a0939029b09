"""What is measured on one answer, or on two answers to the same step. Pure functions; none raises on any text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from adknb.compare.answers import FieldChange, field_changes, fields_equal, json_of, same_json
from adknb.compare.categories import Categories, flip
from adknb.compare.leaks import leaked, leaked_what
from adknb.core.errors import OutputSchemaError
from adknb.rules.output_schema import DoesNotFit, read_json, validate

__all__ = [
    "Categories", "FieldChange", "as_expected", "field_changes", "fields_equal", "flip", "json_of", "leaked",
    "leaked_what", "schema_valid", "similarity",
]  # fmt: skip

LONGEST: Final = 10_000
"""Characters of two texts that are compared as a whole; their product counts, so that a short one meets a long one."""
_PIECE: Final = 1_000


def similarity(one: str, other: str) -> float:
    """How alike two texts are, from 0 to 1; 1 only for equal texts. It is rapidfuzz's `fuzz.ratio` / 100.

    That is the normalized Indel similarity: twice the longest common subsequence, by the characters of both. Where what
    is left between their common beginning and end is longer than `LONGEST`, it is compared in pieces of at most 1,000
    characters at equal shares of both, which can only find less in common. Two texts of 1 MB take less than 0.1 s.
    """
    from rapidfuzz.distance import Indel, LCSseq, Postfix, Prefix

    if len(one) * len(other) <= LONGEST**2:
        return Indel.normalized_similarity(one, other)
    start = Prefix.similarity(one, other)
    first, second = one[start:], other[start:]
    end = Postfix.similarity(first, second)
    first, second = first[: len(first) - end], second[: len(second) - end]
    count = 1
    if len(first) * len(second) > LONGEST**2:
        count = -(-max(len(first), len(second)) // _PIECE)
    pieces = zip(_pieces(first, count), _pieces(second, count), strict=True)
    common = start + end + sum(LCSseq.similarity(mine, theirs) for mine, theirs in pieces)
    return 2 * common / (len(one) + len(other))


def as_expected(answer: str, category: str, expected: str) -> bool:
    """Whether an answer is what was expected: its category or its whole text, regardless of case and white space.

    When `expected` is a JSON object, each of its fields must be equal in the answer's JSON, which may have more; when it
    is a list, the answer must be an equal one.
    """
    wanted = json_of(expected)
    if wanted is None:
        return _plain(expected) == _plain(answer) or (category != "" and _plain(expected) == _plain(category))
    found = json_of(answer)
    if isinstance(wanted, list) or isinstance(found, list) or found is None:
        return found is not None and same_json(found, wanted)
    return all(name in found and same_json(found[name], value) for name, value in wanted.items())


def schema_valid(answer: str, schema: Mapping[str, Any]) -> bool:
    """Whether an answer is JSON that fits a Gemini schema (as `LlmAgent.output_schema` holds it).

    Read and checked as ADK Java does it, so a fence is no JSON and what follows the JSON is not looked at; false also
    for a schema on which ADK Java fails. Beyond ADK Java, the schema may be one of a list, and enums and the bounds of
    lengths, counts and numbers are looked at, and patterns that Python can read. Formats are not.
    """
    try:
        value = read_json(answer)
        validate({"answer": value}, {"properties": {"answer": schema}}, ["answer"])
    except (ValueError, DoesNotFit, OutputSchemaError):
        return False
    return _is_within(value, schema)


def _pieces(text: str, count: int) -> list[str]:
    places = [len(text) * number // count for number in range(count + 1)]
    return [text[start:end] for start, end in pairwise(places)]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _is_within(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value whose types fit keeps to the enums, bounds and patterns too."""
    if isinstance(value, str):
        allowed = schema.get("enum")
        return (
            (not allowed or value in allowed)
            and _is_between(len(value), schema, "minLength", "maxLength")
            and _matches(value, schema.get("pattern"))
        )
    if isinstance(value, list):
        return _is_between(len(value), schema, "minItems", "maxItems") and all(
            _is_within(item, schema["items"]) for item in value
        )
    if isinstance(value, dict):
        return _is_between(len(value), schema, "minProperties", "maxProperties") and all(
            _is_within(item, schema["properties"][name]) for name, item in value.items()
        )
    return value is None or isinstance(value, bool) or _is_between(value, schema, "minimum", "maximum")


def _is_between(number: float, schema: Mapping[str, Any], least: str, most: str) -> bool:
    """The API's JSON spells counts as text (`"minItems": "2"`)."""
    bottom, top = schema.get(least), schema.get(most)
    return (bottom is None or number >= float(bottom)) and (top is None or number <= float(top))


def _matches(text: str, pattern: str | None) -> bool:
    try:
        return pattern is None or re.search(pattern, text) is not None
    except re.error:
        return True
