"""The user's own price table, and the cost columns that come from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from adknb import Content, LlmAgent, LlmResponse, Runner, ScriptedModel, SequentialAgent, SpecError, Usage
from adknb.tokens.prices import Price, set_prices


@pytest.fixture(autouse=True)
def no_prices_afterwards() -> Iterator[None]:
    yield
    set_prices({})


def run() -> Any:
    root = SequentialAgent(
        name="p", sub_agents=[LlmAgent(name="A", output_key="a"), LlmAgent(name="B", instruction="{a}")]
    )
    replies: dict[str, list[Any]] = {
        "A": [LlmResponse(Content.model("a"), usage=Usage(1_000_000, 200_000, cached_tokens=400_000))],
        "B": ["b"],
    }
    return Runner(root, model=ScriptedModel(replies, name="tiny")).run("hi")


def test_without_a_table_there_is_no_cost() -> None:
    assert "cost" not in run().steps
    assert "cost" not in run().tokens


def test_a_model_without_a_price_costs_nothing_known() -> None:
    set_prices({"other": Price(1.0, 1.0)})
    assert run().steps["cost"].isna().all()


def test_reported_usage_is_priced_with_its_cached_tokens() -> None:
    set_prices({"tiny": {"input": 2.0, "output": 10.0, "cached": 0.5}})
    steps = run().steps.set_index("step")
    assert steps.cost["A"] == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 0.2 * 10.0)
    counted = steps.input_tokens["B"] * 2.0 / 1_000_000 + steps.output_tokens["B"] * 10.0 / 1_000_000
    assert steps.cost["B"] == pytest.approx(counted)
    assert run().tokens["cost"].sum() == pytest.approx(steps.cost.sum())


def test_without_a_price_for_cached_input_it_costs_as_other_input() -> None:
    assert Price(2.0, 10.0).of(Usage(1_000_000, 0, cached_tokens=400_000)) == 2.0


@pytest.mark.parametrize(
    ("price", "message"),
    [
        ({"input": 1}, "price of 'm': give input and output, perhaps cached, per million tokens; not {'input': 1}"),
        ({"input": 1, "output": 1, "in": 1}, "give input and output"),
        ({"input": -1, "output": 1}, "price of 'm': -1 is no price"),
        ({"input": 1, "output": "2"}, "price of 'm': '2' is no price"),
        ({"input": 1, "output": float("nan")}, "price of 'm': nan is no price"),
    ],
)
def test_a_wrong_price_leaves_the_table_as_it_was(price: dict[str, Any], message: str) -> None:
    set_prices({"tiny": Price(1.0, 1.0)})
    with pytest.raises(SpecError) as caught:
        set_prices({"m": price})
    assert message in str(caught.value)
    assert run().steps["cost"].notna().all()
