"""What a comparison runs on: `Input`, one conversation with its start state, and every way to give inputs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from adknb.compare.input_fields import Columns, Fields, plain
from adknb.compare.input_files import Source, frame_source, is_frame, names_a_file, read_file
from adknb.core.errors import SpecError, near_names
from adknb.core.escape import one_line
from adknb.core.json_values import copied, fault

TITLE: Final = 60
"""Characters of a message that stand for it in a table."""
WAYS: Final = (
    'Inputs are a message ("…"), or a list of messages, of conversations (lists of messages) and of dicts such as '
    '{"message": "…", "state": {"user:tier": "gold"}, "expected": "…"}; a DataFrame with a column message; or the path '
    "of a .csv, .tsv, .jsonl or .json file."
)


@dataclass(frozen=True, slots=True)
class Input:
    """One conversation to run: its messages in turn order, the state it starts from, what is expected.

    `messages` are one or more texts, none blank. `state` holds JSON values under keys with their prefixes (`user:tier`).
    `expected` is the final answer's text, or texts by step; there `""` stands for the final answer. `name` is what
    tables call it; `as_inputs` fills in the place from 1 where it is empty. Raises `SpecError` for anything else.
    """

    messages: tuple[str, ...]
    state: Mapping[str, Any] = field(default_factory=dict)
    expected: str | Mapping[str, str] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        # frozen to all others: what was given is copied, so that a list changed later changes no input
        object.__setattr__(self, "messages", _messages(self.messages))
        object.__setattr__(self, "state", _state(self.state))
        object.__setattr__(self, "expected", _expected(self.expected))
        if not isinstance(self.name, str):
            raise SpecError(f"an input's name is text, not a value of type {type(self.name).__name__}")

    @property
    def title(self) -> str:
        """The first message in one line of at most 60 characters, safe to print."""
        return one_line(self.messages[0], TITLE)

    def expected_of(self, step: str = "") -> str | None:
        """What a step should answer, or with `""` the whole pipeline; None where nothing is expected."""
        if isinstance(self.expected, Mapping):
            return self.expected.get(step)
        return None if step else self.expected

    def to_dict(self) -> dict[str, Any]:
        """The input as JSON values, all four fields.

        Written as JSON and read back it is equal, but for two surrogates that make one character: JSON joins them.
        """
        return {
            "messages": list(self.messages),
            "state": copied(self.state),
            "expected": copied(self.expected),
            "name": self.name,
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Input:
        """The inverse of `to_dict`. Raises `SpecError` for a field that no input has."""
        known = [each.name for each in fields(Input)]
        for name in data:
            if name not in known:
                raise SpecError(f"an input has no field {name!r}.{near_names(name, known)}")
        if "messages" not in data:
            raise SpecError(f"an input needs messages.{near_names('messages', data)}")
        return Input(**data)


def as_inputs(
    value: Any, *, state: Mapping[str, Any] | None = None, columns: Mapping[str, str] | None = None
) -> tuple[Input, ...]:
    """The inputs that `value` gives, named and in order.

    A text is one message, never split; one that ends in .csv, .tsv, .jsonl or .json and names a file that exists is the
    file's path, as a `Path` is. A list holds texts (a message each), lists of texts (a conversation each), dicts and
    Inputs. Dicts, DataFrames and files have the fields that `Columns` describes; `columns` says where they are called
    otherwise: `{"message": "ticket_text", "state:tier": "plan"}`. `state` holds for all; an input's own keys win.
    Raises `SpecError` that names the place of what cannot be read, and for two inputs of one name.
    """
    source = _source(value)
    common = _state({} if state is None else plain(state), "the state of all inputs")
    records = [item for _, item in source.items if isinstance(item, Mapping)]
    table = None
    if records or source.columns is not None:
        names = source.columns if source.columns is not None else list(dict.fromkeys(chain.from_iterable(records)))
        table = Columns(names, columns or {}, source.name, source.noun)
    elif columns:
        raise SpecError(f"{source.name}: columns are for tables and dicts, and there is none. {WAYS}")
    if not source.items:
        raise SpecError(f"{source.name}: there is no input. {WAYS}")
    return _named((place, _input(item, place, table, common)) for place, item in source.items)


def split_messages(text: str, separator: str = "---", turns: str = "+++") -> tuple[Input, ...]:
    """The inputs that a cell's text holds, between lines of exactly `separator`; in each the turns between `turns`.

    A message stays to the byte but for the line break (LF or CRLF) before and after such a line. A separator may also
    stand before the first input and after the last. Raises `SpecError` for a blank input or turn, with its line.
    """
    for mark in (separator, turns):
        if not mark.strip() or "\n" in mark or "\r" in mark:
            raise SpecError(f"a separator is one line that is not blank, not {mark!r}")
    if separator == turns:
        raise SpecError(f"inputs and turns need separators that differ; both are {separator!r}")
    pieces = _pieces(text, separator)
    if len(pieces) > 1 and not pieces[0][1].strip():
        pieces = pieces[1:]
    if len(pieces) > 1 and not pieces[-1][1].strip():
        pieces = pieces[:-1]
    if len(pieces) == 1 and not pieces[0][1].strip():
        raise SpecError(
            f"there is no message. Write one, or several between lines of {separator}; the turns of one conversation go "
            f"between lines of {turns}"
        )
    inputs = []
    for number, (start, piece) in enumerate(pieces, 1):
        if not piece.strip():
            line = _line(text, start)
            raise SpecError(f"input {number} (line {line}) is blank: write a message, or remove one of the {separator}")
        conversation = _pieces(piece, turns)
        for turn, (offset, message) in enumerate(conversation, 1):
            if not message.strip():
                line = _line(text, start + offset)
                raise SpecError(
                    f"turn {turn} of input {number} (line {line}) is blank: write a message, or remove one of the {turns}"
                )
        inputs.append((f"input {number}", Input(tuple(message for _, message in conversation))))
    return _named(inputs)


def _pieces(text: str, mark: str) -> list[tuple[int, str]]:
    """The texts between the lines that are `mark`, each with where it starts."""
    pieces, start = [], 0
    for cut in re.finditer(rf"^{re.escape(mark)}(?:\r?\n|\Z)", text, re.MULTILINE):
        pieces.append((start, text[start : cut.start()].removesuffix("\n").removesuffix("\r")))
        start = cut.end()
    return [*pieces, (start, text[start:])]


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _source(value: Any) -> Source:
    if isinstance(value, os.PathLike) or (isinstance(value, str) and names_a_file(value)):
        return read_file(Path(value))
    if isinstance(value, (str, Mapping, Input)):
        blank = isinstance(value, str) and not value.strip()
        return Source("the input", [] if blank else [("the input", value)])
    if isinstance(value, (list, tuple)):
        return Source("the list", [(f"item {number}", item) for number, item in enumerate(value, 1)])
    if is_frame(value):
        return frame_source(value)
    raise SpecError(f"inputs cannot be read from a value of type {type(value).__name__}. {WAYS}")


def _input(item: object, place: str, table: Columns | None, common: Mapping[str, Any]) -> Input:
    if isinstance(item, Mapping) and table is not None:
        given = table.read(item, place)
    elif isinstance(item, Input):
        given = Fields(item.messages, item.state, item.expected, item.name)
    elif isinstance(item, (str, list, tuple)):
        given = Fields((item,) if isinstance(item, str) else item)
    else:
        raise SpecError(f"{place}: no input is made of a value of type {type(item).__name__}. {WAYS}")
    try:
        return Input(tuple(given.messages), {**common, **given.state}, given.expected, given.name)
    except SpecError as error:
        raise SpecError(f"{place}: {error}") from None


def _named(inputs: Iterable[tuple[str, Input]]) -> tuple[Input, ...]:
    """The inputs with a name each. Raises `SpecError` when two have the same."""
    named: dict[str, Input] = {}
    places: dict[str, str] = {}
    for number, (place, each) in enumerate(inputs, 1):
        name = each.name or str(number)
        if name in named:
            raise SpecError(
                f"{places[name]} and {place} have the same name, {one_line(name, TITLE)!r}"
                f"{'' if each.name else ', which an input without a name has from its place'}. Results go by the name: give "
                "each its own, or none to any."
            )
        named[name] = replace(each, name=name)
        places[name] = place
    return tuple(named.values())


def _messages(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        kind = "one text" if isinstance(value, str) else f"a value of type {type(value).__name__}"
        raise SpecError(f'the messages of an input are a tuple of texts, not {kind}: Input(("I was charged twice.",))')
    if not value:
        raise SpecError("an input needs a message, and has none")
    for number, message in enumerate(value, 1):
        if not isinstance(message, str):
            raise SpecError(f"message {number} of {len(value)} is of type {type(message).__name__}, not text")
        if not message.strip():
            raise SpecError(f"message {number} of {len(value)} is blank")
    return tuple(value)


def _state(value: object, place: str = "state") -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise SpecError(f"{place}: a dict of keys and values is needed, not a value of type {type(value).__name__}")
    state: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str) or not key:
            raise SpecError(f"{place}: a key is text that is not empty, not {key!r}")
        if found := fault(key, item):
            raise SpecError(f"{place}: key {found}. State holds JSON values: text, numbers, lists, dicts")
        state[key] = copied(item)
    return state


def _expected(value: object) -> str | dict[str, str] | None:
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        raise SpecError(f"expected is a text, or a dict of texts by step, not a value of type {type(value).__name__}")
    for step, text in value.items():
        if not isinstance(step, str) or not isinstance(text, str):
            raise SpecError(
                f'expected holds texts by step, such as {{"TriageAgent": "billing"}}; under {step!r} it has a '
                f"value of type {type(text).__name__}"
            )
    return dict(value) or None
