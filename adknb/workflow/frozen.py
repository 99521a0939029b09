"""JSON that nobody can change: lists and dicts that json, isinstance and == take for what they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from adknb.core.json_values import copied


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError("pipeline data is immutable. Take a copy, change it, and pass it on: data.with_(payload=…)")


class FrozenDict(dict[str, Any]):
    """A dict that refuses every change; `|`, `dict(…)` and `copy.copy` give plain dicts."""

    __slots__ = ()
    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = _refuse
    __ior__ = _refuse

    def copy(self) -> dict[str, Any]:
        return dict(self)

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)

    def __deepcopy__(self, memo: object) -> Any:
        return copied(self)


class FrozenList(list[Any]):
    """A list that refuses every change; `+`, slices and `copy.copy` give plain lists."""

    __slots__ = ()
    __setitem__ = __delitem__ = append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __iadd__ = __imul__ = _refuse

    def __copy__(self) -> list[Any]:
        return list(self)

    def __reduce__(self) -> tuple[type[FrozenList], tuple[list[Any]]]:
        return FrozenList, (list(self),)

    def __deepcopy__(self, memo: object) -> Any:
        return copied(self)


def frozen(value: Any) -> Any:
    """The JSON value, immutable throughout; what is so already is shared, not copied."""
    if isinstance(value, (FrozenDict, FrozenList)):
        return value
    if isinstance(value, Mapping):
        return FrozenDict((name, frozen(item)) for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return FrozenList(map(frozen, value))
    return value
