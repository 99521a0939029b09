"""The fields of an input, as a row of a table or an object of a file holds them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from adknb.core.errors import SpecError, near_names
from adknb.core.json_values import DEEPEST

MESSAGE: Final = "message"
MESSAGES: Final = "messages"
FIELDS: Final = (MESSAGE, MESSAGES, "state", "expected", "name", "id")
STATE: Final = "state:"
EXPECTED: Final = "expected:"
SHOWN: Final = 12
"""Columns in a sentence; more are counted."""
EXACT: Final = 2.0**53
"""Whole numbers from here on are not told apart by a float."""


class Fields(NamedTuple):
    """What one record says of an input."""

    messages: Sequence[str]
    state: Mapping[str, Any] = MappingProxyType({})
    expected: str | Mapping[str, str] | None = None
    name: str = ""


class Columns:
    """Which columns of a table, or fields of its objects, hold what; others are ignored.

    `message` (a text) or `messages` (a list, or one as JSON text); `state` (an object, or one as JSON text) and
    `state:KEY`, which wins; `expected` (a text, or an object of texts by step) and `expected:STEP`; `name`, else `id`.
    None, NaN and NA count as absent everywhere; so does an empty text. `given` says where a field is called otherwise.
    Raises `SpecError` for a column that is named and absent or there twice, and when none holds messages.
    """

    def __init__(self, names: Sequence[object], given: Mapping[str, str], where: str, noun: str) -> None:
        """`where` and `noun` are words for errors: tickets.csv, column."""
        self._noun = noun
        texts = [name for name in names if isinstance(name, str)]
        for ours, column in given.items():
            if not _is_ours(ours):
                known = [*FIELDS, "state:KEY", "expected:STEP"]
                raise SpecError(f"columns names no field of an input with {ours!r}.{near_names(ours, known)}")
            if not isinstance(column, str) or column not in texts:
                raise SpecError(
                    f"{where}: columns says that {ours!r} is {column!r}, and there is no such {noun}."
                    f"{near_names(str(column), texts)}"
                )
        renamed = set(given.values())
        own = {name: name for name in texts if _is_ours(name) and name not in renamed and name not in given}
        if MESSAGE in given or MESSAGES in given:
            own.pop(MESSAGE, None)
            own.pop(MESSAGES, None)
        if "name" in given:
            own.pop("id", None)
        self._columns = {**own, **given}
        for column in self._columns.values():
            if texts.count(column) > 1:
                raise SpecError(f"{where}: two {noun}s are called {column!r}. Rename one of them.")
        if MESSAGE not in self._columns and MESSAGES not in self._columns:
            raise SpecError(
                f"{_no_message(texts, where, noun, (MESSAGE, MESSAGES))} Say which holds the messages: "
                "columns={'message': …}"
            )

    def read(self, record: Mapping[str, Any], place: str) -> Fields:
        """What `record` says. Raises `SpecError` with its place and column for what cannot be read."""
        name = self._text(record, "name", place) or self._text(record, "id", place)
        return Fields(self._messages(record, place), self._state(record, place), self._expected(record, place), name)

    def _messages(self, record: Mapping[str, Any], place: str) -> Sequence[str]:
        message, messages = self._cell(record, MESSAGE), self._cell(record, MESSAGES)
        if message is not None and messages is not None:
            raise SpecError(f"{place}: it has a message and messages. Leave one of them empty.")
        if messages is not None:
            at = self._at(MESSAGES, place)
            if isinstance(messages, str):
                messages = parsed(messages, at, 'the turns of a conversation as JSON: ["first message", "second"]')
            if not isinstance(messages, list):
                raise SpecError(f"{at}: messages are a list of texts, not a value of type {type(messages).__name__}")
            return messages
        if message is None:
            wanted = [self._columns[ours] for ours in (MESSAGE, MESSAGES) if ours in self._columns]
            empty = next((column for column in wanted if column in record), None)
            if empty is None:
                names = [name for name in record if isinstance(name, str)]
                raise SpecError(_no_message(names, place, self._noun, wanted))
            raise SpecError(f"{place}, {self._noun} {empty!r}: it is empty. Every input needs a message.")
        if not isinstance(message, str):
            raise SpecError(
                f"{self._at(MESSAGE, place)}: a message is text, not a value of type {type(message).__name__}. The turns "
                f"of a conversation are a list in a {self._noun} called {MESSAGES!r}."
            )
        return (message,)

    def _state(self, record: Mapping[str, Any], place: str) -> dict[str, Any]:
        state: dict[str, Any] = {}
        whole = self._cell(record, "state")
        if whole is not None:
            at = self._at("state", place)
            if isinstance(whole, str):
                wanted = f'an object as JSON: {{"user:tier": "gold"}}; or a {self._noun} state:KEY for each key'
                whole = parsed(whole, at, wanted)
            if not isinstance(whole, Mapping):
                raise SpecError(f'{at}: state is an object such as {{"user:tier": "gold"}}, not {whole!r:.60}')
            state.update(whole)
        for ours in self._columns:
            if ours.startswith(STATE) and (value := self._cell(record, ours)) is not None:
                state[ours.removeprefix(STATE)] = value
        return state

    def _expected(self, record: Mapping[str, Any], place: str) -> str | Mapping[str, str] | None:
        whole = self._cell(record, "expected")
        steps: dict[str, str] = {}
        if isinstance(whole, Mapping):
            at = self._at("expected", place)
            steps = {step: _as_text(text, at) for step, text in whole.items() if not _is_absent(text)}
        for ours in self._columns:
            if ours.startswith(EXPECTED) and (text := self._text(record, ours, place)):
                steps[ours.removeprefix(EXPECTED)] = text
        if whole is None or isinstance(whole, Mapping):
            return steps or None
        answer = _as_text(whole, self._at("expected", place))
        return {"": answer, **steps} if steps else answer

    def _text(self, record: Mapping[str, Any], ours: str, place: str) -> str:
        value = self._cell(record, ours)
        return "" if value is None else _as_text(value, self._at(ours, place))

    def _cell(self, record: Mapping[str, Any], ours: str) -> Any:
        """The cell's plain value, None where nothing is given."""
        value = plain(record.get(self._columns[ours])) if ours in self._columns else None
        if isinstance(value, str):
            return value if (value.strip() if ours in FIELDS else value) else None
        return None if _is_absent(value) else value

    def _at(self, ours: str, place: str) -> str:
        return f"{place}, {self._noun} {self._columns[ours]!r}"


