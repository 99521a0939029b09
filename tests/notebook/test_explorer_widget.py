"""The explorer's widgets without a front end: what each does, what is sent, and what goes on in a thread of its own."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest
from ipykernel.comm import comm as ipykernel_comm

from adknb import Content, LlmRequest, LlmResponse, ScriptedModel
from adknb.notebook.bench import Bench
from adknb.notebook.explorer.explorer import Explorer
from adknb.notebook.explorer.opened import Opened
from adknb.notebook.explorer.parts import Part, answer_anywhere
from adknb.notebook.explorer.widget import INTERRUPT, ExplorerWidget
from adknb.notebook.pipelines import AgentOptions
from adknb.notebook.records import TurnRequest
from tests.factories import TRIAGE
from tests.notebook.explored import MESSAGE, explored, ticket_bench, words

SECONDS = 20


class Waiting:
    """Streams the beginning of B's reply, then waits until it is let go; A answers at once."""

    name = "waiting"

    def __init__(self) -> None:
        self.started = threading.Event()
        self.go_on = threading.Event()

    async def generate_content_async(
        self, request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        if request.agent == "B":
            if stream:
                yield LlmResponse(Content.model("Half a "), partial=True)
            self.started.set()
            while not self.go_on.is_set():
                await asyncio.sleep(0.01)
        yield LlmResponse(Content.model(f"said by {request.agent}"))


@pytest.fixture
def widget() -> Iterator[ExplorerWidget]:
    made = ExplorerWidget(explored())
    yield made
    made.close()


@pytest.fixture
def waiting() -> Iterator[tuple[Waiting, ExplorerWidget]]:
    bench, model = Bench(), Waiting()
    bench.put_agent("p", "A", "Say.", AgentOptions(key="a"))
    bench.put_agent("p", "B", "Use {a}", AgentOptions(key="b"))
    bench.use(model=model, stream=True)
    made = ExplorerWidget(Explorer(bench, "p"))
    yield model, made
    model.go_on.set()
    made.wait()
    made.close()


def find(widget: ExplorerWidget, name: str) -> Any:
    """The button of an operation."""
    found = [each for each in every(widget.box) if f"adknb-do-{name}" in getattr(each, "_dom_classes", ())]
    return found[0]


def every(box: Any) -> Iterator[Any]:
    yield box
    for child in getattr(box, "children", ()):
        yield from every(child)


def menu(widget: ExplorerWidget, description: str) -> Any:
    return next(each for each in every(widget.box) if getattr(each, "description", None) == description)


def parts(widget: ExplorerWidget) -> tuple[Part, Part]:
    strip, editor = (each for each in every(widget.box) if isinstance(each, Part))
    return strip, editor


def tell(part: Part, what: str, value: Any = None) -> None:
    """What the browser sends."""
    part._handle_custom_msg({"what": what, "value": value}, [])


def shown(widget: ExplorerWidget) -> str:
    return words(" ".join(each.value for each in every(widget.box) if type(each).__name__ == "HTML"))


def test_a_selected_step_and_an_opened_tab_are_drawn(widget: ExplorerWidget) -> None:
    strip, _ = parts(widget)
    tell(strip, "select", "CheckAgent")
    assert 'data-step="CheckAgent" data-status="completed" role="option" aria-selected="true"' in strip.html
    assert "Prompt of CheckAgent" in shown(widget)
    tabs = next(each for each in every(widget.box) if type(each).__name__ == "ToggleButtons")
    tabs.value = "Reply"
    assert "Reply of CheckAgent" in shown(widget)


def test_an_edit_is_linted_and_run_from_here(widget: ExplorerWidget) -> None:
    _, editor = parts(widget)
    tell(editor, "edit", "Short: {triage} {nobody?}")
    assert editor.data["stretches"] == [
        ["Short: ", "text"], ["{triage}", "placeholder"], [" ", "text"], ["{nobody?}", "optional"],
    ]  # fmt: skip
    before = widget.explorer.run
    find(widget, "run_from_here").click()
    widget.wait()
    explorer = widget.explorer
    assert explorer.run is not None
    assert explorer.run is explorer.bench.last
    assert explorer.run.step("DraftAgent").requests[0].sent.system_instruction == (
        f'Short: {TRIAGE} \n\nYou are an agent. Your internal name is "DraftAgent".'
    )
    assert explorer.selected == "DraftAgent"
    assert menu(widget, "Run").value == explorer.run.id
    assert before is not None
    assert menu(widget, "Against").value == before.id


def test_an_accepted_edit_shows_its_cell(widget: ExplorerWidget) -> None:
    tell(parts(widget)[1], "edit", "Short: {triage}")
    find(widget, "accept_edit").click()
    assert "%%agent DraftAgent --key draft --before-agent require_triage --pipeline ticket\nShort: {triage}" in shown(
        widget
    )
    assert find(widget, "accept_edit").disabled


def test_a_discarded_edit_is_gone(widget: ExplorerWidget) -> None:
    _, editor = parts(widget)
    tell(editor, "edit", "Short: {triage}")
    assert editor.data["edited"]
    tell(editor, "discard")
    assert not editor.data["edited"]
    assert editor.data["text"] == widget.explorer.prompt


def test_the_strategy_switch_and_two_runs_compared(widget: ExplorerWidget) -> None:
    menu(widget, "Strategy").value = "none"
    assert "saves 4 of 86 tokens (5 %)" in shown(widget)
    first = widget.explorer.run
    assert first is not None
    find(widget, "run_from_here").click()
    widget.wait()
    menu(widget, "Against").value = ""
    menu(widget, "Against").value = first.id
    assert f"Runs {first.id} and " in shown(widget)


def test_undo_and_a_mistake_are_said(widget: ExplorerWidget) -> None:
    run = widget.explorer.run
    assert run is not None
    find(widget, "undo").click()
    assert f"Undone: run {run.id} of ticket." in shown(widget)
    assert find(widget, "run_from_here").disabled
    tell(parts(widget)[0], "select", "Nobody")
    assert "there is no step 'Nobody' to select." in shown(widget)


def test_a_run_made_in_a_cell_is_taken_in(widget: ExplorerWidget) -> None:
    made = widget.explorer.bench.run("ticket", "From a cell.")
    widget.refresh()
    assert menu(widget, "Run").value == made.id


def test_a_start_takes_the_message() -> None:
    widget = ExplorerWidget(Explorer(ticket_bench(), "ticket"))
    find(widget, "start").click()
    assert "Write the user's message first." in shown(widget)
    next(each for each in every(widget.box) if type(each).__name__ == "Textarea").value = MESSAGE
    find(widget, "start").click()
    widget.wait()
    assert widget.explorer.run is not None
    assert widget.explorer.run.message.text == MESSAGE
    widget.close()


def test_a_run_fills_in_while_it_goes_on_and_is_cancelled(waiting: tuple[Waiting, ExplorerWidget]) -> None:
    model, widget = waiting
    explorer = widget.explorer
    next(each for each in every(widget.box) if type(each).__name__ == "Textarea").value = "Hi."
    find(widget, "start").click()
    assert model.started.wait(SECONDS)
    tell(parts(widget)[0], "tab", "Reply")
    assert 'data-step="A" data-status="completed"' in parts(widget)[0].html
    assert 'data-step="B" data-status="running"' in parts(widget)[0].html
    assert "Half a " in shown(widget)
    assert parts(widget)[0].data["running"]
    cancel = find(widget, "cancel")
    assert (cancel.disabled, cancel.description) == (False, "Cancel")
    find(widget, "start").click()
    assert "The explorer is running something already." in shown(widget)
    cancel.click()
    widget.wait()
    assert explorer.run is not None
    assert (explorer.run.status, explorer.run.step("B").status) == ("interrupted", "interrupted")
    assert explorer.run is explorer.bench.last
    assert "Cancelled." in shown(widget)


def test_while_the_bench_is_busy_a_button_says_so_and_loses_nothing(widget: ExplorerWidget) -> None:
    before = widget.explorer.run
    with widget.explorer.bench.busy():
        find(widget, "run_from_here").click()
        widget.wait()
        assert "the bench is running something already" in shown(widget)
    assert widget.explorer.run is before
    assert not find(widget, "run_from_here").disabled


def test_a_cells_run_shows_and_without_subshells_only_the_kernel_can_end_it(
    waiting: tuple[Waiting, ExplorerWidget],
) -> None:
    model, widget = waiting
    cell = threading.Thread(target=lambda: widget.explorer.bench.run("p", "From a cell."))
    cell.start()
    assert model.started.wait(SECONDS)
    widget.draw()
    cancel = find(widget, "cancel")
    assert (cancel.description, cancel.disabled) == (INTERRUPT, True)
    teller = threading.Thread(target=lambda: tell(parts(widget)[0], "select", "A"))  # a subshell's thread
    teller.start()
    teller.join()
    assert (cancel.description, cancel.disabled) == ("Cancel", False)
    model.go_on.set()
    cell.join()
    widget.refresh()
    assert widget.explorer.run is widget.explorer.bench.last
    assert cancel.disabled


def test_whoever_spoke_last_a_front_ends_words_go_to_the_subshell_that_it_names() -> None:
    comm: Any = ipykernel_comm.BaseComm(primary=False)  # type: ignore[no-untyped-call]
    answer_anywhere(comm)
    comm._reply_subshell_id = None  # as ipykernel 7.4 notes it in the middle of a draw by the main shell
    assert comm._reply_subshell_for({"method": "custom", "content": {"event": "click"}}, "subshell") == "subshell"


def test_a_closed_widget_hears_nothing_more() -> None:
    widget = ExplorerWidget(explored())
    widget.close()
    beat = parts(widget)[0].beat
    widget.explorer.bench.run("ticket", "Another.")
    assert parts(widget)[0].beat == beat


def test_a_thousand_events_are_less_than_a_megabyte_for_the_browser() -> None:
    bench = Bench()
    for name in ("A", "B", "C"):
        bench.put_agent("p", name, f"Agent {name} {{a?}}", AgentOptions(key=name.lower()))
    bench.use(model=ScriptedModel(lambda request: "A long reply, said again and again. " * 40))
    for number in range(250):
        run = bench.run("p", TurnRequest(f"Message {number}.", session="s"))
    assert len(run.session.history) == 1_000
    opened = Opened(Explorer(bench, "p", run))
    widget = ExplorerWidget(Explorer(bench, "p", run))
    states = [
        part.get_state()
        for each in every(widget.box)
        for part in (each, each.layout, getattr(each, "style", None))
        if part is not None
    ]
    sent = sum(len(json.dumps(state, default=str)) for state in states) + len(opened.to_html())
    assert sent < 1_000_000
    widget.close()
