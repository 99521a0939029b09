"""A workflow's timeline in cards: the picture, and a table of the steps with what each attempt was sent, wrote or raised."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from adknb.core.escape import escape, one_line
from adknb.notebook.cards import text
from adknb.notebook.cards.html import block, chip, cut, div, table
from adknb.notebook.cards.words import duration
from adknb.notebook.workflow_picture import timeline_svg
from adknb.notebook.workflow_timeline import Kind, Stretch, Timeline

OUTCOMES: Final[dict[Kind, tuple[str, str]]] = {
    "completed": ("completed", "good"), "failed": ("failed", "bad"), "running": ("running", "warn"),
    "waiting": ("waiting", "warn"), "cache": ("from the cache", "good"), "skipped": ("skipped", "warn"),
    "fallback": ("fallback", "warn"), "continued": ("continued", "warn"), "resumed": ("resumed", "good"),
    "stopped": ("stopped", "bad"), "note": ("refused", "bad"),
}  # fmt: skip
"""What became of a step, in a word and its kind of chip, by its last stretch that is no note."""
LABEL: Final = 140
"""Characters of a stretch's line where a click shows all."""
SAID: Final = 2_000
"""Characters with which the picture is described to who does not see it."""
_COLUMNS: Final = (
    ("Step", "adknb-name"), ("Outcome", ""), ("Time", "adknb-num"), ("Tokens", "adknb-num"), ("What happened", ""),
)  # fmt: skip


def timeline_html(timeline: Timeline) -> str:
    """The picture, and the table below it; nothing when nothing has happened yet."""
    if not timeline.stretches:
        return ""
    return _picture(timeline) + table(_COLUMNS, [_cells(step) for step in steps(timeline)])


def timeline_text(timeline: Timeline) -> str:
    """The table as plain text, a row a stretch, with its time from the start."""
    rows = []
    for step in steps(timeline):
        for number, stretch in enumerate(step):
            name, word = (step[0].step, outcome(step)[0]) if number == 0 else ("", "")
            rows.append([name, word, duration(stretch.start), stretch.label])
    return text.columns(["Step", "Outcome", "From", "What happened"], rows, right=(2,), limit=70)


def steps(timeline: Timeline) -> list[list[Stretch]]:
    """The stretches of each step."""
    return [list(found) for _, found in groupby(timeline.stretches, key=lambda stretch: stretch.place)]


def outcome(step: Sequence[Stretch]) -> tuple[str, str]:
    """What became of the step: the word, and the kind of its chip."""
    last = next((stretch for stretch in reversed(step) if stretch.kind != "note"), step[-1])
    return OUTCOMES[last.kind]


def step_ms(step: Sequence[Stretch]) -> float | None:
    """From the step's first moment to its last, in milliseconds; None while it runs."""
    ends = [stretch.end for stretch in step]
    return None if None in ends else max(end for end in ends if end is not None) - step[0].start


def drawn(svg: str, said: str) -> str:
    """A picture, so that no front end treats it as part of the page: safe, and kept where a notebook is not trusted.

    `said` describes it to who does not see it. In a narrow page it is not made smaller: it scrolls.
    """
    source = b64encode(svg.encode()).decode()
    image = f'<img class="adknb-chart adknb-drawn" src="data:image/svg+xml;base64,{source}" alt="{escape(one_line(said, SAID))}">'
    return f'<div class="adknb-wide" tabindex="0">{image}</div>'


def _picture(timeline: Timeline) -> str:
    said = "; ".join(
        f"{stretch.step} from {duration(stretch.start)}: {stretch.label}" for stretch in timeline.stretches
    )
    return drawn(timeline_svg(timeline), f"Timeline of {duration(timeline.ms)}. {said}")


def _cells(step: Sequence[Stretch]) -> list[str]:
    ms, tokens = step_ms(step), sum(stretch.tokens for stretch in step)
    return [
        cut(step[0].step, 60),
        chip(*outcome(step)),
        duration(ms) if ms else "",
        f"{tokens:,}" if tokens else "",
        "".join(_happened(stretch) for stretch in step),
    ]


def _happened(stretch: Stretch) -> str:
    """The line of a stretch; where there are texts behind it, a click shows them."""
    texts = [("sent", stretch.sent), ("wrote", stretch.wrote), ("error", stretch.error)]
    behind = "".join(div(name, "adknb-dim") + block(said) for name, said in texts if said is not None)
    if not behind:
        return div(stretch.label, "")
    line = escape(one_line(stretch.label, LABEL))
    return f'<details><summary>{line}</summary><div class="adknb-inside">{behind}</div></details>'
