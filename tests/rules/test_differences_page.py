"""The page on the ADKs' differences: what its table says, and that it is up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from adknb.core.errors import SpecError
from adknb.rules.differences import DIFFERENCES, Difference
from adknb.rules.differences_page import BEGIN, END, main, markdown_table, with_table

PAGE = Path(__file__).parent.parent.parent / ".github" / "DIFFERENCES.md"
ONE = Difference("output", "a | b\nc", "x < y", "&", "`f`", "Java LlmAgent", "some-case")
TABLE = (
    "| What | ADK Java | ADK Go | ADK JavaScript | Rule | Where in the ADKs | Recorded case |\n"
    "| --- | --- | --- | --- | --- | --- | --- |\n"
    r"| a \| b c | x &lt; y | &amp; | `f` | `output` | Java LlmAgent | `some-case` |"
)


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text("utf-8")
    assert page == with_table(page), "run: python -m adknb.rules.differences_page .github/DIFFERENCES.md"
    assert sum(line.startswith("| ") for line in page.splitlines()) == 2 + len(DIFFERENCES)


def test_a_row_is_escaped() -> None:
    assert markdown_table([ONE]) == TABLE


def test_what_stands_outside_the_marks_is_kept(tmp_path: Path) -> None:
    assert with_table(f"before\n{BEGIN}\nold\n{END}\nafter\n", [ONE]) == f"before\n{BEGIN}\n{TABLE}\n{END}\nafter\n"
    page = tmp_path / "page.md"
    page.write_text(f"é\n{BEGIN}{END}\n", "utf-8")
    main(page)
    assert page.read_text("utf-8") == f"é\n{BEGIN}\n{markdown_table()}\n{END}\n"


@pytest.mark.parametrize("page", ["", BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{BEGIN}{END}", f"{BEGIN}{END}{END}"])
def test_a_page_without_its_marks_is_refused(page: str) -> None:
    with pytest.raises(SpecError, match="The page needs the lines <!-- differences: begin --> and"):
        with_table(page)
