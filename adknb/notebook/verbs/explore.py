"""`%adk explore`: the widget, on a pipeline, a run or a comparison."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any, Final

from adknb.compare.comparison import Comparison
from adknb.core.errors import RunStateError, SpecError, near_names
from adknb.core.run import Run
from adknb.notebook.bench import Bench
from adknb.notebook.command import Argument, Command
from adknb.notebook.explorer.comparisons import ComparisonExplorer
from adknb.notebook.explorer.explorer import Explorer
from adknb.notebook.variables import is_agent, users_names

if TYPE_CHECKING:
    from adknb.notebook.explorer.opened import Opened


def explore(bench: Bench, options: Namespace) -> Opened:
    from adknb.notebook.explorer.opened import Opened

    return Opened(explorer_of(bench, options.what))


def explorer_of(bench: Bench, what: str | None) -> Explorer | ComparisonExplorer:
    """An explorer of what a user names: a pipeline, a variable that holds a run or a comparison, a run's id or the beginning
    of it; without a name the newest result, or the pipeline in use.

    Raises `SpecError` with the near names.
    """
    if what is None:
        if isinstance(bench.newest, Comparison):
            return ComparisonExplorer(bench.newest)
        return Explorer(bench, bench.pipeline().name) if bench.last is None else _of_run(bench, bench.last)
    if what in bench.pipelines:
        return _of_pipeline(bench, what)
    value = bench.namespace.get(what)
    if isinstance(value, Run):
        return _of_run(bench, value)
    if isinstance(value, Comparison):
        return ComparisonExplorer(value)
    if is_agent(value):
        return _of_pipeline(bench, what)
    if value is not None:
        raise SpecError(
            f"{what!r} is a variable of type {type(value).__name__}; explore takes a pipeline, a run or a comparison"
        )
    try:
        return _of_run(bench, bench.record(what).run)
    except RunStateError as error:
        if str(error).startswith("several"):
            raise
    near = near_names(what, [*bench.pipelines, *users_names(bench.namespace, is_explored)])
    raise SpecError(f"there is no pipeline, run or variable {what!r} to explore.{near} %adk runs has the runs' ids.")


def is_explored(value: Any) -> bool:
    """Whether a variable's value can be explored."""
    return isinstance(value, (Run, Comparison)) or is_agent(value)


def _of_run(bench: Bench, run: Run) -> Explorer:
    record = next((record for record in bench.records if record.run is run), None)
    return Explorer(bench, record.pipeline if record is not None else run.root.name, run)


def _of_pipeline(bench: Bench, name: str) -> Explorer:
    bench.root(name)
    runs = [record.run for record in bench.records if record.pipeline == name]
    return Explorer(bench, name, runs[-1] if runs else None)


COMMAND: Final = Command(
    "%adk explore",
    "A widget: the pipeline step by step, to look into, edit a prompt and run from there.",
    explore,
    (
        Argument(
            "what",
            "a pipeline, a run's id, or a variable with a run or a comparison; without it the newest",
            "?",
            "explored",
        ),
    ),
    (),
    ("%adk explore", "%adk explore ticket"),
)
