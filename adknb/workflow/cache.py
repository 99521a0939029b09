"""Results by key, kept for a while: in memory or in an SQLite file that several processes may share."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from adknb.core.errors import SpecError
from adknb.core.json_values import fault
from adknb.workflow.causes import is_refusal
from adknb.workflow.errors import CacheError, PayloadError
from adknb.workflow.observers import LOGGER

_APPLICATION: Final = 0x61646B63
"""SQLite's mark of whose file it is: `adkc`."""
_VERSION: Final = 1
_WAIT: Final = 0.5
"""Seconds to wait for another process that writes; it blocks the event loop, and a write takes a fraction of a millisecond."""


class Kept(NamedTuple):
    """A result that was kept."""

    value: Any


class ResultCache:
    """JSON results by key, for `ttl` seconds (None: for good). For tasks and threads alike; errors are never kept.

    The key has to say all that the result depends on. Calls with equal keys at the same time are made once; if the one that
    is made is cancelled, another takes its place. `path` is a file, or `":memory:"`. `clock` gives the time of day in
    seconds, which all processes share.

    >>> import anyio
    >>> async def answer() -> str:
    ...     print("asked")
    ...     return "42"
    >>> with ResultCache(ttl=3600) as cache:
    ...     anyio.run(cache.get_or_execute, "question", answer)
    ...     anyio.run(cache.get_or_execute, "question", answer)
    ...     cache.hits, cache.misses
    asked
    '42'
    '42'
    (1, 1)

    Raises `CacheError` for a file that cannot be opened or is something else; such a file is not written to. A file that
    fails later costs its results only: they are asked for again, and the log says so.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = ":memory:",
        ttl: float | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if ttl is not None and not ttl > 0:
            raise SpecError(f"ttl are seconds above 0, or None to keep results for good; not {ttl!r}")
        self.path: Final = str(path) if str(path) == ":memory:" else str(Path(path).expanduser())
        self.ttl: Final = ttl
        self.hits = 0
        """Results that were there."""
        self.misses = 0
        """Results that were asked for."""
        self.joined = 0
        """Results that an equal call, under way already, gave."""
        self._clock: Final = clock
        self._lock: Final = threading.RLock()
        self._under_way: dict[str, Future[str]] = {}
        self._rows: Final = _open(self.path)
        self._close: Final = weakref.finalize(self, self._rows.close)

    def get(self, key: str) -> Kept | None:
        """What is kept under the key; None where there is nothing, or nothing young enough."""
        try:
            row = self._run("SELECT value, at FROM results WHERE key = ?", key).fetchone()
        except CacheError as error:
            LOGGER.warning("%s; the result is asked for", error)
            return None
        if row is None or (self.ttl is not None and row[1] <= self._clock() - self.ttl):
            return None
        try:
            return Kept(json.loads(row[0]))
        except (ValueError, TypeError, RecursionError):  # others can change the file
            return None

    def put(self, key: str, value: Any) -> None:
        """Keep a result, in place of the one before. Raises `PayloadError` for what is no JSON."""
        self._keep(key, _text(key, value))

    async def get_or_execute(
        self, key: str, function: Callable[[], Awaitable[Any]], keep: Callable[[Any], bool] | None = None
    ) -> Any:
        """What is kept under the key, else what `function` gives, which is then kept if `keep` (of it) does not say no.

        What the function raises is raised to all who wait for it; but a refusal (`RefusedError`), and a result that is not to
        be kept, are for its caller alone, and the others ask themselves. Raises `PayloadError` for a result that is no JSON.
        """
        while True:
            with self._lock:
                kept = self.get(key)
                if kept is not None:
                    self.hits += 1
                    return kept.value
                call = self._under_way.get(key)
                if call is None:
                    self.misses += 1
                    own = self._under_way[key] = Future()
            if call is None:
                return await self._execute(key, function, keep, own)
            text = await _result(call)
            if text is not None:
                self.joined += 1
                return json.loads(text)

    def clear(self) -> None:
        """Forget all results."""
        self._run("DELETE FROM results")

    def prune(self) -> int:
        """Forget the results that are too old; how many those were."""
        if self.ttl is None:
            return 0
        return self._run("DELETE FROM results WHERE at <= ?", self._clock() - self.ttl).rowcount

    def close(self) -> None:
        self._close()

    def __len__(self) -> int:
        """How many results are kept, old ones included."""
        return int(self._run("SELECT count(*) FROM results").fetchone()[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def _execute(
        self, key: str, function: Callable[[], Awaitable[Any]], keep: Callable[[Any], bool] | None, own: Future[str]
    ) -> Any:
        own.set_running_or_notify_cancel()  # from here on a waiter that is cancelled does not cancel it
        try:
            value = await function()
            text = _text(key, value)
            is_kept = keep is None or keep(value)
        except BaseException as error:
            self._end(key)
            is_for_all = isinstance(error, Exception) and not is_refusal(error)
            own.set_exception(error if is_for_all else _AbandonedError())
            raise
        with self._lock:
            if is_kept:
                self._keep(key, text)
            self._end(key)
        if is_kept:
            own.set_result(text)
        else:
            own.set_exception(_AbandonedError())
        return json.loads(text)

    def _end(self, key: str) -> None:
        with self._lock:
            del self._under_way[key]

    def _keep(self, key: str, text: str) -> None:
        try:
            self._run("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", key, text, self._clock())
        except CacheError as error:
            LOGGER.warning("%s; the result is not kept", error)

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        try:
            with self._lock:
                return self._rows.execute(statement, values)
        except sqlite3.Error as error:
            raise CacheError(f"the result cache {self.path} failed: {error}") from error

    def __repr__(self) -> str:
        return f"ResultCache({self.path!r}, ttl={self.ttl}, {self.hits} hits, {self.misses} misses)"


class _AbandonedError(Exception):
    """The call gave nothing for those who wait for it."""


async def _result(call: Future[str]) -> str | None:
    """What the call under way gives; None when it gives nothing to others. Raises what it raises."""
    import asyncio

    try:
        return await asyncio.wrap_future(call)
    except _AbandonedError:
        return None


def _text(key: str, value: Any) -> str:
    if found := fault("the result", value):
        raise PayloadError(f"{found}. Only JSON can be kept under {key!r}.")
    return json.dumps(value, separators=(",", ":"))


def _open(path: str) -> sqlite3.Connection:
    rows: sqlite3.Connection | None = None
    try:
        if path != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        rows = sqlite3.connect(path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        rows.execute("BEGIN IMMEDIATE")  # writes nothing yet; two processes may open a new file at once
        _claim(rows, path)
        rows.execute("COMMIT")
        rows.execute("PRAGMA journal_mode = WAL")
        rows.execute("PRAGMA synchronous = NORMAL")  # the last results may be lost with the power, never the file
    except BaseException as error:
        if rows is not None:
            rows.close()
        if isinstance(error, (sqlite3.Error, OSError)):
            raise CacheError(
                f"the result cache {path} cannot be opened: {error}. Mend that, or name another file."
            ) from error
        raise
    return rows


def _claim(rows: sqlite3.Connection, path: str) -> None:
    application = rows.execute("PRAGMA application_id").fetchone()[0]
    version = rows.execute("PRAGMA user_version").fetchone()[0]
    is_new = not (application or version or rows.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if is_new:
        rows.execute("CREATE TABLE results (key TEXT PRIMARY KEY, value TEXT NOT NULL, at REAL NOT NULL) WITHOUT ROWID")
        rows.execute(f"PRAGMA application_id = {_APPLICATION}")
        rows.execute(f"PRAGMA user_version = {_VERSION}")
    elif application != _APPLICATION:
        raise CacheError(f"{path} is a database, but no result cache; it was not changed. Name another file.")
    elif version != _VERSION:
        raise CacheError(
            f"the result cache {path} is of version {version}, and this release reads {_VERSION}. Name another file, "
            "or delete this one: its results are asked for again."
        )
