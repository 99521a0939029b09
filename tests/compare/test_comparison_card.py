"""The comparison's card in both forms: what stands beside what, and nothing of a hostile text acts."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, strategies as st

from adknb import LlmAgent, Runner, ScriptedModel, SequentialAgent
from adknb.compare.dry import DryPrompt, compare_prompts
from adknb.core.run import StepRun
from adknb.examples.ticket import MESSAGE, scripted_replies, ticket_pipeline
from adknb.notebook.cards.comparison_card import side_by_side
from adknb.tokens.channels import Piece, channels

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e$x$"


def test_the_text_twin() -> None:
    comparison = compare_prompts(Runner(ticket_pipeline(), model=scripted_replies()).run(MESSAGE))
    lines = str(comparison).split("\n")
    assert lines[0] == (
        f"Prompts of ticket_pipeline: DEFAULT | NONE · no model was asked · counted with o200k_base · run {comparison.run.id}"
    )
    assert lines[2] == comparison.headline
    assert lines[3:6] == comparison.remarks
    assert lines[7].split() == [
        "Step",
        "DEFAULT",
        "tokens",
        "NONE",
        "tokens",
        "NONE",
        "saves",
        "Sent",
        "twice",
        "NONE",
        "leaves",
        "out",
    ]
    assert lines[lines.index("--- PolicyCheckAgent") + 1 :] == [
        'all         System instruction · 90 tokens: Triage: {"category": "billing", "urgency": 2, "summary": "Charged twice for Sep…',
        "DEFAULT     role user, by user · 7 tokens: I was charged twice for September.",
        'DEFAULT     role user, by TriageAgent · 33 tokens: For context:[TriageAgent] said: {"category": "billing", "urgency": 2, "summary"…',
        "all         role user, by DraftAgent · 29 tokens: For context:[DraftAgent] said: We are sorry about the double charge. Billing is…",
    ]  # fmt: skip


def test_the_html_has_each_strategy_beside_the_other_and_labels_every_segment() -> None:
    html = compare_prompts(Runner(ticket_pipeline(), model=scripted_replies()).run(MESSAGE)).to_html()
    assert html.count("<details") == 3
    assert html.count("<details open>") == 1
    assert html.count('<th scope="col">DEFAULT, as it was sent</th><th scope="col">NONE</th>') == 2
    assert html.count('<span class="adknb-dim">not sent</span>') == 3
    assert html.count("state triage · 23 · sent twice") == 3
    assert html.count("state triage · 23<") == 1


def test_hostile_text_is_shown_and_does_nothing() -> None:
    pipeline = SequentialAgent(
        name="root", sub_agents=[LlmAgent(name="A", output_key="k"), LlmAgent(name="B", instruction=HOSTILE + "{k}")]
    )
    run = Runner(pipeline, model=ScriptedModel({"A": [HOSTILE], "B": [HOSTILE]})).run(HOSTILE)
    comparison = compare_prompts(run)
    html, text = comparison.to_html(), str(comparison)
    assert "<script>" not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m\\u202e$x$") > 5
    for shown in (html, text):
        assert not {"\x1b", "\u202e"} & set(shown)


def test_long_runs_and_long_texts_are_cut() -> None:
    agents = [LlmAgent(name=f"A{number}") for number in range(50)]
    replies = {agent.name: ["x" * 10_000] for agent in agents}
    run = Runner(SequentialAgent(name="root", sub_agents=agents), model=ScriptedModel(replies)).run("Hi")
    html = compare_prompts(run).to_html()
    assert html.count("<details") == 40
    assert "… 10 more requests; comparison.prompt(…) has their prompts" in html
    assert "x" * 4_001 not in html
    assert "more characters" in html


def dry(texts: list[str]) -> DryPrompt:
    """A prompt with one content for each text."""
    made_of = tuple(Piece(text, "added", "history", 1, "user", None, number) for number, text in enumerate(texts))
    step = StepRun(LlmAgent(name="A"), 1, None, 0)
    return DryPrompt(step, 1, "s", None, made_of, channels(made_of, "none"), {}, (), False)


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1, max_size=3))
def test_every_column_keeps_its_order_and_equal_passages_meet(columns: list[list[str]]) -> None:
    heights = side_by_side([dry(column) for column in columns])
    for place, column in enumerate(columns):
        passages = [height[place] for height in heights]
        assert [passage[0].text for passage in passages if passage is not None] == column
    for height in heights:
        assert len({passage[0].text for passage in height if passage is not None}) == 1
    if all(column == columns[0] for column in columns):
        assert all(None not in height for height in heights)


def test_a_prompt_can_be_compared_alone() -> None:
    assert side_by_side([replace(dry(["a"]), strategy="x")]) == [[dry(["a"]).pieces]]
