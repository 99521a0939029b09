"""Tools: a plain function, what its signature and docstring declare, and how it is marked as long-running."""

from __future__ import annotations

import enum
import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from adknb.core.errors import NotSupported, SpecError

CONTEXT_PARAMETER: Final = "tool_context"
"""The parameter that receives the `ToolContext`; it is never declared to the model."""

_PLAIN: Final[dict[object, str]] = {str: "STRING", int: "INTEGER", float: "NUMBER", bool: "BOOLEAN", dict: "OBJECT"}


@dataclass(frozen=True, slots=True)
class ValueType:
    """A parameter's or result's type in the words of a Gemini schema: `kind`, the `items` of an ARRAY, the `choices`
    of an enum (text)."""

    kind: str
    items: ValueType | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter of a tool. One with a default is not required."""

    name: str
    type: ValueType
    required: bool


class FunctionTool:
    """A function that a model may call.

    The name is the function's, the description its docstring, the parameters come from the annotations: `str`,
    `int`, `float`, `bool`, `list[…]` of these, `dict`, `Optional[…]`, `Literal[…]` of text and `enum.Enum`. A
    parameter named `tool_context` (or annotated `ToolContext`) receives the context. The function may be
    async. It returns a dict; another value reaches the model as `{"result": value}`.

    Raises `SpecError` for a missing docstring or annotation, `NotSupported` for another type.
    """

    long_running = False

    def __init__(self, func: Callable[..., Any], *, name: str | None = None, description: str | None = None) -> None:
        if not callable(func):
            raise SpecError(f"a tool must be a function, not {func!r}")
        self.func = func
        self.name = name if name is not None else str(getattr(func, "__name__", type(func).__name__))
        self.description = description if description is not None else (inspect.getdoc(func) or "")
        if not self.description.strip():
            raise SpecError(
                f"tool {self.name!r} has no docstring; the model would not know when to call it. "
                "Write one line under its def."
            )
        self.context_parameter: str | None = None
        self.parameters, self.returns = self._read_signature()
        self.is_async = inspect.iscoroutinefunction(func) or inspect.iscoroutinefunction(type(func).__call__)

    def _read_signature(self) -> tuple[tuple[Parameter, ...], ValueType | None]:
        try:
            hints = typing.get_type_hints(self.func)
        except NameError as error:
            raise SpecError(
                f"tool {self.name!r}: an annotation cannot be resolved ({error}). Import that name."
            ) from error
        parameters = []
        for parameter in inspect.signature(self.func).parameters.values():
            hint = hints.get(parameter.name)
            if parameter.name == CONTEXT_PARAMETER or getattr(hint, "__name__", "") == "ToolContext":
                self.context_parameter = parameter.name
                continue
            place = f"tool {self.name!r}, parameter {parameter.name!r}"
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                raise SpecError(f"{place}: a model calls by name; write each parameter out, without * or /.")
            if hint is None:
                raise SpecError(f"{place} has no type. Annotate it, for example `{parameter.name}: str`.")
            parameters.append(Parameter(parameter.name, value_type(hint, place), parameter.default is parameter.empty))
        result = hints.get("return", dict)
        if result is type(None):
            return tuple(parameters), None
        return tuple(parameters), ValueType("OBJECT") if result is Any else value_type(
            result, f"tool {self.name!r}, result"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class LongRunningFunctionTool(FunctionTool):
    """A tool whose answer comes later: what it returns now is a first status, or nothing.

    The person answers with a function response of the call's id as the next message.
    """

    long_running = True


def value_type(hint: Any, place: str) -> ValueType:
    """The declared type of a Python annotation; `place` names it in the error."""
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        named = [argument for argument in arguments if argument is not type(None)]
        if len(named) == 1:
            return value_type(named[0], place)
    elif origin is typing.Annotated:
        return value_type(arguments[0], place)
    elif origin is typing.Literal and all(isinstance(argument, str) for argument in arguments):
        return ValueType("STRING", choices=tuple(arguments))
    elif isinstance(hint, type) and issubclass(hint, enum.Enum):
        return ValueType("STRING", choices=tuple(str(member.value) for member in hint))
    elif origin is list:
        return ValueType("ARRAY", items=value_type(arguments[0], place))
    elif origin is dict:
        return ValueType("OBJECT")
    elif hint in _PLAIN:
        return ValueType(_PLAIN[hint])
    elif hint is list:
        raise SpecError(f"{place}: a bare list does not say of what. Write list[str], for example.")
    raise NotSupported(
        f"{place}: type {hint!r} has no recorded declaration. "
        "Use str, int, float, bool, list[…], dict, Optional[…], Literal[…] of text or an Enum."
    )


def as_tool(tool: object) -> FunctionTool:
    """A function as a `FunctionTool`; a tool as it is."""
    if isinstance(tool, FunctionTool):
        return tool
    if callable(tool):
        return FunctionTool(tool)
    raise SpecError(f"a tool must be a function or a FunctionTool, not {tool!r}")
