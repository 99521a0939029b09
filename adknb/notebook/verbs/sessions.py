"""The sessions that are kept: listed, picked up, deleted, pruned, written to a file and read from one."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from adknb.core.run import Session
from adknb.notebook.bench import Bench
from adknb.notebook.cards.words import counted
from adknb.notebook.command import Argument, Command, Option, UsageError
from adknb.notebook.results import Message
from adknb.notebook.sessions_files import read_session, write_session
from adknb.notebook.sessions_table import SESSIONS, KeptSession, session_rows
from adknb.notebook.shown import shown_table
from adknb.notebook.turn_line import number
from adknb.tables.frame import frame

if TYPE_CHECKING:
    import pandas as pd

_SECONDS: Final = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_ONLY_WITH: Final = {
    "older_than": "prune", "keep": "prune", "dry_run": "prune", "force": "export", "pipeline": "import",
}  # fmt: skip
_ACTIONS: Final = ("delete", "prune", "export", "import")


def sessions(bench: Bench, options: Namespace) -> pd.DataFrame | Session | Message:
    chosen = [action for action in _ACTIONS if getattr(options, action)]
    if len(chosen) > 1:
        raise UsageError(f"say --{chosen[0]} or --{chosen[1]}, not both")
    for name, action in _ONLY_WITH.items():
        if getattr(options, name) and action not in chosen:
            raise UsageError(f"--{name.replace('_', '-')} is for --{action}: say that too")
    if options.name is not None and chosen and chosen[0] in ("delete", "prune"):
        raise UsageError(f"{options.name!r} is one word too many: --{chosen[0]} says which sessions by itself")
    if chosen:
        return _DO[chosen[0]](bench, options)
    if options.name is not None:
        return bench.pick_up(options.name, options.user)
    kept = [each for each in bench.kept_sessions() if options.user in (None, each.identity.user)]
    return shown_table(frame(session_rows(kept, bench.session_names(), bench.own_sessions()), SESSIONS))


def _delete(bench: Bench, options: Namespace) -> Message:
    bench.delete_session(options.delete, options.user)
    return Message(f"Session {options.delete} is deleted; %adk undo brings it back.")


def _prune(bench: Bench, options: Namespace) -> Message:
    older_than, keep = _age(options.older_than), number("--keep", options.keep)
    if keep is not None and keep < 0:
        raise UsageError(f"--keep takes how many to keep, not {keep}")
    if older_than is None and keep is None:
        raise UsageError("say which sessions to prune: --older-than 30d, --keep 10 (all but the newest), or both")
    gone = bench.prune_sessions(older_than, keep, options.dry_run)
    return _pruned(gone, options.dry_run)


def _pruned(gone: list[KeptSession], is_dry: bool) -> Message:
    if not gone:
        return Message("There is nothing to prune: the sessions of this bench stay, and so do newer ones.")
    what = f"{counted(len(gone), 'session')} of {sum(each.size for each in gone):,} bytes"
    named = tuple(f"{each.identity.id} (user {each.identity.user}, {counted(each.turns, 'turn')})" for each in gone)
    if is_dry:
        return Message(f"Would go: {what}. Nothing is deleted. Pruning cannot be undone.", named)
    return Message(f"Pruned: {what}. This cannot be undone.", named)


def _export(bench: Bench, options: Namespace) -> Message:
    if options.name is None:
        raise UsageError("--export needs the session's name: %adk sessions NAME --export FILE")
    path = write_session(bench.session_document(options.name, options.user), options.export, options.force)
    return Message(f"Session {options.name} is in {path.name}, with its runs: %adk sessions --import {options.export}")


def _import(bench: Bench, options: Namespace) -> Session:
    session, name = read_session(getattr(options, "import"), options.name)
    return bench.take_in(session, name, options.pipeline)


def _age(text: str | None) -> float | None:
    """`30d` in seconds; None for None. Raises `UsageError`."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([mhdw])", text)
    if found is None:
        raise UsageError(
            f"--older-than takes a number of minutes, hours, days or weeks (30m, 12h, 30d, 4w), not {text!r}"
        )
    return float(found[1]) * _SECONDS[found[2]]


_DO: Final[dict[str, Callable[[Bench, Namespace], Message | Session]]] = {
    "delete": _delete,
    "prune": _prune,
    "export": _export,
    "import": _import,
}

COMMAND: Final = Command(
    "%adk sessions",
    "The kept sessions, one row each; with NAME pick one up: its runs become the bench's.",
    sessions,
    (Argument("name", "a session: its name, its id or the beginning of it", "?", "sessions"),),
    (
        Option("--user", "only this user's sessions; whose session NAME is", "ID", aliases=("user_id",)),
        Option("--delete", "delete this session, named in full; undo brings it back", "NAME", completes="sessions"),
        Option("--prune", "delete old sessions that are not on this bench; this cannot be undone", takes="nothing"),
        Option("--older-than", "with --prune: those that nobody wrote to for so long, as 12h, 30d or 4w", "AGE"),
        Option("--keep", "with --prune: not the newest so many", "NUMBER"),
        Option("--dry-run", "with --prune: only say what would go", takes="nothing"),
        Option("--export", "write the session NAME with its runs into this file, as JSON", "FILE", completes="files"),
        Option("--force", "with --export: write over a file that is there", takes="nothing"),
        Option(
            "--import",
            "take in the session of a file that --export or ADK's web page wrote, under NAME where one is given, or session "
            "NAME of google-adk's database file",
            "FILE",
            completes="files",
        ),
        Option(
            "--pipeline",
            "with --import of ADK's: the pipeline that made it; without it the one in use",
            "NAME",
            completes="pipelines",
        ),
    ),
    ("%adk sessions chat", "%adk sessions --prune --older-than 30d --dry-run"),
)
