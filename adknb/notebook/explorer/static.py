"""The static twin: what the explorer shows, for wherever no kernel answers. Bounded, and it says what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Final

from adknb.core.escape import escape, one_line
from adknb.core.run import StepRun
from adknb.notebook.cards import text
from adknb.notebook.cards.html import block, box, card, chip, cut, div, head, heading, span
from adknb.notebook.cards.run_card import STATUS_KINDS
from adknb.notebook.cards.words import counted
from adknb.notebook.explorer.explorer import Explorer
from adknb.notebook.explorer.panes import events_pane, raw_pane, reply_pane, runs_pane, state_pane, tokens_pane
from adknb.notebook.explorer.pieces import Pane
from adknb.notebook.explorer.prompt_pane import prompt_pane
from adknb.notebook.explorer.strip import NOT_RUN, Node
from adknb.notebook.explorer.strip_html import strip_html
from adknb.tables.session import message_text

BUDGET: Final = 300_000
"""Characters of HTML that the steps may take together."""
LIMIT: Final = 2_000
"""Characters of one text."""
PASSAGES: Final = 12
REQUESTS: Final = 3
"""Requests of one step that are drawn."""
RAW: Final = 6_000


@lru_cache(maxsize=1)
def css() -> str:
    """`explorer.css`."""
    return files(__package__).joinpath("explorer.css").read_text(encoding="utf-8")


def explorer_html(explorer: Explorer) -> str:
    """Every step with its tabs' content, folded."""
    return twin(explorer, card(*_pieces(explorer)))


def twin(explorer: object, html: str) -> str:
    """The card `html` as the twin of a live explorer, which hides it; `data-explorer` names that."""
    return f'<div class="adknb-twin" data-explorer="{id(explorer)}"><style>{css()}</style>{html}</div>'


def explorer_text(explorer: Explorer) -> str:
    """The strip as a table, and where to look closer."""
    shown = explorer.strip
    lines = [one_line(" · ".join([f"Explorer of {explorer.pipeline}", *_about(explorer)]), 400)]
    if shown is None:
        return f"{lines[0]}\nThe pipeline cannot be built; %adk lint {explorer.pipeline} says why."
    lines += [
        "",
        text.columns(("Step", "Status", "Tokens in", "Tokens out", "Writes", "Note"), list(_rows(shown.root)), (2, 3)),
    ]
    lines += [f"! {one_line(line, 400)}" for line in explorer.waits_for]
    run = explorer.run
    if run is not None and run.output:
        lines += ["", "Answer:", text.passage(run.output)]
    closer = f"%adk prompt {explorer.selected}, %adk state, %adk events, %adk tokens"
    how = f"More: {closer}" if run is not None else f"Run it: %%pipeline {explorer.pipeline}, with the message below"
    lines += ["", f"{how}; a notebook in the browser opens it live."]
    return "\n".join(lines)


def _pieces(explorer: Explorer) -> Iterator[str]:
    run = explorer.run
    status = [chip(run.status, STATUS_KINDS[run.status])] if run is not None else []
    yield head(f"Explorer of {explorer.pipeline}", *status, span(" · ".join(_about(explorer)), "adknb-dim"))
    if run is not None and (message := message_text(run.message)):
        yield f'<div class="adknb-message"><span class="adknb-dim">Message:</span> {cut(message[:LIMIT], 200)}</div>'
    for line in explorer.waits_for:
        yield box(cut(line, 300), "warn")
    if explorer.strip is None:
        yield div(f"The pipeline cannot be built; %adk lint {explorer.pipeline} says why.", "adknb-dim")
        return
    yield strip_html(explorer.strip, live=False)
    if explorer.cell:
        yield (
            heading("The cell of the edit that was accepted") + f'<div class="adknb-cell">{block(explorer.cell)}</div>'
        )
    for agent, draft in explorer.drafts.items():
        yield heading(f"{agent}, edited and not written yet") + block(draft)
    yield from _steps(explorer)
    if run is not None:
        at = explorer.at(explorer.selected)
        yield _section("Events of this turn", events_pane(at))
        yield _section("Tokens by request", tokens_pane(at))
    if len(explorer.runs) > 1:
        yield _section("Runs of this pipeline", runs_pane(explorer.at(explorer.selected)))


