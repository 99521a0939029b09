"""The explorer of a run that waits for a person: it says for what and how to answer, live, saved and as text; then when it was."""

from __future__ import annotations

from adknb import Run
from adknb.notebook.bench import Bench
from adknb.notebook.explorer.explorer import Explorer
from adknb.notebook.explorer.panes import state_pane
from adknb.notebook.explorer.static import explorer_html, explorer_text
from adknb.notebook.explorer.widget import ExplorerWidget
from adknb.notebook.records import TurnRequest
from tests.notebook.explored import words
from tests.runtime.asking import asks, replies, three

LINE = 'Waiting for ask({"question":"ok?"}), asked by B. Answer: %adk answer VALUE, or Runner.answer(\'call-1\', …)'


def waiting(*calls: object) -> Explorer:
    bench = Bench({"p": three()})
    bench.use(model=replies(B=[list(calls) or [asks()]]), resumable=True)
    bench.run("p", TurnRequest("go", session="chat"))
    return Explorer(bench, "p", bench.last)


def test_what_it_waits_for_and_how_it_is_answered() -> None:
    explorer = waiting()
    assert explorer.selected == "B"
    assert f"! {LINE}" in explorer_text(explorer).splitlines()
    assert words(explorer_html(explorer)).count(LINE) == 1
    widget = ExplorerWidget(explorer)
    assert LINE in words(widget._says.value)
    assert "? waiting" in words(widget._strip.html)
    assert {name for name, enabled in explorer.may().items() if enabled} == {"run_from_here", "rewind", "undo", "start"}
    widget.close()


def test_afterwards_it_says_when_it_was_answered() -> None:
    explorer = waiting()
    widget = ExplorerWidget(explorer)
    first = explorer.run
    assert isinstance(first, Run)
    explorer.bench.answer([(None, "yes")])
    widget.refresh()
    assert explorer.run is explorer.bench.last
    assert explorer.waits_for == []
    explorer.show(first)
    widget.draw()
    assert 'Waited for ask({"question":"ok?"}), asked by B; answered in turn 2' in words(widget._says.value)
    widget.close()


def test_of_many_calls_the_first_are_told() -> None:
    explorer = waiting(*(asks(id=f"call-{number}") for number in range(8)))
    assert [line.partition(", or")[0].rpartition(" ")[0].rpartition(" ")[2] for line in explorer.waits_for[:5]] == [
        f"call-{number}" for number in range(5)
    ]
    assert explorer.waits_for[5:] == ["3 more: %adk pending"]


def test_every_column_of_the_state_has_a_heading() -> None:
    html = state_pane(waiting().at("A")).html
    assert 'scope="col"></th>' not in html
    assert words(html).startswith("State around A 1 of 1 key changedKeyChangeBeforeAfter")
