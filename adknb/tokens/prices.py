"""What tokens cost: the user's own price table. None is built in, since prices change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adknb.core.errors import SpecError
from adknb.core.usage import Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """A model's prices for a million tokens, in whatever currency the user counts in.

    Cached input costs `cached` where that is given, else as much as other input. Reasoning tokens are output.
    """

    input: float
    output: float
    cached: float | None = None

    def of(self, usage: Usage) -> float:
        """What one call cost."""
        cached = usage.cached_tokens if self.cached is not None else 0
        asked = (usage.input_tokens - cached) * self.input + cached * (self.cached or 0)
        return (asked + usage.output_tokens * self.output) / MILLION


_table: dict[str, Price] = {}


def set_prices(prices: Mapping[str, Price | Mapping[str, float]]) -> None:
    """Use this price table from now on, instead of the one before: a model's name to its `Price`, or to a dict of
    `input`, `output` and perhaps `cached`. An empty table takes the cost columns away.

    Raises `SpecError` for a price that is no number, is negative, or has another name.
    """
    table = {}
    for model, price in prices.items():
        if not isinstance(price, Price):
            unknown = set(price) - {"input", "output", "cached"}
            if unknown or not {"input", "output"} <= set(price):
                raise SpecError(
                    f"price of {model!r}: give input and output, perhaps cached, per million tokens; not {price}"
                )
            price = Price(**price)
        for kind in (price.input, price.output, price.cached):
            if kind is not None and (isinstance(kind, bool) or not isinstance(kind, (int, float)) or not kind >= 0):
                raise SpecError(f"price of {model!r}: {kind!r} is no price; a number, 0 or more, per million tokens")
        table[model] = price
    _table.clear()
    _table.update(table)


def has_prices() -> bool:
    return bool(_table)


def price_of(model: str) -> Price | None:
    """The price of the model of this name; None when the table has none."""
    return _table.get(model)
