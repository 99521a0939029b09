"""What a trial asks, as a hash: two trials of one key would be asked the same, so a finished one need not be repeated."""

from __future__ import annotations

import copyreg
import functools
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from pydantic import BaseModel

from adknb.core.protocols import Model
from adknb.models.request_key import model_identity
from adknb.models.scripted import ScriptedModel

_NOT_THE_USERS: Final = frozenset({"adknb", "pydantic", *sys.stdlib_module_names})
"""Packages whose classes count by their name alone."""
_SIMPLE: Final = (bool, int, float, str, bytes, tuple, frozenset)
"""Values that count where a function names them."""


def fingerprint(value: Any) -> str:
    """SHA-256, in 64 hex digits, of agents, models, strategies and plain values; equal in every process.

    A function counts by its module, name, code and defaults, and by the functions and plain values that it names in its
    own module and around it, so editing one of them makes another; lists and objects that it only works on do not count.
    A model counts by its identity and class, a `ScriptedModel` by its replies; any other object by its class and its own
    attributes.
    """
    return hashlib.sha256(json.dumps(_Describing().of(value)).encode("ascii")).hexdigest()


def told_apart(marks: Iterable[str]) -> list[str]:
    """The marks; of those that are equal, each after the first with its number. Asked twice is two trials."""
    seen: Counter[str] = Counter()
    listed = []
    for mark in marks:
        listed.append(fingerprint((mark, seen[mark])) if seen[mark] else mark)
        seen[mark] += 1
    return listed


class _Describing:
    """Values as JSON, in which equal ones look alike. What holds itself, and a function met again, is said once."""

    def __init__(self) -> None:
        self._around: list[int] = []
        self._functions: set[int] = set()

    def of(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, type):
            return {"class": _name(value)}
        if id(value) in self._around:
            return {"around": len(self._around) - self._around.index(id(value))}
        self._around.append(id(value))
        try:
            return self._of_several(value)
        finally:
            self._around.pop()

    def _of_several(self, value: Any) -> Any:
        if isinstance(value, Mapping):  # in its own order, in which a prompt would print it
            return {"map": [[self.of(key), self.of(item)] for key, item in value.items()]}
        if isinstance(value, (list, tuple)):
            return [self.of(item) for item in value]
        if isinstance(value, (set, frozenset)):
            return {"set": sorted(json.dumps(self.of(item)) for item in value)}
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, MethodType):
            return {"method": self.of(value.__func__), "of": self.of(value.__self__)}
        if isinstance(value, functools.partial):
            return {"partial": [self.of(value.func), self.of(value.args), self.of(value.keywords)]}
        if isinstance(value, BaseException):  # what was noted on it since it was raised is nothing of its own
            return {"error": _name(type(value)), "arguments": self.of(value.args)}
        if isinstance(value, ScriptedModel):
            return {"model": value.name, "replies": self.of(value.replies)}
        if isinstance(value, Model):
            return {"model": model_identity(value), "class": self._class(type(value))}
        if isinstance(value, BaseModel):
            return {"class": self._class(type(value)), "fields": self.of(dict(value))}
        return {"class": self._class(type(value)), "made of": self.of(_made_of(value))}

    def _function(self, function: FunctionType) -> Any:
        name = f"{function.__module__}.{function.__qualname__}"
        if id(function) in self._functions:
            return {"function": name}
        self._functions.add(id(function))
        return {
            "function": name,
            "code": _code(function.__code__),
            "defaults": self.of((function.__defaults__, function.__kwdefaults__)),
            "names": self.of(_named(function)),
        }

    def _class(self, cls: type) -> Any:
        """Its name; of a user's class also what it defines, so that an edited strategy is another one."""
        own = [base for base in cls.__mro__ if base.__module__.partition(".")[0] not in _NOT_THE_USERS]
        return [_name(cls), [self.of(_defined(base)) for base in own]] if own else _name(cls)


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _named(function: FunctionType) -> dict[str, Any]:
    """The functions and plain values that the function names, in its closure and its module."""
    found: dict[str, Any] = {}
    for name in sorted(_names(function.__code__)):
        value = function.__globals__.get(name)
        if isinstance(value, _SIMPLE) or (isinstance(value, FunctionType) and value.__module__ == function.__module__):
            found[name] = value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # assigned only after the function was made
            continue
        if isinstance(value, (*_SIMPLE, FunctionType)):
            found[name] = value
    return found


def _names(code: CodeType) -> set[str]:
    inner = (_names(item) for item in code.co_consts if isinstance(item, CodeType))
    return set(code.co_names).union(*inner)


def _defined(cls: type) -> dict[str, Any]:
    """The methods of a class, and its plain values."""
    found: dict[str, Any] = {}
    for name, item in vars(cls).items():
        if isinstance(item, (staticmethod, classmethod)):
            found[name] = item.__func__
        elif isinstance(item, property):
            found[name] = (item.fget, item.fset)
        elif isinstance(item, FunctionType) or (isinstance(item, _SIMPLE) and not name.startswith("__")):
            found[name] = item
    return found


def _made_of(value: Any) -> Any:
    """What pickle would keep of an object, without pickling it; nothing of what cannot be copied, such as a lock."""
    own = copyreg.dispatch_table.get(type(value))
    try:
        reduced = own(value) if own is not None else value.__reduce_ex__(4)
    except Exception:
        return None
    if isinstance(reduced, str):
        return reduced
    return [list(part) if isinstance(part, Iterator) else part for part in reduced[1:]]


def _code(code: CodeType) -> str:
    """A hash of what the code does: its instructions, names and constants, not where it stands."""
    constants = [_constant(item) for item in code.co_consts]
    told = (code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, constants)
    return hashlib.sha256(repr(told).encode("utf-8", "backslashreplace")).hexdigest()


def _constant(value: Any) -> str:
    if isinstance(value, CodeType):
        return _code(value)
    if isinstance(value, frozenset):  # its own order is another in each process
        return repr(sorted(map(repr, value)))
    return repr(value)
