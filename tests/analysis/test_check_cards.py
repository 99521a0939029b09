"""The cards of contract and lint: exact words in text, escaped in HTML."""

from __future__ import annotations

from adknb import LlmAgent, SequentialAgent, contract, lint
from adknb.examples.ticket import ticket_pipeline

HOSTILE = "<img src=x>\x1b\u202e"


def test_the_contract_as_text() -> None:
    assert str(contract(ticket_pipeline(guarded=True))).split("\n") == [
        "Contract of ticket_pipeline · 5 keys",
        "triage",
        "  scope       session",
        "  written by  TriageAgent",
        "  read by     DraftAgent (required), PolicyCheckAgent (required), perhaps callback require_triage of DraftAgent",
        "  shape       JSON object {category, urgency, summary}",
        "user:tier",
        "  scope       user",
        "  read by     DraftAgent (optional)",
        "  note        set from outside",
        "draft",
        "  scope       session",
        "  written by  DraftAgent, perhaps callback require_triage of DraftAgent",
        "  read by     PolicyCheckAgent (required)",
        "  shape       text",
        "temp:triage_ok",
        "  scope       temp",
        "  written by  perhaps callback require_triage of DraftAgent",
        "verdict",
        "  scope       session",
        "  written by  PolicyCheckAgent",
        "  shape       text",
        "Code that may read and write other keys too: before_agent_callback require_triage of DraftAgent.",
    ]


def test_the_contract_as_html_brings_the_class() -> None:
    html = contract(ticket_pipeline()).to_html()
    assert "<summary>The keys as a Python class</summary>" in html
    assert "USER_TIER = &quot;user:tier&quot;" in html


def test_lint_as_text() -> None:
    assert str(lint(ticket_pipeline())).split("\n") == [
        "Lint of ticket_pipeline: 1 warning, 1 info",
        "warning DraftAgent, line 2, column 16  fragile-boundary",
        "        TriageAgent is to write JSON under 'triage', and nothing checks that it did: prose or half a",
        "        JSON is stored all the same, and DraftAgent works with it.",
        "        Give DraftAgent a before_agent_callback that parses 'triage'. When it is malformed, return a",
        "        text, and write 'draft' there too, since the agent is then skipped.",
        "info    TriageAgent, line 2, column 1  braces-pass",
        "        1 pair of braces passes through as text, because no key stands between them (as in a JSON",
        "        example).",
    ]
    assert str(lint(LlmAgent(name="A"))) == "Lint of A: nothing found"
    assert "nothing found" in lint(LlmAgent(name="A")).to_html()


def test_hostile_names_and_keys_are_shown_and_do_nothing() -> None:
    pipeline = SequentialAgent(
        name=HOSTILE,
        sub_agents=[
            LlmAgent(name=f"A{HOSTILE}", output_key=HOSTILE, instruction=f"{{{HOSTILE}}} {{nobody}}"),
            LlmAgent(name="B", output_key=HOSTILE),
        ],
    )
    for result in (contract(pipeline), lint(pipeline)):
        html = result.to_html()
        assert "<img" not in html
        assert "&lt;img" in html
        for shown in (html, str(result)):
            assert not {"\x1b", "\u202e"} & set(shown)


def test_readable_tables() -> None:
    assert "triage" in contract(ticket_pipeline()).view("contract").to_html()
    assert "fragile-boundary" in lint(ticket_pipeline()).view("lint").to_html()
