"""The charts of a comparison: every number and label that is drawn, and that no text in them acts."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from adknb.compare.comparison import Comparison
from adknb.core.errors import AdknbError
from adknb.core.views import chart
from adknb.notebook.charts import (
    CHANNEL_COLOURS,
    DARK,
    INK,
    NAME,
    PAPER,
    SHAPES,
    VARIANT_COLOURS,
    VARIANTS,
    drawn_steps,
    growth_spec,
    labels,
    svg,
    tokens_spec,
)
from adknb.notebook.growth import growth
from tests.browser.payloads import PAYLOADS
from tests.notebook.comparisons import comparison, step, ten, trial

PICTURED = {"svg", "style", "rect", "g", "path", "line", "text"}


def values(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    """The data of the layers of a mark."""
    return [value for layer in spec["layer"] if layer["mark"]["type"] == mark for value in layer["data"]["values"]]


def written(picture: str) -> list[str]:
    """The texts that stand in an SVG."""
    return [element.text or "" for element in ET.fromstring(picture).iter() if element.tag.endswith("}text")]


def test_bars_stack_the_channels_of_each_step_and_variant() -> None:
    spec = tokens_spec(ten())
    assert [(bar["row"], bar["channel"], bar["start"], bar["end"], bar["text"]) for bar in values(spec, "bar")] == [
        (1, "instruction", 0.0, 10.0, "10"),
        (1, "history", 10.0, 50.0, "history 40"),
        (2, "instruction", 0.0, 10.0, "10"),
        (2, "history", 10.0, 50.0, "history 40"),
        (4, "instruction", 0.0, 10.0, "10"),
        (4, "history", 10.0, 105.5, "history 96"),
        (5, "instruction", 0.0, 10.0, "10"),
        (5, "history", 10.0, 65.5, "history 56"),
    ]
    words = [(text["row"], text["text"]) for text in values(spec, "text") if "is" in text]
    assert sorted(words, key=lambda word: word[0]) == [
        (0, "DraftAgent"), (1, "DEFAULT"), (1, "50"), (2, "NONE"), (2, "50"),
        (3, "CheckAgent"), (4, "DEFAULT"), (4, "106"), (5, "NONE"), (5, "66"),
    ]  # fmt: skip
    colour = spec["layer"][0]["encoding"]["color"]["scale"]
    assert colour["domain"] == ["instruction", "history"]
    assert colour["range"] == [CHANNEL_COLOURS["instruction"], CHANNEL_COLOURS["history"]]


def test_a_number_stands_in_a_stretch_only_where_there_is_room() -> None:
    made = comparison([trial("default", "1", step("A", 1_000, "", channels={"instruction": 5, "history": 995}))])
    assert [bar["text"] for bar in values(tokens_spec(made), "bar")] == ["", "history 995"]


def test_of_many_steps_the_largest_are_drawn_in_the_order_in_which_they_ran() -> None:
    steps = [step(f"A{number}", 100 + number % 14, "") for number in range(15)]
    made = comparison([trial(variant, "1", *steps) for variant in ("default", "none")])
    assert drawn_steps(made) == [f"A{number}" for number in range(2, 14)]


def test_growth_adds_up_the_input_tokens_of_a_run() -> None:
    grown = growth(ten())
    assert grown.places == ["DraftAgent", "CheckAgent"]
    assert grown.totals == [[50.0, 155.5], [50.0, 115.5]]
    points = values(growth_spec(ten()), "point")
    assert [(point["variant"], point["row"], point["tokens"]) for point in points] == [
        ("DEFAULT", 0, 50.0), ("DEFAULT", 1, 155.5), ("NONE", 0, 50.0), ("NONE", 1, 115.5),
    ]  # fmt: skip


def test_growth_goes_on_over_the_turns_of_conversations_and_leaves_out_what_failed() -> None:
    turns = [step("A", 10, "one"), step("B", 20, "two"), step("A", 30, "three", turn=2), step("B", 40, "four", turn=2)]
    failed = [step("A", 10, "one"), step("B", 99, "", error="ValueError: no", status="failed")]
    made = comparison([trial("default", "1", *turns), trial("none", "1", *failed, error="ValueError: no")])
    grown = growth(made)
    assert grown.places == ["1 · A", "1 · B", "2 · A", "2 · B"]
    assert grown.totals == [[10.0, 30.0, 60.0, 100.0], [None, None, None, None]]
    assert growth_spec(made)["title"]["text"] == "How they add up, by turn and step"
    assert len(values(growth_spec(made), "point")) == 4


def test_a_step_that_runs_in_one_trial_of_four_adds_a_quarter_of_its_tokens() -> None:
    """So the lines end at the tokens of the whole."""
    records = [trial("default", str(number), step("A", 100, "go")) for number in (1, 2, 3)]
    made = comparison([*records, trial("default", "4", step("A", 100, "go"), step("A#2", 80, "go"))])
    assert growth(made).totals[0] == [100.0, 120.0]
    assert list(made.tokens["cumulative"])[:2] == [100.0, 120.0]
    assert list(made.tokens["input_tokens"])[:2] == [100.0, 80.0]
    assert list(made.summary["input_tokens"])[:3] == [100.0, 80.0, 120.0]


def test_means_are_over_trials_and_repeats() -> None:
    records = [trial("default", "1", step("A", tokens, ""), repeat=repeat) for repeat, tokens in enumerate((10, 20))]
    assert growth(comparison(records, repeats=2)).totals == [[15.0], [None]]


def test_the_picture_says_all_names_and_numbers() -> None:
    said = written(svg(tokens_spec(ten())))
    assert {"Where the tokens go", "DraftAgent", "CheckAgent", "DEFAULT", "NONE", "106", "66", "history 40"} <= set(
        said
    )
    said = written(svg(growth_spec(ten())))
    assert {"How they add up", "DraftAgent", "CheckAgent", "DEFAULT", "NONE"} <= set(said)


def test_the_picture_follows_a_dark_page() -> None:
    style = next(element for element in ET.fromstring(svg(growth_spec(ten()))) if element.tag.endswith("}style"))
    assert style.text is not None
    assert style.text.startswith("@media (prefers-color-scheme:dark){")
    for light, dark in DARK.items():
        assert f'[fill="{light}"]{{fill:{dark}}}' in style.text
    assert f'fill="{PAPER}"' in svg(growth_spec(ten()))


def luminance(colour: str) -> float:
    """As WCAG 2 defines it."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colour", [*CHANNEL_COLOURS.values(), *VARIANT_COLOURS])
