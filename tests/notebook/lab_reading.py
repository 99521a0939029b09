"""Reading a comparison's card as a browser would."""

from __future__ import annotations

import re

from tests.notebook.test_cards import Reading as ReadingOfCards

SECTIONS = [
    "Tokens, time and cost: means of a run",
    "Answers, beside those of DEFAULT",
    "Tokens sent twice: by key, and again with the history",
    "Only inputs whose answers changed category: 2 of 10",
    "All inputs, the greatest saving first",
    "How it was measured",
]


class Reading(ReadingOfCards):
    """One that knows pictures."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        if tag == "img":
            self.open.pop()


def sections(html: str) -> list[str]:
    return re.findall(r"<h4>(.*?)</h4>", html)


def cells(html: str, heading: str) -> list[list[str]]:
    """The rows of the tables under a heading, as their cells' texts."""
    part = re.split(r'<h4>|<div class="adknb-figures">', html.split(f"<h4>{heading}</h4>")[1])[0]
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", part.partition("<tbody>")[2])
    return [[Reading(cell).text for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)] for row in rows]
