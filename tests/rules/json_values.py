"""Any JSON value whose texts UTF-8 can hold."""

from __future__ import annotations

from hypothesis import strategies

TEXTS = strategies.text(alphabet=strategies.characters(exclude_categories=["Cs"]))
JSON_VALUES = strategies.recursive(
    strategies.none()
    | strategies.booleans()
    | strategies.integers(-(2**53), 2**53)
    | strategies.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: strategies.lists(inner) | strategies.dictionaries(TEXTS, inner),
)
