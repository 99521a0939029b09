"""The explorer's static twin and `%adk explore` where no widget can be drawn."""

import re

import pytest

from adknb import LlmAgent, LoopAgent, Run, RunConfig, Runner, ScriptedModel, SequentialAgent
from adknb.core.errors import SpecError
from adknb.notebook.bench import Bench
from adknb.notebook.explorer.comparisons import ComparisonExplorer
from adknb.notebook.explorer.explorer import Explorer
from adknb.notebook.explorer.static import explorer_html, explorer_text
from adknb.notebook.verbs.explore import explorer_of
from tests.factories import DRAFT
from tests.notebook.comparisons import ten
from tests.notebook.explored import MESSAGE, explored, ticket_bench, words
from tests.notebook.notebook import Notebook

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(1)">\x1b[31m\u202e'


def test_the_twin_holds_every_step_with_every_tabs_content() -> None:
    explorer = explored()
    html = explorer_html(explorer)
    text = words(html)
    assert re.findall(r"<summary><b>(\w+)</b>", html) == ["TriageAgent", "DraftAgent", "CheckAgent"]
    assert re.findall(r"<details open><summary><b>(\w+)</b>", html) == ["DraftAgent"]
    assert [text.count(f"Prompt of {name}") for name in ("TriageAgent", "DraftAgent", "CheckAgent")] == [1, 1, 1]
    for part in (
        "Reply of DraftAgent",
        "State around DraftAgent",
        "Raw: DraftAgent",
        "Events of this turn",
        "Tokens by request",
    ):
        assert text.count(part) >= 1, part
    assert MESSAGE in text
    assert DRAFT in text


def test_the_twin_before_a_run_shows_the_prompts_as_they_are_written() -> None:
    text = words(explorer_html(Explorer(ticket_bench(), "ticket")))
    assert "not run yet" in text
    assert "Classify the message. Reply with JSON only:" in text


def test_the_twin_keeps_an_edit_and_an_accepted_cell() -> None:
    explorer = explored()
    explorer.edit("Short: {triage}")
    assert "DraftAgent, edited and not written yet" in words(explorer_html(explorer))
    explorer.accept_edit()
    assert "%%agent DraftAgent --key draft --before-agent require_triage --pipeline ticket" in words(
        explorer_html(explorer)
    )


def test_a_long_runs_twin_is_bounded_and_says_what_it_leaves_out() -> None:
    loop = LoopAgent(name="loop", sub_agents=(LlmAgent(name="C", output_key="c"),), max_iterations=300)
    root = SequentialAgent(name="long", sub_agents=(loop,))
    run = Runner(root, model=ScriptedModel(lambda request: "word " * 2_000)).run(
        "Hi.", config=RunConfig(max_llm_calls=0)
    )
    html = explorer_html(Explorer(Bench(), "long", run))
    assert len(html) < 450_000
    assert re.search(r"Left out: \d+ steps, from C#\d+ to C#300\.", words(html))


def test_nothing_of_a_models_or_users_acts_in_the_twin() -> None:
    bench = Bench()
    bench.put_agent("p", "A", HOSTILE)
    bench.use(model=ScriptedModel({"A": [HOSTILE]}))
    explorer = Explorer(bench, "p")
    explorer.start(HOSTILE)
    explorer.edit(HOSTILE + "!")
    html = explorer_html(explorer)
    assert "<script" not in html
    assert "<img" not in html
    assert "\x1b" not in html + explorer_text(explorer)
    assert "\u202e" not in html + explorer_text(explorer)


def test_the_text_form() -> None:
    explorer = explored()
    assert explorer.run is not None
    assert explorer_text(explorer).splitlines() == [
        f"Explorer of ticket · run {explorer.run.id} · completed · 3 steps · rules java",
        "",
        "Step               Status     Tokens in  Tokens out  Writes",
        "ticket (sequence)",
        "· TriageAgent      completed         45          21  triage",
        "· DraftAgent       completed         86          15  draft",
        "· CheckAgent       completed         95           3  verdict",
        "",
        "Answer:",
        "  APPROVE",
        "",
        "More: %adk prompt DraftAgent, %adk state, %adk events, %adk tokens; a notebook in the browser opens it live.",
    ]


def test_the_verb_shows_text_in_a_terminal_and_returns_the_explorer(notebook: Notebook) -> None:
    notebook.three_agents()
    assert notebook.run("%adk explore").text.removeprefix("Out[0]: ").startswith("Explorer of p · not run yet\n")
    notebook.run("%%pipeline p\nHi.")
    output = notebook.run("%adk explore")
    assert output.text.removeprefix("Out[0]: ").startswith(
        f"Explorer of p · run {notebook.last.id} · completed · 3 steps"
    )
    assert output.value.explorer.run is notebook.last
    assert output.value.widget is None


def test_what_is_explored() -> None:
    bench = ticket_bench()

    def found(what: str | None) -> tuple[str, Run | None]:
        explorer = explorer_of(bench, what)
        assert isinstance(explorer, Explorer)
        return explorer.pipeline, explorer.run

    assert found(None) == ("ticket", None)
    assert found("ticket") == ("ticket", None)
    first, second = bench.run("ticket", "One."), bench.run("ticket", "Two.")
    bench.namespace["mine"] = first
    assert found(None) == ("ticket", second)
    assert found("ticket") == ("ticket", second)
    assert found("mine") == ("ticket", first)
    assert found(first.id[:6]) == ("ticket", first)


def test_a_comparison_is_explored_by_its_name_and_while_it_is_the_newest_result() -> None:
    bench = ticket_bench()
    bench.namespace["comparison"] = made = ten()
    assert isinstance(explorer_of(bench, "comparison"), ComparisonExplorer)
    bench.newest = made
    newest = explorer_of(bench, None)
    assert isinstance(newest, ComparisonExplorer)
    assert newest.comparison is made


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (
            "tickt",
            "there is no pipeline, run or variable 'tickt' to explore. Did you mean 'ticket'? %adk runs has the runs' ids.",
        ),
        ("number", "'number' is a variable of type int; explore takes a pipeline, a run or a comparison"),
    ],
)
def test_what_cannot_be_explored(what: str, message: str) -> None:
    bench = ticket_bench()
    bench.namespace["number"] = 1
    with pytest.raises(SpecError) as caught:
        explorer_of(bench, what)
    assert str(caught.value) == message
