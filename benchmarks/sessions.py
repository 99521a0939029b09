"""What it costs to keep sessions: adknb's stores next to google-adk's, in one process.

Needs google-adk, aiosqlite, asyncpg, pytest and PostgreSQL's programs beside adknb (see README.md). A server is started for it,
with the settings that one has by itself; where there are no programs its lines are left out. Contestants take turns sample by
sample, each with the same events in sessions of its own. Prints how each store waits for the disk and what that takes, then a
Markdown table with the targets, and exits 1 when one is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import pytest
from overhead import Row, Timed, cpu_name, figures, markdown, times_less
from session_processes import memory_row, separately
from session_runs import growth, openings, turns, whole_session
from session_stores import Adknb, Store, file_store, google_database, google_memory, google_sqlite, timed_load

import adknb
from adknb import DatabaseSessionService, InMemorySessionService

sys.path.append(str(Path(__file__).parents[1]))
from tests.sessions.postgres import postgres_server

LOADED_EVENTS = 10_000
MEMORY_EVENTS = 5_000
BUSY = 0.5
"""The load average from which on a machine has other work to do."""


async def measure(quick: bool, folder: Path) -> list[Row]:
    print(f"fsync of 4 KiB in {folder.parent}: {Timed(waits_for_disk(folder))}\n")
    return [
        *await appends_to_files(folder, 5 if quick else 20),
        *await appends_to_server(5 if quick else 20),
        *await loads(folder, LOADED_EVENTS, 3 if quick else 7),
        await appends_in_memory(2 if quick else 5),
        *await turns(folder, 5 if quick else 20),
        await growth(folder),
        await whole_session(folder, 3 if quick else 7),
        *openings(folder, 1 if quick else 5),
    ]


def waits_for_disk(folder: Path) -> list[float]:
    """Milliseconds that the disk takes for a page each, written over and over."""
    milliseconds = []
    with (folder / "page").open("wb", buffering=0) as file:
        for _ in range(100):
            file.seek(0)
            file.write(os.urandom(4096))
            started = time.perf_counter()
            os.fsync(file.fileno())
            milliseconds.append((time.perf_counter() - started) * 1000)
    return milliseconds


async def appends_to_files(folder: Path, repeats: int) -> list[Row]:
    full, normal = f"sqlite:///{folder / 'full.db'}", f"sqlite:///{folder / 'normal.db'}"
    stores: dict[str, Store] = {
        "full": Adknb(DatabaseSessionService(full)),
        "normal": Adknb(DatabaseSessionService(normal, synchronous="normal")),
        "DatabaseSessionService": google_database(f"sqlite+aiosqlite:///{folder / 'database.db'}"),
        "SqliteSessionService": google_sqlite(folder / "sqlite.db"),
    }
    timed = await appended(stores, repeats, ("PRAGMA journal_mode", "PRAGMA synchronous"))
    database, sqlite = ((peer, timed[peer]) for peer in ("DatabaseSessionService", "SqliteSessionService"))
    return [
        times_more("append on SQLite, full", timed["full"], *database, 3),
        times_more("  next to the other one", timed["full"], *sqlite, 1)._replace(target="more"),
        times_more("append on SQLite, normal", timed["normal"], *database),
        times_more("  next to the other one", timed["normal"], *sqlite),
    ]


async def appends_to_server(repeats: int) -> list[Row]:
    import asyncpg

    try:
        with postgres_server(fsync=True) as server:
            connection = await asyncpg.connect(server.url)
            await connection.execute("CREATE DATABASE google")
            await connection.close()
            theirs = server.url.replace("postgresql:", "postgresql+asyncpg:").removesuffix("postgres") + "google"
            stores: dict[str, Store] = {
                "full": Adknb(DatabaseSessionService(server.url)),
                "normal": Adknb(DatabaseSessionService(server.url, synchronous="normal")),
                "DatabaseSessionService": google_database(theirs),
            }
            settings = ("SHOW server_version", "SHOW fsync", "SHOW synchronous_commit")
            timed = await appended(stores, repeats, settings)
    except pytest.skip.Exception as reason:
        print(f"left out: {reason}\n")
        return []
    peer = "DatabaseSessionService"
    return [
        times_more("append on PostgreSQL, full", timed["full"], peer, timed[peer], 3),
        times_more("append on PostgreSQL, normal", timed["normal"], peer, timed[peer]),
    ]


async def appended(
    stores: Mapping[str, Store], repeats: int, settings: tuple[str, ...], count: int = 50
) -> dict[str, Timed]:
    """Milliseconds of an append: `repeats` samples of each store, in turn, each the mean of `count`. Stops unless all sessions
    hold the same afterwards, read anew."""
    samples: dict[str, list[float]] = {name: [] for name in stores}
    for name, store in stores.items():
        await store.begin(name)
        said = [f"{setting.split()[-1]} {await store.ask(setting)}" for setting in settings]
        print(f"- {name}: {', '.join(said)}")
        await append(store, 0, count)
    print()
    for number in range(1, repeats + 1):
        for name, store in stores.items():
            samples[name].append(await append(store, number * count, count) / count)
    await check_same(stores)
    for store in stores.values():
        await store.close()
    return {name: Timed(values) for name, values in samples.items()}


async def append(store: Store, start: int, count: int) -> float:
    """Milliseconds that so many appends take, of events that are there already."""
    events = [store.event(number) for number in range(start, start + count)]
    gc.collect()
    started = time.perf_counter()
    for event in events:
        await store.append(event)
    return (time.perf_counter() - started) * 1000


async def check_same(stores: Mapping[str, Store]) -> None:
    held = []
    for name, store in stores.items():
        store.forget()
        gc.collect()
        await store.load(name)
        held.append(store.said())
        store.forget()
    if any(each != held[0] for each in held):
        raise SystemExit("the sessions do not hold the same: the comparison would not be fair")


async def loads(folder: Path, count: int, repeats: int) -> list[Row]:
    """`get_session` of a long session, by a service whose connection is open; and by each in a process of its own."""
    files = {kind: folder / f"{kind}-long.db" for kind in ("adknb", "database", "sqlite")}
    for kind, file in files.items():
        await fill(kind, file, count)
    stores = {kind: file_store(kind, file) for kind, file in files.items()}
    samples: dict[str, list[tuple[float, float]]] = {kind: [] for kind in stores}
    for number in range(repeats + 1):
        for kind, store in stores.items():
            milliseconds = await timed_load(lambda store=store: store.load("long"), count)
            if number:  # the first opens the connection
                samples[kind].append(milliseconds)
            store.forget()
    for store in stores.values():
        await store.close()
    ours, *theirs = (Timed([wall for wall, _ in each]) for each in samples.values())
    own, *their_own = (Timed([own for _, own in each]) for each in samples.values())
    peaks = {kind: separately("load", kind, file, "long") for kind, file in files.items()}
    peers = ("DatabaseSessionService", "SqliteSessionService")
    return [
        times_less(f"load of {count:,} events", ours, peers[0], theirs[0], 5, " (aim 10×)"),
        times_less("  by the processor time of the process", own, peers[0], their_own[0]),
        times_less("  next to the other one", ours, peers[1], theirs[1], 5, " (aim 10×)"),
        times_less("  by the processor time of the process", own, peers[1], their_own[1]),
        memory_row("  memory of a process that does it", peaks["adknb"], peers[0], peaks["database"]),
        memory_row("  next to the other one", peaks["adknb"], peers[1], peaks["sqlite"]),
    ]


async def fill(kind: str, file: Path, count: int) -> None:
    """A session with `count` events, each appended as always, in memory where that is a file system."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else file.parent) as name:
        quick = Path(name) / file.name
        store = file_store(kind, quick)
        await store.begin("long")
        for number in range(count):
            await store.append(store.event(number))
        await store.close()
        shutil.move(quick, file)


