"""An agent's versions, oldest first: the first as it was, then what each changed."""

from __future__ import annotations

import shlex
from itertools import pairwise

from adknb.core.escape import escape, one_line
from adknb.notebook.agent_line import named_options
from adknb.notebook.cards.diff_pieces import WHOLE_TEXT, diff_html, diff_text
from adknb.notebook.cards.html import LINE, block, card, code, cut, facts, head, span
from adknb.notebook.cards.text import wrapped
from adknb.notebook.cards.words import counted
from adknb.notebook.pipelines import AgentOptions, Version
from adknb.notebook.results import PromptHistory

FIRST = 400
"""Characters of the first version's prompt that are shown before a click."""


def history_html(history: PromptHistory) -> str:
    versions = _versions(history)
    pieces = [
        head(history.agent.name, span(_summary(history), "adknb-dim")),
        _part(history, 1, block(versions[0].prompt) if len(versions[0].prompt) <= FIRST else cut(versions[0].prompt, FIRST)),
    ]  # fmt: skip
    for number, (before, after) in enumerate(pairwise(versions), 2):
        rows = [
            ("options", [escape(one_line(change, LINE)) for change in option_changes(before.options, after.options)])
        ]
        rows.append(("prompt", [diff_html(before.prompt, after.prompt)] if before.prompt != after.prompt else []))
        pieces.append(_part(history, number, facts([(label, lines) for label, lines in rows if lines], "adknb-diffs")))
    return card(*pieces)


def history_text(history: PromptHistory) -> str:
    versions = _versions(history)
    lines = [
        wrapped(one_line(f"{history.agent.name} · {_summary(history)}", 300)),
        wrapped(one_line(_title(history, 1), 300)), wrapped(_first(versions[0].prompt), "    ", "    "),
    ]  # fmt: skip
    for number, (before, after) in enumerate(pairwise(versions), 2):
        lines.append(wrapped(one_line(_title(history, number), 300)))
        lines.extend(wrapped(change, "    ", "      ") for change in option_changes(before.options, after.options))
        if before.prompt != after.prompt:
            lines.append(diff_text(before.prompt, after.prompt, "    "))
    return "\n".join(lines)


def option_changes(before: AgentOptions, after: AgentOptions) -> list[str]:
    """`--include: not set → none`, one line an option that differs."""
    old, new = named_options(before), named_options(after)
    return [
        f"{name}: {old.get(name, 'not set')} → {new.get(name, 'not set')}"
        for name in {**old, **new}
        if old.get(name) != new.get(name)
    ]


def _versions(history: PromptHistory) -> list[Version]:
    return [*history.agent.versions, Version(history.agent.prompt, history.agent.options)]


def _summary(history: PromptHistory) -> str:
    count = len(_versions(history))
    if count == 1:
        return "1 version: it was not changed yet"
    return f"{counted(count, 'version')}; the last is the agent as it is"


def _first(prompt: str) -> str:
    left = len(prompt) - WHOLE_TEXT
    return prompt[:WHOLE_TEXT] + (f"… {left:,} more characters" if left > 0 else "")


def _title(history: PromptHistory, number: int) -> str:
    count = len(_versions(history))
    text = f"version {number}" if number < count else f"version {number}, as it is now"
    words = ["%adk", "history", history.agent.name, "--restore", str(number)]
    restore = shlex.join([*words, *(["--pipeline", history.pipeline] if history.pipeline is not None else [])])
    return text if number == count else f"{text} · back to it: {restore}"


def _part(history: PromptHistory, number: int, html: str) -> str:
    label, colon, restore = _title(history, number).partition(" · back to it: ")
    command = f" · back to it: {code(restore)}" if colon else ""
    body = f'<div class="adknb-changes">{html}</div>'
    return f'<div class="adknb-part"><div class="adknb-label">{escape(label)}{command}</div>{body}</div>'
