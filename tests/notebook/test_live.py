"""A run that is shown while it goes on: one output, every change shown, the rest at its end."""

import asyncio
import re
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any

import pytest

from adknb import Content, LlmRequest, LlmResponse, ModelError, Run
from adknb.notebook import live
from adknb.notebook.bench import Bench
from adknb.notebook.pipelines import AgentOptions
from adknb.notebook.records import TurnRequest
from tests.notebook.test_cards import Reading


class Shown:
    """Stands in for IPython's display: keeps every drawing of the one output."""

    def __init__(self) -> None:
        self.outputs = 0
        self.drawings: list[tuple[str, str]] = []

    def display(self, run: Run, display_id: bool = False) -> Any:
        self.outputs += 1
        self.update(run)
        return self

    def update(self, run: Run) -> None:
        self.drawings.append((str(run), run.to_html()))


class Waiting:
    """Answers at once, but for agent B: only when the table shows that B is running."""

    name = "waiting"

    def __init__(self, shown: Shown, fails: bool = False) -> None:
        self._shown = shown
        self._fails = fails

    async def generate_content_async(
        self, request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        if request.agent == "B":
            for _ in range(1_000):
                if any("B     running" in text for text, _ in self._shown.drawings):
                    break
                await asyncio.sleep(0.01)
            else:
                raise AssertionError("the table never showed B running")
            if self._fails:
                raise ModelError("the model is gone")
        yield LlmResponse(Content.model(f"said by {request.agent}"))


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    shown = Shown()
    monkeypatch.setattr(live, "display", shown.display)
    return shown


def bench(model: Any) -> Bench:
    made = Bench()
    made.put_agent("p", "A", "Say.", AgentOptions(key="a"))
    made.put_agent("p", "B", "Use {a}", AgentOptions(key="b"))
    made.use(model=model)
    return made


def test_rows_fill_in_and_a_running_step_says_so(shown: Shown) -> None:
    made = bench(Waiting(shown))
    with live.LiveRun(made, SimpleNamespace(kernel=None)) as watched:
        watched.show(made.run("p", TurnRequest("Hi.")))
    assert shown.outputs == 1
    running, html = next(drawing for drawing in shown.drawings if "B     running" in drawing[0])
    lines = running.splitlines()
    assert lines[0].startswith("p: running · 2 steps · ")
    assert [line.split()[:2] for line in lines[3:6]] == [["Step", "Status"], ["A", "completed"], ["B", "running"]]
    assert len(lines) == 6  # neither answer nor state yet
    assert "State" not in Reading(html).text
    assert shown.drawings[-1][0].startswith("p: completed · 2 steps · ")
    assert "Final answer, by B\n  said by B" in shown.drawings[-1][0]
    assert made.observer is None


def test_a_run_that_fails_ends_as_its_card(shown: Shown) -> None:
    made = bench(Waiting(shown, fails=True))
    with pytest.raises(ModelError), live.LiveRun(made, SimpleNamespace(kernel=None)):
        made.run("p", TurnRequest("Hi."))
    assert shown.outputs == 1
    assert shown.drawings[-1][0].startswith("p: failed · 2 steps · ")


def test_a_terminal_gets_the_end_alone(shown: Shown) -> None:
    made = bench("echo")
    with live.LiveRun(made, SimpleNamespace()) as watched:
        watched.show(made.run("p", TurnRequest("Hi.")))
    assert [text.split(" · ")[0] for text, _ in shown.drawings] == ["p: completed"]


def test_a_step_before_its_request_has_no_numbers_yet() -> None:
    run = bench("echo").run("p", TurnRequest("Hi."))
    run.status = run.step_runs[1].status = "running"
    assert re.split("  +", str(run).splitlines()[-1])[:4] == ["B", "running", "26", "b"]
    run.step_runs[1].requests.clear()
    assert re.split("  +", str(run).splitlines()[-1]) == ["B", "running", "b"]
