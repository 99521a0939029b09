"""What waits for a person's answer, and the answer."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from argparse import Namespace
from typing import TYPE_CHECKING, Any, Final

from adknb.core.pending import PendingCall, asked_calls
from adknb.core.run import Run
from adknb.notebook.answers import WAITING
from adknb.notebook.bench import Bench
from adknb.notebook.command import Argument, Command, Option, UsageError
from adknb.notebook.shown import shown_table
from adknb.tables.frame import frame

if TYPE_CHECKING:
    import pandas as pd

_PART_OF_AN_ID: Final = 5
"""So many characters of an id are meant as one: `adk-3`. `a` may well be an answer."""
_BEGINS_JSON: Final = re.compile(r"(?<!\S)[{\[]")


class AnswerCommand(Command):
    """A command in whose line an object or list of JSON needs no quotes around it."""

    __slots__ = ()

    def parse(self, line: str) -> argparse.Namespace:
        return Command.parse(self, quoted_json(line))


def quoted_json(line: str) -> str:
    """The line with quotes around every JSON object and list that stands between spaces."""
    place, done = 0, ""
    while (begin := _BEGINS_JSON.search(line, place)) is not None:
        start = begin.start()
        try:
            _, stop = json.JSONDecoder().raw_decode(line, start)
        except ValueError:
            stop = start
        is_whole = (stop == len(line) or line[stop].isspace()) and not _is_open(line[:start])
        stop = stop if is_whole else start + 1
        done += line[place:start] + (shlex.quote(line[start:stop]) if is_whole else line[start:stop])
        place = stop
    return done + line[place:]


def _is_open(text: str) -> bool:
    """Whether a quote begins in the text that does not end there."""
    try:
        shlex.split(text)
    except ValueError:
        return True
    return False


def value_of(word: str) -> Any:
    """JSON where the word is some, else the word as text. Raises `UsageError` for what only begins like an object or list."""
    try:
        return json.loads(word)
    except ValueError as error:
        if word.startswith(("{", "[")):
            raise UsageError(
                f"%adk answer: {word} begins like JSON and is none: {error}. If it is text, write it as JSON text: "
                f"{shlex.quote(json.dumps(word, ensure_ascii=False))}"
            ) from None
        return word


def answer(bench: Bench, options: Namespace) -> Run:
    words = [word for word in (options.call, options.value, *options.more) if word is not None]
    if not words:
        raise UsageError(
            "%adk answer: the answer is missing. Write: %adk answer VALUE, or CALL VALUE. See: %adk pending"
        )
    pairs: list[tuple[str | None, str]] = list(zip(words[::2], words[1::2], strict=False))
    if len(words) == 1:
        _refuse_call_alone(bench, words[0])
        pairs = [(None, words[0])]
    elif words[0].startswith(("{", "[")):  # an object that is whole is one word
        value_of(" ".join(words))
    elif len(words) % 2:
        raise UsageError(
            f"%adk answer: {len(words)} words are no pairs of a call and its answer. Put quotes around an answer with spaces: "
            "%adk answer 'yes, do it'"
        )
    return bench.answer([(call, value_of(word)) for call, word in pairs], options.session, pause=options.pause)


def _refuse_call_alone(bench: Bench, word: str) -> None:
    for run in bench.runs:
        if any(_is_named(call, word) for call in asked_calls(run.turn_events)):
            raise UsageError(
                f"%adk answer: {word} is a call; its answer is missing. Write: %adk answer {word} VALUE; or if that text is the "
                f"answer, as JSON: %adk answer {shlex.quote(json.dumps(word, ensure_ascii=False))}"
            )


def _is_named(call: PendingCall, word: str) -> bool:
    return word in (call.id, call.call.name) or (len(word) >= _PART_OF_AN_ID and call.id.startswith(word))


def pending(bench: Bench, options: Namespace) -> pd.DataFrame:
    return shown_table(frame(bench.waiting_rows(), WAITING))


ANSWER: Final = AnswerCommand(
    "%adk answer",
    "Answer a long-running call; the run goes on there, as a turn of its own.",
    answer,
    (
        Argument(
            "call", "its id, the beginning of it, or its tool; may be left out when only one waits", "?", "calls"
        ),
        Argument("value", "the answer: JSON, or text (in quotes when it has spaces)", "?"),
        Argument("more", "further calls, each with its answer, to answer all in one turn", "*", "calls"),
    ),
    (
        Option("--session", "the session, by its name; without it the one that has the call, or the last run's", "NAME",
               completes="sessions"),
        Option("--pause", "store the answer and run nothing: then %adk step, %adk continue", takes="nothing"),
    ),
    ("%adk answer yes", '%adk answer adk-3f2a {"approved": true, "by": "Ann"} --session chat'),
)  # fmt: skip

PENDING: Final = Command(
    "%adk pending",
    "The long-running calls that wait for an answer: call, agent, question, since when.",
    pending,
    (),
    (),
    ("%adk pending", "df = %adk pending"),
)
