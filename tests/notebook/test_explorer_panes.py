"""The explorer's strip and tabs: exact words, pages, and how much is sent of a long run."""

import json

import pytest

from adknb import LlmAgent, LoopAgent, ParallelAgent, Run, RunConfig, Runner, ScriptedModel, SequentialAgent
from adknb.notebook.bench import Bench
from adknb.notebook.explorer.explorer import TABS, Explorer
from adknb.notebook.explorer.panes import pane, raw_json, state_changes
from adknb.notebook.explorer.pieces import Page, page_of
from adknb.notebook.explorer.reading import Reading
from adknb.notebook.explorer.strip import Box, Node, strip
from adknb.notebook.pipelines import AgentOptions
from adknb.notebook.records import TurnRequest
from tests.factories import DRAFT, TRIAGE
from tests.notebook.explored import explored, ticket_bench, words


def shown(explorer: Explorer, tab: str) -> str:
    explorer.show_tab(tab)
    return words(pane(explorer).html)


def deep() -> SequentialAgent:
    asks = [LlmAgent(name=name, instruction="Say.", output_key=name.lower()) for name in ("A", "B", "C")]
    return SequentialAgent(
        name="deep",
        sub_agents=(
            ParallelAgent(name="both", sub_agents=asks[:2]),
            LoopAgent(name="again", sub_agents=asks[2:], max_iterations=3),
        ),
    )


def run_of(root: SequentialAgent) -> Run:
    return Runner(root, model=ScriptedModel(lambda request: f"{request.agent} {request.ordinal + 1}")).run("Hi.")


def test_parallel_and_loop_are_what_they_are_and_executions_are_numbered() -> None:
    root = deep()
    tree = strip(root, Reading(run_of(root)), "C#2").root
    both, again = tree.children
    assert (tree.kind, both.kind, again.kind, again.rounds) == ("sequence", "parallel", "loop", 3)
    assert [box.name for node in both.children for box in node.boxes] == ["A", "B"]
    assert [(box.name, box.status, box.wrote) for box in again.children[0].boxes] == [
        ("C#1", "completed", ("c",)), ("C#2", "completed", ("c",)), ("C#3", "completed", ("c",)),
    ]  # fmt: skip


def test_before_a_run_every_agent_waits() -> None:
    tree = strip(deep(), None, "A")
    assert tree.names == ["A", "B", "C"]
    assert tree.root.children[1].children == (Node("C", "step", (Box("C", "not run yet"),)),)


def test_the_strip_of_the_ticket() -> None:
    explorer = explored()
    assert explorer.strip is not None
    nodes = explorer.strip.root.children
    assert nodes[1].boxes == (Box("DraftAgent", "completed", 86, 15, ("draft",)),)
    assert not nodes[1].changed


def test_an_agent_written_anew_since_it_ran_is_marked() -> None:
    explorer = explored()
    explorer.edit("Other: {triage}")
    explorer.accept_edit()
    assert explorer.strip is not None
    assert [node.changed for node in explorer.strip.root.children] == [False, True, False]


def test_of_many_executions_the_ends_and_those_beside_the_selected_one_are_drawn() -> None:
    root = SequentialAgent(
        name="r", sub_agents=(LoopAgent(name="loop", sub_agents=(LlmAgent(name="C"),), max_iterations=40),)
    )
    reading = Reading(run_of(root))
    node = strip(root, reading, "C#20").root.children[0].children[0]
    assert [box.name for box in node.boxes] == [
        *("C#1", "C#2", "C#3"), *(f"C#{number}" for number in range(17, 24)), *("C#38", "C#39", "C#40"),
    ]  # fmt: skip
    assert node.left_out == 27


def test_a_stale_read_is_marked_in_the_strip() -> None:
    bench = Bench()
    bench.put_agent("p", "A", "Before: {b?}")
    bench.put_agent("p", "B", "Say.", AgentOptions(key="b"))
    bench.use(model="echo")
    bench.run("p", TurnRequest("One.", session="s"))
    explorer = Explorer(bench, "p", bench.run("p", TurnRequest("Two.", session="s")))
    assert explorer.strip is not None
    assert [box.stale for node in explorer.strip.root.children for box in node.boxes] == ["b: turn 1", ""]


def test_the_prompt_tab() -> None:
    text = shown(explored(), "Prompt")
    assert "Prompt of DraftAgent" in text
    assert "86 tokens counted with o200k_base" in text
    assert (
        "'triage' is sent twice: inserted by its key (20 tokens), and again as history (event 2, by TriageAgent)."
        in text
    )


def test_a_switched_strategy_shows_its_prompt_and_its_saving() -> None:
    explorer = explored()
    explorer.switch_strategy("none")
    text = shown(explorer, "Prompt")
    assert "NONE, worked out without asking a model: saves 4 of 86 tokens (5 %), leaving 82." in text
    assert "Left out: the user's message." in text
    explorer.switch_strategy("default")
    assert "DEFAULT: exactly what was sent, 86 tokens." in shown(explorer, "Prompt")


