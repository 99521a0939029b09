"""The cards of what cells and verbs return: exact words, both forms alike, and nothing of a hostile text acts."""

import pickle
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from wcwidth import wcswidth

from adknb.notebook import magic_lines
from adknb.notebook.bench import Bench
from adknb.notebook.cards.diff_pieces import CONTEXT, diff_html, diff_text
from adknb.notebook.cards.html import WHOLE
from adknb.notebook.cards.text import WIDTH, columns, fitted, wrapped
from adknb.notebook.pipelines import AgentCell, AgentOptions, Pipeline
from adknb.notebook.results import AgentCard, HelpText, Message, PipelineCard, PromptHistory, RunDiff, VerbList
from adknb.notebook.verbs import VERBS
from tests.notebook.pipelines import NAMES, run_of, ticket
from tests.notebook.test_cards import ATTRIBUTES, HOSTILE, TAGS, Reading, hostile_run


def agent_card(name: str, pipeline: Pipeline | None = None, **options: Any) -> AgentCard:
    pipeline = pipeline or ticket()
    return AgentCard(pipeline, pipeline[name], "java", namespace=NAMES, **options)


def edited_agent() -> AgentCell:
    """The draft agent after two edits."""
    agent = ticket()["DraftAgent"]
    agent = agent.edited(agent.prompt.replace("120", "60"), replace(agent.options, include="none"), None)
    return agent.edited(f"{agent.prompt}\nNever promise refunds.", replace(agent.options, callbacks={}), None)


# the agent


def test_an_agent() -> None:
    assert str(agent_card("DraftAgent")) == (
        "DraftAgent · agent 2 of 3 in ticket · version 1 · rules java\n"
        "  reads          triage required ← TriageAgent\n"
        "                 user:tier optional ← set from outside\n"
        "  writes         draft → CheckAgent\n"
        "                 draft perhaps, in require_triage\n"
        "  include        default: the whole conversation, with what other agents said\n"
        "  before-agent   require_triage"
    )


def test_an_agent_with_braces_and_no_key() -> None:
    pipeline = Pipeline("p", (AgentCell("A", 'JSON: {"a": 1} {b c} {d e} {f g}'),))
    assert str(agent_card("A", pipeline)) == (
        "A · agent 1 of 1 in p · version 1 · rules java\n"
        "  reads          no key\n"
        "  writes         no key: its reply stands in the history only\n"
        "  include        default: the whole conversation, with what other agents said\n"
        '  stays as text  {"a": 1} line 1\n'
        "                 {b c} line 1\n"
        "                 {d e} line 1\n"
        "                 and 1 more"
    )


def test_what_is_to_mend_stands_below_with_its_line() -> None:
    options = AgentOptions(key="k", include="none", tools=("lookup",), config={"temperature": 0.2}, model="echo")
    pipeline = Pipeline("p", (AgentCell("A", "One.\n{tone}", options), AgentCell("B", "{tone}")))
    assert str(agent_card("A", pipeline, remarks=("A remark.",))) == (
        "A · agent 1 of 2 in p · version 1 · rules java\n"
        "  reads          tone required [nobody writes it yet]\n"
        "  writes         k read by no step\n"
        "  include        none: the newest message of the user or another agent, and what follows it\n"
        "  model          echo\n"
        "  tools          lookup [not defined yet]\n"
        '  config         {"temperature": 0.2}\n'
        "! A remark.\n"
        "error: --tools names 'lookup', which the notebook does not define. There is: 'require_triage'. Run\n"
        "  the cell that defines it first.\n"
        "error: line 2: Nobody writes 'tone'. ADK then stops before the model is asked: Context variable not\n"
        "  found: `tone`. Write it in an earlier step, give it as state, or make it optional: {tone?}. If it\n"
        "  is meant as text, use other brackets: <tone>.\n"
        "Elsewhere in p: 1 error. See them: %adk lint p"
    )


