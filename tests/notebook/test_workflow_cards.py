"""The cards of workflows in both forms: a run, a plan, checkpoints. Hostile texts stay texts."""

from __future__ import annotations

import re
from base64 import b64decode

import pytest

from adknb.core.escape import visible
from adknb.core.views import card_html
from adknb.notebook.cards.text import WIDTH
from adknb.rules.resolve import resolve_rules
from adknb.workflow.checkpoints import Checkpoints
from adknb.workflow.data import PipelineData, PipelineMetadata
from adknb.workflow.observers import ObserverFault
from adknb.workflow.plan import Plan, plan
from adknb.workflow.result import WorkflowResult
from adknb.workflow.step import Step
from tests.browser.payloads import PAYLOADS
from tests.notebook.hostile_workflow import hostile, made, resumable
from tests.notebook.test_cards import ATTRIBUTES, TAGS, Reading
from tests.notebook.workflow_events import error, event, eventful

IMAGE = re.compile(r'<img class="adknb-chart adknb-drawn" src="data:image/svg\+xml;base64,([\w+/=]+)" alt="([^"<>]*)">')


def finished() -> WorkflowResult:
    data = PipelineData(
        "An article, raw.", PipelineMetadata(step_name="editing"), {"research_output": {"facts": []}},
        warnings=(error("no", "checking"),),
    )  # fmt: skip
    return made(eventful(), data=data, limit=50_000)


def planned() -> Plan:
    def join(data: PipelineData) -> str:
        return f"{data.context['one_output']}{data.context['two_output']}"

    steps = [Step(name=name, agent=str.upper, reads=("input",)) for name in ("one", "two")]
    return plan("news", [*steps, Step(name="join", agent=join)], resolve_rules("java"), max_parallel=2)


def parts(html: str) -> tuple[Reading, list[str]]:
    """A card without its pictures, and these."""
    return Reading(IMAGE.sub("", html)), [b64decode(source).decode() for source, _ in IMAGE.findall(html)]


# a run


def test_a_run_as_text() -> None:
    assert str(finished()).split("\n") == [
        "news: completed · 6 steps · 2.1 s · 2,155 of 50,000 tokens · 2 checkpoints · run run-1",
        "input: tides",
        "! checking failed, and the workflow went on: ModelError: no",
        "",
        "Step         Outcome           From  What happened",
        "research     completed       0.0 ms  ✗ attempt 1 · 400 ms · rate_limit: Too many requests",
        "                             400 ms  ‖ waits 300 ms",
        "                             700 ms  ✓ attempt 2 · 600 ms · 1,210 tokens",
        "writing      completed        1.3 s  ✓ attempt 1 · 800 ms · 940 tokens",
        "fact-check   skipped          2.1 s  ↷ skipped · its condition said no",
        "editing      fallback         2.1 s  ✗ attempt 1 · 20 ms · timeout: took longer than 20 ms",
        "                              2.1 s  ⤷ the fallback answered",
        "translating  from the cache   2.1 s  = from the cache",
        "checking     continued        2.1 s  ✗ attempt 1 · 9.0 ms · 5 tokens · ModelError: no",
        "                              2.1 s  ! goes on with the error as a warning",
        "",
        "Output, by editing",
        "  An article, raw.",
        "",
        "Context          Value",
        'research_output  {"facts": []}',
        "",
        "More: result.to_frame(), %adk workflow plan; %%workflow … --out result binds it",
    ]


def test_a_run_as_html_says_the_same_and_has_the_texts_behind_a_click() -> None:
    reading, pictures = parts(finished().to_html())
    assert len(pictures) == 1
    assert reading.open == []
    for said in (
        "completed", "6 steps · 2.1 s · 2,155 of 50,000 tokens · 2 checkpoints · run run-1", "Input: tides",
        "checking failed, and the workflow went on: ModelError: no", "✓ attempt 2 · 600 ms · 1,210 tokens",
        "Output, by editing", "Context: 1 value", "result.to_frame(), %adk workflow plan",
    ):  # fmt: skip
        assert said in reading.text
    assert "senttideserrorModelError: Too many requests" in reading.text
    assert 'senttideswrote{"facts": []}' in reading.text


def test_what_the_picture_shows_is_said() -> None:
    (found,) = IMAGE.findall(finished().to_html())
    assert found[1].startswith(
        "Timeline of 2.1 s. research from 0.0 ms: ✗ attempt 1 · 400 ms · rate_limit: Too many requests; research from 400 ms: ‖"
    )


