"""The line of a turn's cell, `%%pipeline NAME …`: its options, read into a `TurnRequest`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from adknb.core.run import RunConfig
from adknb.notebook.choices import ANSWERING, DB_HELP
from adknb.notebook.command import TRACEBACK, Argument, Option, UsageError
from adknb.notebook.pipelines import Pipeline
from adknb.notebook.records import Record, TurnRequest
from adknb.notebook.variables import can_be_variable

PIPELINE = Argument("pipeline", "a pipeline of the bench, or a variable that holds an agent", completes="pipelines")

TURN = (
    Option(
        "--session", "add a turn to this session; the same cell run again replaces its turn", "NAME", completes="sessions",
        aliases=("session_id",),
    ),
    Option("--append", "add a turn even when this cell made one before", takes="nothing"),
    Option("--turn", "replace this turn of the session, from 1 (where the front end names no cells)", "NUMBER"),
    Option("--pause", "store the message and run nothing: then %adk step, %adk continue", takes="nothing"),
    Option("--from", "run the last run again from this step on; earlier steps are copied, not asked", "STEP", completes="steps"),
    Option("--run", "with --from: the run to take instead of the last", "ID", completes="runs"),
    Option("--user", "the user's id", "ID", aliases=("user_id",)),
    Option(
        "--state", "values to start with: KEY=TEXT, or KEY:=JSON for other types", "KEY=VALUE", "several", "keys",
        aliases=("state_delta",),
    ),
    Option("--state-from", "more values to start with, from a variable that holds a dict", "VARIABLE", completes="variables"),
    Option("--clear", "keys to delete before the turn starts", "KEY", "several", "keys"),
    Option("--model", "who answers in this run, whatever the agents name: a model or a variable", "MODEL", completes="models"),
    Option(
        "--strategy", "which history its requests carry: as_written, default, none, state_only", "NAME",
        completes="strategies", aliases=("include_contents",),
    ),
    Option("--rules", "whose rules: java, go, go_fixed, js or python", "NAME", completes="rules"),
    Option("--resumable", "let a long-running call pause the run: %adk answer goes on", takes="nothing"),
    Option("--max-llm-calls", "stop after so many model calls (500)", "NUMBER"),
    Option("--out", "bind the run to this variable", "NAME"),
    TRACEBACK,
    *ANSWERING,
    Option(
        "--stream", "ask for replies in pieces, shown as they come", takes="nothing", aliases=("streaming", "streaming_mode")
    ),
    Option("--db", f"the database of this run's session: {DB_HELP}", "URL"),
)  # fmt: skip
"""Every option of a turn."""

_FROM_THE_START = (
    "session",
    "append",
    "turn",
    "pause",
    "user",
    "state",
    "state_from",
    "clear",
    "max_llm_calls",
    "stream",
    "db",
)


def turn_request(
    options: argparse.Namespace, message: str, cell: str | None, namespace: Mapping[str, Any]
) -> TurnRequest:
    """The turn that a parsed line asks for. Raises `UsageError` for what cannot be read."""
    if options.run is not None:
        raise UsageError("--run names the run that --from goes on from: say --from STEP too")
    if not message.strip():
        raise UsageError(f"the message is missing: write it below %%pipeline {options.pipeline}")
    if options.append and options.turn is not None:
        raise UsageError("say --append or --turn, not both")
    for needs in ("append", "turn"):
        if getattr(options, needs) and options.session is None:
            raise UsageError(f"--{needs} is about a session's turns: name the session with --session")
    limit = number("--max-llm-calls", options.max_llm_calls)
    return TurnRequest(
        message,
        session=options.session,
        cell=cell,
        append=options.append,
        turn=number("--turn", options.turn),
        pause=options.pause,
        user=options.user,
        state=start_state(options.state, options.state_from, namespace),
        clear=tuple(options.clear),
        config=_config(limit, options.stream),
    )


def _config(limit: int | None, stream: bool) -> RunConfig | None:
    if limit is None:
        return RunConfig(streaming=True) if stream else None
    return RunConfig(max_llm_calls=limit, streaming=stream)


def check_out(name: str | None, pipelines: Mapping[str, Pipeline]) -> None:
    """Raise `UsageError` when `--out` names no variable, or one that stands for what the bench has."""
    if name is None:
        return
    if not can_be_variable(name):
        raise UsageError(f"--out takes a variable's name, not {name!r}")
    if any(name in (pipeline.name, *pipeline.names()) for pipeline in pipelines.values()):
        raise UsageError(f"--out {name}: the bench has a pipeline or agent of this name. Take another.")


def check_from(options: argparse.Namespace, message: str, record: Record) -> None:
    """Raise `UsageError` for what a line with `--from` cannot ask for, and for another message than the run's."""
    step = getattr(options, "from")
    for name in _FROM_THE_START:
        if getattr(options, name) not in (None, False, []):
            raise UsageError(
                f"--{name.replace('_', '-')} is for a run from its start; --from {step} goes on from run {record.run.id} "
                "as that began"
            )
    if message.strip() and message != record.run.message.text:
        raise UsageError(
            f"--from {step} goes on from run {record.run.id}, whose message is another. Leave the message out: %pipeline "
            f"{options.pipeline} --from {step}. Or run the whole pipeline with the new one."
        )


def start_state(
    pairs: list[str], variable: str | None, namespace: Mapping[str, Any], option: str = "--state"
) -> dict[str, Any] | None:
    """`--state` and `--state-from` as one dict; a pair wins over the variable. `option` is how the pairs' is written."""
    state: dict[str, Any] = {}
    if variable is not None:
        if variable not in namespace:
            raise UsageError(
                f"--state-from names {variable!r}, which the notebook does not define. Run its cell first."
            )
        value = namespace[variable]
        if not isinstance(value, Mapping):
            raise UsageError(f"--state-from: {variable} is of type {type(value).__name__}, not a dict")
        state.update(value)
    for pair in pairs:
        key, found, value = pair.partition("=")
        if not found or key in ("", ":"):
            raise UsageError(f"{option} takes KEY=TEXT or KEY:=JSON, not {pair!r}")
        if key.endswith(":"):
            key = key[:-1]
            try:
                value = json.loads(value)
            except ValueError as error:
                raise UsageError(
                    f"{option} {key}:= takes JSON, quoted: {option} '{key}:={{\"a\": 1}}'. {error}"
                ) from None
        state[key] = value
    return state or None


def line_message(variable: str | None, namespace: Mapping[str, Any]) -> str:
    """The message of the line form, from the variable that `--input` names."""
    if variable is None:
        raise UsageError(
            "the message is missing. %pipeline takes it from a variable: %pipeline NAME --input VARIABLE. Or write it below "
            "%%pipeline NAME. To go on from a step of the last run: %pipeline NAME --from STEP"
        )
    if variable not in namespace:
        raise UsageError(f"--input names {variable!r}, which the notebook does not define. Run its cell first.")
    value = namespace[variable]
    if not isinstance(value, str):
        raise UsageError(f"--input: {variable} is of type {type(value).__name__}, not text")
    return value


def number(option: str, value: str | None) -> int | None:
    if value is None:
        return None
    try:
        return int(value)
    except ValueError:
        raise UsageError(f"{option} takes a whole number, not {value!r}") from None
