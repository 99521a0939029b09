"""Commands as data: one description gives a magic its parser, its help and its completion."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any, Final, Literal

from adknb.core.errors import AdknbError, near_names
from adknb.runtime.interrupts import Held

Takes = Literal["nothing", "one", "several"]
WIDTH: Final = 100
"""Columns of a help text."""

_NOTHING: Final = object()
_AS_ARGPARSE: Final[dict[str, dict[str, Any]]] = {
    "nothing": {"action": "store_true"},
    "one": {"nargs": "?", "const": _NOTHING},
    "several": {"action": "extend", "nargs": "*", "default": []},
}


class UsageError(AdknbError):
    """A magic's line cannot be read."""


@dataclass(frozen=True, slots=True)
class Option:
    """`--name VALUE`. `takes` nothing (a switch), one value, or several (repeatable, and separated by spaces).

    `completes` names what Tab offers: `agents`, `callbacks`, `keys`, `pipelines` … (see `complete.py`). `aliases` are what
    ADK calls it; who writes one is told the option.
    """

    name: str
    help: str
    metavar: str = ""
    takes: Takes = "one"
    completes: str = ""
    choices: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def destination(self) -> str:
        return self.name.lstrip("-").replace("-", "_")

    @property
    def shown(self) -> str:
        metavar = self.metavar or "|".join(self.choices)
        return {"nothing": self.name, "one": f"{self.name} {metavar}", "several": f"{self.name} {metavar} …"}[
            self.takes
        ]

    @property
    def gist(self) -> str:
        """How it is written, and what for in a few words: the help up to its colon."""
        return f"{self.shown}: {self.help.partition(':')[0]}"

    def check(self, value: Any, given: bool, invocation: str) -> None:
        """Raise `UsageError` when the option is given without a value, or with one that is not of its choices."""
        if value is _NOTHING or (given and value == []):
            raise UsageError(f"{invocation}: {self.name} needs a value. Write {self.gist}.")
        if self.choices and value is not None and value not in self.choices:
            raise UsageError(f"{invocation}: {self.name} takes {' or '.join(self.choices)}, not {value!r}")


TRACEBACK: Final = Option("--traceback", "show Python's traceback when it fails", takes="nothing")


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument; `count` as in argparse: 1, `?` (may be absent), `*`, `+`."""

    name: str
    help: str
    count: Literal["1", "?", "*", "+"] = "1"
    completes: str = ""

    @property
    def shown(self) -> str:
        name = self.name.upper()
        return {"1": name, "?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} …"}[self.count]


@dataclass(frozen=True, slots=True)
class Command:
    """A magic or a verb of `%adk`. `invocation` is how it is called (`%adk state`), `run` what it does.

    `elsewhere` says of fields of ADK's that are no options where they stand: `{"instruction": "It is the cell's body."}`.
    """

    invocation: str
    summary: str
    run: Callable[..., Any]
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    body: str = ""
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    @property
    def verb(self) -> str:
        return self.invocation.split()[-1]

    @property
    def synopsis(self) -> str:
        parts = [self.invocation, *(argument.shown for argument in self.arguments)]
        parts += [f"[{option.shown}]" for option in self.options]
        return " ".join(parts)

    def help(self) -> str:
        """Synopsis, every argument and option, and the examples, as plain text of at most `WIDTH` columns."""
        lines = [_wrapped(self.synopsis), "", fill(self.summary, WIDTH)]
        if self.body:
            lines += [f"The cell's body is {self.body}."]
        rows = [(argument.name.upper(), argument.help) for argument in self.arguments]
        rows += [(option.shown, option.help) for option in self.options]
        if rows:
            width = min(34, max(len(name) for name, _ in rows))
            lines += ["", *(_row(name, text, width) for name, text in rows)]
        lines += [
            "",
            "Examples:",
            *("\n".join(f"  {line}" for line in example.split("\n")) for example in self.examples),
        ]
        return "\n".join(lines)

    def parse(self, line: str) -> argparse.Namespace:
        """Read the rest of a magic's line. Raises `UsageError` that names what is wrong and what would be right."""
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"{self.invocation}: {error}. Check the quotes in: {line}") from None
        known = [option.name for option in self.options]
        for place, word in enumerate(words):
            name = word.partition("=")[0]
            if name.startswith("--") and name not in known:
                before = words[place - 1] if place else ""
                joined = f" To give it to {before} as its value, write {before}={word}" if before in known else ""
                raise UsageError(f"{self.invocation}: there is no option {name!r}.{self._meant(name)}{joined}")
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        parser.add_argument("words", nargs="*")
        for option in self.options:
            parser.add_argument(option.name, dest=option.destination, **_AS_ARGPARSE[option.takes])
        with Held():  # interrupted, argparse fails as it tidies up, with an error of its own
            found, rest = parser.parse_known_intermixed_args(words)
        for option in self.options:
            option.check(getattr(found, option.destination), option.name in words, self.invocation)
        self._take_words(found, [*found.words, *rest])
        return found

    def _take_words(self, found: argparse.Namespace, words: list[str]) -> None:
        """Give each argument its words. They are read together, because argparse tells them apart too early."""
        for argument in self.arguments:
            if argument.count in ("*", "+"):
                value: Any = [words.pop(0) for _ in range(len(words))]
            else:
                value = words.pop(0) if words else None
            if not value and argument.count in ("1", "+"):
                raise UsageError(
                    f"{self.invocation}: {argument.name.upper()} is missing: {argument.help}. {self._usage()}"
                )
            setattr(found, argument.name, value)
        if words:
            name, is_field, _ = words[0].partition("=")
            meant = self._meant(name) if is_field else ""
            raise UsageError(f"{self.invocation}: {words[0]!r} is one word too many.{meant} {self._usage()}")

    def _meant(self, name: str) -> str:
        """A sentence on the option that somebody meant who wrote `name`, perhaps as ADK calls it."""
        field_name = name.lstrip("-").replace("-", "_")
        if field_name in self.elsewhere:
            return f" {self.elsewhere[field_name]}"
        for option in self.options:
            if field_name in option.aliases:
                return f" Write {option.gist}."
        words = {alias: option.name for option in self.options for alias in (option.destination, *option.aliases)}
        return near_names(field_name, (), words) if field_name else ""

    def _usage(self) -> str:
        return f"Write: {self.synopsis}" if len(self.synopsis) < 100 else f"`{self.invocation} --help` has all options."


def _wrapped(text: str) -> str:
    """The synopsis in lines of at most `WIDTH`, cut between its brackets."""
    words: Sequence[str] = text.replace(" [", "\n[").split("\n")
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append("    " + word)
        else:
            lines[-1] += " " + word
    return "\n".join(lines)


def _row(name: str, text: str, width: int) -> str:
    space = " " * (width + 4)
    if len(name) > width:
        return f"  {name}\n{fill(text, WIDTH, initial_indent=space, subsequent_indent=space)}"
    return fill(text, WIDTH, initial_indent=f"  {name:{width}}  ", subsequent_indent=space)
