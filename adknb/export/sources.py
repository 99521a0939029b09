"""Functions of a notebook as source: their own text, and that of everything in the notebook that they use."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
from types import ModuleType
from typing import Any

from adknb.core.errors import NotSupported
from adknb.export.literals import literal


class Sources:
    """Collects the imports and definitions that a module needs, in an order in which they run.

    A function of an importable module is imported, one of the notebook is written out. `taken` holds every name that the
    module has by then.
    """

    def __init__(self) -> None:
        self.imports: dict[str, None] = {}
        self.definitions: list[str] = []
        self.taken: dict[str, Any] = {}

    def reference(self, value: Any, place: str) -> str:
        """The name under which the module has this function or class. Raises `NotSupported` for one that it cannot have."""
        name = getattr(value, "__name__", None)
        if not isinstance(name, str) or not name.isidentifier() or getattr(value, "__qualname__", name) != name:
            raise NotSupported(
                f"{place}: {value!r} has no name that a module could hold. Write it as a function of its own, with def."
            )
        self._define(name, value, place)
        return name

    def _define(self, name: str, value: Any, place: str) -> None:
        if name in self.taken:
            if self.taken[name] is not value and literal(value) is None:
                raise NotSupported(f"{place}: two different things are named {name!r}. Rename one.")
            return
        self.taken[name] = value
        if isinstance(value, ModuleType):
            self.imports[f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}")] = None
        elif (home := _importable_from(name, value)) is not None:
            self.imports[f"from {home[0]} import {home[1]}" + ("" if home[1] == name else f" as {name}")] = None
        elif inspect.isfunction(value) or inspect.isclass(value):
            self._write_out(name, value, place)
        elif (source := literal(value)) is not None:
            self.definitions.append(f"{name} = {source}")
        else:
            raise NotSupported(
                f"{place} uses {name!r}, a {type(value).__name__}, which cannot be written into a module. Make it inside the "
                "function, or import it from a file of yours."
            )

    def _write_out(self, name: str, value: Any, place: str) -> None:
        closed = getattr(value, "__closure__", None)
        try:
            source = textwrap.dedent(inspect.getsource(value)).rstrip("\n")
        except (OSError, TypeError):
            raise NotSupported(f"{place}: the source of {name!r} is not known. Define it in a cell or file.") from None
        if closed or not source.startswith(("def ", "async def ", "class ", "@")):
            raise NotSupported(f"{place}: {name!r} is made inside another function. Define it in a cell of its own.")
        names = vars(sys.modules[value.__module__]) if inspect.isclass(value) else value.__globals__
        for used in _names_in(source):
            if (
                used in names
                and used != name
                and not (hasattr(builtins, used) and names[used] is getattr(builtins, used))
            ):
                self._define(used, names[used], f"{place}: {name}")
        self.definitions.append(source)


def _names_in(source: str) -> list[str]:
    """Every name that the source reads, in order: also those in decorators, defaults and annotations."""
    tree = ast.parse(source)
    read = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return list(dict.fromkeys(node.id for node in read))


def _importable_from(name: str, value: Any) -> tuple[str, str] | None:
    """The module and the name in it from which another process can import the value; None for what the notebook made."""
    module = getattr(value, "__module__", None)
    if module is None or module == "__main__" or getattr(sys.modules.get(module), "__spec__", None) is None:
        return None
    known = getattr(value, "__name__", name)
    return next(
        ((module, known) for known in (known, name) if getattr(sys.modules[module], known, None) is value), None
    )
