"""What a callback's or tool's code says about state keys, read off its bytecode. It is a hint, never a proof."""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

_STATE: Final = "state"
"""An attribute or variable of this name is taken for the session's state."""
_NAMES: Final = {"LOAD_GLOBAL", "LOAD_NAME"}
_CELLS: Final = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}


@dataclass(frozen=True, slots=True)
class Mentions:
    """The texts that a function's code names: `stored` as in `ctx.state["draft"] = …`, `named` in any other way.

    Constants of modules, classes and enclosing functions count (`Keys.DRAFT`); texts that are put together do not.
    """

    stored: frozenset[str]
    named: frozenset[str]


def mentions(function: Callable[..., Any]) -> Mentions:
    """What the function's own code and the functions inside it name. Nothing for what is not written in Python."""
    plain = plain_function(function)
    if plain is None:
        return Mentions(frozenset(), frozenset())
    cells = dict(zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True))
    known = {name: _content(cell) for name, cell in cells.items()}
    found = list(_texts(plain.__code__, plain.__globals__, known))
    stored = frozenset(text for text, is_stored in found if is_stored)
    return Mentions(stored, frozenset(text for text, _ in found) - stored)


def name_of(function: Callable[..., Any]) -> str:
    """What people call the function."""
    if isinstance(function, functools.partial):
        return name_of(function.func)
    return str(getattr(function, "__name__", type(function).__name__))


def plain_function(function: Any) -> FunctionType | None:
    """The function written in Python behind a partial, a method or an object that can be called; None without one."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, MethodType):
        function = function.__func__
    if not isinstance(function, FunctionType):
        function = vars(type(function)).get("__call__")
    return function if isinstance(function, FunctionType) else None


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # assigned only after the inner function was made
        return None


def _texts(code: CodeType, names: dict[str, Any], cells: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Each text that the code loads, and whether it is the key of an assignment."""
    loaded: Any = None
    before: Any = None  # what the instruction before the text worked on
    last: Any = None
    for instruction in dis.get_instructions(code):
        operation, argument = instruction.opname, instruction.argval
        if operation == "STORE_SUBSCR" and isinstance(loaded, str) and before == _STATE:
            yield loaded, True
        if operation == "LOAD_ATTR" and isinstance(loaded, (type, ModuleType)):
            loaded = vars(loaded).get(argument)
        else:
            loaded, before = _loaded(operation, argument, names, cells), last
        last = argument[-1] if isinstance(argument, tuple) and argument else argument  # two loads in one
        if isinstance(loaded, str):
            yield loaded, False
        elif isinstance(loaded, tuple):  # the keys of a dict, or what `in` compares with
            yield from ((text, False) for text in loaded if isinstance(text, str))
        elif isinstance(loaded, CodeType):
            yield from _texts(loaded, names, {})


def _loaded(operation: str, argument: Any, names: dict[str, Any], cells: dict[str, Any]) -> Any:
    if operation == "LOAD_CONST":
        return argument
    if operation in _NAMES:
        return names.get(argument)
    return cells.get(argument) if operation in _CELLS else None
