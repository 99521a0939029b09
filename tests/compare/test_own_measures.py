"""What a user's measures return: any number, bool or text, and what is none of these is said and not shown."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from adknb import Comparison, LlmAgent, SpecError, compare_variants
from adknb.compare.plain import plain


def measured(returned: Any) -> Comparison:
    agent = LlmAgent(name="Echo", instruction="Repeat.")
    return compare_variants(agent, ["one"], ["default"], model="echo", measures={"own": lambda answer: returned})


@pytest.mark.parametrize(
    ("returned", "value"),
    [
        (True, True),
        (np.bool_(True), True),
        (3, 3),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.str_("red"), "red"),
        (Decimal("1.5"), 1.5),
        (Fraction(1, 4), 0.25),
        (10**30, 1e30),
        (float("nan"), None),
        (np.float64("nan"), None),
        (Decimal("NaN"), None),
        (pd.NA, None),
        (pd.NaT, None),
        (None, None),
    ],
)
def test_numbers_bools_and_texts_become_pythons_own(tmp_path: Path, returned: Any, value: Any) -> None:
    comparison = measured(returned)
    [row] = comparison.rows
    assert row["own"] == value
    assert type(row["own"]) is type(value)
    assert comparison.measured.failed == {}
    comparison.to_parquet(tmp_path / "rows.parquet")
    [read] = pd.read_parquet(tmp_path / "rows.parquet")["own"]
    assert pd.isna(read) if value is None else read == value


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ([1], "a measure returns a number, a bool, a text or None, not [1]"),
        ({}, "a measure returns a number, a bool, a text or None, not {}"),
        (1 + 2j, "a measure returns a number, a bool, a text or None, not (1+2j)"),
        (np.array([1, 2]), "a measure returns a number, a bool, a text or None, not array([1, 2])"),
        (np.datetime64("2020-01-01"), "a measure returns a number, a bool, a text or None, not np.datetime64('2020-01-01')"),
        (10**400, "a measure returned a number that is too large"),
    ],
)  # fmt: skip
def test_what_no_table_can_hold_has_failed(tmp_path: Path, returned: Any, said: str) -> None:
    comparison = measured(returned)
    assert [row["own"] for row in comparison.rows] == [None]
    assert comparison.measured.failed == {"own": [f"input 1: SpecError: {said}"]}
    assert "The measure own failed on 1 answer" in " ".join(str(comparison).split())
    comparison.to_parquet(tmp_path / "rows.parquet")


@given(st.integers() | st.floats() | st.decimals(allow_nan=False) | st.fractions())
def test_every_number_is_a_number_or_too_large(value: Any) -> None:
    try:
        found = plain(value)
    except SpecError:
        assert abs(value) > 1e308
    else:
        assert found is None or isinstance(found, (int, float))


def test_measures_are_a_map_of_names() -> None:
    agent = LlmAgent(name="Echo", instruction="Repeat.")
    listed: Any = [len]
    with pytest.raises(
        SpecError, match=r"^measures maps names to functions of the answer, such as {'length': len}; not \["
    ):
        compare_variants(agent, ["one"], model="echo", measures=listed)
    numbered: Any = {3: len}
    with pytest.raises(SpecError, match=r"^the measure 3 names a column, so its name is text\.$"):
        compare_variants(agent, ["one"], model="echo", measures=numbered)


def test_what_is_not_saved_is_zero() -> None:
    """Not -0.0, which reads like a loss."""
    agent = LlmAgent(name="Echo", instruction="Repeat.")
    summary = compare_variants(agent, ["one"], model="echo").summary
    assert (
        summary[["saved", "saved_percent", "saved_from", "saved_to"]].astype(str).values.tolist()[2:]
        == [["0.0"] * 4] * 2
    )
