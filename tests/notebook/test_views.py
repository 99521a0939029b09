"""Tables for reading: a run's tables as stylers."""

from typing import Any

import pytest

from adknb import RunStateError
from adknb.core.run import Run
from tests.factories import ticket_run
from tests.notebook.test_cards import HOSTILE, TAGS, Reading, hostile_run, stale_run


def drawn(run: Run, name: str) -> str:
    """A view as a front end gets it."""
    styler: Any = run.view(name)
    return str(styler._repr_html_())


def test_a_view_is_a_styler_without_the_empty_columns() -> None:
    styler: Any = stale_run().view("steps")
    assert list(styler.data.columns) == [
        "step", "status", "requests", "ms", "input_tokens", "output_tokens", "cumulative", "key", "model", "counted_by",
        "stale", "note",
    ]  # fmt: skip
    headings = [part.splitlines()[0].split() for part in repr(styler).split("\n\n")]  # too wide for one part
    assert [*headings[0], *headings[1][1:]] == list(styler.data.columns)
    html = drawn(stale_run(), "steps")
    assert '<span class="adknb-chip adknb-warn">triage: turn 1</span>' in html
    assert ">2.0 ms</td>" in html
    assert "output tokens</th>" in html


NAMES = ["state", "state_history", "events", "steps", "tokens", "prompt DraftAgent", "prompt DraftAgent 1"]


@pytest.mark.parametrize("name", NAMES)
def test_every_table_has_a_view(name: str) -> None:
    html = drawn(stale_run(), name)
    assert html.startswith('<div class="adknb mathjax_ignore')
    assert "Charged twice" in html or "DraftAgent" in html


def test_a_view_of_a_prompt_asks_whose() -> None:
    with pytest.raises(RunStateError, match="has no step 'Draft'"):
        ticket_run().view("prompt Draft")
    with pytest.raises(Exception, match=r"a prompt is a step's: name it, as in view\('prompt DraftAgent'\)"):
        ticket_run().view("prompt")


@pytest.mark.parametrize("payload", HOSTILE, ids=range(len(HOSTILE)))
def test_a_view_escapes_too(payload: str) -> None:
    run = hostile_run(payload)
    for name in ["state", "state_history", "events", "steps", "tokens", "prompt B"]:
        html = drawn(run, name)
        assert set(Reading(html).tags) <= TAGS
        assert not {name for name in Reading(html).attributes if name.startswith("on")}
        html.encode("utf-8")


def test_a_table_without_rows_says_so() -> None:
    run = stale_run()
    styler: Any = run.view("pending")
    assert (len(run.pending), repr(styler)) == (0, "No rows.")
    assert '<div class="adknb-dim">No rows.</div>' in drawn(run, "pending")
    assert "No rows." not in drawn(run, "steps")
