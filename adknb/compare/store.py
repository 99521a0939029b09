"""Finished trials in a file of JSON Lines, so that an interrupted comparison goes on without asking again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from adknb.compare.records import TrialRecord
from adknb.core.errors import AdknbError, SpecError

_BEGIN: Final = b'{"trial": '
_WAIT: Final = 1.0
"""Seconds to wait for another comparison that writes into the same file."""


class Store:
    """Trials by their keys: in memory, or kept in the file at `path` too, one line each, appended as they finish.

    A trial that failed is kept for reading, and asked again. Of two lines with one key the later counts. A last line that
    a stopped process left half-written counts for nothing, and is cut off before others are written; raises `SpecError`,
    with the line's number, for a file that is no store. `found` counts the trials that were there already.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        if path is not None and not isinstance(path, (str, os.PathLike)):
            raise SpecError(f"a store is the path of a file, not {path!r}")
        self.path: Final = None if path is None else Path(path).expanduser()
        self._records: dict[str, TrialRecord] = {}
        self._end = 0
        self._lines = 0
        if self.path is not None and self.path.exists():
            if not self.path.is_file() and not self.path.is_dir():  # a device may have no end
                raise SpecError(f"the store {self.path} is no regular file. Name another one to keep the trials in.")
            self._read(self.path)
        self.found: Final = len(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def finished(self, keys: Iterable[str]) -> list[TrialRecord] | None:
        """The records of these keys when all are there and none failed, else None."""
        found = [self._records.get(key) for key in keys]
        kept = [record for record in found if record is not None and not record.error]
        return kept if len(kept) == len(found) else None

    def keep(self, records: Iterable[TrialRecord]) -> None:
        """Add records; they are in the file when this returns. Raises `AdknbError` when it cannot be written."""
        listed = list(records)
        if self.path is not None:
            lines = [json.dumps({"trial": record.to_dict()}) + "\n" for record in listed]
            self._append(self.path, "".join(lines).encode("ascii"))
            self._lines += len(lines)
        self._records.update((record.key, record) for record in listed)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """While a comparison writes: first takes in what others have written since, and cuts off a half-written line.

        Raises `SpecError` while another comparison writes, and when the file cannot be written.
        """
        if self.path is None:
            yield
            return
        from filelock import FileLock, Timeout

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.open("ab").close()  # what cannot be written would look locked
            lock = FileLock(f"{self.path}.lock").acquire(_WAIT, poll_interval=0.05)
        except Timeout:
            raise SpecError(
                f"another comparison writes into {self.path} now. Wait for it, or name another file."
            ) from None
        except OSError as error:
            raise _unwritable(self.path, error) from error
        with lock:
            try:
                self._read(self.path)
                os.truncate(self.path, self._end)
            except OSError as error:
                raise _unwritable(self.path, error) from error
            yield

    def _append(self, path: Path, data: bytes) -> None:
        try:
            with path.open("ab", buffering=0) as file:
                start = file.seek(0, os.SEEK_END)
                left = memoryview(data)
                try:
                    while left:
                        left = left[file.write(left) :]
                except OSError:
                    with suppress(OSError):
                        os.truncate(path, start)  # half a line would spoil the next one
                    raise
        except OSError as error:
            raise AdknbError(
                f"a finished trial could not be written to {path}: {error.strerror or error}. What stands there is whole: "
                "mend that, and run the comparison again to go on from it."
            ) from error
        self._end = start + len(data)

    def _read(self, path: Path) -> None:
        """Take in the lines that came since; all of them when the file was replaced by a shorter one."""
        try:
            if path.stat().st_size < self._end:
                self._records.clear()
                self._end = self._lines = 0
            with path.open("rb") as file:
                file.seek(self._end)
                for line in file:
                    if not line.endswith(b"\n") and _BEGIN.startswith(line[: len(_BEGIN)]):
                        return
                    self._lines += 1
                    if line.strip():
                        record = _record(line, self._lines, path)
                        self._records[record.key] = record
                    self._end += len(line)
        except OSError as error:
            raise SpecError(f"the store {path} cannot be read: {error.strerror or error}") from error


def _unwritable(path: Path, error: OSError) -> SpecError:
    return SpecError(f"the store {path} cannot be written: {error.strerror or error}")


def _record(line: bytes, number: int, path: Path) -> TrialRecord:
    try:
        return TrialRecord.from_dict(json.loads(line)["trial"])
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        raise _no_trial(path, number, f"{'.'.join(map(str, ('trial', *wrong['loc'])))}: {wrong['msg']}") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _no_trial(path, number, f"{type(error).__name__}: {error}") from error


def _no_trial(path: Path, number: int, reason: str) -> SpecError:
    return SpecError(
        f"{path}, line {number}: it is no trial of a comparison ({reason}). Name another file to keep the trials in, or "
        "delete the line: its trial is asked again."
    )
