"""The cell of a workflow, `%%workflow NAME …`: its options, its `%step` lines, and the workflow that they make."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, Final

from adknb.core.errors import near_names
from adknb.notebook.choices import ANSWERING, DB_HELP
from adknb.notebook.command import TRACEBACK, Argument, Command, Option, UsageError
from adknb.notebook.variables import users_names
from adknb.workflow.actions import ErrorAction

WORKFLOW: Final = Argument(
    "workflow",
    "a variable that holds a SequentialWorkflow or an agent, or a pipeline of the bench, of which each agent becomes a step",
    completes="workflows",
)

RUNNING: Final = (
    Option(
        "--budget", "tokens that a run may use, in and out: a call that does not fit is not made", "TOKENS",
        aliases=("token_budget", "tokens"),
    ),
    Option("--timeout", "seconds that a run may take in all", "SECONDS"),
    Option(
        "--retry", "attempts in all, for steps without a policy of their own", "NUMBER",
        aliases=("retry_policy", "max_attempts", "retries"),
    ),
    Option(
        "--on-error", "what is done about a step that failed for good, for all steps whose %step does not say",
        choices=tuple(action for action in ErrorAction if action is not ErrorAction.FALLBACK),
        aliases=("error_action",),
    ),
    Option("--cache", "keep what steps answer in this file (SQLite), and take it from there", "FILE", completes="files"),
    Option("--checkpoint", "store each step when it is done, so that the run can be resumed", takes="nothing"),
    Option(
        "--db", f"where sessions and checkpoints are kept, instead of in the bench's place: {DB_HELP}", "URL",
        aliases=("session_service",),
    ),
    Option("--resume", "go on with this run from its checkpoint; the input is not given again", "RUN"),
    Option("--despite-changes", "with --resume: what done steps said counts, though they were changed", takes="nothing"),
    Option(
        "--parallel", "how many steps may run at once, of those that need nothing of each other", "NUMBER",
        aliases=("max_parallel",),
    ),
    Option("--share-history", "steps see the events of those before them, not their own alone", takes="nothing"),
    Option("--context", "values to start with: KEY=TEXT, or KEY:=JSON for other types", "KEY=VALUE", "several", "keys"),
    Option("--model", "who answers for agents that name no model: a model or a variable", "MODEL", completes="models"),
    Option("--rules", "whose rules: java, go, go_fixed, js or python", "NAME", completes="rules"),
    Option("--out", "bind the result to this variable", "NAME"),
    TRACEBACK,
    *ANSWERING,
)  # fmt: skip
"""Every option of a run."""

STEP_OPTIONS: Final = (
    Option("--on-error", "what is done about it when it failed for good", choices=tuple(ErrorAction)),
    Option("--timeout", "seconds for each attempt", "SECONDS"),
    Option("--retry", "attempts in all", "NUMBER", aliases=("retry_policy", "max_attempts")),
    Option("--condition", "a function of the data that says whether the step runs", "FUNCTION", completes="callbacks"),
    Option(
        "--fallback",
        "a function or agent that answers when the step has failed, with --on-error fallback, under the agent's output_key too",
        "NAME", completes="callbacks",
    ),
    Option(
        "--transformer", "a function or DataTransformer that makes of the payload what the agent is sent", "NAME",
        completes="callbacks",
    ),
    Option(
        "--updates", "a function of the data after the step that returns what the context gets", "FUNCTION",
        completes="callbacks", aliases=("context_updates",),
    ),
    Option("--reads", "keys that it reads; without payload it is sent the workflow's input", "KEY", "several", "keys"),
    Option("--writes", "keys that it writes beside its output", "KEY", "several", "keys"),
    Option("--cache", "keep its answers in this file (SQLite)", "FILE", completes="files"),
    Option("--model", "who answers in this step, whatever its agents name", "MODEL", completes="models"),
    TRACEBACK,
)  # fmt: skip

STEP_START: Final = "%step "


def read_cell(body: str, command: Command) -> tuple[dict[str, argparse.Namespace], str]:
    """The `%step` lines at the top of a cell's body, by step, and the input below them.

    A blank line between the two belongs to neither, so that an input can begin with `%step` too.
    """
    lines = body.split("\n")
    steps: dict[str, argparse.Namespace] = {}
    while lines and f"{lines[0]} ".startswith(STEP_START):
        options = command.parse(lines.pop(0)[len(STEP_START) :])
        if options.name in steps:
            raise UsageError(f"%step {options.name} stands twice. Put its options on one line.")
        steps[options.name] = options
    if lines and not lines[0].strip():
        del lines[0]
    return steps, "\n".join(lines)


def named(option: str, word: str, names: Mapping[str, Any]) -> Any:
    """What the notebook calls so. Raises `UsageError` with the near names."""
    if word not in names:
        near = near_names(word, users_names(names, callable))
        raise UsageError(f"{option} names {word!r}, which the notebook does not define.{near} Run its cell first.")
    return names[word]


def seconds(option: str, value: str | None) -> float | None:
    if value is None:
        return None
    try:
        return float(value)
    except ValueError:
        raise UsageError(f"{option} takes a number of seconds, not {value!r}") from None