def parsed(text: str, place: str, wanted: str) -> Any:
    """The value of a JSON text. Raises `SpecError` that says what was `wanted`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"{place}: not JSON ({error}). Wanted is {wanted}") from None


def plain(value: Any, level: int = 0) -> Any:
    """`value` with numpy's numbers and arrays as Python's, and with pandas' absent values as None, at any depth."""
    if type(value) in (str, int, float, bool) or value is None or level > DEEPEST:
        return value
    if isinstance(value, Mapping):
        return {name: plain(item, level + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, level + 1) for item in value]
    library = type(value).__module__.partition(".")[0]
    if library == "numpy" and hasattr(value, "tolist"):
        listed = value.tolist()
        return listed if type(listed) is type(value) else plain(listed, level + 1)
    if library == "pandas":
        import pandas as pd

        return None if value is pd.NA or value is pd.NaT else value
    return value


def _is_ours(name: object) -> bool:
    return isinstance(name, str) and (
        name in FIELDS or (name.startswith((STATE, EXPECTED)) and name not in (STATE, EXPECTED))
    )


def _as_text(value: Any, place: str) -> str:
    """A label as text: a number or an object counts as its JSON, 3.0 as `3` (a column with gaps holds floats)."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        value = int(value)
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise SpecError(f"{place}: text is wanted, not a value of type {type(value).__name__}") from None


def _is_absent(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _no_message(names: Sequence[str], where: str, noun: str, wanted: Sequence[str]) -> str:
    lowered = [each.lower() for each in wanted]
    close = [name for name in names if get_close_matches(name.strip().lower(), lowered, n=1, cutoff=0.6)]
    offer = f" Did you mean {_listed(close[:3], ' or ')}?" if close else ""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    listed = f"{_listed(names[:SHOWN], ', ') or 'none'}{more}"
    return f"{where}: no {noun} is called {_listed(wanted, ' or ')}.{offer} The {noun}s are: {listed}."


def _listed(names: Sequence[str], separator: str) -> str:
    return separator.join(f"{name!r:.60}" for name in names)
