"""Settings: what pipelines run with."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path, PurePath
from typing import Final

from adknb.models.endpoint import Endpoint
from adknb.notebook.bench import Bench
from adknb.notebook.cards.words import counted
from adknb.notebook.choices import ANSWERING, DB_HELP, choices
from adknb.notebook.command import Command, Option, UsageError
from adknb.notebook.records import Settings
from adknb.notebook.results import Message
from adknb.runtime.strategies import as_strategy


def use(bench: Bench, options: Namespace) -> Message:
    changed = choices(options, bench.namespace)
    database = changed.pop("db", None)
    if options.notebook is not None and database is None:
        raise UsageError("--notebook names what is kept in a database: say --db URL too")
    if options.user is not None:
        changed["user"] = options.user
    if options.stream is not None:
        changed["stream"] = options.stream == "on"
    bench.checked(**changed)
    remarks = _opened(bench, database, options.notebook) if database is not None else ()
    if changed:
        bench.use(**changed)
    settings = bench.settings
    if settings.model is None:
        remarks = (*remarks, "Give a model: %adk use --model local, or the name of a variable.")
    return Message(" · ".join([*_facts(settings), *_place(bench, database is not None)]), remarks)


def _opened(bench: Bench, url: str, notebook: str | None) -> tuple[str, ...]:
    """Move the bench; what there is to say about it, also of the runs that memory keeps."""
    was_in_memory, made = bench.home.notes is None, len(bench.records)
    remarks = bench.open(url, notebook)
    if not (was_in_memory and made) or bench.home.notes is None:
        return remarks
    kept = (
        f"{counted(made, 'run')} made before: in memory, until the kernel ends. %adk use --db memory goes back there."
    )
    return (*remarks, kept)


def _facts(settings: Settings) -> list[str]:
    model = settings.model if isinstance(settings.model, str) or settings.model is None else settings.model.name
    strategy = as_strategy(settings.strategy).name
    facts = [f"model {model or 'not set'}", f"rules {settings.rules}", f"strategy {strategy}", f"user {settings.user}"]
    if settings.base_url is not None:
        facts.append(f"at {Endpoint(settings.base_url, None, {}).url}")
    if settings.record is not None:
        facts.append(f"replies in {Path(settings.record.file).name} (record mode {settings.record.mode})")
    if settings.stream:
        facts.append("streamed")
    if settings.resumable:
        facts.append("resumable")
    return facts


def _place(bench: Bench, is_asked: bool) -> list[str]:
    """Where sessions live. In memory they do unless somebody says otherwise, so that is said only to who asks."""
    home = bench.home
    if home.notes is None:
        return ["sessions in memory, gone with the kernel"] if is_asked else []
    last = f", the last change: {bench.last_change}" if bench.last_change else ""
    how = "each event on disk before the run goes on" if home.is_durable else "gone with the kernel"
    return [
        f"sessions in {home.shown}, {how}",
        f"notebook {PurePath(home.notes.notebook).name}: {counted(len(bench.records), 'run')}{last}",
    ]


COMMANDS: Final = (
    Command(
        "%adk use",
        "Set what pipelines run with in this notebook; without options show it.",
        use,
        (),
        (
            Option(
                "--model", "a model's name (local, echo, …) or a variable that holds one", "MODEL", completes="models"
            ),
            Option("--rules", "whose rules: java, go, go_fixed, js or python", "NAME", completes="rules"),
            Option(
                "--strategy",
                "which history requests carry: as_written, default, none, state_only",
                "NAME",
                completes="strategies",
            ),
            Option("--user", "the user id of new sessions", "ID"),
            Option(
                "--db",
                f"where sessions live from now on, with this notebook's runs, pipelines and undo: {DB_HELP}",
                "URL",
                aliases=("session_service",),
            ),
            Option(
                "--notebook",
                "with --db: the name under which the notebook is kept there; without it the front end's, or default",
                "NAME",
            ),
            *ANSWERING,
            Option("--resumable", "whether a long-running call pauses a run, until %adk answer", choices=("on", "off")),
            Option("--stream", "whether to ask for replies in pieces, shown as they come", choices=("on", "off")),
        ),
        ("%adk use --model local --strategy none", "%adk use --db sqlite:///tickets.db"),
    ),
)