def _steps(explorer: Explorer) -> Iterator[str]:
    """The steps in the order in which they ran, then the agents that have not, as far as the budget goes."""
    ran = explorer.run.step_runs if explorer.run is not None else []
    shown = explorer.strip
    waiting = [
        each.name for node in (shown.root.walk() if shown else ()) for each in node.boxes if each.status == NOT_RUN
    ]
    left = BUDGET
    names = [*(step.name for step in ran), *waiting]
    steps: list[StepRun | None] = [*ran, *(None for _ in waiting)]
    for place, (name, step) in enumerate(zip(names, steps, strict=True)):
        html = _step(explorer.at(name), step, name == explorer.selected)
        if len(html) > left:
            rest = names[place:]
            yield div(
                f"Left out: {counted(len(rest), 'step')}, from {rest[0]} to {rest[-1]}. run.prompt(…), run.steps and "
                "run.events have them all.", "adknb-dim",
            )  # fmt: skip
            return
        left -= len(html)
        yield html


def _step(at: Explorer, step: StepRun | None, is_open: bool) -> str:
    opened = " open" if is_open else ""
    status = step.status if step is not None else NOT_RUN
    summary = (
        f"<summary><b>{escape(one_line(at.selected, 60))}</b> {chip(status, STATUS_KINDS.get(status, ''))}</summary>"
    )
    if step is None:
        return f"<details{opened}>{summary}{prompt_pane(at, PASSAGES, LIMIT).html}</details>"
    parts = []
    for number in range(1, min(len(step.requests), REQUESTS) + 1):
        at.request = number
        title = "Prompt" if len(step.requests) == 1 else f"Prompt, request {number} of {len(step.requests)}"
        parts.append(_section(title, prompt_pane(at, PASSAGES, LIMIT), is_open and number == 1))
    if len(step.requests) > REQUESTS:
        parts.append(div(f"{len(step.requests) - REQUESTS:,} more requests are left out.", "adknb-dim"))
    at.request = 1
    parts.append(_section("Reply", reply_pane(at, LIMIT)))
    parts.append(_section("State", state_pane(at)))
    if step.requests:
        parts.append(_section("Raw", raw_pane(at, RAW)))
    return f"<details{opened}>{summary}{''.join(parts)}</details>"


def _section(title: str, pane: Pane, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{pane.html}</details>"


def _about(explorer: Explorer) -> list[str]:
    run = explorer.run
    if run is None:
        return ["not run yet"]
    label = [run.label] if run.label else []
    return [f"run {run.id}", run.status, counted(len(run.step_runs), "step"), f"rules {run.rules}", *label]


def _rows(node: Node, depth: int = 0) -> Iterator[list[str]]:
    """The tree as the lines of a table, indented."""
    lead = "· " * depth
    if node.kind != "step":
        yield [f"{lead}{node.name} ({node.kind})", "", "", "", "", ""]
        depth += 1
        lead = "· " * depth
    for place, each in enumerate(node.boxes):
        if node.left_out and place == len(node.boxes) - 1:
            yield [f"{lead}… {node.left_out:,} more …", "", "", "", "", ""]
        notes = [f"stale: {each.stale}"] if each.stale else []
        notes += ["copied"] if each.copied else []
        notes += ["not as written now"] if node.changed else []
        tokens = ["" if number is None else f"{number:,}" for number in (each.tokens_in, each.tokens_out)]
        yield [f"{lead}{each.name}", each.status, *tokens, ", ".join(each.wrote), "; ".join(notes)]
    for child in node.children:
        yield from _rows(child, depth + (node.kind == "step"))