def test_a_key_that_runs_start_with_is_known() -> None:
    pipeline = Pipeline("p", (AgentCell("A", "{tone}"),))
    assert "reads          tone required ← given at the start\n" in str(
        agent_card("A", pipeline, given=frozenset({"tone"}))
    )


def test_many_findings_are_counted() -> None:
    pipeline = Pipeline("p", (AgentCell("A", "".join(f"{{k{number}}}" for number in range(11))),))
    assert str(agent_card("A", pipeline)).endswith("\n3 more findings: %adk lint p")
    assert Reading(agent_card("A", pipeline).to_html()).text.endswith("3 more findings: %adk lint p")


# the pipeline


def test_a_pipeline() -> None:
    assert str(PipelineCard(ticket(), "java", ("A remark.",), NAMES)) == (
        "ticket · 3 agents · rules java\n"
        "1. TriageAgent\n"
        "   writes   triage → DraftAgent\n"
        "2. DraftAgent\n"
        "   reads    triage required ← TriageAgent\n"
        "            user:tier optional ← set from outside\n"
        "   writes   draft → CheckAgent\n"
        "            draft perhaps, in require_triage\n"
        "   options  before-agent require_triage\n"
        "3. CheckAgent\n"
        "   reads    draft required ← DraftAgent\n"
        "   writes   verdict read by no step\n"
        "! A remark."
    )


def test_a_pipelines_findings_name_their_agent() -> None:
    shown = str(PipelineCard(ticket(), "java"))
    assert "   options  before-agent require_triage [not defined yet]\n" in shown
    assert "\nerror: DraftAgent: --before-agent names 'require_triage', which the notebook does not define." in shown


def test_an_empty_pipeline_says_how_to_go_on() -> None:
    assert str(PipelineCard(Pipeline("p"), "java")) == "p · no agents yet. Add one: %%agent NAME --pipeline p"


# versions


def test_a_history() -> None:
    assert (
        str(PromptHistory(edited_agent()))
        == """\
DraftAgent · 3 versions; the last is the agent as it is
version 1 · back to it: %adk history DraftAgent --restore 1
    Triage result: {triage}
    Customer tier: {user:tier?}
    Draft a reply of at most 120 words.
version 2 · back to it: %adk history DraftAgent --restore 2
    --include: not set → none
    Triage result: {triage}
    Customer tier: {user:tier?}
    Draft a reply of at most [-120-]{+60+} words.
version 3, as it is now
    --before-agent: require_triage → not set
    Triage result: {triage}
    Customer tier: {user:tier?}
    Draft a reply of at most 60 words.
    {+Never promise refunds.+}"""
    )


def test_a_history_as_html_marks_changes_with_signs() -> None:
    html = PromptHistory(edited_agent()).to_html()
    assert (
        'of at most <del><span class="adknb-mark">−</span>120</del><ins><span class="adknb-mark">+</span>60</ins>'
        in html
    )
    assert "<code>%adk history DraftAgent --restore 2</code>" in html


def test_a_name_with_spaces_is_quoted_in_the_command() -> None:
    agent = AgentCell("my agent", "a").edited("b", AgentOptions(), None)
    assert "%adk history 'my agent' --restore 1\n" in str(PromptHistory(agent))
    assert "%adk history 'my agent' --restore 1 --pipeline other\n" in str(PromptHistory(agent, "other"))


def test_an_agent_that_was_never_changed() -> None:
    assert str(PromptHistory(AgentCell("A", "Say hi."))) == (
        "A · 1 version: it was not changed yet\nversion 1, as it is now\n    Say hi."
    )


# messages and help


def test_a_message() -> None:
    message = Message("Saved.", ("Mind this.", "And this."))
    assert str(message) == "Saved.\n! Mind this.\n! And this."
    assert Reading(message.to_html()).text == "Saved.Mind this.And this."


