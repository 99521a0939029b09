"""What a comparison's card says of how it was made."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import GenerateContentConfig, LlmAgent, Runner, ScriptedModel, compare_variants
from adknb.notebook.cards.lab_words import circumstances, nothing_concluded


@pytest.mark.parametrize(
    ("config", "options", "said"),
    [
        ({}, {}, "no seed"),
        ({}, {"seed": 7}, "seed 7"),
        ({"seed": 11}, {}, "seed 11"),
        ({"seed": 11}, {"seed": 7, "repeat": 2}, "seeds 11 and 12"),
    ],
)
def test_the_seed_that_a_model_got(config: dict[str, Any], options: dict[str, Any], said: str) -> None:
    agent = LlmAgent(name="A", instruction="Answer.", generate_content_config=GenerateContentConfig(**config))
    comparison = compare_variants(agent, ["hello"], model=ScriptedModel(lambda request: "hi"), **options)
    assert circumstances(comparison).rsplit(" · ", 1)[1] == said


def test_counts_of_a_dry_comparison_are_exact_whatever_can_be_concluded() -> None:
    agent = LlmAgent(name="A", instruction="Answer.")
    run = Runner(agent, model=ScriptedModel(["hi"])).run("hello")
    comparison = compare_variants(agent, [run], kind="dry")
    assert nothing_concluded(comparison) == (
        "The tokens are exact for these prompts. About other inputs nothing can be concluded from 1 input: at least 7 would "
        "be needed."
    )
