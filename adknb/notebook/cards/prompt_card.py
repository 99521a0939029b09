"""The prompt view: one request as it was sent, every stretch tinted by its origin and labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from adknb.analysis.freshness import Ledger
from adknb.core.escape import escape, one_line, visible
from adknb.core.run import Run
from adknb.core.views import Viewed, table
from adknb.notebook.cards.html import WHOLE, block, box, card, cut, div, head, span
from adknb.notebook.cards.segments import blank_and_words, passage_html, segment
from adknb.notebook.cards.text import WHOLE as WHOLE_TEXT
from adknb.notebook.cards.words import CHANNEL_KINDS, counted, label, origin_kind
from adknb.tables.frame import Row
from adknb.tables.prompt import find_request, prompt_rows
from adknb.tokens.channels import CHANNELS, SCHEMA, TOOLS, Channels, Piece, channels, pieces, sent_twice
from adknb.tokens.counter import default_counter

if TYPE_CHECKING:
    import pandas as pd

_ASIDE: Final = {TOOLS: "Tool declarations", SCHEMA: "Output schema"}


@dataclass(frozen=True, slots=True)
class PromptView(Viewed):
    """What one request of a step was sent: `step` as in `Run.step`, `request` numbered from 1."""

    run: Run
    step: str
    request: int = 1

    def to_frame(self) -> pd.DataFrame:
        """One row a segment (`Run.prompt`)."""
        return table(self.run, "prompt", self.step, self.request)


class Facts:
    """What both forms of the view show, gathered once. `ledger` is the run's, where it is known already; `dry` holds the
    pieces of another prompt in the place of the one that was sent."""

    def __init__(self, view: PromptView, ledger: Ledger | None = None, dry: Sequence[Piece] | None = None) -> None:
        counter = default_counter()
        ledger = ledger or Ledger(view.run)
        step = view.run.step(view.step)
        request = find_request(step, view.request)
        made_of = pieces(request.sent, counter, ledger.earlier) if dry is None else dry
        self.title = f"Prompt of {step.name}"
        self.rows = prompt_rows(ledger, step, view.request, made_of)
        self.sums = channels(made_of, counter.name, request.usage if dry is None else None)
        self.where = f"request {view.request} of {len(step.requests)} · model {request.sent.model} · run {view.run.id}"
        writer = ledger.writer(request.seen)
        numbers = {event.id: number for number, event in enumerate(ledger.events, 1)}
        self.twice: dict[str, int] = {}
        """The event that says again what is inserted, by key."""
        self.warnings: list[str] = []
        for key, tokens in sent_twice(made_of, writer).items():
            event = writer(key)
            assert event is not None
            self.twice[key] = numbers[event.id]
            self.warnings.append(
                f"{key!r} is sent twice: inserted by its key ({counted(tokens, 'token')}), and again as history "
                f"(event {numbers[event.id]}, by {event.author})."
            )
        for read in ledger.reads_of(step, view.request, request):
            if read.stale and read.write is not None:
                self.warnings.append(f"{read.key!r} is stale: {read.write.step} wrote it in turn {read.write.turn}.")

    def total(self) -> str:
        sums = self.sums
        if sums.reported:
            return f"{sums.total:,} tokens reported by the model, {sums.counted:,} counted with {sums.counted_by}"
        return f"{sums.total:,} tokens counted with {sums.counted_by}"

    def tag(self, row: Row) -> str:
        """A segment's label: origin, key, tokens, and what to beware of. A separator has none."""
        if row["origin"] == "separator":
            return ""
        words = [" ".join(filter(None, [row["origin"], row["key"]])), f"{row['tokens']:,}"]
        if row["fresh"].startswith("stale"):
            words.append(row["fresh"])
        if row["origin"] == "state" and row["key"] in self.twice:
            words.append("sent twice")
        return " · ".join(words)

    def content_label(self, rows: list[Row]) -> str:
        """A content's own label: its number and role, who said it, its tokens."""
        row = rows[0]
        words = [f"content {row['content']}", f"role {row['role'] or 'none'}"]
        if row["author"]:
            words.append(f"event {row['event']}, by {row['author']}" if row["event"] else f"by {row['author']}")
        words.append(counted(sum(each["tokens"] for each in rows), "token"))
        again = [key for key, number in self.twice.items() if number == row["event"]]
        if again:
            words.append(f"also inserted as {', '.join(again)}")
        return " · ".join(words)

    def parts(self) -> list[tuple[str, list[Row]]]:
        """The request's passages with their headings: system instruction, contents, declarations, schema."""
        result = []
        for (role, content), group in groupby(self.rows, lambda row: (row["role"], row["content"])):
            rows = list(group)
            if content is not None:
                result.append((self.content_label(rows), rows))
            else:
                heading = _ASIDE.get(role, "System instruction")
                result.append((f"{heading} · {counted(sum(row['tokens'] for row in rows), 'token')}", rows))
        return result


