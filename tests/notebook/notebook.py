"""A notebook in this process: cells with ids, in an IPython shell of its own."""

from __future__ import annotations

import atexit
from dataclasses import dataclass
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from adknb.core.run import Run
from adknb.models.scripted import ScriptedModel
from adknb.notebook.bench import Bench
from adknb.notebook.failures import CellFailed
from adknb.notebook.magics import register
from adknb.sessions.memory import SharedValues


@dataclass
class Output:
    """What a cell came to. `text` is all that it showed, `value` what its last line returned."""

    value: Any
    text: str
    error: BaseException | None


class Notebook:
    """Runs cells, and remembers what they showed. The bench's model answers each agent with its name and a number."""

    def __init__(self, capture: Any) -> None:
        self._capture = capture
        InteractiveShell.clear_instance()
        self.shell: Any = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
        self.shell.colors = "nocolor"
        self.bench = Bench()
        register(self.shell, self.bench)
        self.names = self.shell.user_ns
        self.names["model"] = ScriptedModel(lambda request: f"{request.agent} says {request.ordinal + 1}")
        self.bench.use(model=self.names["model"])
        self.bench._undo.clear()

    def close(self) -> None:
        self.shell.history_manager.end_session()
        InteractiveShell.clear_instance()
        atexit.unregister(
            self.shell.atexit_operations
        )  # or each of hundreds of shells collects garbage at the very end

    def cell(self, text: str, id: str | None = None) -> Output:
        """Run a cell; `id` is the front end's."""
        self._capture.readouterr()
        result = self.shell.run_cell(text, store_history=False, cell_id=id)
        shown = self._capture.readouterr()
        return Output(result.result, shown.out + shown.err, result.error_before_exec or result.error_in_exec)

    def run(self, text: str, id: str | None = None) -> Output:
        """Run a cell that must not fail."""
        output = self.cell(text, id)
        assert output.error is None, output.text
        return output

    def fail(self, text: str, id: str | None = None) -> str:
        """Run a cell that must fail with a card; returns the error's message. The bench is as it was before."""
        before = self.state()
        output = self.cell(text, id)
        assert isinstance(output.error, CellFailed), output
        assert str(output.error) in output.text.replace("\n  ", "\n")
        assert self.state() == before
        return f"{type(output.error.error).__name__}: {output.error}"

    def state(self) -> Any:
        """Everything that a mistake must not change."""
        bench = self.bench
        shared = bench.home.shared_values() or SharedValues({}, {})
        return (
            dict(bench.pipelines), bench.settings, bench.records, bench.current, dict(bench.sessions), len(bench._undo),
            bench.newest,
            [(dict(run.session.state), [event.id for event in run.session.history], run.stale) for run in bench.runs],
            dict(shared.app), dict(shared.user),
            {name: value for name, value in self.names.items() if not name.startswith("_")},
        )  # fmt: skip

    def three_agents(self) -> None:
        self.run("%%agent A --pipeline p --key a\nAgent A.", "A")
        self.run("%%agent B --key b\nAgent B reads {a}.", "B")
        self.run("%%agent C --key c\nAgent C reads {b}.", "C")

    @property
    def last(self) -> Run:
        assert self.bench.last is not None
        return self.bench.last

    def prompt(self, name: str) -> str:
        """The system instruction that the last run's step was sent, without the identity text."""
        text = self.last.step(name).requests[0].sent.system_instruction or ""
        return text.partition("\n\nYou are an agent.")[0]
