"""A file of recorded replies (JSON Lines): opened without being read into memory, written by several processes at once."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from threading import RLock
from typing import BinaryIO, Final

from adknb.core.errors import ModelError
from adknb.core.escape import visible
from adknb.core.requests import LlmResponse
from adknb.models.cassette_line import LINE_BEGIN, LineStart, line_start, place_of, reply_of

_LOCK_SECONDS: Final = 30
_SCANNED: Final = 1 << 20
"""Bytes that are read at once while lines are looked for."""


@dataclass(slots=True)
class _Index:
    """What was seen of a file: its inode, size and time of change, and up to `end` its lines.

    `starts` maps a place to where its last line starts, in the order of the places' first lines.
    """

    seen: tuple[int, int, int] | None = None
    starts: dict[bytes, int] = field(default_factory=dict)
    ordinals: set[int] = field(default_factory=set)
    models: dict[str, str] = field(default_factory=dict)
    end: int = 0
    lines: int = 0
    superseded: int = 0
    torn: int = 0


class Cassette:
    """The replies in a file, found by key, repeat and ordinal.

    Memory holds where each line starts, about 200 bytes a line. A later line for the same place supersedes an earlier
    one; `claim` leaves the earlier out and puts the later in its position. Whatever other processes append, replace or
    delete is seen at the next look. Writers take turns by an advisory lock on `FILE.lock`, an empty file that stays
    beside it; readers need no lock and no right to write. Raises `ModelError` that names the line for a file that is no
    cassette.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Final = Path(path).expanduser().resolve()
        self.title: Final = visible(self.path.name)
        self._path = str(self.path)
        self._guard = RLock()
        self._file: BinaryIO | None = None
        self._index = _Index()
        with self._guard:
            self._refresh()

    @property
    def models(self) -> dict[str, str]:
        """The models that were recorded: identity to name, in the order in which they first appear."""
        return self._index.models

    @property
    def torn(self) -> bool:
        """Whether the last line was left half-written."""
        return self._index.torn > 0

    def __len__(self) -> int:
        return len(self._index.starts)

    def find(self, key: str, repeat: int, ordinal: int, *, exact: bool) -> LlmResponse | None:
        """The reply recorded for the request of this key, or None.

        Without `exact`, when this ordinal was not recorded: the last one before it, else the first after it, which
        answered precisely the same request.
        """
        with self._guard:
            self._refresh()
            for _ in range(2):
                start = self._start(key, repeat, ordinal, exact)
                if start is None:
                    return None
                line = self._line_at(start)
                head = line_start(line)
                if head is not None and (head.key, head.repeat) == (key, repeat):
                    return self._reply(line, head, start)
                self._index.seen = None  # the file was edited in place: look where its lines start now
                self._refresh()
            raise ModelError(f"{self.title} changes while it is read; try again")

    def keep(self, line: bytes, *, replace: bool) -> LlmResponse | None:
        """Append a line. Returns the reply that stands in its place already, when it must not be replaced."""
        head = line_start(line)
        assert head is not None
        with self._guard, self._lock():
            self._refresh()
            self._mend()
            start = self._index.starts.get(head.place)
            if start is not None:
                standing = self._line_at(start)
                if not replace:
                    return self._reply(standing, line_start(standing) or head, start)
                if standing == line:
                    return None
            with self.path.open("ab") as file:
                file.write(line)
        return None

    def claim(self) -> None:
        """Make sure that the file can be written, its folder made where there is none, and remove superseded lines and, with
        a warning, a torn last line."""
        with self._guard, self._lock():
            self._refresh()
            if self.path.exists():
                self.path.open("ab").close()
            self._mend()
            if self._index.superseded:
                self._rewrite()

    def tidy(self) -> None:
        """What `claim` does, when there is something to remove."""
        with self._guard:
            self._refresh()
            if self.torn or self._index.superseded:
                self.claim()

    def close(self) -> None:
        """Let the file go; the next look opens it again."""
        with self._guard:
            self._forget()

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Each line with its number, from 1."""
        if self.path.exists():
            with self.path.open("rb") as file:
                yield from enumerate(file, 1)

    def _start(self, key: str, repeat: int, ordinal: int, exact: bool) -> int | None:
        start = self._index.starts.get(place_of(key, repeat, ordinal))
        if start is not None or exact:
            return start
        for other in sorted(self._index.ordinals, key=lambda known: (known > ordinal, abs(known - ordinal))):
            start = self._index.starts.get(place_of(key, repeat, other))
            if start is not None:
                return start
        return None

    def _line_at(self, start: int) -> bytes:
        assert self._file is not None
        self._file.seek(start)
        return self._file.readline()

    def _reply(self, line: bytes, head: LineStart, start: int) -> LlmResponse:
        try:
            return reply_of(line, head)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            number = next(number for number, end in self._line_ends() if end > start)
            raise self._malformed(number, f"its reply cannot be read ({type(error).__name__}: {error})") from error

    def _line_ends(self) -> Iterator[tuple[int, int]]:
        end = 0
        for number, line in self.lines():
            end += len(line)
            yield number, end

    def _forget(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None
        self._index = _Index()

    def _refresh(self) -> None:
        """Take in what happened to the file since the last look."""
        try:
            status = os.stat(self._path)
            if self._index.seen == (status.st_ino, status.st_size, status.st_mtime_ns):
                return
            raw = self.path.open("rb", buffering=0)
        except FileNotFoundError:
            self._forget()
            return
        except OSError as error:
            raise ModelError(f"{self.title} cannot be read: {error.strerror}") from error
        status = os.fstat(raw.fileno())
        if self._index.seen is None or self._index.seen[0] != status.st_ino or self._index.end > status.st_size:
            self._forget()
        elif self._file is not None:
            self._file.close()
        self._index.seen = (status.st_ino, status.st_size, status.st_mtime_ns)
        appended = self._index.end > 0
        reader = BufferedReader(raw, _SCANNED)
        intact = self._scan(reader)
        reader.detach()
        self._file = BufferedReader(raw)
        if not intact:
            number = self._index.lines
            self._forget()
            if not appended:
                raise self._malformed(number, "it is no recorded reply")
            self._refresh()  # the file was edited in place, so its lines start elsewhere

    def _scan(self, file: BinaryIO) -> bool:
        """Index the lines from where the last look ended; returns whether all are lines of a cassette."""
        self._index.torn = 0
        file.seek(self._index.end)
        for line in file:
            head = line_start(line)
            whole = head is not None and line.endswith((b"}\n", b"}\r\n", b"}"))
            if not line.endswith(b"\n") and _is_torn(line, whole):
                self._index.torn = len(line)
                break
            self._index.lines += 1
            if head is not None and whole:
                self._add(head)
            elif line.strip():
                return False
            self._index.end += len(line)
        return True

    def _add(self, head: LineStart) -> None:
        place = head.place
        self._index.superseded += place in self._index.starts
        self._index.starts[place] = self._index.end  # a place that is known keeps its position in the dict
        self._index.ordinals.add(head.ordinal)
        self._index.models.setdefault(head.identity, head.name)

    def _mend(self) -> None:
        """Cut off a torn last line, which a stopped process left; end a whole one that has no line end. Needs the lock."""
        if self.torn:
            warnings.warn(
                f"{self.title}: line {self._index.lines + 1}, the last, was cut off while it was written; it is removed, and "
                "its reply is recorded anew when it is asked for.",
                stacklevel=4,
            )
            os.truncate(self.path, self._index.end)
        elif self._index.end and self._line_at(self._index.end - 1) != b"\n":
            with self.path.open("ab") as file:
                file.write(b"\n")
        else:
            return
        self._refresh()

    def _rewrite(self) -> None:
        """Write the lines that count to a new file and put it in place of this one. Needs the lock."""
        assert self._file is not None
        new = self.path.with_name(f".{self.path.name}.rewritten")
        with new.open("wb") as file:
            for start in self._index.starts.values():
                file.write(self._line_at(start))
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(self.path, new)
        self._forget()
        try:
            new.replace(self.path)
        except PermissionError:  # on Windows a file that someone reads cannot be replaced: a later time will do
            new.unlink()
        self._refresh()

    @contextmanager
    def _lock(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        try:
            with FileLock(f"{self.path}.lock").acquire(_LOCK_SECONDS, poll_interval=0.01):
                yield
        except Timeout as error:
            raise ModelError(
                f"{self.title}: another process holds {self.title}.lock for more than {_LOCK_SECONDS} s; "
                "end it, or record into another file"
            ) from error
        except OSError as error:
            raise ModelError(f"{self.title} cannot be written: {error.strerror or error}") from error

    def _malformed(self, number: int, what: str) -> ModelError:
        return ModelError(
            f"{self.title}, line {number}: {what}. Delete the line and record its request anew (mode 'new'), or take the "
            "file from version control."
        )


def _is_torn(line: bytes, whole: bool) -> bool:
    """Whether a line without its end is the beginning of one of ours; of anything else nothing may be cut off."""
    if not line.startswith(LINE_BEGIN[: len(line)]):
        return False
    try:
        return not whole or not json.loads(line)
    except (ValueError, RecursionError):
        return True
