"""A session: its turns, one row each, and the state that the last one left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from adknb.core.escape import one_line
from adknb.core.pending import pending_calls
from adknb.core.run import Run, Session
from adknb.notebook.cards import text
from adknb.notebook.cards.html import box, card, chip, cut, div, head, span, table
from adknb.notebook.cards.run_card import STATUS_KINDS
from adknb.notebook.cards.state_table import state_html, state_text
from adknb.notebook.cards.waiting import answered, waiting
from adknb.notebook.cards.words import counted, duration
from adknb.tables.frame import Row
from adknb.tables.session import session_state_rows, turn_rows
from adknb.tokens.counter import default_counter

NO_RUNS: Final = "Its events have no runs: adopt(session, agents) makes one of each turn."
_TURN_COLUMNS: Final = (
    ("Turn", "adknb-num"), ("Message", ""), ("Answer", ""), ("Status", ""), ("Steps", "adknb-num"),
    ("Time", "adknb-num"), ("Tokens in", "adknb-num"), ("Tokens out", "adknb-num"), ("Note", ""),
)  # fmt: skip


def session_html(session: Session) -> str:
    turns = [
        [
            str(row["turn"]),
            cut(row["message"]),
            cut(row["output"]),
            chip(row["status"], STATUS_KINDS[row["status"]]),
            str(row["steps"]),
            duration(row["ms"]),
            f"{row['input_tokens']:,}",
            f"{row['output_tokens']:,}",
            "<br>".join(filter(None, [chip(row["stale"], "warn") if row["stale"] else "", answered(run)])),
        ]
        for row, run in _turns(session)
    ]
    waits = pending_calls(session.history)
    return card(
        head(f"Session {session.id}", span(_summary(session), "adknb-dim")),
        *(box(cut(waiting(each, len(waits) == 1), 300), "warn") for each in waits),
        *(box(cut(note, 300), "warn") for note in session.notes),
        table(_TURN_COLUMNS, turns) if turns else "",
        div(NO_RUNS, "adknb-dim") if session.events and not turns else "",
        state_html(session_state_rows(session, default_counter())),
    )


def session_text(session: Session) -> str:
    rows = [
        [str(row["turn"]), row["message"], row["output"], row["status"], str(row["steps"]), duration(row["ms"]),
         f"{row['input_tokens']:,}", f"{row['output_tokens']:,}", "; ".join(filter(None, [row["stale"], answered(run)]))]
        for row, run in _turns(session)
    ]  # fmt: skip
    waits = pending_calls(session.history)
    lines = [one_line(f"Session {session.id} · {_summary(session)}", 300)]
    lines.extend(f"! {one_line(waiting(each, len(waits) == 1), 400)}" for each in waits)
    lines.extend(one_line(note, 400) for note in session.notes)
    if rows:
        lines.extend(["", text.columns([name for name, _ in _TURN_COLUMNS], rows, right=(0, 4, 5, 6, 7), limit=40)])
    elif session.events:
        lines.append(NO_RUNS)
    state = session_state_rows(session, default_counter())
    if state:
        lines.extend(["", state_text(state)])
    return "\n".join(lines)


def _turns(session: Session) -> Iterator[tuple[Row, Run]]:
    return zip(turn_rows(session, default_counter()), session.turns, strict=True)


def _summary(session: Session) -> str:
    return " · ".join(
        [counted(len(session.turns), "turn"), counted(len(session.events), "event"), f"user {session.user_id}",
         f"app {session.app_name}"]
    )  # fmt: skip