def prompt_html(view: PromptView) -> str:
    facts = Facts(view)
    pieces = [
        head(facts.title, span(facts.total(), ""), span(facts.where, "adknb-dim")),
        channels_html(facts.sums),
    ]
    pieces.extend(box(cut(warning, 300), "warn") for warning in facts.warnings)
    pieces.extend(part_html(facts, heading, rows) for heading, rows in facts.parts())
    if not facts.rows:
        pieces.append(div("Nothing was sent: no system instruction and no contents.", "adknb-dim"))
    return card(*pieces)


def part_html(facts: Facts, heading: str, rows: Sequence[Row], limit: int = WHOLE) -> str:
    """One passage of the request under its heading; at most `limit` characters of each of its stretches."""
    if rows[0]["role"] in _ASIDE:
        bodies = "".join(block(row["text"][:limit], "adknb-text adknb-mono") for row in rows)
        summary = f"<summary>{span(heading, 'adknb-label')}</summary>"
        return f'<details class="adknb-part">{summary}{bodies}</details>'
    segments = [segment(facts.tag(row), origin_kind(row["origin"], row["fresh"]), row["text"], limit) for row in rows]
    text = passage_html(segments, rows[0]["content"] is not None)
    return f'<div class="adknb-part">{div(heading, "adknb-label")}{text}</div>'


def prompt_text(view: PromptView) -> str:
    facts = Facts(view)
    shown = [(label(channel), getattr(facts.sums, channel)) for channel in CHANNELS]
    lines = [
        one_line(f"{facts.title} · {facts.total()} · {facts.where}", 400),
        "channels: " + ", ".join(f"{name} {tokens:,}" for name, tokens in shown if tokens),
        *(f"! {one_line(warning, 400)}" for warning in facts.warnings),
    ]
    for heading, rows in facts.parts():
        lines.extend(["", f"--- {one_line(heading, 300)}"])
        between = "" if rows[0]["content"] is None else "\n"
        lines.append(between.join(_tagged(facts, row) for row in rows))
    return "\n".join(lines)


def _tagged(facts: Facts, row: Row) -> str:
    if row["origin"] == "separator":
        return visible(row["text"])
    blank, words = blank_and_words(row["text"])
    left = len(words) - WHOLE_TEXT
    more = f"… {left:,} more characters" if left > 0 else ""
    return f"{visible(blank)}⟦{one_line(facts.tag(row), 200)}⟧ {visible(words[:WHOLE_TEXT])}{more}"


def channels_html(sums: Channels) -> str:
    """A bar of the channels' shares with its legend in words."""
    shown = [(channel, getattr(sums, channel)) for channel in CHANNELS if getattr(sums, channel)]
    whole = sum(tokens for _, tokens in shown if tokens > 0)
    bar = "".join(
        f'<span class="adknb-o-{CHANNEL_KINDS[channel]}" style="width:{100 * tokens / whole:.2f}%"></span>'
        for channel, tokens in shown
        if tokens > 0
    )
    legend = "".join(
        f'<li class="adknb-o-{CHANNEL_KINDS[channel]}"><span class="adknb-swatch"></span>'
        f"{escape(label(channel))} {tokens:,}</li>"
        for channel, tokens in shown
    )
    return f'<div class="adknb-bar" aria-hidden="true">{bar}</div><ul class="adknb-legend">{legend}</ul>'
