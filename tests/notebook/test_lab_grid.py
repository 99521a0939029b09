"""Tables with variants side by side: what shares a table, what a narrow output says, what a terminal holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adknb.notebook.cards.lab_grid import Group, grid_html, grid_text, grids_html


def group(heading: str, *columns: Sequence[str], numbers: bool = True) -> Group:
    """A group whose columns are given as their cells; they are named a, b, c …"""
    names = [chr(ord("a") + place) for place in range(len(columns))]
    return Group(
        heading,
        heading,
        names,
        [[[cell] if cell else [] for cell in row] for row in zip(*columns, strict=True)],
        numbers,
    )


def test_a_cell_names_its_measure_where_its_line_begins() -> None:
    html = grid_html([("Step", ["A"])], [group("In", [""], ["2"], ["3"])])
    assert re.findall(r'<td class="([^"]*)" data-label="([^"]*)">(.*?)</td>', html) == [
        ("adknb-lead", "Step", "A"),
        ("adknb-num adknb-first", "a", ""),
        ("adknb-num adknb-starts", "In, b", "2"),
        ("adknb-num", "c", "3"),
    ]


def test_headings_and_texts_are_escaped() -> None:
    html = grid_html([("<i>", ["<b>x</b>"])], [group("<i>", ["<i>"])])
    assert html.count("&lt;i&gt;") == 5  # a first heading and its cell's label, a group's with its own, a cell
    assert "<b>x</b>" in html  # the first columns are HTML already


def test_further_lines_are_a_remark_below_a_number_and_lines_below_words() -> None:
    lines = Group("In", "in", ["a"], [[["1", "2"]]])
    assert '>1<div class="adknb-dim">2</div></td>' in grid_html([("Step", ["A"])], [lines])
    assert '>1<div class="">2</div></td>' in grid_html([("Step", ["A"])], [lines._replace(numbers=False)])


def test_what_opens_stands_below_its_row() -> None:
    html = grid_html([("Step", ["A", "B"])], [group("In", ["1", "2"])], lambda row: "more" if row else "")
    assert html.count("<tr>") == 3
    assert '<tr class="adknb-opens"><td class="adknb-lead" data-label="Step">B</td>' in html
    assert html.endswith(
        '<tr class="adknb-below"><td colspan="2" style="text-align:left">more</td></tr></tbody></table></div>'
    )


def test_a_long_table_leaves_its_middle_out() -> None:
    numbers = [str(number) for number in range(100)]
    html = grid_html([("Step", numbers)], [group("In", numbers)])
    assert '<tr><td colspan="2" class="adknb-dim">… 60 more rows …</td></tr>' in html
    assert html.count('class="adknb-lead"') == 40


def test_groups_share_tables_as_far_as_there_is_room() -> None:
    wide = [["x" * 24] for _ in range(4)]
    html = grids_html(
        ("Step", ["A"]), [group("One", *wide), group("Nothing", [""]), group("Two", ["1"]), group("Three", *wide)]
    )
    headings = [re.findall(r'scope="colgroup" class="adknb-first">(.*?)<', part) for part in html.split("<table")[1:]]
    assert headings == [["One", "Two"], ["Three"]]


def test_a_group_wider_than_a_table_is_parted() -> None:
    html = grids_html(("Step", ["A"]), [group("One", *[["x" * 24] for _ in range(8)])])
    assert re.findall(r'<th colspan="(\d)"', html) == ["4", "4"]


def test_in_plain_text_too() -> None:
    one = group("in", ["1", "2"], ["", "4"])
    two = group("said", ["w" * 50, ""], ["v" * 50, ""], numbers=False)
    assert grid_text([("Step", ["A", "B"])], [one, two]) == (
        f"Step  a in  b in  a said\nA        1        {'w' * 50}\nB        2     4\n\nStep  b said\nA     {'v' * 50}\nB"
    )


def test_without_groups_the_first_columns_remain() -> None:
    assert grid_text([("Input", ["1"]), ("Message", ["Hello."])], []) == "Input  Message\n1      Hello."
