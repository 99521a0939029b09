"""Rows as a DataFrame: plain column names, plain dtypes, the same in every pandas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]
Kind = Literal["text", "count", "maybe", "number", "amount", "flag", "maybe_flag", "value"]
"""A column's kind: text; a whole number; one that may be absent (`<NA>`); a decimal; one that may be absent; true or
false; these, or absent; any JSON value."""

_DTYPES: dict[Kind, str] = {
    "text": "object",  # not pandas' own str: Arrow refuses lone surrogates
    "count": "int64",
    "maybe": "Int64",
    "number": "float64",
    "amount": "Float64",
    "flag": "bool",
    "maybe_flag": "boolean",
    "value": "object",
}


def frame(rows: Iterable[Row], columns: Mapping[str, Kind]) -> pd.DataFrame:
    """The rows under the named columns, in that order."""
    import pandas as pd

    listed = list(rows)
    return pd.DataFrame(
        {
            name: pd.Series([row[name] for row in listed], dtype=_DTYPES[kind], index=range(len(listed)))
            for name, kind in columns.items()
        }
    )
