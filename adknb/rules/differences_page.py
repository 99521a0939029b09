"""The differences between the ADKs as a table in a Markdown page.

    python -m adknb.rules.differences_page .github/DIFFERENCES.md

writes the table between the page's two marks anew. What stands outside the marks is kept.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from adknb.core.errors import SpecError
from adknb.rules.differences import DIFFERENCES, Difference

BEGIN: Final = "<!-- differences: begin -->"
END: Final = "<!-- differences: end -->"
COLUMNS: Final = ("What", "ADK Java", "ADK Go", "ADK JavaScript", "Rule", "Where in the ADKs", "Recorded case")


def markdown_table(differences: Iterable[Difference] = DIFFERENCES) -> str:
    """One row a difference, in their order, under `COLUMNS`; no newline at the end."""
    rows: list[tuple[str, ...]] = [COLUMNS, ("---",) * len(COLUMNS)]
    for each in differences:
        said = (each.sentence, each.java, each.go, each.js)
        rows.append((*map(_text, said), f"`{each.name}`", _text(each.source), f"`{each.case}`"))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def with_table(page: str, differences: Iterable[Difference] = DIFFERENCES) -> str:
    """The page with a new table between its marks. Raises `SpecError` when it has not each mark once, in this order."""
    before, begun, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not begun or not ended or BEGIN in rest or END in before + after:
        raise SpecError(f"The page needs the lines {BEGIN} and {END} once each, in this order; the table goes between.")
    return f"{before}{BEGIN}\n{markdown_table(differences)}\n{END}{after}"


def _text(text: str) -> str:
    """Text in a table's cell: no markup of HTML, no new cell, no new row."""
    return html.escape(text, quote=False).replace("|", "\\|").replace("\n", " ")


def main(path: Path) -> None:
    page = path.read_text("utf-8")
    path.write_text(with_table(page), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
