"""Commands as data: one description gives a magic its parser, its help and its completion."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, Final, Literal, NoReturn

from adknb.core.errors import AdknbError, near_names

Takes = Literal["nothing", "one", "several"]
WIDTH: Final = 100
"""Columns of a help text."""


class UsageError(AdknbError):
    """A magic's line cannot be read."""


@dataclass(frozen=True, slots=True)
class Option:
    """`--name VALUE`. `takes` nothing (a switch), one value, or several (repeatable, and separated by spaces).

    `completes` names what Tab offers: `agents`, `callbacks`, `keys`, `pipelines` … (see `complete.py`).
    """

    name: str
    help: str
    metavar: str = ""
    takes: Takes = "one"
    completes: str = ""
    choices: tuple[str, ...] = ()

    @property
    def destination(self) -> str:
        return self.name.lstrip("-").replace("-", "_")

    @property
    def shown(self) -> str:
        metavar = self.metavar or "|".join(self.choices)
        return {"nothing": self.name, "one": f"{self.name} {metavar}", "several": f"{self.name} {metavar} …"}[self.takes]


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
    """A magic or a verb of `%adk`. `invocation` is how it is called (`%adk state`), `run` what it does."""

    invocation: str
    summary: str
    run: Callable[..., Any]
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    group: str = ""
    body: str = ""

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
        lines += ["", "Examples:", *("\n".join(f"  {line}" for line in example.split("\n")) for example in self.examples)]
        return "\n".join(lines)

    def parse(self, line: str) -> argparse.Namespace:
        """Read the rest of a magic's line. Raises `UsageError` that names what is wrong and what would be right."""
        parser = _Parser(prog=self.invocation, add_help=False, allow_abbrev=False)
        for argument in self.arguments:
            parser.add_argument(argument.name, nargs=None if argument.count == "1" else argument.count)
        for option in self.options:
            _add_option(parser, option)
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"{self.invocation}: {error}. Check the quotes in: {line}") from None
        for word in words:
            name = word.partition("=")[0]
            known = [option.name for option in self.options]
            if name.startswith("--") and name not in known:
                raise UsageError(f"{self.invocation}: there is no option {name!r}.{near_names(name, known)}")
        options, rest = parser.parse_known_args(words)
        if rest:
            raise UsageError(f"{self.invocation}: {rest[0]!r} is one word too many. {self._usage()}")
        return options

    def _usage(self) -> str:
        return f"Write: {self.synopsis}" if len(self.synopsis) < 100 else f"`{self.invocation} --help` has all options."


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}")


def _add_option(parser: argparse.ArgumentParser, option: Option) -> None:
    if option.takes == "nothing":
        parser.add_argument(option.name, dest=option.destination, action="store_true")
    elif option.takes == "one":
        parser.add_argument(option.name, dest=option.destination, choices=option.choices or None)
    else:
        parser.add_argument(option.name, dest=option.destination, action="extend", nargs="+", default=[])


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
