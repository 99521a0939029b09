"""Fingerprints: equal for what would be asked the same, in every process; different after every edit that matters."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adknb import EchoModel, IncludeContents, LlmAgent, ScriptedModel, SequentialAgent
from adknb.compare.fingerprint import fingerprint, told_apart
from adknb.core.tools import FunctionTool
from adknb.examples.ticket import require_triage, ticket_pipeline
from adknb.runtime.strategies import as_strategy
from tests.compare.pipelines import OnlyUser, look, two_steps

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def defined(source: str, name: str = "f", **names: Any) -> Any:
    """What a cell of a notebook defines. Cells that define the same name differ in nothing but their text."""
    module: dict[str, Any] = {"__name__": "cell", **names}
    exec(textwrap.dedent(source), module)
    return module[name]


def callback(source: str, **names: Any) -> Callable[..., Any]:
    function: Callable[..., Any] = defined(source, **names)
    return function


GUARD = """
    LIMIT = 3
    DEEP = 1
    def helper(text):
        return len(text) > LIMIT and any((lambda: DEEP)() for _ in text)
    def f(context, kept=("a", "b")):
        if helper(context.state["draft"]) in {"yes", "no"}:
            return "short"
"""


def test_it_is_a_hash_in_hex() -> None:
    assert re.fullmatch("[0-9a-f]{64}", fingerprint(ticket_pipeline()))


@pytest.mark.parametrize(
    "make",
    [
        lambda: ticket_pipeline(guarded=True),
        lambda: two_steps(tools=[look], before_agent_callback=require_triage),
        lambda: callback(GUARD),
        lambda: defined("class f:\n    name = 'own'\n    def contents(self, history): return []\n")(),
        lambda: as_strategy({"A": "none", "B": OnlyUser()}),
        lambda: ScriptedModel({"A": ["a", {"b": 1}, ValueError("no")], "B": [[{"text": "b"}]]}),
        lambda: ScriptedModel(callback(GUARD)),
        lambda: FunctionTool(look),
        lambda: {"set": {"x", "y", "z"}, "bytes": b"\xff", "decimal": Decimal("1.5"), "pattern": re.compile("a+")},
        lambda: functools.partial(look, what="x"),
    ],
)
def test_made_again_it_is_the_same(make: Callable[[], Any]) -> None:
    assert fingerprint(make()) == fingerprint(make())


def test_where_code_stands_and_what_is_said_beside_it_counts_for_nothing() -> None:
    beside = "\n\n    # a remark\n" + GUARD.replace('return "short"', 'return "short"  # said')
    assert fingerprint(callback(GUARD)) == fingerprint(callback(beside))
    assert fingerprint(callback(GUARD)) == fingerprint(callback(GUARD, unrelated=7))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ("DEEP = 1", "DEEP = 2"),
        ("> LIMIT", ">= LIMIT"),
        ('"draft"', '"triage"'),
        ('("a", "b")', '("a", "c")'),
        ('{"yes", "no"}', '{"yes", "none"}'),
        ('"short"', '"long"'),
        ("def f(context", "def f(ctx, context=None"),
    ],
)
def test_every_edit_of_a_callback_counts(before: str, after: str) -> None:
    edited = GUARD.replace(before, after)
    assert edited != GUARD
    assert fingerprint(callback(GUARD)) != fingerprint(callback(edited))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LlmAgent(name="A", instruction="x"), LlmAgent(name="A", instruction="y")),
        (LlmAgent(name="A"), LlmAgent(name="A", include_contents=IncludeContents.NONE)),
        (LlmAgent(name="A", model="echo"), LlmAgent(name="A", model="local")),
        (LlmAgent(name="A"), SequentialAgent(name="A")),
        (as_strategy("default"), as_strategy("none")),
        (as_strategy({"A": "none"}), as_strategy({"A": "default"})),
        (as_strategy("none"), OnlyUser()),
        (IncludeContents.NONE, IncludeContents.DEFAULT),
        (ScriptedModel({"A": ["a"]}), ScriptedModel({"A": ["b"]})),
        (ScriptedModel(["a"]), ScriptedModel(["a"], name="other")),
        (ScriptedModel({"A": [ValueError("x")]}), ScriptedModel({"A": [TypeError("x")]})),
        (EchoModel("one"), EchoModel("two")),
        (functools.partial(look, what="x"), functools.partial(look, what="y")),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}}),
        (1, True),
        (1, 1.0),
        (1, "1"),
        ("", None),
        (b"a", "a"),
        (b"a", b"b"),
        (Decimal(1), Decimal(2)),
        (re.compile("a"), re.compile("a", re.IGNORECASE)),
        ({"x"}, {"y"}),
        ([[1], 2], [[1, 2]]),
    ],
)
def test_what_differs(one: Any, other: Any) -> None:
    assert fingerprint(one) != fingerprint(other)


def test_the_values_around_a_function_count() -> None:
    def guard(limit: Any) -> Callable[[Any], bool]:
        return lambda context: context.text > limit

    assert fingerprint(guard(1)) == fingerprint(guard(1)) != fingerprint(guard(2))
    seen: list[int] = []

    def count(context: Any) -> None:
        seen.append(1)

    before = fingerprint(count)
    count(None)
    assert fingerprint(count) == before  # what it works on is nothing of its own


def test_objects_count_by_what_they_hold() -> None:
    @dataclass
    class Guard:
        limit: int

        def check(self, context: Any) -> bool:
            return bool(context.text > self.limit)

        def __call__(self, context: Any) -> bool:
            return self.check(context)

    assert fingerprint(Guard(1)) == fingerprint(Guard(1)) != fingerprint(Guard(2))
    assert fingerprint(Guard(1).check) == fingerprint(Guard(1).check) != fingerprint(Guard(2).check)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return [1]", "return [2]"),
        ("limit = 3", "limit = 4"),
        ("own", "other"),
        ("return self._x", "return 0"),
        ("cls.limit", "7"),
    ],
)
def test_an_edited_class_is_another(before: str, after: str) -> None:
    source = """
        class Base:
            def contents(self, history): return [1]
        class f(Base):
            name = "own"
            limit = 3
            _x = 5
            @property
            def x(self): return self._x
            @classmethod
            def y(cls): return cls.limit
    """
    edited = source.replace(before, after)
    assert edited != source
    assert fingerprint(defined(source)()) == fingerprint(defined(source)()) != fingerprint(defined(edited)())


def test_a_model_counts_by_its_identity_and_not_by_what_it_counts() -> None:
    class Counting:
        name = "counting"

        def __init__(self) -> None:
            self.calls = 0

        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            self.calls += 1
            yield None

    model = Counting()
    before = fingerprint(model)
    model.calls = 7
    assert fingerprint(model) == before
    model.name = "other"
    assert fingerprint(model) != before


def test_a_plain_scripted_list_is_the_same_after_it_was_asked() -> None:
    model = ScriptedModel(["a"])
    before = fingerprint(model)
    model._source("A")
    assert fingerprint(model) == before


def test_what_holds_itself_or_cannot_be_copied() -> None:
    @dataclass
    class Strategy:
        lock: Any
        me: Any = None

    strategy = Strategy(threading.Lock())
    strategy.me = strategy
    assert fingerprint(strategy) == fingerprint(strategy)

    def forever(depth: int) -> int:
        return forever(depth - 1)

    assert fingerprint(forever) == fingerprint(forever)


def test_equal_marks_are_told_apart() -> None:
    first, second, third, fourth = told_apart(["a", "b", "a", "a"])
    assert (first, second) == ("a", "b")
    assert len({first, second, third, fourth}) == 4
    assert told_apart(["b", "a", "a"])[2] == third


@given(JSON, JSON)
def test_two_values_have_one_fingerprint_if_they_are_the_same_json(one: Any, other: Any) -> None:
    assert (fingerprint(one) == fingerprint(other)) == (repr(one) == repr(other))


SCRIPT = """
from adknb.compare.fingerprint import fingerprint
from adknb.examples.ticket import ticket_pipeline
from adknb.runtime.strategies import as_strategy
from tests.compare.pipelines import OnlyUser, look, two_steps
def own(context, kept=frozenset({"a", "b", "c"})):
    return context.text in {"x", "y", "z"} or {"k": "v"}
print(fingerprint([ticket_pipeline(guarded=True), as_strategy({"A": OnlyUser()}), two_steps(tools=[look], after_agent_callback=own)]))
"""


def test_every_process_has_the_same() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
