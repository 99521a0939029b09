"""Which steps run together, by what they say and by what their agents show."""

from __future__ import annotations

from typing import Any

import pytest

from adknb.core.specs import LlmAgent
from adknb.workflow.data import PipelineData
from adknb.workflow.errors import WriteConflictError
from adknb.workflow.plan import Edge
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow


def groups(*steps: Step) -> list[list[str]]:
    return [[step.name for step in group] for group in SequentialWorkflow(steps).plan().groups]


def step(name: str, reads: Any = None, writes: Any = (), **fields: Any) -> Step:
    return Step(**{"name": name, "agent": str, "reads": reads, "writes": writes, **fields})


def agent(name: str, instruction: str = "", output_key: str | None = None) -> LlmAgent:
    return LlmAgent(name=name, instruction=instruction, output_key=output_key)


def test_steps_that_say_nothing_run_one_after_another() -> None:
    assert groups(step("a"), step("b"), step("c")) == [["a"], ["b"], ["c"]]


def test_neighbours_that_need_nothing_of_one_another_run_together() -> None:
    assert groups(step("a", "input"), step("b", "input"), step("c", "tone"), step("d")) == [["a", "b", "c"], ["d"]]


def test_a_first_step_reads_nothing_of_anybody() -> None:
    assert groups(step("a"), step("b", "input")) == [["a", "b"]]


def test_who_reads_a_neighbour_s_output_waits_for_it() -> None:
    assert groups(step("a", "input"), step("fact-check", "a_output"), step("c", "fact_check_output")) == [
        ["a"], ["fact-check"], ["c"],
    ]  # fmt: skip


def test_who_reads_a_declared_key_waits_for_its_writer() -> None:
    assert groups(step("a", "input", "tone"), step("b", "tone"), step("c", "input")) == [["a"], ["b", "c"]]


def test_placeholders_and_output_keys_count_without_being_declared() -> None:
    assert groups(
        step("a", "input", agent=agent("a", output_key="found")),
        step("b", "input", agent=agent("b", "Use {found}")),
        step("c", "input", agent=agent("c", "Use {tone?}")),
    ) == [["a"], ["b", "c"]]


def test_keys_that_code_names_count_where_an_earlier_step_writes_them() -> None:
    def condition(data: PipelineData) -> bool:
        return data.context["wanted"] is True

    def function(data: PipelineData) -> str:
        return str(data.context["a_output"])

    first = step("a", "input", context_updates={"wanted": True})
    assert groups(first, step("b", "input", condition=condition)) == [["a"], ["b"]]
    assert groups(first, step("b", "input", agent=function)) == [["a"], ["b"]]
    assert groups(first, step("b", "input", agent=str)) == [["a", "b"]]


@pytest.mark.parametrize(
    ("one", "other", "key"),
    [
        (step("a", "input", "k"), step("b", "input", "k"), "k"),
        (
            step("a", "input", agent=agent("x", output_key="k")),
            step("b", "input", agent=agent("y", output_key="k")),
            "k",
        ),
        (step("a", "input", context_updates={"k": 1}), step("b", "input", "k"), "k"),
        (step("a", "input"), step("b", "input", "a_output"), "a_output"),
    ],
)
def test_a_write_conflict_is_an_error_before_the_run(one: Step, other: Step, key: str) -> None:
    words = (
        f"steps 'a' and 'b' would run together, but both write {key!r}: one of the values would be lost. Let each write its "
        f"own key, or put {key!r} among the reads of 'b', which then runs after it."
    )
    flow = SequentialWorkflow([one, other])
    with pytest.raises(WriteConflictError) as planned:
        flow.plan()
    with pytest.raises(WriteConflictError) as begun:
        flow.run("in")
    assert str(planned.value) == str(begun.value) == words


def test_the_way_out_of_a_conflict_is_one() -> None:
    assert groups(step("a", "input", "k"), step("b", ["input", "k"], "k")) == [["a"], ["b"]]


def test_the_plan_says_why_each_step_waits() -> None:
    plan = SequentialWorkflow([step("a", "input"), step("b", "input"), step("c"), step("d", "a_output")]).plan()
    assert plan.edges == (Edge("a", "c", "payload"), Edge("b", "c", "payload"), Edge("a", "d", "a_output"))
    assert plan.waits_for("d") == (Edge("a", "d", "a_output"),)
    assert repr(plan) == "Plan('workflow': a | b → c | d)"


def test_the_last_writer_of_a_key_is_the_one_waited_for() -> None:
    plan = SequentialWorkflow([step("a", "input", "k"), step("b", writes="k"), step("c", "k")]).plan()
    assert plan.waits_for("c") == (Edge("b", "c", "k"),)


def test_the_plan_is_a_table() -> None:
    table = SequentialWorkflow([step("a", "input"), step("b", "input"), step("c")]).plan().to_frame()
    assert table.to_dict("records") == [
        {"group": 1, "step": "a", "reads": "input", "writes": "a_output", "waits_for": ""},
        {"group": 1, "step": "b", "reads": "input", "writes": "b_output", "waits_for": ""},
        {"group": 2, "step": "c", "reads": "payload", "writes": "c_output", "waits_for": "a (payload), b (payload)"},
    ]


def test_lint_says_renamed_outputs_reads_that_nobody_writes_and_conflicts() -> None:
    flow = SequentialWorkflow(
        [
            step("fact-check", "input", "k"),
            step("b", ["input", "tone", "missing"], "k"),
            step("c", agent=agent("c", "See {fact_check_output} {gone}")),
        ]
    )
    found = [(each.code, each.severity, each.agent) for each in flow.lint(context={"tone": "calm"})]
    assert found == [
        ("nobody-writes", "error", "c"),
        ("write-conflict", "error", "workflow"),
        ("unwritten-read", "warning", "b"),
        ("output-key-renamed", "info", "fact-check"),
    ]
