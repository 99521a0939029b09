"""The `app:` and `user:` values: live dicts that the sessions of one service share, and what is stored of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from adknb.core.state import Removed
from adknb.sessions.database.texts import as_column, as_json, from_column

_UNSEEN: Final = object()

ValueChanges = dict[str, str | None]
"""The JSON of each value that changes, by key without prefix; None for one that goes."""


class SharedValues:
    """The values of one app, or of one user of it. `values` is live: sessions read it and write it."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._stored: dict[str, str] = {}
        self._seen: dict[str, Any] = {}

    def changes(self, deltas: Iterable[Mapping[str, Any]], prefix: str) -> ValueChanges:
        """What the events' deltas write, and what was taken back since (`turns.make_current`, `turns.restore`)."""
        changes = self._taken_back()
        for delta in deltas:
            for key, value in delta.items():
                if key.startswith(prefix):
                    changes[key[len(prefix) :]] = None if isinstance(value, Removed) else as_json(value)
        return changes

    def note_stored(self, changes: ValueChanges) -> None:
        for key, text in changes.items():
            self._seen.pop(key, None)
            if text is None:
                self._stored.pop(key, None)
            else:
                self._stored[key] = text

    def refresh(self, rows: Iterable[tuple[str, str]]) -> None:
        """Take over what others stored, but not over values that were taken back here and are not stored yet."""
        pending = self._taken_back()
        stored = {from_column(key): text for key, text in rows}
        for key in self._stored.keys() - stored.keys() - pending.keys():
            self.values.pop(key, None)
        for key, text in stored.items():
            if key not in pending and self._stored.get(key) != text:
                self.values[key] = json.loads(text)
        self._stored = stored
        self._seen.clear()

    def _taken_back(self) -> ValueChanges:
        changes: ValueChanges = {}
        for key, value in self.values.items():
            if self._seen.get(key, _UNSEEN) is value:
                continue
            text = as_json(value)
            if self._stored.get(key) == text:
                self._seen[key] = value
            else:
                changes[key] = text
        changes.update((key, None) for key in self._stored if key not in self.values)
        return changes


def rows_of(changes: ValueChanges, owner: Mapping[str, str]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The rows to put, and the keys of the rows to delete. `owner` names the app, or the app and its user."""
    put = [{**owner, "key": as_column(key), "value": text} for key, text in changes.items() if text is not None]
    gone = [{**owner, "key": as_column(key)} for key, text in changes.items() if text is None]
    return put, gone