def test_the_verbs() -> None:
    verbs = VerbList(
        {"go": (("step", "Run one step."), ("undo", "Take it back. " * 9)), "look": (("runs", "All runs."),)}
    )
    assert str(verbs) == (
        f"go\n  step        Run one step.\n  undo        {'Take it back. ' * 6}".rstrip()
        + f"\n              {'Take it back. ' * 3}".rstrip()
        + "\n"
        "look\n"
        "  runs        All runs.\n"
        "\n"
        "%adk help VERB has a verb's options. Every verb returns an object: df = %adk state"
    )
    assert Reading(verbs.to_html()).text.startswith("gostepRun one step.undoTake it back.")


COMMANDS = [*VERBS.values(), magic_lines.AGENT, magic_lines.AGENTS, magic_lines.PIPELINE, magic_lines.STEP]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.invocation)
def test_help_is_shown_as_it_is_and_fits_a_terminal(command: Any) -> None:
    help_text = HelpText(command.help())
    assert str(help_text) == command.help()
    assert Reading(help_text.to_html()).text == command.help()


# diffs


def test_equal_passages_are_folded_and_counted() -> None:
    same = " ".join(["same"] * 200)
    shown = diff_text(f"{same} old {same} old", f"{same} new {same} new")
    assert shown.replace("\n", " ").count("characters the same") == 2
    assert "(… 840 characters the same …)" in shown
    html = diff_html(f"{same} old {same} old", f"{same} new {same} new")
    assert '<details class="adknb-fold"><summary>… 840 characters the same</summary>' in html
    text = Reading(html).text
    assert text.count("same same") > 50  # the folded passages are there, one click away
    assert CONTEXT < 840


@pytest.mark.parametrize(
    ("before", "after", "text", "html"),
    [
        ("a\n\nb", "a\nb", "a\n[-↵-]\nb", 'a\n<del><span class="adknb-mark">−</span>↵</del>\nb'),
        ("a b", "a  b", "a{+␣+} b", 'a<ins><span class="adknb-mark">+</span>␣</ins> b'),
        ("a\nb", "a", "a\n[-b-]", 'a\n<del><span class="adknb-mark">−</span>b</del>'),
    ],
)
def test_changes_of_space_are_visible(before: str, after: str, text: str, html: str) -> None:
    assert diff_text(before, after) == text
    assert (
        diff_html(before, after)
        == f'<div class="adknb-text adknb-diff" dir="auto" style="white-space:pre-wrap">{html}</div>'
    )


def test_a_long_change_is_cut_and_counted() -> None:
    html = diff_html("", "x" * (WHOLE + 1_000))
    assert '<span class="adknb-dim">… 1,000 more characters</span>' in html
    assert diff_text("", "x" * 5_000).replace("\n", "").endswith("+}… 1,000 more characters")


# text that fits


@given(st.text(st.characters(exclude_categories=[]), max_size=300), st.integers(0, 20))
@settings(max_examples=60)
def test_wrapped_text_fits_a_terminal(text: str, indent: int) -> None:
    lines = wrapped(text, "! ", " " * indent).split("\n")
    assert all(0 <= wcswidth(line) <= WIDTH for line in lines)


def test_a_table_that_is_too_wide_comes_in_parts_that_begin_alike() -> None:
    headings = ["run", *(f"column {number}" for number in range(12))]
    rows = [[name, *["value " * 3] * 12] for name in ("one", "two")]
    parts = fitted(headings, rows).split("\n\n")
    assert [part.split()[0] for part in parts] == ["run"] * len(parts)
    assert len(parts) == 3
    assert all(len(line) <= WIDTH for part in parts for line in part.split("\n"))
    assert fitted(["a", "b"], [["1", "x" * 90]]) == columns(["a", "b"], [["1", "x" * 90]], limit=40)


# hostile text

MORE_TAGS = TAGS | {"code", "ins", "del"}