def test_a_run_that_goes_on_has_no_output_yet() -> None:
    running = made(eventful()[:3], "running")
    text = str(running)
    assert text.startswith("news: running · 1 step · ")
    assert text.split("\n")[-1].endswith("… attempt 2")
    assert "Output" not in text
    assert "Output" not in parts(running.to_html())[0].text


def test_a_run_that_failed_shows_its_error_and_the_data() -> None:
    failed = made(
        eventful()[:2], "failed", error=ValueError("it is over"), faults=(ObserverFault(3, ValueError("seen"), 2),)
    )
    for said in (str(failed), parts(failed.to_html())[0].text):
        assert "it is over" in said
        assert "The data when it ended" in said
        assert "Observer int raised ValueError: seen, 2 times" in said


def test_a_long_output_is_one_click_away() -> None:
    text = "word " * 400
    reading, _ = parts(made(eventful(), data=PipelineData(text)).to_html())
    assert "2,000 characters" in reading.text
    assert text.strip() in reading.text


def test_a_run_that_can_be_resumed_says_how() -> None:
    stopped = made(eventful()[:6], "interrupted")
    hint = "Go on: workflow.resume('run-1'), or %adk workflow resume run-1"
    assert str(stopped).endswith(f"\n\n{hint}")
    assert parts(stopped.to_html())[0].text.endswith(hint)


def test_before_the_first_step() -> None:
    begun = made([], "running")
    assert str(begun).split("\n")[-1] == "No step has begun yet."
    assert "No step has begun yet." in parts(begun.to_html())[0].text


def test_a_refused_call_is_not_the_outcome() -> None:
    events = [
        event(0, 0, "a", "started"),
        event(1, 0, "a", "budget", error=error("too much", "a")),
        event(2, 0, "a", "failed", error=error("too much", "a")),
    ]
    assert '<span class="adknb-chip adknb-bad">failed</span></td>' in made(events, "failed").to_html()


# a plan


def test_a_plan_as_text() -> None:
    assert str(planned()).split("\n") == [
        "news: plan · 3 steps · in 2 groups · up to 2 at once",
        "",
        "Group  Step  Reads    Writes       Waits for",
        "    1  one   input    one_output",
        "    1  two   input    two_output",
        "    2  join  payload  join_output  one (payload, one_output), two (payload…",
    ]


def test_a_plan_as_html_draws_its_groups() -> None:
    reading, (picture,) = parts(planned().to_html())
    assert "one (payload, one_output), two (payload, two_output)" in reading.text
    assert picture.count('width="214"') == 3
    assert picture.count("at once") == 1
    assert picture.count("<polygon") == 1  # both of the first group lead to one line


def test_a_plan_of_steps_that_could_run_together() -> None:
    alone = Plan("news", planned().steps, planned().edges)
    assert "2 could run at once: max_parallel is 1" in str(alone)


# checkpoints


def test_checkpoints_in_both_forms() -> None:
    assert str(resumable()).split("\n") == [
        "news: checkpoints · 1 run can be resumed",
        "",
        "Run    Input  Begun (UTC)          Last stored (UTC)    Done              Next     Tokens",
        "tides  tides  2026-03-02 07:30:00  2026-03-02 07:30:00  1 of 2: research  writing   1,210",
        "",
        "Go on: workflow.resume('tides'), or %adk workflow resume tides",
    ]
    text = parts(resumable().to_html())[0].text
    assert "1 of 2: research" in text
    assert "%adk workflow resume tides" in text


def test_no_checkpoints() -> None:
    assert str(Checkpoints("news", [])) == "news: checkpoints · no run can be resumed"
    assert "no run can be resumed" in Checkpoints("news", []).to_html()


# hostile texts


@pytest.mark.parametrize("name", PAYLOADS)
def test_hostile_texts_are_texts(name: str) -> None:
    for _, view in hostile(PAYLOADS[name]):
        reading, pictures = parts(card_html(view))
        assert set(reading.tags) <= TAGS
        assert reading.attributes <= ATTRIBUTES
        assert reading.open == []
        for text in (str(view), reading.text, *pictures):
            assert visible(text) == text


def test_a_wide_table_of_checkpoints_keeps_to_the_terminal() -> None:
    assert max(map(len, str(resumable("a long run of words " * 20, "a long step " * 9)).split("\n"))) <= 4 * WIDTH
