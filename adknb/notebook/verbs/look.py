"""Looking at a run: steps, state, events, tokens, prompts, and two runs beside each other."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any, Final

from adknb.core.errors import RunStateError, near_names
from adknb.core.views import table
from adknb.notebook.bench import Bench
from adknb.notebook.bench_tables import RUNS, run_rows
from adknb.notebook.cards.prompt_card import PromptView
from adknb.notebook.command import Argument, Command, Option, UsageError
from adknb.notebook.results import RunDiff
from adknb.notebook.shown import shown_table
from adknb.notebook.verbs.go import RUN
from adknb.tables.frame import frame

if TYPE_CHECKING:
    import pandas as pd

SESSION: Final = Option("--session", "all turns of a named session instead of one run", "NAME", completes="sessions")


def _of(bench: Bench, options: Namespace) -> Any:
    """The run or session that a verb looks at."""
    name = getattr(options, "session", None)
    if name is None:
        return bench.record(options.run).run
    if name not in bench.sessions:
        near = near_names(name, bench.sessions)
        raise RunStateError(f"there is no session {name!r}.{near} Begin one: %%pipeline … --session {name}")
    return bench.sessions[name]


def steps(bench: Bench, options: Namespace) -> pd.DataFrame:
    return table(bench.record(options.run).run, "steps")


def state(bench: Bench, options: Namespace) -> pd.DataFrame:
    return table(_of(bench, options), "state_history" if options.history else "state")


def events(bench: Bench, options: Namespace) -> pd.DataFrame:
    return table(_of(bench, options), "events")


def tokens(bench: Bench, options: Namespace) -> pd.DataFrame:
    return table(bench.record(options.run).run, "tokens")


def prompt(bench: Bench, options: Namespace) -> PromptView:
    run = bench.record(options.run).run
    step = run.step(options.name)
    try:
        number = int(options.request or 1)
    except ValueError:
        raise UsageError(f"--request takes a number from 1, not {options.request!r}") from None
    if not 1 <= number <= len(step.requests):
        sent = f"sent requests 1 to {len(step.requests)}, not {number}" if step.requests else "sent no request"
        raise RunStateError(f"step {step.name!r} of run {run.id} {sent}")
    return PromptView(run, step.name, number)


def runs(bench: Bench, options: Namespace) -> pd.DataFrame:
    data = frame(run_rows(bench.records), RUNS)
    return shown_table(data)


def diff(bench: Bench, options: Namespace) -> RunDiff:
    return RunDiff(bench.record(options.before).run, bench.record(options.after).run)


COMMANDS: Final = (
    Command(
        "%adk steps",
        "The steps of a run, one row each: status, time, tokens, key written, who reads it.",
        steps,
        (),
        (RUN,),
        ("%adk steps", "df = %adk steps --run 3f2a"),
    ),
    Command(
        "%adk state",
        "The state after a run, one row a key: value, writer, readers, fresh or stale.",
        state,
        (),
        (Option("--history", "one row a write instead: the value before and after", takes="nothing"), RUN, SESSION),
        ("%adk state", "df = %adk state --history"),
    ),
    Command(
        "%adk events",
        "The events of a run, one row each.",
        events,
        (),
        (RUN, SESSION),
        ("%adk events", "df = %adk events --session chat"),
    ),
    Command(
        "%adk tokens",
        "Where each request's tokens go: instruction, injected state, history, tools and more.",
        tokens,
        (),
        (RUN,),
        ("%adk tokens", "df = %adk tokens --run 3f2a"),
    ),
    Command(
        "%adk prompt",
        "The exact request that a step sent, each stretch labelled by its origin, with tokens.",
        prompt,
        (Argument("name", "the step: DraftAgent, or DraftAgent#2 for its second execution", completes="steps"),),
        (Option("--request", "which of the step's requests, from 1", "NUMBER"), RUN),
        ("%adk prompt DraftAgent", "view = %adk prompt DraftAgent#2 --request 2"),
    ),
    Command(
        "%adk runs",
        "Every run of the bench: pipeline, session, status, answer, what it goes on from.",
        runs,
        (),
        (),
        ("%adk runs", "df = %adk runs"),
    ),
    Command(
        "%adk diff",
        "Two runs beside each other: prompts, replies, state and tokens.",
        diff,
        (
            Argument("before", "a run's id, or the beginning of it", completes="runs"),
            Argument("after", "the other run's", completes="runs"),
        ),
        (),
        ("%adk diff 3f2a 9c41", "d = %adk diff 3f2a 9c41"),
    ),
)
