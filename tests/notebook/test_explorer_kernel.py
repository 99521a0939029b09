"""The explorer in a real kernel: its two outputs, its comms, and what reaches it while a cell runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from adknb.notebook.explorer.opened import WIDGET
from tests.notebook.kernel import TIMEOUT, Kernel, Message

SETUP = """
import asyncio
from adknb import Content, LlmResponse

class Slow:
    name = "slow"
    async def generate_content_async(self, request, stream=False):
        if request.agent == "B":
            print("B was asked")
            await asyncio.sleep(60)
        yield LlmResponse(Content.model(f"said by {request.agent}"))

model = Slow()
"""
AGENTS = "%%agents p\n%agent A --key a\nAgent A.\n%agent B\nAgent B reads {a}."


@pytest.fixture(scope="module")
def written() -> Iterator[Kernel]:
    made = Kernel()
    for cell in (SETUP, "%adk use --model model", AGENTS):
        assert not made.errors(made.run(cell))
    yield made
    assert made.log() == []
    made.close()


def of(messages: list[Message], kind: str) -> list[dict[str, Any]]:
    return [message["content"] for message in messages if message["msg_type"] == kind]


def state_of(opened: list[dict[str, Any]], **wanted: str) -> str:
    """The comm of the widget whose state has these values."""
    for each in opened:
        state = each["data"]["state"]
        if all(state.get(name) == value for name, value in wanted.items()):
            return str(each["comm_id"])
    raise AssertionError(f"no widget has {wanted}")


class Open:
    """An explorer that a cell has opened, spoken to from a subshell, as JupyterLab does."""

    def __init__(self, kernel: Kernel, cell: str) -> None:
        self.kernel = kernel
        messages = kernel.run("%adk explore p", cell)
        assert not kernel.errors(messages)
        self.displays = [display["data"] for display in of(messages, "display_data")]
        self.closed = [content["comm_id"] for content in of(messages, "comm_close")]
        self.comms = of(messages, "comm_open")
        self.strip = state_of(self.comms, kind="strip")
        session, control = kernel.client.session, kernel.client.control_channel
        control.send(session.msg("create_subshell_request", {}))
        self.subshell = control.get_msg(timeout=TIMEOUT)["content"]["subshell_id"]

    def tell(self, comm: str, content: dict[str, Any]) -> None:
        data = {"method": "custom", "content": content}
        message = self.kernel.client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        message["header"]["subshell_id"] = self.subshell
        self.kernel.client.shell_channel.send(message)

    def until_drawn(self, words: str) -> None:
        """Wait until the strip is drawn with these words."""
        while True:
            message = self.kernel.client.get_iopub_msg(timeout=TIMEOUT)
            content = message["content"]
            is_drawn = message["msg_type"] == "comm_msg" and content["comm_id"] == self.strip
            if is_drawn and words in content["data"].get("state", {}).get("html", ""):
                return


def test_who_names_no_cells_gets_the_twin_alone(written: Kernel) -> None:
    messages = written.run("%adk explore p")
    (display,) = of(messages, "display_data")
    assert sorted(display["data"]) == ["text/html", "text/plain"]
    assert display["data"]["text/plain"].startswith("Explorer of p · not run yet\n")
    assert of(messages, "comm_open") == []


def test_a_front_end_gets_the_twin_and_the_widget(written: Kernel) -> None:
    opened = Open(written, "one")
    assert [sorted(display) for display in opened.displays] == [["text/html", "text/plain"], [WIDGET, "text/plain"]]
    assert opened.displays[1]["text/plain"] == ""
    assert opened.displays[1][WIDGET]["model_id"] in {each["comm_id"] for each in opened.comms}


def test_the_cell_run_again_closes_what_it_opened(written: Kernel) -> None:
    first = Open(written, "again")
    second = Open(written, "again")
    assert first.strip in second.closed
    assert second.strip not in second.closed


def test_a_step_is_selected_while_a_cell_runs(written: Kernel) -> None:
    opened = Open(written, "select")
    cell = written.send("print('begun'); import time; time.sleep(60)")
    written.follow(cell, lambda message: message["msg_type"] == "stream")
    opened.tell(opened.strip, {"what": "select", "value": "B"})
    opened.until_drawn('data-step="B" data-status="not run yet" role="option" aria-selected="true"')
    written.interrupt()
    assert written.errors(written.follow(cell)) == ["KeyboardInterrupt"]


def test_a_cells_run_fills_in_and_is_cancelled_from_the_explorer(written: Kernel) -> None:
    opened = Open(written, "cancel")
    cell = written.send("%%pipeline p\nHi.", "run")
    opened.until_drawn('data-step="B" data-status="running"')
    opened.tell(opened.strip, {"what": "select", "value": "A"})
    opened.until_drawn('data-step="A" data-status="completed" role="option" aria-selected="true"')
    opened.tell(state_of(opened.comms, description="Cancel"), {"event": "click"})
    assert written.errors(written.follow(cell)) == ["KeyboardInterrupt"]
    assert "interrupted" in written.text("import adknb; print(adknb.last.status)")
