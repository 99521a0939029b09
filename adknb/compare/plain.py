"""What a user's measure returned, as a plain value."""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any, Final

from adknb.core.errors import SpecError
from adknb.core.escape import one_line

_WHOLE: Final = 2**53
"""Up to here every whole number is a decimal number too."""
_SHOWN: Final = 60


def plain(value: Any) -> float | bool | str | None:
    """The value as Python's own number, bool or text, so that every table, file and card can hold it.

    numpy's and pandas' scalars become these; NaN and `<NA>` are None. Raises `SpecError` for anything else, and for a
    number that is too large for a float.
    """
    import pandas as pd

    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if pd.api.types.is_bool(value):
        return bool(value)
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    if isinstance(value, (numbers.Real, Decimal)):
        return _number(value)
    raise SpecError(f"a measure returns a number, a bool, a text or None, not {one_line(repr(value), _SHOWN)}")


def _number(value: numbers.Real | Decimal) -> float:
    if isinstance(value, numbers.Integral) and abs(int(value)) <= _WHOLE:
        return int(value)
    try:
        return float(value)
    except OverflowError:
        raise SpecError("a measure returned a number that is too large") from None
