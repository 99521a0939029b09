"""How far a comparison is: a bar and a line, drawn anew in the same output."""

from __future__ import annotations

from adknb.compare.progress import Progress
from adknb.notebook.cards.html import card, div


def progress_html(progress: Progress) -> str:
    """The bar says nothing that the line below it does not."""
    bar = f'<progress max="{progress.total}" value="{progress.done}" aria-hidden="true"></progress>'
    return card(bar, div(str(progress), "adknb-dim"))