async def appends_in_memory(repeats: int) -> Row:
    stores: dict[str, Store] = {"adknb": Adknb(InMemorySessionService()), "google-adk": google_memory()}
    samples: dict[str, list[float]] = {name: [] for name in stores}
    for number in range(repeats):
        for name, store in stores.items():
            await store.begin(f"session {number}")
            samples[name].append(await append(store, 0, MEMORY_EVENTS) / MEMORY_EVENTS)
    ours, theirs = (Timed(values) for values in samples.values())
    return times_more(f"append in memory, {MEMORY_EVENTS:,} in a session", ours, "InMemorySessionService", theirs, 10)


def times_more(what: str, ours: Timed, peer: str, theirs: Timed, at_least: int | None = None) -> Row:
    """How many times as many a second; the samples are milliseconds of one."""
    ratio = theirs.median / ours.median
    line = Row(what, a_second(ours), f"{peer}: {a_second(theirs)}", f"{ratio:.1f}× more")
    return line if at_least is None else line._replace(target=f"≥ {at_least}×", met=ratio >= at_least)


def a_second(timed: Timed) -> str:
    median, least, most = (1000 / each for each in (timed.median, max(timed.samples), min(timed.samples)))
    return f"{figures(median)}/s ({figures(least)}–{figures(most)})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--folder", help="where the files go, on the disk to measure; a temporary folder without it")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    packages = ", ".join(f"{name} {version(name)}" for name in ("google-adk", "sqlalchemy", "aiosqlite", "asyncpg"))
    print(f"adknb {adknb.__version__}, {packages}, SQLite {sqlite3.sqlite_version}, Python {platform.python_version()}")
    print(f"{cpu_name()}, {os.cpu_count()} cores, load {load:.2f} before the run")
    if load > BUSY:
        print("THE MACHINE IS BUSY: times are longer than they are by themselves, and ratios are less certain.")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        rows = asyncio.run(measure(arguments.quick, Path(name)))
    print(*markdown(rows), sep="\n")
    return 0 if all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
