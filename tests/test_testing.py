"""`adknb.testing`: one step on a seeded state, malformed variants, assertions, and the pytest fixture."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adknb.core.content import Content, Part
from adknb.core.errors import MissingKeyError, ModelError, RunStateError, SpecError
from adknb.core.events import Event, EventActions
from adknb.core.specs import IncludeContents, LlmAgent
from adknb.core.tools import FunctionTool
from adknb.examples.ticket import ESCALATION, NOTE, REPLIES, scripted_replies, ticket_pipeline
from adknb.runtime.callbacks import CallbackContext
from adknb.runtime.runner import Runner
from adknb.testing import (
    assert_not_asked,
    assert_not_written,
    assert_prompt_contains,
    assert_prompt_lacks,
    assert_wrote,
    malformed,
    run_step,
)

pytest_plugins = ["pytester"]

TRIAGE = REPLIES["TriageAgent"]
GUARDED = ticket_pipeline(guarded=True)
DRAFT = GUARDED.sub_agents[1]
POLICY = GUARDED.sub_agents[2]


def failure(function: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        function(*args, **options)
    return str(caught.value)


# run_step


def test_a_step_runs_alone_on_a_seeded_state() -> None:
    step = run_step(DRAFT, state={"triage": TRIAGE, "user:tier": "gold"}, message="Help!", replies=["We are on it."])
    assert step.name == "DraftAgent"
    assert step.sent.system_instruction == (
        f"You write replies for the support team.\nTriage result: {TRIAGE}\nKnown customer tier: gold\n"
        "Draft a reply of at most 120 words. Do not promise refunds.\n\n"
        'You are an agent. Your internal name is "DraftAgent". '
        'The description about you is "Drafts a reply from the triage result.".'
    )
    assert [content.to_dict() for content in step.sent.contents] == [{"role": "user", "parts": [{"text": "Help!"}]}]
    assert step.output == "We are on it."
    assert step.state_delta == {"temp:triage_ok": True, "draft": "We are on it."}
    assert step.state == {"triage": TRIAGE, "user:tier": "gold", "draft": "We are on it."}
    assert [(event.author, event.text) for event in step.events] == [
        ("DraftAgent", ""),
        ("DraftAgent", "We are on it."),
    ]
    assert repr(step) == "StepResult(DraftAgent, 1 request, wrote temp:triage_ok, draft)"


def test_the_same_call_gives_the_same_again() -> None:
    seed = {"triage": TRIAGE}
    results = [run_step(DRAFT, state=seed, replies=["One.", "Two."]) for _ in range(2)]
    assert [result.output for result in results] == ["One.", "One."]
    assert seed == {"triage": TRIAGE}


def test_history_reaches_the_step_as_earlier_agents_words() -> None:
    said = Event("DraftAgent", Content.model("Dear customer"), EventActions(state_delta={"draft": "Dear customer"}))
    step = run_step(POLICY, state={"triage": TRIAGE}, history=[("TriageAgent", TRIAGE), said], replies=["APPROVE"])
    assert [[part.text for part in content.parts] for content in step.sent.contents] == [
        ["A test message."],
        ["For context:", f"[TriageAgent] said: {TRIAGE}"],
        ["For context:", "[DraftAgent] said: Dear customer"],
    ]
    assert_prompt_contains(step, "Draft: Dear customer\n")
    assert step.state_delta == {"verdict": "APPROVE"}
    assert said.invocation_id == ""


def test_history_shows_what_none_leaves_out() -> None:
    step = run_step(
        LlmAgent(name="Check", instruction="{draft}", include_contents=IncludeContents.NONE),
        state={"draft": "Dear customer"}, history=[("TriageAgent", TRIAGE), ("DraftAgent", "Dear customer")],
        replies=["APPROVE"],
    )  # fmt: skip
    assert_prompt_lacks(step, "[TriageAgent]")
    assert_prompt_contains(step, "[DraftAgent] said: Dear customer")


def test_a_missing_key_is_raised_as_the_runner_raises_it() -> None:
    with pytest.raises(MissingKeyError) as caught:
        run_step(POLICY, state={"triage": TRIAGE}, replies=["APPROVE"])
    assert caught.value.key == "draft"


def test_replies_stand_in_for_the_agents_own_model_under_its_name() -> None:
    step = run_step(LlmAgent(name="A", model="gemini-2.5-flash"), replies=["Hello."])
    assert (step.sent.model, step.output) == ("gemini-2.5-flash", "Hello.")


def test_a_model_is_asked_instead_of_the_agents_own() -> None:
    step = run_step(LlmAgent(name="A", model="gemini-2.5-flash"), message="Say it.", model="echo")
    assert step.output == "Say it."


def test_a_step_of_several_agents_takes_replies_by_agent() -> None:
    step = run_step(ticket_pipeline(), replies={name: [reply] for name, reply in REPLIES.items()})
    assert list(step.state_delta.items()) == [
        ("triage", TRIAGE), ("draft", REPLIES["DraftAgent"]), ("verdict", "APPROVE"),
    ]  # fmt: skip
    assert len(step.requests) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"replies": ["x"], "model": "echo"}, "run_step takes replies or a model, not both"),
        (
            {"replies": ["x"], "history": ["TriageAgent said"]},
            "run_step: history holds pairs such as ('TriageAgent', 'what it said'), or Events, not 'TriageAgent said'",
        ),
        (
            {"replies": ["x"], "history": [("user", "Hello")]},
            "run_step: history holds pairs such as ('TriageAgent', 'what it said'), or Events, not ('user', 'Hello')",
        ),
    ],
)
def test_a_wrong_call_says_what_is_right(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        run_step(LlmAgent(name="A"), **options)
    assert str(caught.value) == message


def test_without_replies_and_model_the_error_says_so() -> None:
    with pytest.raises(ModelError, match="agent 'A' has no model"):
        run_step(LlmAgent(name="A"))


def test_a_result_shows_what_was_sent_and_written() -> None:
    agent = LlmAgent(name="A", instruction="Be \x1b[31mkind.", output_key="draft")
    assert str(run_step(agent, message="Hi", replies=["Hello.\u202e"])) == (
        "A, 1 request, wrote draft\n"
        "sent\n"
        '  [system] Be \\x1b[31mkind.\n    \n    You are an agent. Your internal name is "A".\n'
        "  [user] Hi\n"
        "wrote draft: 'Hello.\\u202e'"
    )


def test_a_long_text_is_cut_where_it_is_shown() -> None:
    step = run_step(LlmAgent(name="A"), message="x" * 5_000, replies=["Hello."])
    assert str(step).endswith(f"\n  [user] {'x' * 4_000}… 1,000 more characters")
    assert_prompt_contains(step, "x" * 5_000)


def test_a_result_in_a_notebook_is_the_runs_card() -> None:
    step = run_step(LlmAgent(name="A"), replies=["Hello."])
    assert step._repr_mimebundle_() == step.run._repr_mimebundle_()


# malformed


def test_the_variants_of_a_json_text() -> None:
    assert malformed('{"category": "billing", "urgency": 2}') == {
        "prose": "Here is what I found: category is billing, urgency is 2",
        "fenced": '```json\n{"category": "billing", "urgency": 2}\n```',
        "truncated": '{"category": "billing", ',
        "missing_field": '{"urgency": 2}',
        "wrong_type": '{"category": ["billing"], "urgency": 2}',
        "null_field": '{"category": null, "urgency": 2}',
        "empty": "",
        "null": "null",
    }


def test_the_variants_of_an_object() -> None:
    assert malformed({"category": "billing", "urgency": 2}, field="urgency") == {
        "prose": "Here is what I found: category is billing, urgency is 2",
        "fenced": '```json\n{"category": "billing", "urgency": 2}\n```',
        "truncated": '{"category": "billing", ',
        "missing_field": {"category": "billing"},
        "wrong_type": {"category": "billing", "urgency": "2"},
        "null_field": {"category": "billing", "urgency": None},
        "empty": {},
        "null": "null",
    }


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text(), min_size=1))
def test_no_variant_is_the_object_itself(value: dict[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    first = next(iter(value))
    for given_value in (text, value):
        variants = malformed(given_value)
        for label in ("prose", "fenced", "truncated"):
            with pytest.raises(json.JSONDecodeError):
                json.loads(variants[label])
        parsed = {label: json.loads(v) if isinstance(v, str) else v for label, v in list(variants.items())[3:6]}
        assert first not in parsed["missing_field"]
        assert type(parsed["wrong_type"][first]) is not type(value[first])
        assert parsed["null_field"][first] is None


@pytest.mark.parametrize(
    ("value", "field", "message"),
    [
        ("billing", None, "malformed takes the value as it should be; this is no JSON "
                          "(Expecting value: line 1 column 1 (char 0)): 'billing'"),
        ("[1]", None, "malformed takes a JSON object with at least one field, as text or dict, not '[1]'"),
        ({}, None, "malformed takes a JSON object with at least one field, as text or dict, not {}"),
        (TRIAGE, "categories", "malformed: the object has no field 'categories'. Did you mean 'category'?"),
    ],
)  # fmt: skip
def test_what_has_no_variants_is_refused(value: Any, field: str | None, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        malformed(value, field)
    assert str(caught.value) == message


# the guard of the ticket pipeline

MALFORMED = malformed(TRIAGE)
CAUGHT = [label for label in MALFORMED if label != "wrong_type"]


@pytest.mark.parametrize("label", CAUGHT)
def test_the_guard_escalates_and_the_policy_step_still_runs(label: str) -> None:
    replies = {"TriageAgent": [MALFORMED[label]], "DraftAgent": ["never"], "PolicyCheckAgent": ["REJECT: escalated"]}
    whole = run_step(GUARDED, replies=replies)
    triage, draft, policy = whole.run.step_runs
    assert (triage.status, draft.status, policy.status) == ("completed", "skipped", "completed")
    assert_not_asked(draft)
    assert_wrote(draft, "draft", ESCALATION)
    assert_wrote(draft, "temp:triage_ok", False)
    assert_prompt_contains(policy, f"Draft: {ESCALATION}\n")
    assert whole.state == {"triage": MALFORMED[label], "draft": ESCALATION, "verdict": "REJECT: escalated"}


@pytest.mark.parametrize("triage", [TRIAGE, MALFORMED["wrong_type"]], ids=["whole", "wrong_type"])
def test_the_guard_asks_only_for_the_two_fields(triage: str) -> None:
    step = run_step(DRAFT, state={"triage": triage}, replies=["Sorry."])
    assert step.state_delta == {"temp:triage_ok": True, "draft": "Sorry."}


def test_the_guard_escalates_when_there_is_no_triage_at_all() -> None:
    step = run_step(DRAFT, replies=["never"])
    assert_not_asked(step)
    assert step.state_delta == {"temp:triage_ok": False, "draft": ESCALATION}
    assert repr(step) == "StepResult(DraftAgent, model not asked, wrote temp:triage_ok, draft)"
    with pytest.raises(RunStateError) as caught:
        _ = step.sent
    assert str(caught.value) == f"DraftAgent asked no model, so there is no prompt; its output is {ESCALATION!r}."


def test_the_guard_reads_a_stored_map_as_the_rules_print_it() -> None:
    """`String.valueOf` of a map is no JSON: the seeded check fails although both fields are there."""
    step = run_step(DRAFT, state={"triage": {"category": "billing", "summary": "Twice"}}, replies=["never"])
    assert_wrote(step, "draft", ESCALATION)


# the example pipeline


def test_the_example_is_the_recorded_ticket_case(request: pytest.FixtureRequest) -> None:
    cases = (request.config.rootpath / "tests/conformance/cases.jsonl").read_text().splitlines()
    case = next(parsed for parsed in map(json.loads, cases) if parsed["id"] == "ticket-default")
    root = ticket_pipeline()
    assert root.name == case["root"]["name"]
    assert [
        (agent.name, agent.description, agent.instruction, agent.output_key)
        for agent in root.sub_agents if isinstance(agent, LlmAgent)
    ] == [
        (agent["name"], agent["description"], agent["instruction"], agent["output_key"])
        for agent in case["root"]["sub_agents"]
    ]  # fmt: skip


def test_every_scripted_reply_says_that_it_was_written_for_the_lesson() -> None:
    run = Runner(ticket_pipeline(), model=scripted_replies()).run("Anything.")
    assert [request.reply.note for step in run.step_runs for request in step.requests if request.reply] == [NOTE] * 3
    assert run.output == "APPROVE"


# assertions


def test_failures_of_assert_wrote() -> None:
    step = run_step(LlmAgent(name="A", output_key="draft"), replies=["Hello."])
    silent = run_step(LlmAgent(name="A"), replies=["Hello."])
    assert_wrote(step, "draft")
    assert_wrote(step, "draft", "Hello.")
    assert failure(assert_wrote, step, "drafts") == "A did not write 'drafts'; it wrote 'draft'. Did you mean 'draft'?"
    assert failure(assert_wrote, silent, "draft") == "A did not write 'draft'; it wrote nothing."
    assert failure(assert_wrote, step, "draft", "Hi.") == "A wrote 'draft' as\n  'Hello.'\nand not as\n  'Hi.'"


def test_assert_wrote_tells_true_from_one() -> None:
    def set_flag(context: CallbackContext) -> None:
        context.state["ok"] = True

    step = run_step(LlmAgent(name="A", before_agent_callback=(set_flag,)), replies=["Hello."])
    assert_wrote(step, "ok", True)
    assert failure(assert_wrote, step, "ok", 1) == "A wrote 'ok' as\n  True\nand not as\n  1"


def test_failures_of_the_other_assertions() -> None:
    step = run_step(LlmAgent(name="A", instruction="Be kind.", output_key="draft"), message="Hi", replies=["Hello."])
    shown = '  [system] Be kind.\n    \n    You are an agent. Your internal name is "A".\n  [user] Hi'
    assert_not_written(step, "verdict")
    assert_prompt_contains(step, "Be kind.")
    assert_prompt_lacks(step, "Be cruel.")
    assert failure(assert_not_written, step, "draft") == "A wrote 'draft': 'Hello.'"
    assert failure(assert_not_asked, step) == f"A asked its model, with\n{shown}"
    assert failure(assert_prompt_contains, step, "Hello") == f"A was not sent 'Hello'. It was sent\n{shown}"
    assert failure(assert_prompt_lacks, step, "kind") == f"A was sent 'kind', in\n{shown}"
    assert failure(assert_prompt_lacks, step, "kind", request=2) == (
        "A has no request 2; it made 1. Its output is 'Hello.'."
    )


def test_a_prompt_of_a_skipped_step_is_a_failure_that_says_so() -> None:
    step = run_step(DRAFT, replies=["never"])
    assert failure(assert_prompt_contains, step, "Triage") == (
        f"DraftAgent has no request 1; it made 0. Its output is {ESCALATION!r}."
    )


def test_assertions_take_the_steps_of_a_run_too() -> None:
    def lookup(name: str) -> dict[str, str]:
        """Look a name up."""
        return {"name": name}

    agent = LlmAgent(name="A", tools=(FunctionTool(lookup),))
    call = Part.from_function_call("lookup", {"name": "Ada"})
    step = run_step(agent, replies=[call, "Found."]).run.step("A")
    assert_prompt_contains(step, '"response":{"name":"Ada"}', request=2)
    assert_prompt_lacks(step, "Ada", request=1)


# the plugin


def test_the_plugin_shows_what_a_failing_test_was_about(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from adknb import LlmAgent

        def test_fails(run_step):
            step = run_step(LlmAgent(name="A", instruction="Be kind."), message="Hi", replies=["Hello."])
            assert step.output == "Bye."

        def test_passes(run_step):
            assert run_step(LlmAgent(name="B"), replies=["Hello."]).output == "Hello."
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:asyncio")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*- adknb: A -*", "A, 1 request, wrote nothing", "sent", "  [[]system] Be kind.", "  [[]user] Hi"]
    )
    result.stdout.no_fnmatch_line("*adknb: B*")


def test_the_plugin_costs_a_test_run_nothing() -> None:
    script = "import sys, adknb.testing.plugin; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert {"pandas", "pydantic", "IPython", "adknb.runtime"}.isdisjoint(loaded)
