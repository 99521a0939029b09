"""The compare view: which inputs are listed in which order, what opens, and its widgets without a front end."""

import re
from typing import Any

import pytest

from adknb import Input
from adknb.compare.comparison import Comparison
from adknb.core.errors import RunStateError, SpecError
from adknb.core.views import card_html
from adknb.notebook.explorer.comparison_widget import ComparisonWidget
from adknb.notebook.explorer.comparisons import ComparisonExplorer, detail, grid
from adknb.notebook.explorer.opened import Opened
from adknb.notebook.explorer.parts import Part, with_children
from tests.notebook.comparisons import comparison, step, ten, trial
from tests.notebook.explored import words


def many(count: int, answer: str = "APPROVE") -> Comparison:
    """Input n saves n tokens; the answer to every tenth is another one."""
    records = []
    for variant in ("default", "none"):
        for number in range(1, count + 1):
            flips = variant == "none" and number % 10 == 0
            tokens = 1_000 - (number if variant == "none" else 0)
            records.append(trial(variant, f"input {number}", step("CheckAgent", tokens, "REJECT" if flips else answer)))
    asked = [Input((f"Message {number}.",), name=f"input {number}") for number in range(1, count + 1)]
    categories = {"CheckAgent": ["APPROVE", "REJECT"]}
    return comparison(records, asked, agents=("CheckAgent",), categories=categories)


def listed(html: str) -> list[str]:
    return re.findall(r'data-step="(?:input )?([^"]*)"', html)


def every(widget: ComparisonWidget, kind: str) -> list[Any]:
    return [each for each in with_children(widget.box) if type(each).__name__ == kind]


def test_the_greatest_saving_comes_first_and_pages_have_twenty_inputs() -> None:
    explorer = ComparisonExplorer(many(45))
    assert listed(grid(explorer)) == [str(number) for number in range(45, 25, -1)]
    explorer.turn_to(2)
    assert listed(grid(explorer)) == ["5", "4", "3", "2", "1"]
    assert "inputs 41 to 45 of 45" in words(grid(explorer))
    explorer.sort_by("as given")
    assert listed(grid(explorer))[:3] == ["1", "2", "3"]


def test_flips_only() -> None:
    explorer = ComparisonExplorer(many(45))
    explorer.show_flips_only(True)
    assert listed(grid(explorer)) == ["40", "30", "20", "10"]
    assert "4 of 45 inputs changed category." in words(grid(explorer))
    assert "CheckAgent APPROVE→REJECT" in words(grid(explorer))


def test_a_selected_input_opens_word_by_word() -> None:
    explorer = ComparisonExplorer(ten())
    assert words(detail(explorer)).startswith("Select an input")
    explorer.select("2")
    html = detail(explorer)
    assert "My router is offline." in words(html)
    assert "<del>" in html
    assert "<ins>" in html
    assert re.findall(r'data-step="(\d+)" aria-pressed="true" tabindex="0"', grid(explorer)) == ["2"]


def test_one_input_of_the_page_can_be_reached_with_tab() -> None:
    explorer = ComparisonExplorer(many(45))
    explorer.select("input 45")
    explorer.turn_to(1)
    assert re.findall(r'data-step="input (\d+)" aria-pressed="\w+" tabindex="0"', grid(explorer)) == ["25"]


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        ("select", RunStateError, "there is no input 'x'."),
        ("sort_by", SpecError, "inputs are not sorted by 'x'."),
    ],
)
def test_mistakes(work: str, error: type[Exception], message: str) -> None:
    explorer = ComparisonExplorer(ten())
    with pytest.raises(error) as caught:
        getattr(explorer, work)("x")
    assert str(caught.value).startswith(message)


def test_the_widgets_do_the_same() -> None:
    widget = ComparisonWidget(ComparisonExplorer(many(45)))
    (shown,) = (each for each in with_children(widget.box) if isinstance(each, Part))
    (only,) = every(widget, "Checkbox")
    only.value = True
    assert listed(shown.html) == ["40", "30", "20", "10"]
    shown._handle_custom_msg({"what": "select", "value": "input 30"}, [])
    assert "Input input 30" in words(" ".join(each.value for each in every(widget, "HTML")))
    shown._handle_custom_msg({"what": "select", "value": "<b>"}, [])
    assert "there is no input '<b>'." in words(" ".join(each.value for each in every(widget, "HTML")))
    widget.close()


def test_its_twin_is_the_comparisons_card() -> None:
    made = ten()
    opened = Opened(ComparisonExplorer(made))
    assert card_html(made) in opened.to_html()
    assert str(opened) == str(made)


def test_hostile_answers_and_names_do_nothing() -> None:
    hostile = '<img src=x onerror="alert(1)">'
    records = [trial(variant, hostile, step("A", 10, hostile + variant)) for variant in ("default", "none")]
    explorer = ComparisonExplorer(comparison(records, agents=("A",)))
    explorer.select(hostile)
    assert "<img" not in grid(explorer) + detail(explorer)
    assert listed(grid(explorer)) == ["&lt;img src=x onerror=&quot;alert(1)&quot;&gt;"]


def test_a_page_of_long_answers_is_small() -> None:
    explorer = ComparisonExplorer(many(300, "APPROVE " + "word " * 4_000))
    explorer.select("input 10")
    assert len(grid(explorer)) < 100_000
    assert len(detail(explorer)) < 130_000
