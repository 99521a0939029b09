"""Lint, finding by finding: its words, its place, and what is no fault."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from adknb import (
    LlmAgent,
    LoopAgent,
    ParallelAgent,
    SequentialAgent,
    ToolContext,
    lint,
)
from adknb.core.tools import FunctionTool
from adknb.examples.ticket import ticket_pipeline
from adknb.rules.java import JavaRules
from tests.analysis.pipelines import found, llm, only, place, steps


def test_the_ticket_pipeline() -> None:
    findings = lint(ticket_pipeline())
    assert [(finding.code, finding.severity, finding.agent) for finding in findings] == [
        ("fragile-boundary", "warning", "DraftAgent"),
        ("braces-pass", "info", "TriageAgent"),
    ]
    assert place(findings[0]) == (2, 16, "{triage}")
    assert findings[0].message == (
        "TriageAgent is to write JSON under 'triage', and nothing checks that it did: prose or half a JSON is stored all "
        "the same, and DraftAgent works with it."
    )
    assert findings[0].fix == (
        "Give DraftAgent a before_agent_callback that parses 'triage'. When it is malformed, return a text, and write "
        "'draft' there too, since the agent is then skipped."
    )
    assert place(findings[1])[:2] == (2, 1)
    assert findings[1].message == (
        "1 pair of braces passes through as text, because no key stands between them (as in a JSON example)."
    )
    assert [finding.code for finding in lint(ticket_pipeline(guarded=True))] == ["braces-pass"]


@pytest.mark.parametrize(
    ("text", "reason", "fix"),
    [
        ("{step.extract}", "'step.extract' is no name that a placeholder can have", "Write {step_extract}."),
        ("{triage-json?}", "'triage-json' is no name that a placeholder can have", "Write {triage_json?}."),
        ("{ nope ?}", "the '?' must follow the name without a space", "Write {nope?}."),
        ("{nope??}", "one '?' alone may follow the name", "Write {nope?}."),
        ("{user: tier}", "'user: tier' is no name that a placeholder can have", "Write {user:tier}."),
        ("{{draft.}}", "'draft.' is no name that a placeholder can have", "Write {draft}."),
    ],
)
def test_what_looks_like_a_key_and_is_none(text: str, reason: str, fix: str) -> None:
    finding = only(llm("A", f"Read\n  {text}"), "not-substituted")
    assert place(finding) == (2, 3, text)
    assert finding.message == f"{text} is never substituted: {reason}. The model reads it as it stands."
    assert (finding.severity, finding.fix) == ("warning", fix)


def test_what_is_no_key_offers_the_near_one_or_the_producer() -> None:
    root = steps(
        llm("A", key="triage"), llm("B", "{triage-}{triages.x}"), llm("C", "{step.extract}", key="step.extract")
    )
    assert [(finding.agent, finding.fix) for finding in found(root, "not-substituted")] == [
        ("B", "Write {triage}."),
        ("B", "Did you mean {triage}? Write {triages_x}."),
        ("C", "Write {step_extract}, and name the output_key of C so too."),
    ]


@pytest.mark.parametrize(
    "text", ["{1-3}", '{"a": 1}', "{}", "{billing|other}", "{one sentence}", "{name:string}", "{0}"]
)
def test_braces_that_nobody_takes_for_a_key_pass_silently(text: str) -> None:
    [finding] = lint(llm("A", f"{text} and {text}"))
    assert (finding.code, finding.severity, finding.agent, finding.fix) == ("braces-pass", "info", "A", "")
    assert finding.message.startswith("2 pairs of braces pass through as text")


def test_braces_that_are_eaten() -> None:
    root = steps(llm("A", key="k"), llm("B", 'Fill {"a": {k}} in.\nAnd {{k}}.'))
    first, second = found(root, "braces-eaten")
    assert place(first) == (1, 12, "{k}}")
    assert first.message == '{k}} is replaced with all its braces: Fill {"a": {k}} in. becomes Fill {"a": VALUE in..'
    assert first.fix == "Put spaces between the braces: {k} }"
    assert place(second) == (2, 5, "{{k}}")
    assert second.message == "{{k}} is replaced with all its braces: And {{k}}. becomes And VALUE.."
    assert (
        second.fix == "Write {k} for the value. ADK has no escape for braces: where they are text, use other brackets."
    )
    [doubled] = lint(llm("A", 'Reply {{"a": 1}}'))
    assert (doubled.code, doubled.fix) == ("doubled-braces", "Write single braces.")


def test_a_bare_word_that_nobody_writes() -> None:
    root = steps(llm("A", key="status_text"), llm("B", "Report:\n{status}"))
    finding = only(root, "nobody-writes")
    assert (finding.severity, finding.agent, place(finding)) == ("error", "B", (2, 1, "{status}"))
    assert finding.message == (
        "Nobody writes 'status'. ADK then stops before the model is asked: Context variable not found: `status`."
    )
    assert finding.fix == (
        "Did you mean {status_text}? Write it in an earlier step, give it as state, or make it optional: {status?}. If it "
        "is meant as text, use other brackets: <status>."
    )
    assert not found(root, "nobody-writes", state=["status"])
    assert not found(root, "nobody-writes", state={"status": 1})


def test_an_optional_key_that_nobody_writes_is_a_fault_only_when_it_is_misspelt() -> None:
    assert not lint(steps(llm("A", key="k"), llm("B", "{notes?} {user:tier?} {app:name?}")))
    finding = only(steps(llm("A", key="triage"), llm("B", "{triag?}")), "nobody-writes")
    assert (finding.severity, finding.message, finding.fix) == (
        "warning", "Nobody writes 'triag', so {triag?} is always empty.", "Did you mean {triage}?",
    )  # fmt: skip


def test_what_may_be_set_elsewhere_is_no_error() -> None:
    def stores(context: Any) -> None:
        context.state["stored"] = 1

    root = steps(llm("A", "{user:tier} {stored} {other}", before_agent_callback=stores))
    tier, other = found(root, "nobody-writes")
    assert (tier.severity, tier.message.partition(". ")[0]) == (
        "warning", "Nobody writes 'user:tier' unless it was set outside the pipeline",
    )  # fmt: skip
    assert (other.severity, other.message.partition(". ")[0]) == (
        "warning",
        "Nobody writes 'other' unless before_agent_callback stores of A does, whose code does not name it",
    )


def test_keys_that_no_earlier_step_writes() -> None:
    finding = only(steps(llm("A", "{k}"), llm("B", key="k"), llm("C", key="k")), "written-later")
    assert (finding.severity, finding.agent) == ("error", "A")
    assert finding.message == (
        "'k' is not there in a session's first turn: B and C write it only after A has run. ADK then stops before the "
        "model is asked: Context variable not found: `k`. Later turns read the turn before's value."
    )
    assert finding.fix == "Run the step that writes it before, give the key as state, or make it optional: {k?}"
    memory = only(steps(llm("A", "{k?}"), llm("B", key="k")), "written-later")
    assert (memory.severity, memory.message) == (
        "info",
        "{k?} is empty in a session's first turn: B writes it only after A has run. Later turns read the turn before's value.",
    )
    gone = only(steps(llm("A", "{temp:k?}"), llm("B", key="temp:k")), "written-later")
    assert gone.severity == "warning"
    assert gone.message.endswith("Later turns find it gone: temp: keys are discarded when a turn ends.")
    itself = only(llm("A", "{k}", key="k"), "written-later")
    assert itself.message.startswith("'k' is not there in a session's first turn: A writes it only after that.")


def test_siblings_of_a_parallel_race() -> None:
    fan = ParallelAgent(name="fan", sub_agents=[llm("P", "{q}", key="x"), llm("Q", key="q"), llm("R", key="x")])
    race = only(fan, "written-at-once")
    assert (race.severity, race.agent) == ("warning", "P")
    assert race.message == (
        "Q writes 'q' at the same time, in a ParallelAgent: whether the value is there when this prompt is built is left to "
        "chance. Where it is not: ADK then stops before the model is asked: Context variable not found: `q`."
    )
    assert race.fix == "Run P after the ParallelAgent."
    both = only(fan, "overwritten")
    assert (both.severity, both.agent) == ("warning", "R")
    assert both.message == "P writes 'x' too, at the same time, in a ParallelAgent: the later of both replies stays."


def test_a_loop_reads_what_its_last_iteration_wrote() -> None:
    def loop(instruction: str) -> LoopAgent:
        return LoopAgent(
            name="loop", sub_agents=[llm("Writer", instruction, key="text"), llm("Critic", "{text}", key="notes")]
        )

    first = only(loop("{notes}"), "written-later")
    assert first.message == (
        "'notes' is not there in the loop's first iteration: Critic writes it only after Writer has run. ADK then stops "
        "before the model is asked: Context variable not found: `notes`."
    )
    assert not lint(loop("{notes?}"))
    assert not found(steps(llm("Seed", key="notes"), loop("{notes}")), "written-later")


def test_optional_where_a_producer_exists() -> None:
    finding = only(steps(llm("A", key="k"), llm("B", "{k?}")), "optional-with-producer")
    assert (finding.severity, finding.agent, place(finding)) == ("warning", "B", (1, 1, "{k?}"))
    assert finding.message == (
        "A writes 'k' earlier in every turn, yet {k?} is optional: should the value be missing, the model finds an empty "
        "place and goes on."
    )
    assert finding.fix == "Make it required, so that the run stops instead: {k}"

    def guard(context: Any) -> None:
        return None

    assert not lint(steps(llm("A", key="k", before_agent_callback=guard), llm("B", "{k?}")))
    assert not lint(steps(llm("T", sub_agents=[llm("A", key="k")]), llm("B", "{k?}")))


def test_an_output_key_that_a_later_step_overwrites() -> None:
    def read_state(key: str, tool_context: ToolContext) -> dict[str, Any]:
        """Read a key."""
        return {"value": tool_context.state.get(key)}

    lost = only(steps(llm("A", key="k"), llm("B", key="k")), "overwritten")
    assert (lost.severity, lost.message) == (
        "warning", "The reply of B takes the place of A's under 'k', which no step between reads.",
    )  # fmt: skip
    used = only(steps(llm("A", key="k"), llm("R", "{k}"), llm("B", key="k")), "overwritten")
    assert (used.severity, used.message) == ("info", "The reply of B takes the place of A's under 'k'.")
    assert not found(steps(llm("A", key="k"), llm("B", "Improve: {k}", key="k")), "overwritten")
    tools = only(
        steps(llm("writer", key="shared_key"), llm("reader", key="shared_key", tools=[FunctionTool(read_state)])),
        "overwritten",
    )
    assert tools.message == (
        "'shared_key' holds the reply of writer when reader starts, which has tools (read_state). ADK Go writes an empty "
        "text to an output_key with every tool call, so that a tool finds nothing there; ADK Java writes final replies only."
    )
    assert tools.fix == "Give reader its own output_key."


SCHEMA = {"type": "OBJECT", "properties": {"category": {"type": "STRING"}}, "required": ["category"]}


def test_maps_that_arrive_as_java_text() -> None:
    root = steps(llm("A", key="k", output_schema=SCHEMA), llm("B", "{k} again {k}"))
    finding = only(root, "map-in-prompt")
    assert (finding.severity, finding.agent, place(finding)) == ("warning", "B", (1, 1, "{k}"))
    assert finding.message == "A has an output_schema, so 'k' holds a map, which arrives as {category=…}, not as JSON."
    assert found(root, "fragile-boundary")[0].message == (
        "A is to write JSON under 'k', and nothing checks that it did: a reply that does not fit its output_schema is "
        "stored as raw text, and B works with it."
    )

    class JsonRules(JavaRules):
        def text_of(self, value: object) -> str:
            return '{"category":"…"}'

    assert not found(root, "map-in-prompt", rules=JsonRules())


def test_a_boundary_is_guarded_on_either_side() -> None:
    def check(context: Any, *subject: Any) -> None:
        return None

    json_only = "Reply with JSON only."
    assert found(steps(llm("A", json_only, "k"), llm("B", "{k}")), "fragile-boundary")
    for guarded in (
        steps(llm("A", json_only, "k", after_model_callback=check), llm("B", "{k}")),
        steps(llm("A", json_only, "k", after_agent_callback=check), llm("B", "{k}")),
        steps(llm("A", json_only, "k"), llm("B", "{k}", before_agent_callback=check)),
        steps(
            llm("A", json_only, "k"),
            SequentialAgent(name="inner", before_agent_callback=check, sub_agents=[llm("B", "{k}")]),
        ),
    ):
        assert not found(guarded, "fragile-boundary")


def test_output_keys_that_no_placeholder_can_read() -> None:
    finding = only(llm("A", key="step.extract"), "unreadable-output-key")
    assert (finding.severity, finding.place) == ("warning", None)
    assert (
        finding.message
        == "No placeholder can read the output_key 'step.extract': ADK leaves {step.extract} in a prompt as text."
    )
    assert finding.fix == "Name it 'step_extract'."
    assert only(llm("A", key="…"), "unreadable-output-key").fix == "Name it with letters, digits and underscores."


def test_schema_and_tools_with_a_gemini_2_model() -> None:
    def look(what: str) -> dict[str, Any]:
        """Look something up."""
        return {}

    def agent(model: Any) -> LlmAgent:
        return llm("A", output_schema=SCHEMA, tools=[FunctionTool(look)], model=model)

    finding = only(agent("gemini-2.5-flash"), "schema-by-tool")
    assert (finding.severity, finding.agent) == ("info", "A")
    assert finding.message.startswith(
        "With gemini-2.5-flash, tools and an output_schema together, ADK sends no response schema"
    )
    assert not found(agent("gemini-3-pro"), "schema-by-tool")
    assert not found(agent(None), "schema-by-tool")
    inherited = LlmAgent(name="Parent", model="gemini-2.0-flash", sub_agents=[agent(None)])
    assert only(inherited, "schema-by-tool").agent == "A"


def test_neighbours_that_could_run_at_once() -> None:
    merge = llm("Merge", "{a} {b} {c}")
    root = steps(llm("A", key="a"), llm("B", "{user:x?}", key="b"), llm("C", key="c"), merge)
    finding = only(root, "independent-steps")
    assert (finding.severity, finding.agent) == ("info", "A")
    assert finding.message == "A, B and C do not read each other's keys, yet run one after another."
    assert not found(steps(llm("A", key="a"), llm("B", "{a}", key="b"), merge), "independent-steps")
    assert not found(steps(llm("A", key="a"), llm("B", lambda context: "", key="b"), merge), "independent-steps")
    assert not found(steps(llm("A", key="a"), llm("B", key="b")), "independent-steps")


def test_a_global_instruction_counts_at_the_root_only() -> None:
    root = LlmAgent(
        name="Root", global_instruction="{missing}", sub_agents=[LlmAgent(name="Sub", global_instruction="{ignored}")]
    )
    assert [(finding.agent, finding.code) for finding in lint(root)] == [("Root", "nobody-writes")]


def test_the_list_is_sorted_sliced_and_shown() -> None:
    findings = lint(steps(llm("A", key="k"), llm("B", '{k?} {nope} {"x": 1}')))
    assert [finding.severity for finding in findings] == ["error", "warning", "info"]
    assert findings[1:] == tuple(findings)[1:]
    assert len(findings.of("A")) == 0
    assert not lint(llm("A"))
    assert str(findings[0]).startswith("B:1:6: error nobody-writes: Nobody writes 'nope'.")
    data = findings.to_frame()
    assert list(data.columns) == ["severity", "code", "agent", "line", "column", "text", "message", "fix"]
    first = data.to_dict("records")[0]
    assert [first[name] for name in ("severity", "agent", "line", "column", "text")] == ["error", "B", 1, 6, "{nope}"]
    assert repr(findings) == "Lint('root', 3 findings)"


@given(
    st.lists(st.sampled_from(["{", "}", "{{", "k", " ", "?", "??", ".", ":", "user:", "\n", '"a": ', "é", "\u202e"]))
)
def test_any_instruction_is_linted_and_every_place_is_true(pieces: list[str]) -> None:
    instruction = "".join(pieces)
    for finding in lint(llm("A", instruction)):
        if finding.place is not None:
            line = instruction.split("\n")[finding.place.line - 1]
            assert line[finding.place.column - 1] == "{"
