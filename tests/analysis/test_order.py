"""Which agent of a tree has written when another is asked."""

from __future__ import annotations

import pytest

from adknb.analysis.order import may_be_skipped, order
from adknb.core.specs import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adknb.rules.java import JavaRules
from adknb.runtime.tree import Node, make_node


def llm(name: str, *sub_agents: BaseAgent) -> LlmAgent:
    return LlmAgent(name=name, sub_agents=sub_agents)


TREE = make_node(
    SequentialAgent(
        name="root",
        sub_agents=(
            llm("A"),
            SequentialAgent(name="inner", sub_agents=(llm("B"), llm("C"))),
            ParallelAgent(
                name="fan", sub_agents=(llm("P"), SequentialAgent(name="side", sub_agents=(llm("Q"), llm("R"))))
            ),
            LoopAgent(name="loop", max_iterations=2, sub_agents=(llm("L"), llm("M"))),
            LoopAgent(name="never", max_iterations=0, sub_agents=(llm("N"),)),
            llm("T", llm("U"), llm("V")),
            llm("Z"),
        ),
    ),
    None,
    JavaRules(),
)


def node(name: str) -> Node:
    found = TREE.find(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("writer", "reader", "expected"),
    [
        ("A", "Z", "before"),
        ("A", "B", "before"),
        ("B", "A", "later"),
        ("C", "B", "later"),
        ("A", "A", "later"),
        ("P", "Q", "at once"),
        ("R", "P", "at once"),
        ("Q", "R", "before"),
        ("R", "Z", "before"),
        ("L", "M", "before"),
        ("M", "L", "next iteration"),
        ("M", "M", "next iteration"),
        ("M", "Z", "before"),
        ("Z", "M", "later"),
        ("N", "Z", "unknown"),
        ("T", "U", "later"),
        ("U", "T", "unknown"),
        ("U", "V", "unknown"),
        ("U", "Z", "unknown"),
        ("T", "Z", "before"),
        ("A", "U", "before"),
    ],
)
def test_order(writer: str, reader: str, expected: str) -> None:
    assert order(node(writer), node(reader)) == expected


def test_a_callback_before_the_writer_can_take_its_place() -> None:
    def guard(context: object) -> None:
        return None

    guarded = SequentialAgent(name="guarded", before_agent_callback=guard, sub_agents=(llm("A"), llm("B")))
    tree = make_node(SequentialAgent(name="root", sub_agents=(guarded, llm("C"))), None, JavaRules())
    a, b, c = (tree.find(name) for name in "ABC")
    assert a is not None
    assert b is not None
    assert c is not None
    assert may_be_skipped(a, c)
    assert not may_be_skipped(a, b)
    assert not may_be_skipped(c, a)
