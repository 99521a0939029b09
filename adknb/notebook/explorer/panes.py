"""The explorer's tabs as HTML, made of the cards' pieces. Every list is paged, every text bounded."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from adknb.core.escape import escape
from adknb.core.requests import LlmRequest, LlmResponse, Request
from adknb.core.run import Run, StepRun
from adknb.notebook.cards.error_card import error_box
from adknb.notebook.cards.html import block, box, chip, cut, head, heading, span, table
from adknb.notebook.cards.prompt_card import channels_html
from adknb.notebook.cards.run_card import STATUS_KINDS
from adknb.notebook.cards.run_diff_card import run_diff_body
from adknb.notebook.cards.words import counted, duration
from adknb.notebook.explorer.explorer import EVENTS_ON_A_PAGE, Explorer
from adknb.notebook.explorer.pieces import TEXT, Pane, nothing, page_of, short, taken, where
from adknb.notebook.explorer.prompt_pane import prompt_pane
from adknb.notebook.explorer.reading import Reading
from adknb.tables.session import message_text
from adknb.tables.state import value_text

ROWS: Final = 25
BARS: Final = 15
"""Requests whose tokens are drawn on one page."""
JSON_PAGE: Final = 20_000
"""Characters of raw JSON on one page."""
INDENTED: Final = 100
"""Contents of a request up to which its JSON is indented; Python takes its time for that."""
DIFF_LIMIT: Final = 300_000
"""Characters of a run diff's HTML, beyond which the verb is named instead."""


def pane(explorer: Explorer) -> Pane:
    """The open tab."""
    return _PANES[explorer.tab](explorer)


def reply_pane(explorer: Explorer, limit: int = TEXT) -> Pane:
    """What the step said: its replies with what came in between, and how it ended."""
    step = explorer.step
    if step is None:
        return Pane(nothing(f"{explorer.selected} has not run yet."))
    parts = [
        head(
            f"Reply of {step.name}", chip(step.status, STATUS_KINDS[step.status]),
            span("" if step.status == "running" else duration(step.ms), "adknb-dim"),
        )
    ]  # fmt: skip
    page = page_of(len(step.requests), ROWS, explorer.page)
    parts.append(where(page, len(step.requests), "requests"))
    for number, request in enumerate(taken(step.requests, page), page.start + 1):
        if len(step.requests) > 1:
            parts.append(heading(f"Request {number}"))
        parts.append(_answer(request.reply, limit))
    if step.partial:
        parts.append(heading("So far") + block(step.partial))
    if not step.requests and step.output:
        parts.append(heading("Said without a model") + block(step.output[:limit]))
    parts += [box(cut(note, 300), "warn") for note in step.notes[:ROWS]]
    if step.error is not None:
        parts.append(error_box(step.error))
    return Pane("".join(parts), page)


def state_pane(explorer: Explorer, size: int = ROWS) -> Pane:
    """The state before and after the step, what changed first."""
    reading, step = explorer.reading, explorer.step
    if reading is None or step is None:
        return Pane(nothing(f"{explorer.selected} has not run yet, so nothing changed."))
    rows = state_changes(reading, step)
    page = page_of(len(rows), size, explorer.page)
    cells = [
        [cut(key, 60), chip(change, kind) if kind else span(change, "adknb-dim"), short(before), short(after)]
        for key, change, kind, before, after in taken(rows, page)
    ]
    changed = sum(bool(row[2]) for row in rows)
    columns = (("Key", "adknb-name"), ("Change", ""), ("Before", ""), ("After", ""))
    title = head(f"State around {step.name}", span(f"{changed} of {counted(len(rows), 'key')} changed", "adknb-dim"))
    body = table(columns, cells) if rows else nothing("There is no state.")
    return Pane(title + where(page, len(rows), "keys") + body, page)


def state_changes(reading: Reading, step: StepRun) -> list[tuple[str, str, str, str, str]]:
    """Key, what became of it, that word's kind, and its values before and after as text; what changed first."""
    before, after = reading.state_around(step)
    own = step.state_delta
    rows = []
    for key in dict.fromkeys([*own, *after, *before]):
        old, new = (value_text(state[key]) if key in state else "" for state in (before, after))
        if key not in before and key in after:
            word, kind = "new", "good"
        elif key in before and key not in after:
            word, kind = "removed", "bad"
        elif old != new:
            word, kind = "changed", "warn"
        else:
            word, kind = ("written again", "warn") if key in own else ("as before", "")
        rows.append((key, word, kind, old, new))
    return sorted(rows, key=lambda row: not row[2])


def events_pane(explorer: Explorer, size: int = EVENTS_ON_A_PAGE) -> Pane:
    """The turn's events; those of the selected step are marked."""
    reading, step = explorer.reading, explorer.step
    if reading is None:
        return Pane(nothing("Nothing has run yet, so there are no events."))
    page = page_of(len(reading.events), size, explorer.page)
    rows = []
    for row in taken(reading.events, page):
        is_own = step is not None and row["step"] == step.name
        said = row["text"] or row["calls"] or row["responses"]
        rows.append(
            [
                f"{row['event']:,}",
                cut(row["author"], 60) + (f" {chip('this step')}" if is_own else ""),
                escape(row["kind"]),
                short(said),
                cut(row["writes"], 60),
            ]
        )
    columns = (("Event", "adknb-num"), ("By", ""), ("Kind", ""), ("What", ""), ("Writes", ""))
    title = head("Events of this turn", span(counted(len(reading.events), "event"), "adknb-dim"))
    return Pane(title + where(page, len(reading.events), "events") + table(columns, rows), page)


