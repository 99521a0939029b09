"""Variants: what each may change, and what it is sent then."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import Content, IncludeContents, LlmAgent, LlmRequest, ScriptedModel, SequentialAgent, SpecError
from adknb.compare.comparison import Comparison
from adknb.compare.lab import compare_variants
from adknb.compare.variants import Variant, as_variants, edited
from tests.compare.pipelines import Asked, OnlyUser, call, greet, look, refuse, system, texts, two_steps


def compared(root: Any, variants: Any, asked: Asked, **options: Any) -> Comparison:
    return compare_variants(root, ["hello"], variants, model=asked, concurrency=1, **options)


def both() -> Asked:
    return Asked({"A": "a", "B": "b"})


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("none", ["none"]),
        ("NONE", ["none"]),
        (IncludeContents.NONE, ["none"]),
        (["as_written", "default", "none", "state_only"], ["as_written", "default", "none", "state_only"]),
        ([{"A": "none", "B": "default"}], ["A=none, B=default"]),
        ([OnlyUser(), "none"], ["only_user", "none"]),
        (OnlyUser(), ["only_user"]),
        ({"full": "default", "short": {"B": "none"}}, ["full", "short"]),
        ({"v2": Variant("v1", "none")}, ["v2"]),
        (Variant("v1"), ["v1"]),
        (iter(["none", Variant("v1")]), ["none", "v1"]),
    ],
)
def test_names(value: Any, names: list[str]) -> None:
    assert [variant.name for variant in as_variants(value)] == names


def test_default_against_none_is_the_first_pair() -> None:
    assert [(variant.name, variant.strategy.name) for variant in as_variants()] == [
        ("default", "default"),
        ("none", "none"),
    ]


def test_strategies_are_what_the_requests_show() -> None:
    asked = both()
    variants = {"all": "default", "none": "none", "state": "state_only", "map": {"B": "none"}, "own": OnlyUser()}
    compared(two_steps(), variants, asked)
    narrated = ["For context:", "[A] said: a"]
    assert [texts(request) for request in asked.requests if request.agent == "B"] == [
        ["hello", *narrated], narrated, ["hello"], narrated, ["hello"],
    ]  # fmt: skip
    assert [texts(request) for request in asked.requests if request.agent == "A"] == [["hello"]] * 5


def test_as_written_is_each_agent_s_own_setting() -> None:
    asked = both()
    compared(two_steps(include_contents="none"), ["as_written", "default"], asked)
    assert [len(texts(request)) for request in asked.requests] == [1, 2, 1, 3]


def test_prompts_take_the_place_of_the_agents_own() -> None:
    asked = both()
    root = two_steps()
    variants = [
        Variant("v1"),
        Variant("v2", prompts={"B": "Now {a}."}),
        Variant("v3", "none", prompts={"A": "", "B": "{a}"}),
    ]
    compared(root, variants, asked)
    assert [system(request).partition("You are")[0] for request in asked.requests] == [
        "Say a.\n\n", "Say b after a.\n\n", "Say a.\n\n", "Now a.\n\n", "", "a\n\n",
    ]  # fmt: skip
    changed = variants[1].applied(root)
    assert changed.sub_agents[0] is root.sub_agents[0]
    assert changed.sub_agents[1].model_copy(update={"instruction": "Say b after {a}."}) == root.sub_agents[1]
    assert variants[0].applied(root) is root


def test_models_for_all_or_for_some() -> None:
    one, other = Asked({"A": "a1", "B": "b1"}, "one"), Asked({"A": "a2", "B": "b2"}, "two")
    variants = [Variant("first"), Variant("all", models=other), Variant("some", models={"B": other})]
    comparison = compared(two_steps(), variants, one)
    assert [row["answer"] for row in comparison.rows] == ["a1", "b1", "a2", "b2", "a1", "b2"]
    assert [row["model"] for row in comparison.rows] == ["one", "one", "two", "two", "one", "two"]


def test_a_variant_s_models_come_before_those_of_all() -> None:
    asked, other = both(), Asked({"A": "other a", "B": "other b"})
    comparison = compared(two_steps(), [Variant("echo", models="echo"), "default"], asked, models=other)
    assert [row["answer"] for row in comparison.rows] == ["hello", "For context:[A] said: hello", "other a", "other b"]
    assert asked.requests == []


def test_rules_of_one_s_own() -> None:
    comparison = compared(two_steps(), [Variant("java", rules="java"), Variant("same")], both())
    assert [row["equal"] for row in comparison.rows] == [True] * 4
    with pytest.raises(SpecError, match="there is no rule set 'cobol'"):
        compared(two_steps(), [Variant("own", rules="cobol")], both())


def test_go_s_rules_as_a_variant_clobber_a_key_that_a_tool_reads() -> None:
    def answer(request: LlmRequest) -> Any:
        if request.agent == "A" or any(part.function_response for part in request.contents[-1].parts):
            return "a"
        return call("look", what="a")

    root = SequentialAgent(
        name="two",
        sub_agents=[
            LlmAgent(name="A", instruction="Agent A.", output_key="a"),
            LlmAgent(name="B", instruction="Agent B has [{a}].", tools=[look], output_key="a"),
        ],
    )
    asked = Asked(answer)
    comparison = compared(root, [Variant(name, rules=name) for name in ("java", "go", "go_fixed", "js")], asked)
    last = [
        system(request).split("]")[0].split("[")[1]
        for request in asked.requests
        if request.ordinal and request.agent == "B"
    ]
    assert last == ["a", "", "a", "a"]
    assert [row["variant"] for row in comparison.rows] == [
        "java",
        "java",
        "go",
        "go",
        "go_fixed",
        "go_fixed",
        "js",
        "js",
    ]
    assert [row["equal"] for row in comparison.rows] == [True] * 8


def test_callbacks_switched_off_by_their_names() -> None:
    root = SequentialAgent(
        name="two",
        before_agent_callback=greet,
        sub_agents=[
            LlmAgent(name="A", instruction="{greeting?}", before_agent_callback=[refuse]),
            LlmAgent(name="B", before_agent_callback=[greet, refuse]),
        ],
    )
    asked = both()
    variants = [Variant("on"), Variant("no refusal", off=["refuse"]), Variant("none at all", off=("greet", "refuse"))]
    comparison = compared(root, variants, asked)
    assert [(row["variant"], row["step"], row["guarded"], row["answer"]) for row in comparison.rows] == [
        ("on", "A", True, "refused"), ("on", "B", True, "refused"),
        ("no refusal", "A", False, "a"), ("no refusal", "B", False, "b"),
        ("none at all", "A", False, "a"), ("none at all", "B", False, "b"),
    ]  # fmt: skip
    assert [system(request).partition("You are")[0] for request in asked.requests] == ["hello\n\n", "", "\n\n", ""]
    assert Variant("one", off="refuse").off == ("refuse",)


def test_every_kind_of_callback_can_be_off() -> None:
    def before_model(context: Any, request: Any) -> Content:
        return Content.model("before model")

    def after_model(context: Any, reply: Any) -> Content:
        return Content.model("after model")

    def before_tool(tool: Any, args: Any, context: Any) -> dict[str, Any]:
        return {"found": "before tool"}

    def after_tool(tool: Any, args: Any, context: Any, result: Any) -> dict[str, Any]:
        return {"found": "after tool"}

    def after_agent(context: Any) -> Content:
        return Content.model("after agent")

    agent = LlmAgent(
        name="A", tools=[look], before_model_callback=before_model, after_model_callback=after_model,
        before_tool_callback=before_tool, after_tool_callback=after_tool, after_agent_callback=after_agent,
    )  # fmt: skip

    def answer(request: Any) -> Any:
        responses = [
            part.function_response for content in request.contents for part in content.parts if part.function_response
        ]
        return str(responses[-1].response) if responses else call("look", what="x")

    off: list[str] = []
    variants = []
    for name in ("after_agent", "before_model", "after_model", "after_tool", "before_tool"):
        off.append(name)
        variants.append(Variant(f"without {name}", off=tuple(off)))
    comparison = compare_variants(agent, ["hello"], [Variant("all"), *variants], model=ScriptedModel(answer))
    assert [record.answer for record in comparison.records] == [
        "after agent", "before model", "after model", "{'found': 'after tool'}", "{'found': 'before tool'}", "{'found': 'X'}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("variants", "message"),
    [
        ([], "there are no variants to compare. Name some, such as ['default', 'none']."),
        (["none", "NONE"], "two variants are named 'none'. Name them: {'first': …, 'second': …}"),
        ({"a": Variant("b"), "b": "nothing"}, "there is no context strategy 'nothing'. Did you mean 'none'?"),
        (
            [Variant("v", prompts={"C": "…"})],
            "variant 'v' has a prompt for 'C', which 'two' does not have. There are: 'A', 'B'.",
        ),
        (
            [Variant("v", prompts={"two": "…"})],
            "variant 'v' has a prompt for 'two', which 'two' does not have. There are: 'A', 'B'.",
        ),
        ([Variant("v", prompts={"A": 3})], "variant 'v': the prompt of 'A' is text, not 3"),  # type: ignore[dict-item]
        (
            [Variant("v", off=["gret"])],
            "variant 'v' switches off 'gret': 'two' has no callback 'gret'. Did you mean 'greet'?",
        ),
        (
            [Variant("v", models={"C": "echo"})],
            "models names the agent 'C', which is not in 'two'. There are: 'A', 'B'.",
        ),
        ([3], "a context strategy is a name, a map per agent, or an object with name and contents(); not 3"),
    ],
)
def test_what_is_no_variant(variants: Any, message: str) -> None:
    asked = both()
    with pytest.raises(SpecError) as failure:
        compared(two_steps(before_agent_callback=greet), variants, asked)
    assert str(failure.value) == message
    assert asked.requests == []


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_variant_needs_a_name(name: Any) -> None:
    with pytest.raises(SpecError, match="a variant needs a name, not"):
        Variant(name)


def test_prompts_are_a_map() -> None:
    with pytest.raises(SpecError, match="variant 'v': prompts maps agents to their texts, not 'Say b'"):
        Variant("v", prompts="Say b")  # type: ignore[arg-type]


def test_what_does_not_change_stays_the_same_object() -> None:
    root = two_steps()
    assert edited(root, lambda agent: {}) is root
    changed = edited(root, lambda agent: {"description": "new"} if agent.name == "B" else {})
    assert changed is not root
    assert changed.sub_agents[0] is root.sub_agents[0]
    assert [agent.description for agent in changed.walk()] == [None, None, "new"]
