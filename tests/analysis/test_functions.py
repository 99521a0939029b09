"""What a callback's code shows of the keys that it touches."""

from __future__ import annotations

import functools
from typing import Any

from adknb.analysis.functions import Mentions, mentions, name_of

KEY = "by_constant"


class Keys:
    DRAFT = "by_class"


def plain(context: Any) -> None:
    """Names nothing in its docstring: not_a_key."""
    known = context.state.get("asked")
    context.state["stored"] = known
    context.state[KEY] = 1
    context.state[Keys.DRAFT] = 2
    local: dict[str, Any] = {}
    local["local"] = context.state["subscripted"]
    context.state.update({"one": 1, "two": 2})


def with_variable(context: Any) -> None:
    state = context.state
    state["variable"] = state.pop("popped")


def closure(key: str) -> Any:
    def inner(context: Any) -> None:
        def innermost() -> None:
            context.state["innermost"] = 1

        context.state[key] = innermost

    return inner


class Callback:
    def __call__(self, context: Any) -> None:
        context.state["called"] = True

    def method(self, context: Any) -> None:
        context.state["method"] = True


def test_stores_are_told_from_other_mentions() -> None:
    assert mentions(plain) == Mentions(
        frozenset({"stored", "by_constant", "by_class"}),
        frozenset({"asked", "subscripted", "local", "one", "two"}),
    )
    assert mentions(with_variable) == Mentions(frozenset({"variable"}), frozenset({"popped"}))


def test_closures_partials_methods_and_callables() -> None:
    assert mentions(closure("by_cell")).stored == {"by_cell", "innermost"}
    assert mentions(functools.partial(with_variable)).stored == {"variable"}
    assert mentions(Callback()).stored == {"called"}
    assert mentions(Callback().method).stored == {"method"}
    assert mentions(print) == Mentions(frozenset(), frozenset())


def test_a_function_is_called_by_its_own_name() -> None:
    assert [name_of(plain), name_of(functools.partial(plain)), name_of(Callback())] == ["plain", "plain", "Callback"]