def results_with(text: str) -> list[Any]:
    """Every card with the text everywhere: names, prompts, keys, options, remarks, replies."""
    options = AgentOptions(
        key=text, description=text, model=text, tools=(text,), schema=text, callbacks={"before_agent": (text,)},
        config={text: text}, include=text,
    )  # fmt: skip
    agent = AgentCell(text, f"{{k?}} {text} {{x y {text}}}", options).edited(
        f"Other {text}", AgentOptions(key="k"), None
    )
    pipeline = Pipeline(text, (AgentCell("A", text, options), agent))
    run = hostile_run(text)
    other = hostile_run(f"{text} other")
    return [
        AgentCard(pipeline, agent, "java", (text,), {"f": print}),
        AgentCard(pipeline, pipeline.agents[0], "java", (text,), {"f": print}),
        PipelineCard(pipeline, "java", (text,), {"f": print}),
        PromptHistory(agent),
        RunDiff(run, other),
        VerbList({text: ((text, text),)}),
        HelpText(text),
        Message(text, (text,)),
    ]


def assert_nothing_acts(html: str) -> None:
    reading = Reading(html)
    assert set(reading.tags) <= MORE_TAGS
    assert reading.attributes <= ATTRIBUTES
    assert reading.open == []
    assert reading.tags.count("style") == 1
    html.encode("utf-8")


@pytest.mark.parametrize("payload", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_text(payload: str) -> None:
    for result in results_with(payload):
        assert_nothing_acts(result.to_html())
        for text in (str(result), Reading(result.to_html()).text):
            assert all(character == "\n" or character.isprintable() for character in text)
            text.encode("utf-8")
        assert all(wcswidth(line) <= WIDTH for line in str(result).split("\n"))


@given(st.text(st.characters(exclude_categories=[]), min_size=1, max_size=40))
@settings(max_examples=40, deadline=None)
def test_any_text_is_text(text: str) -> None:
    for result in results_with(text):
        assert_nothing_acts(result.to_html())


def test_ten_megabytes_do_not_reach_the_page() -> None:
    text = "huge " * 2_000_000
    agent = AgentCell("A", text).edited(f"{text}!", AgentOptions(), None).edited("small", AgentOptions(), None)
    history = PromptHistory(agent)
    assert len(history.to_html()) < 10 * WHOLE
    assert len(str(history)) < 20_000


def test_cards_say_the_same_in_both_forms() -> None:
    for result in (
        agent_card("DraftAgent"),
        PipelineCard(ticket(), "java", (), NAMES),
        RunDiff(run_of(ticket()), run_of(ticket())),
    ):
        shown = Reading(result.to_html()).text
        assert all(word in shown for word in str(result).split() if word not in ("reads", "writes", "options", "---"))
        assert result._repr_mimebundle_() == {"text/html": result.to_html(), "text/plain": str(result)}


def test_a_table_is_shown_as_a_card_and_is_a_plain_table() -> None:
    shown = run_of(ticket()).state_history
    bundle: dict[str, str] = shown._repr_mimebundle_()  # type: ignore[operator]
    assert bundle["text/html"].startswith('<div class="adknb mathjax_ignore')
    assert bundle["text/plain"].splitlines()[0].split() == ["turn", "event", "step", "key", "change", "new"]
    copied = pickle.loads(pickle.dumps(shown))
    assert type(copied) is type(shown[shown.key == "draft"]) is pd.DataFrame
    assert copied.equals(shown)


def test_an_agent_whose_tool_cannot_be_declared_is_written_and_its_card_says_so() -> None:
    def lookup(order: complex) -> dict[str, str]:
        """Looks up an order."""
        return {}

    bench = Bench({"lookup": lookup})
    agent = bench.put_agent("p", "A", "Say.", AgentOptions(tools=("lookup",)))
    shown = str(AgentCard(bench.pipelines["p"], agent, "java", (), bench.namespace))
    assert "error: tool 'lookup', parameter 'order': type <class 'complex'> has no recorded declaration." in shown
