"""Going on with a run: step, continue, rewind, undo."""

from __future__ import annotations

from argparse import Namespace
from typing import Final

from adknb.core.run import Run
from adknb.notebook.bench import Bench
from adknb.notebook.command import Argument, Command, Option
from adknb.notebook.results import Message

RUN: Final = Option(
    "--run", "the run to take, by its id or the beginning of it; without it the last one", "ID", completes="runs"
)


def step(bench: Bench, options: Namespace) -> Run:
    return bench.step(options.name, options.run)


def continue_run(bench: Bench, options: Namespace) -> Run:
    return bench.continue_run(options.run)


def rewind(bench: Bench, options: Namespace) -> Run:
    return bench.rewind(options.name, options.run)


def undo(bench: Bench, options: Namespace) -> Message:
    return Message(f"Undone: {bench.undo()}.")


COMMANDS: Final = (
    Command(
        "%adk step",
        "Run one step of a paused run; with NAME, on to it and through it, or it again.",
        step,
        (Argument("name", "the step: DraftAgent, or DraftAgent#2 for its second execution", "?", "steps"),),
        (RUN,),
        ("%adk step", "%adk step DraftAgent"),
    ),
    Command(
        "%adk continue",
        "Run a paused, failed or interrupted run on to its end.",
        continue_run,
        (),
        (RUN,),
        ("%adk continue", "%adk continue --run 3f2a"),
    ),
    Command(
        "%adk rewind",
        "Make a paused run that holds the steps before NAME; the state goes back too.",
        rewind,
        (Argument("name", "the first step to forget", completes="steps"),),
        (RUN,),
        ("%adk rewind DraftAgent", "%adk rewind DraftAgent#2 --run 3f2a"),
    ),
    Command(
        "%adk undo",
        "Take back the last change: of an agent, an order, a run, a session, a setting.",
        undo,
        (),
        (),
        ("%adk undo", "message = %adk undo"),
    ),
)
