"""Editing pipelines: which there are, their order, copies, versions of a prompt, files."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Final

from adknb.notebook import files
from adknb.notebook.bench import Bench
from adknb.notebook.bench_tables import PIPELINES, pipeline_rows
from adknb.notebook.command import Argument, Command, Option, UsageError
from adknb.notebook.outline import given_keys
from adknb.notebook.pipelines import Pipeline
from adknb.notebook.results import Message, PipelineCard, PromptHistory
from adknb.notebook.shown import shown_table
from adknb.tables.frame import frame

if TYPE_CHECKING:
    import pandas as pd

OF: Final = Option("--pipeline", "the pipeline; without it the one in use", "NAME", completes="pipelines")


def _card(bench: Bench, pipeline: Pipeline, *remarks: str) -> PipelineCard:
    given = given_keys(bench.records, pipeline.name)
    return PipelineCard(pipeline, bench.settings.rules, remarks, bench.namespace, given, bench.settings.resumable)


def pipelines(bench: Bench, options: Namespace) -> pd.DataFrame:
    data = frame(pipeline_rows(bench.pipelines.values(), bench.records, bench.current), PIPELINES)
    return shown_table(data)


def order(bench: Bench, options: Namespace) -> PipelineCard:
    first, *rest = options.names
    pipeline = bench.pipeline(first if rest and first in bench.pipelines else None)
    bench.order(rest if pipeline.name == first else options.names, pipeline.name)
    return _card(bench, bench.pipelines[pipeline.name])


def remove(bench: Bench, options: Namespace) -> Message:
    if options.name in bench.pipelines and options.pipeline is None:
        bench.remove_pipeline(options.name)
        return Message(f"Pipeline {options.name} is removed; %adk undo brings it back.")
    pipeline = bench.pipeline(options.pipeline).name
    bench.remove_agent(options.name, pipeline)
    return Message(f"{options.name} is removed from {pipeline}; %adk undo brings it back.")


def copy(bench: Bench, options: Namespace) -> PipelineCard:
    bench.copy(options.pipeline, options.name)
    return _card(bench, bench.pipelines[options.name])


def history(bench: Bench, options: Namespace) -> PromptHistory:
    if options.restore is not None:
        try:
            number = int(options.restore)
        except ValueError:
            raise UsageError(f"--restore takes a version's number, not {options.restore!r}") from None
        bench.restore_version(options.name, number, options.pipeline)
    return PromptHistory(bench.pipeline(options.pipeline)[options.name], options.pipeline)


def save(bench: Bench, options: Namespace) -> Message:
    chosen = [bench.pipeline(name) for name in options.pipelines] or list(bench.pipelines.values())
    if not chosen:
        bench.pipeline()
    path = files.save(chosen, options.file)
    return Message(f"Saved {', '.join(pipeline.name for pipeline in chosen)} in {path}.")


def load(bench: Bench, options: Namespace) -> Message:
    loaded = files.load(options.file)
    bench.put_pipelines(loaded, f"load {options.file}")
    return Message(f"Loaded {', '.join(pipeline.name for pipeline in loaded)} from {options.file}.")


COMMANDS: Final = (
    Command(
        "%adk pipelines",
        "The pipelines of the bench: agents in order, runs, which one is in use.",
        pipelines,
        (),
        (),
        ("%adk pipelines", "df = %adk pipelines"),
    ),
    Command(
        "%adk order",
        "Put a pipeline's agents into another order.",
        order,
        (
            Argument(
                "names",
                "the pipeline, unless it is the one in use; then every agent once, in the new order",
                "+",
                "agents",
            ),
        ),
        (),
        (
            "%adk order ticket TriageAgent PolicyCheckAgent DraftAgent",
            "%adk order DraftAgent PolicyCheckAgent TriageAgent",
        ),
    ),
    Command(
        "%adk remove",
        "Take an agent out of its pipeline, or a whole pipeline off the bench.",
        remove,
        (Argument("name", "the agent's or pipeline's name", completes="agents"),),
        (OF,),
        ("%adk remove DraftAgent", "%adk remove DraftAgent --pipeline ticket2"),
    ),
    Command(
        "%adk copy",
        "Copy a pipeline, to change one and keep the other.",
        copy,
        (
            Argument("pipeline", "the pipeline to copy", completes="pipelines"),
            Argument("name", "the copy's name"),
        ),
        (),
        ("%adk copy ticket ticket2", "card = %adk copy ticket ticket2"),
    ),
    Command(
        "%adk history",
        "The versions of an agent's prompt, with what each changed.",
        history,
        (Argument("name", "the agent", completes="agents"),),
        (Option("--restore", "make this version the agent's prompt again", "NUMBER"), OF),
        ("%adk history DraftAgent", "%adk history DraftAgent --restore 1"),
    ),
    Command(
        "%adk save",
        "Write pipelines into one readable file of %agent blocks.",
        save,
        (
            Argument("file", "the file", completes="files"),
            Argument("pipelines", "which ones; all of them when left out", "*", "pipelines"),
        ),
        (),
        ("%adk save ticket.adk", "%adk save ticket.adk ticket"),
    ),
    Command(
        "%adk load",
        "Read pipelines from a file that %adk save wrote, or that you wrote in the same words.",
        load,
        (Argument("file", "the file", completes="files"),),
        (),
        ("%adk load ticket.adk", "message = %adk load ticket.adk"),
    ),
)