def tokens_pane(explorer: Explorer, size: int = BARS) -> Pane:
    """Where each request's tokens go, by channel; those of the selected step are marked."""
    reading, step = explorer.reading, explorer.step
    if reading is None:
        return Pane(nothing("Nothing has run yet, so no tokens were spent."))
    asked = [(each, place) for each in reading.run.step_runs for place in range(len(each.requests))]
    page = page_of(len(asked), size, explorer.page)
    costs = [reading.costs(each)[place] for each, place in taken(asked, page)]
    most = max((cost.channels.total for cost in costs), default=0)
    parts = [head("Tokens of this run", span(counted(len(asked), "request"), "adknb-dim"))]
    parts.append(where(page, len(asked), "requests"))
    for cost in costs:
        name = cost.step.name if len(cost.step.requests) == 1 else f"{cost.step.name}, request {cost.number}"
        by = "reported by the model" if cost.channels.reported else f"counted with {cost.channels.counted_by}"
        words = [f"{cost.channels.total:,} in ({by}), {cost.output:,} out"]
        words += [f"{key} is sent twice ({tokens:,})" for key, tokens in cost.twice.items()]
        is_own = [chip("this step")] if cost.step is step else []
        width = 100 * cost.channels.total / most if most else 0
        parts.append(
            f'<div class="adknb-part"><div class="adknb-label">{escape(name)} · {escape(" · ".join(words))} '
            f'{"".join(is_own)}</div><div style="width:{max(width, 1):.1f}%">{channels_html(cost.channels)}</div></div>'
        )
    return Pane("".join(parts), page)


def raw_pane(explorer: Explorer, size: int = JSON_PAGE) -> Pane:
    """The request and the response as JSON, `size` characters a page."""
    step = explorer.step
    if step is None or not step.requests:
        return Pane(nothing(f"{explorer.selected} has asked no model."))
    number = min(explorer.request, len(step.requests))
    text = raw_json(step.requests[number - 1])
    page = page_of(len(text), size, explorer.page)
    title = head(f"Raw: {step.name}", span(f"request {number} of {len(step.requests)}", "adknb-dim"))
    body = block(text[page.start : page.stop], "adknb-text adknb-mono")
    return Pane(title + where(page, len(text), "characters") + body, page)


def raw_json(request: Request) -> str:
    """What the model was asked and what it answered, as JSON: indented, but for a long history."""
    return json.dumps(
        {"request": _sent(request.sent), "response": _reply(request.reply), "ms": round(request.ms, 1)},
        indent=2 if len(request.sent.contents) <= INDENTED else None, ensure_ascii=False, default=str,
    )  # fmt: skip


def runs_pane(explorer: Explorer, size: int = ROWS) -> Pane:
    """The pipeline's runs, newest first, and the two that are compared."""
    diff = explorer.diff
    parts = []
    if diff is not None:
        drawn = run_diff_body(diff)
        too_long = nothing(f"The difference is long: %adk diff {diff.before.id} {diff.after.id} shows it.")
        parts.append(drawn if len(drawn) <= DIFF_LIMIT else too_long)
    runs = explorer.runs[::-1]
    page = page_of(len(runs), size, explorer.page)
    columns = (
        ("Run", "adknb-name"),
        ("Status", ""),
        ("Goes on from", ""),
        ("Strategy", ""),
        ("Message", ""),
        ("Answer", ""),
    )
    rows = [_run_row(explorer, run) for run in taken(runs, page)]
    parts.append(heading("Runs of this pipeline") + where(page, len(runs), "runs") + table(columns, rows))
    return Pane("".join(parts), page)


def _run_row(explorer: Explorer, run: Run) -> list[str]:
    return [
        escape(run.id) + (f" {chip('shown')}" if run is explorer.run else ""),
        chip(run.status, STATUS_KINDS[run.status]),
        escape(run.parent.id if run.parent is not None else ""),
        escape(" ".join(filter(None, [run.strategy if run.strategy != "as_written" else "", run.label]))),
        cut(message_text(run.message), 60),
        cut(run.output, 60),
    ]


def _answer(reply: LlmResponse | None, limit: int) -> str:
    if reply is None:
        return nothing("No reply: the call failed, was interrupted, or goes on.")
    said = []
    for part in reply.content.parts[:ROWS] if reply.content is not None else ():
        if part.text is not None:
            left = len(part.text) - limit
            said.append(
                block(part.text[:limit]) + (nothing(f"… {left:,} more characters: see Raw") if left > 0 else "")
            )
        else:
            data = json.dumps(part.to_dict(), indent=2, ensure_ascii=False, default=str)
            said.append(block(data[:limit], "adknb-text adknb-mono"))
    words = [reply.note, reply.finish_reason, reply.error_code, reply.error_message]
    about = " · ".join(word for word in words if word)
    return f'<div class="adknb-part">{"".join(said) or nothing("An empty reply.")}</div>' + (
        nothing(about) if about else ""
    )


def _sent(sent: LlmRequest) -> Mapping[str, Any]:
    return {
        "model": sent.model,
        "system_instruction": sent.system_instruction,
        "contents": [content.to_dict() for content in sent.contents],
        "tools": list(sent.tools.values()),
        "config": sent.config,
    }


def _reply(reply: LlmResponse | None) -> Mapping[str, Any] | None:
    if reply is None:
        return None
    return {
        "content": reply.content.to_dict() if reply.content is not None else None,
        "usage": reply.usage.to_dict() if reply.usage is not None else None,
        "finish_reason": reply.finish_reason,
        "error_code": reply.error_code,
        "error_message": reply.error_message,
        "note": reply.note,
    }


_PANES: Final[Mapping[str, Callable[[Explorer], Pane]]] = {
    "Prompt": prompt_pane, "Reply": reply_pane, "State": state_pane, "Events": events_pane, "Tokens": tokens_pane,
    "Raw": raw_pane, "Runs": runs_pane,
}  # fmt: skip