def test_a_colour_stands_out_on_both_papers_and_bears_white_words(colour: str) -> None:
    assert contrast(colour, "#ffffff") >= 4.5
    assert contrast(colour, PAPER) >= 3
    assert contrast(colour, DARK[PAPER]) >= 3
    assert contrast(DARK[INK], DARK[PAPER]) >= 7


def test_variants_differ_in_shape_too() -> None:
    assert len(set(SHAPES)) == len(set(VARIANT_COLOURS)) == len(SHAPES) == VARIANTS
    shape = growth_spec(ten())["layer"][1]["encoding"]["shape"]["scale"]
    assert (shape["domain"], shape["range"]) == (["DEFAULT", "NONE"], ["circle", "square"])


@given(st.lists(st.text(), max_size=8))
def test_labels_are_short_and_tell_all_names_apart(names: list[str]) -> None:
    made = labels(names)
    assert len(set(made)) == len(made) == len(names)
    assert all(len(label) <= NAME for label in made)


def test_labels() -> None:
    assert labels(["a", "a", "x" * 30, "x" * 31]) == ["a", "a (2)", "x" * 21 + "…", "x" * 17 + "… (2)"]


def hostile(payload: str) -> Comparison:
    said = payload if payload.strip() else f"{payload}."
    records = [trial(variant, "1", step(f"{payload} step", 50, payload)) for variant in (said, f"{said} 2")]
    return comparison(records, variants=(said, f"{said} 2"), agents=("A",), pipeline=payload)


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_name_in_a_picture_stays_text(name: str) -> None:
    for spec in (tokens_spec(hostile(PAYLOADS[name])), growth_spec(hostile(PAYLOADS[name]))):
        picture = ET.fromstring(svg(spec))
        assert {element.tag.rpartition("}")[2] for element in picture.iter()} <= PICTURED
        attributes = {attribute for element in picture.iter() for attribute in element.attrib}
        assert not {each for each in attributes if each.startswith("on") or "href" in each}
        assert sum(element.tag.endswith("}style") for element in picture.iter()) == 1
        assert any("step" in text or "…" in text for text in written(svg(spec)))


@settings(max_examples=20, deadline=None)
@given(st.text(min_size=1, max_size=40))
def test_a_picture_is_well_formed_whatever_the_names(name: str) -> None:
    ET.fromstring(svg(tokens_spec(hostile(name))))
    ET.fromstring(svg(growth_spec(hostile(name))))


def test_the_chart_is_altairs() -> None:
    import altair as alt

    drawn = ten().chart
    assert isinstance(drawn, alt.VConcatChart)
    titles = [inner["title"]["text"] for inner in drawn.to_dict()["vconcat"]]
    assert titles == ["Where the tokens go", "How they add up"]


def test_what_has_no_chart_says_so() -> None:
    with pytest.raises(AdknbError, match=r"^a InputComparison has no chart$"):
        chart(ten().inspect("1"))


def test_a_card_is_drawn_without_altair() -> None:
    script = (
        "import sys\n"
        "from tests.notebook.comparisons import ten\n"
        "assert 'data:image/svg+xml;base64,' in ten().to_html()\n"
        "print('altair' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
