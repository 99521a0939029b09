"""Session state: a mapping that remembers what was changed, and the scopes of its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final

from adknb.core.errors import StateValueError
from adknb.core.json_values import copied, fault

APP_PREFIX: Final = "app:"
USER_PREFIX: Final = "user:"
TEMP_PREFIX: Final = "temp:"


class Removed:
    """Stands in a state delta for a key that was deleted (ADK Java's `State.REMOVED`)."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "REMOVED"

    def __copy__(self) -> Removed:
        return self

    def __deepcopy__(self, memo: object) -> Removed:
        return self

    def __reduce__(self) -> str:
        return "REMOVED"


REMOVED: Final = Removed()
REMOVED_TEXT: Final = "__ADK_SENTINEL_REMOVED__"
"""How ADK Java spells it in JSON."""


def scope(key: str) -> str:
    """`app`, `user`, `temp` or `session`: who shares the key's value."""
    for prefix in (APP_PREFIX, USER_PREFIX, TEMP_PREFIX):
        if key.startswith(prefix):
            return prefix[:-1]
    return "session"


@dataclass(slots=True)
class Scopes:
    """The values that several sessions share, keyed without their prefix."""

    app: dict[str, Any] = field(default_factory=dict)
    user: dict[str, Any] = field(default_factory=dict)

    def merge_into(self, state: dict[str, Any]) -> None:
        for key, value in self.app.items():
            state[APP_PREFIX + key] = value
        for key, value in self.user.items():
            state[USER_PREFIX + key] = value

    def apply(self, delta: Mapping[str, Any]) -> None:
        """Take over the `app:` and `user:` keys of an event's delta."""
        for key, value in delta.items():
            if key.startswith(APP_PREFIX):
                apply_delta(self.app, {key[len(APP_PREFIX) :]: value})
            elif key.startswith(USER_PREFIX):
                apply_delta(self.user, {key[len(USER_PREFIX) :]: value})


def apply_delta(state: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Write an event's delta into `state`, in place; `REMOVED` deletes the key."""
    for key, value in delta.items():
        if value is REMOVED:
            state.pop(key, None)
        else:
            state[key] = copied(value)


def check_value(key: str, value: object) -> None:
    """Raise `StateValueError` unless `value` is JSON."""
    found = fault(key, value)
    if found is not None:
        raise StateValueError(
            f"state key {found}; state holds JSON values only. "
            "Store text, a number, a list or a dict, or save bulk data as an artifact."
        )


def refuse(key: str, value: object) -> None:
    """The `check` of a state that is only read. Raises `StateValueError`."""
    raise StateValueError(
        f"state key {key!r} cannot be written here, where state is only read. Write it in a callback or tool, or in the "
        "state_delta of an event."
    )


class State(MutableMapping[str, Any]):
    """State as callbacks and tools see it: a write is visible to everyone at once and noted in `delta`.

    `delta` becomes the `state_delta` of the event that the callback or tool leads to (ADK's `State`).
    `check` is called with key and value before a write, with `REMOVED` before a deletion; it raises `StateValueError`.
    """

    __slots__ = ("_check", "_value", "delta")

    def __init__(
        self,
        value: dict[str, Any],
        delta: dict[str, Any] | None = None,
        check: Callable[[str, object], None] = check_value,
    ) -> None:
        self._value = value
        self._check = check
        self.delta = {} if delta is None else delta

    def __getitem__(self, key: str) -> Any:
        return self._value[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise StateValueError(f"a state key must be text, not {type(key).__name__}: {key!r}")
        self._check(key, value)
        self._value[key] = value
        self.delta[key] = copied(value)  # a list that is changed in place later leaves the event as it was

    def __delitem__(self, key: str) -> None:
        self._check(key, REMOVED)
        del self._value[key]
        self.delta[key] = REMOVED

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __len__(self) -> int:
        return len(self._value)

    def __repr__(self) -> str:
        return f"State({self._value!r}, delta={self.delta!r})"

    def detach(self) -> None:
        """From now on writes reach neither the session nor the delta (for a tool that outlives its run)."""
        self._value, self.delta = dict(self._value), {}

    def has_delta(self) -> bool:
        return bool(self.delta)

    def to_dict(self) -> dict[str, Any]:
        return dict(self._value)
