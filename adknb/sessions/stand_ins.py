"""What stands in a run that was read back for what no store keeps: functions, model objects, classes of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from adknb.core.content import Content
from adknb.core.errors import ModelError, RunStateError
from adknb.core.events import Event
from adknb.core.name_only import NameOnly
from adknb.core.protocols import InvocationContext
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.specs import BaseAgent
from adknb.core.tools import FunctionTool, LongRunningFunctionTool, Parameter, ValueType

WAY_OUT = "Go on with the pipeline itself: Runner(root).continue_run(run), .run_from(run, step) and the like."


class StoredFunction(NameOnly):
    """A callback, tool or instruction function: its name and signature are known, its code is not."""

    def __init__(self, name: str, module: str, signature: inspect.Signature | None = None) -> None:
        self.__name__ = name
        self.__qualname__ = name
        self.__module__ = module
        if signature is not None:
            self.__signature__ = signature

    @property
    def in_words(self) -> str:
        return f"function {self.__name__!r}"

    def __call__(self, *arguments: Any, **named: Any) -> Content | None:
        raise RunStateError(f"of the function {self.__name__!r} only the name was stored with its run. {WAY_OUT}")

    def __repr__(self) -> str:
        return f"<stored function {self.__name__}>"


class StoredModel(NameOnly):
    """A model object, of which the name is known."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def in_words(self) -> str:
        return f"model {self.name!r}"

    def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        raise ModelError(f"of the model {self.name!r} only the name was stored with its run. {WAY_OUT}")

    def __repr__(self) -> str:
        return f"<stored model {self.name}>"


class StoredAgent(NameOnly, BaseAgent):
    """An agent of a class of the user's own, named by `class_name`."""

    class_name: str

    @property
    def in_words(self) -> str:
        return f"class {self.class_name}"

    def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event]:
        raise RunStateError(
            f"agent {self.name!r}: of its class {self.class_name} only the name was stored with its run. {WAY_OUT}"
        )


def stored_tool(
    name: str,
    description: str,
    function: Callable[..., Any],
    parameters: Sequence[Parameter],
    returns: ValueType | None,
    context_parameter: str | None,
    is_async: bool,
    long_running: bool,
) -> FunctionTool:
    """A tool that declares what the original declared."""
    kind = LongRunningFunctionTool if long_running else FunctionTool
    tool = kind.__new__(kind)  # its own __init__ would read the declaration off the function
    tool.func, tool.name, tool.description = function, name, description
    tool.parameters, tool.returns = tuple(parameters), returns
    tool.context_parameter, tool.is_async = context_parameter, is_async
    return tool


def name_of(value: Any) -> str:
    """What people call a function, also one inside a `functools.partial` or an object that can be called."""
    while hasattr(value, "func") and not hasattr(value, "__name__"):
        value = value.func
    return str(getattr(value, "__name__", type(value).__name__))