def test_an_edit_stands_above_the_prompt_word_by_word() -> None:
    explorer = explored()
    explorer.edit("Triage result: {triage}\nCustomer tier: {user:tier?}\nDraft a reply of at most 60 words.")
    html = pane(explorer).html
    assert '<del><span class="adknb-mark">−</span>120</del>' in html
    assert '<ins><span class="adknb-mark">+</span>60</ins>' in html


def test_an_edit_that_the_run_has_is_said_so() -> None:
    explorer = explored()
    explorer.edit("Triage: {triage}\nOne sentence.")
    assert "Your edit, not run and not written yet" in shown(explorer, "Prompt")
    explorer.run_from_here()
    assert "Your edit, which this run has; it is not written yet" in shown(explorer, "Prompt")


def test_the_reply_and_the_raw_tab() -> None:
    explorer = explored()
    assert DRAFT in shown(explorer, "Reply")
    raw = shown(explorer, "Raw")
    assert '"system_instruction": "Triage result: ' in raw
    assert f'"text": "{DRAFT}"' in raw


def test_what_is_streamed_shows_before_the_reply_is_whole() -> None:
    explorer = explored()
    assert explorer.step is not None
    explorer.step.partial = "We are <b>look"
    explorer.show_tab("Reply")
    assert "We are &lt;b&gt;look" in pane(explorer).html


def test_state_before_and_after_changed_keys_first() -> None:
    explorer = explored()
    assert explorer.reading is not None
    assert explorer.step is not None
    assert state_changes(explorer.reading, explorer.step) == [
        ("draft", "new", "good", "", DRAFT), ("triage", "as before", "", TRIAGE, TRIAGE),
    ]  # fmt: skip
    assert "1 of 2 keys changed" in shown(explorer, "State")


def test_events_open_at_the_selected_step() -> None:
    explorer = long_run(60)
    explorer.select("C#40")
    explorer.show_tab("Events")
    assert pane(explorer).page == Page(1, 3, 25, 50)
    assert "events 26 to 50 of 61" in words(pane(explorer).html)


@pytest.mark.parametrize(
    ("count", "number", "page"),
    [
        (0, 0, Page(0, 1, 0, 0)),
        (25, 1, Page(0, 1, 0, 25)),
        (26, 1, Page(1, 2, 25, 26)),
        (60, 9, Page(2, 3, 50, 60)),
        (60, -1, Page(0, 3, 0, 25)),
    ],
)
def test_pages(count: int, number: int, page: Page) -> None:
    assert page_of(count, 25, number) == page


def test_before_a_run_every_tab_says_so() -> None:
    explorer = Explorer(ticket_bench(), "ticket")
    assert [shown(explorer, tab) for tab in TABS[1:6]] == [
        "TriageAgent has not run yet.",
        "TriageAgent has not run yet, so nothing changed.",
        "Nothing has run yet, so there are no events.",
        "Nothing has run yet, so no tokens were spent.",
        "TriageAgent has asked no model.",
    ]


def long_run(steps: int, reply: str = "Said.") -> Explorer:
    root = SequentialAgent(
        name="long",
        sub_agents=(LoopAgent(name="loop", sub_agents=(LlmAgent(name="C", output_key="c"),), max_iterations=steps),),
    )
    run = Runner(root, model=ScriptedModel(lambda request: reply)).run("Hi.", config=RunConfig(max_llm_calls=0))
    return Explorer(Bench(), "long", run)


def test_no_tab_of_a_thousand_events_with_long_texts_is_large() -> None:
    explorer = long_run(999, "word " * 400)
    assert explorer.run is not None
    assert len(explorer.run.turn_events) == 1_000
    for tab in TABS:
        explorer.show_tab(tab)
        assert len(pane(explorer).html) < 300_000, tab


def test_a_long_runs_dry_prompt_is_worked_out_for_its_step_alone() -> None:
    explorer = long_run(30)
    explorer.select("C#20")
    assert explorer.reading is not None
    assert explorer.step is not None
    dry = explorer.reading.dry(explorer.step, "none")
    assert [(prompt.step, prompt.strategy) for prompt in dry.prompts] == [
        (explorer.step, "as_written"), (explorer.step, "none"),
    ]  # fmt: skip
    assert explorer.reading.dry(explorer.step, "none") is dry


def test_a_long_history_is_raw_json_in_one_line() -> None:
    run = long_run(120).run
    assert run is not None
    short, long = (raw_json(run.step_runs[place].requests[0]) for place in (0, -1))
    assert short.startswith('{\n  "request": {\n    "model": "scripted",\n')
    assert "\n" not in long
    assert len(json.loads(long)["request"]["contents"]) == 120
