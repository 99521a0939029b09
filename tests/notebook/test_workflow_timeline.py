"""What becomes of a workflow's events: the stretches, the tokens, and their picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings, strategies as st

from adknb.notebook.charts import DARK, INK, PAPER
from adknb.notebook.workflow_picture import COLOURS, ROWS, timeline_svg
from adknb.notebook.workflow_timeline import Stretch, Timeline, timeline
from adknb.workflow.data import PipelineData
from tests.browser.payloads import PAYLOADS
from tests.notebook.workflow_events import at, error, event, eventful

PICTURED = {"svg", "style", "rect", "text", "line", "polyline"}


def written(picture: str) -> list[str]:
    """The texts that stand in an SVG."""
    return [element.text or "" for element in ET.fromstring(picture).iter() if element.tag.endswith("}text")]


def shape(stretch: Stretch) -> tuple[str, str, str, float, float | None]:
    return stretch.step, stretch.kind, stretch.label, stretch.start, stretch.end


def test_every_policy_has_its_stretch() -> None:
    made = timeline(eventful(), limit=50_000)
    assert [shape(stretch) for stretch in made.stretches] == [
        ("research", "failed", "✗ attempt 1 · 400 ms · rate_limit: Too many requests", 0, 400),
        ("research", "waiting", "‖ waits 300 ms", 400, 700),
        ("research", "completed", "✓ attempt 2 · 600 ms · 1,210 tokens", 700, 1300),
        ("writing", "completed", "✓ attempt 1 · 800 ms · 940 tokens", 1300, 2100),
        ("fact-check", "skipped", "↷ skipped · its condition said no", 2100, 2100),
        ("editing", "failed", "✗ attempt 1 · 20 ms · timeout: took longer than 20 ms", 2100, 2120),
        ("editing", "fallback", "⤷ the fallback answered", 2120, 2130),
        ("translating", "cache", "= from the cache", 2130, 2130),
        ("checking", "failed", "✗ attempt 1 · 9.0 ms · 5 tokens · ModelError: no", 2131, 2140),
        ("checking", "continued", "! goes on with the error as a warning", 2140, 2140),
    ]
    assert made.ms == 2140
    assert list(made.spent) == [(1300, 1210), (2100, 2150), (2140, 2155)]
    assert (made.tokens, made.limit, made.checkpoints) == (2155, 50_000, 2)


def test_an_attempt_has_what_it_was_sent_wrote_and_raised() -> None:
    failed, waited, completed, *_ = timeline(eventful()).stretches
    assert (failed.sent, failed.wrote, failed.error) == ("tides", None, "ModelError: Too many requests")
    assert [waited.sent, waited.wrote, waited.error] == [None] * 3
    assert (completed.sent, completed.wrote, completed.error) == ("tides", '{"facts": []}', None)


def test_what_goes_on_has_no_end_and_what_was_left_open_was_stopped() -> None:
    begun = eventful()[:3]
    running = timeline(begun, now=at(900))
    assert [(each.kind, each.end) for each in running.stretches] == [
        ("failed", 400),
        ("waiting", 700),
        ("running", None),
    ]
    assert running.ms == 900
    stopped = timeline(begun)
    assert shape(stopped.stretches[-1]) == ("research", "stopped", "■ attempt 2 · stopped", 700, 700)
    waiting = timeline(begun[:2], now=at(600))
    assert shape(waiting.stretches[-1]) == ("research", "waiting", "‖ waits 300 ms", 400, None)


def test_events_of_the_run_itself_give_its_time_alone() -> None:
    whole = [event(-10, -1, "", "run_started"), *eventful(), event(2160, -1, "", "run_completed", tokens=2155)]
    made = timeline(whole)
    assert (made.ms, made.tokens, len(made.stretches)) == (2170, 2155, 10)
    assert made.stretches[0].start == 10


def test_steps_that_run_at_once_stay_apart() -> None:
    events = [
        event(0, 1, "b", "started"),
        event(0, 0, "a", "started"),
        event(30, 0, "a", "completed", tokens=3),
        event(20, 1, "b", "completed", tokens=2),  # an event may be told late
    ]
    made = timeline(events)
    assert [(each.step, each.start, each.end) for each in made.stretches] == [("a", 0, 30), ("b", 0, 20)]
    assert made.ms == 30


def test_a_refused_call_and_a_resumed_step() -> None:
    made = timeline(
        [
            event(0, 0, "a", "resumed", 0, data=PipelineData("kept")),
            event(1, 1, "b", "waiting", 0, detail="for room"),
            event(5, 1, "b", "started"),
            event(6, 1, "b", "budget", detail="the prompt has 90 tokens, 3 are left"),
            event(7, 1, "b", "failed", error=error("over the budget", "b", "validation")),
        ]
    )
    assert [shape(stretch) for stretch in made.stretches] == [
        ("a", "resumed", "↻ read from its checkpoint", 0, 0),
        ("b", "waiting", "‖ waits: for room", 1, 5),
        ("b", "failed", "✗ attempt 1 · 2.0 ms · validation: over the budget", 5, 7),
        ("b", "note", "· token budget · the prompt has 90 tokens, 3 are left", 6, 6),
    ]


def test_a_condition_and_a_fallback_that_fail() -> None:
    made = timeline(
        [
            event(0, 0, "a", "failed", 0, error=error("no such key", "a")),
            event(0, 1, "b", "started"),
            event(5, 1, "b", "failed", error=error("down", "b")),
            event(9, 1, "b", "failed", error=error("down too", "b"), detail="the fallback failed too"),
        ]
    )
    assert [shape(stretch) for stretch in made.stretches] == [
        ("a", "failed", "✗ before any attempt · 0.0 ms · ModelError: no such key", 0, 0),
        ("b", "failed", "✗ attempt 1 · 5.0 ms · ModelError: down", 0, 5),
        ("b", "failed", "✗ attempt 1 · 4.0 ms · the fallback failed too; ModelError: down too", 5, 9),
    ]


def test_the_picture_has_a_bar_and_words_for_each() -> None:
    made = timeline(eventful(), limit=50_000)
    picture = timeline_svg(made)
    words = written(picture)
    assert [each.label for each in made.stretches] == [word for word in words if word[:1] in "✗‖✓↷⤷=!"]
    assert [word for word in words if word in ("research", "writing", "fact-check", "editing", "translating")] == [
        "research", "writing", "fact-check", "editing", "translating",
    ]  # fmt: skip
    assert "2,155 of 50,000 used; the dashed line is the limit" in words
    assert picture.count(f'fill="{COLOURS["completed"]}"') == 2
    assert picture.count('stroke-dasharray="3 2"') == 1
    assert words[-5:] == ["0", "535 ms", "1.1 s", "1.6 s", "2.1 s"]


def test_no_tokens_stand_on_the_axis() -> None:
    root = ET.fromstring(timeline_svg(timeline(eventful(), limit=50_000)))
    (spent,) = (each.attrib["points"] for each in root.iter() if each.tag.endswith("polyline"))
    *_, axis = (each.attrib["y1"] for each in root.iter() if each.tag.endswith("line") and "points" not in each.attrib)
    assert spent.split()[0].partition(",")[2] == axis


def test_tokens_without_a_limit_and_no_tokens() -> None:
    assert "2,155 used, no limit" in written(timeline_svg(timeline(eventful())))
    assert "tokens" not in written(timeline_svg(timeline([event(0, 0, "a", "started"), event(1, 0, "a", "completed")])))


def test_many_rows_are_cut_in_the_middle_and_said() -> None:
    many = [each for number in range(100) for each in (event(number, number, f"s{number}", "skipped", 0),)]
    words = written(timeline_svg(timeline(many)))
    assert f"… {100 - ROWS} more …" in words
    assert ("s0" in words, "s50" in words, "s99" in words) == (True, False, True)


def test_nothing_yet() -> None:
    assert timeline([]) == Timeline((), 0.0)
    ET.fromstring(timeline_svg(timeline([])))


def test_a_dark_page_has_other_colours() -> None:
    picture = timeline_svg(timeline(eventful()))
    assert f'[fill="{PAPER}"]{{fill:{DARK[PAPER]}}}' in picture
    assert f'[fill="{INK}"]{{fill:{DARK[INK]}}}' in picture


def hostile(payload: str) -> Timeline:
    return timeline(
        [
            event(0, 0, payload, "started", data=PipelineData(payload)),
            event(1, 0, payload, "failed", error=error(payload, payload, payload), detail=payload),
        ]
    )


@pytest.mark.parametrize("name", PAYLOADS)
def test_hostile_texts_are_text_in_the_picture(name: str) -> None:
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(timeline_svg(hostile(PAYLOADS[name]))).iter()}
    assert tags <= PICTURED


@settings(max_examples=60)
@given(st.text(max_size=60))
def test_any_text_gives_well_formed_pictures(text: str) -> None:
    ET.fromstring(timeline_svg(hostile(text or "x")))
