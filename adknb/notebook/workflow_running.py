"""A workflow run in a cell: its timeline grows while it runs, and ends as the run's card, also when it fails or is stopped."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from adknb.notebook.bench import Bench
from adknb.notebook.command import Command, UsageError
from adknb.notebook.failures import mark_shown
from adknb.notebook.shown import display
from adknb.notebook.turn_line import start_state
from adknb.notebook.workflow_line import read_cell
from adknb.notebook.workflow_making import Making
from adknb.workflow.result import WorkflowResult
from adknb.workflow.workflow import SequentialWorkflow

REDRAW_SECONDS: Final = 0.25
"""So often is the timeline drawn anew while the run goes on."""
LAST: Final = "last"
"""What stands for the newest run that can be resumed."""


class Running:
    """Runs workflows on the bench, and shows them."""

    def __init__(self, bench: Bench, shell: Any) -> None:
        self._bench = bench
        self._in_front_end = shell is not None and hasattr(shell, "kernel")
        self._making = Making(bench)

    def cell(self, options: argparse.Namespace, body: str, step_line: Command) -> WorkflowResult:
        """Run what a cell asks for: the workflow on the input below its `%step` lines."""
        lines, given = read_cell(body, step_line)
        return self._run(options, given if given.strip() else None, self._making.workflow(options, lines))

    def line(self, options: argparse.Namespace) -> WorkflowResult:
        """Run what a line asks for: the workflow on a variable's value, or on from a checkpoint."""
        given, names = None, self._bench.namespace
        if options.input is not None:
            if options.input not in names:
                raise UsageError(
                    f"--input names {options.input!r}, which the notebook does not define. Run its cell first."
                )
            given = names[options.input]
        return self._run(options, given, self._making.workflow(options, {}))

    def resume(self, workflow: SequentialWorkflow, run_id: str, *, despite_changes: bool = False) -> WorkflowResult:
        """Go on with a run of the workflow, named by its id, the beginning of it, or `LAST`."""
        found = resumable(workflow, run_id)
        return self._shown(workflow, partial(workflow.resume, found, despite_changes=despite_changes))

    def _run(self, options: argparse.Namespace, given: Any, workflow: SequentialWorkflow) -> WorkflowResult:
        context = start_state(options.context, None, self._bench.namespace, "--context")
        if options.resume is None and given is None:
            raise UsageError(
                f"the input is missing: write it below %%workflow {options.workflow}, name a variable with --input, or go on "
                "with a run with --resume"
            )
        if options.resume is not None and (given is not None or context):
            raise UsageError(
                f"--resume {options.resume} goes on with what that run was given. Leave the input and --context out: "
                f"%workflow {options.workflow} --resume {options.resume}, or the cell with its %step lines alone"
            )
        if options.despite_changes and options.resume is None:
            raise UsageError(f"--despite-changes is for a run that goes on: %workflow {options.workflow} --resume last")
        before = self._bench.newest
        try:
            if options.resume is not None:
                return self.resume(workflow, options.resume, despite_changes=options.despite_changes)
            return self._shown(workflow, partial(workflow.run, given, context))
        finally:
            newest = self._bench.newest
            if options.out is not None and newest is not before:
                self._bench.namespace[options.out] = newest

    def _shown(self, workflow: SequentialWorkflow, work: Callable[[], WorkflowResult]) -> WorkflowResult:
        """The result of `work`, which is shown while it comes about, and noted also when it fails half-way."""
        before, shown = _first_event(workflow.last), _Shown(self._in_front_end)

        def so_far() -> WorkflowResult | None:
            last = workflow.last
            return last if _first_event(last) is not before else None

        with self._bench.busy():
            self._bench.workflow = workflow
            try:
                with shown.growing(so_far):
                    result = work()
            except BaseException as error:
                ended = getattr(error, "result", None) or so_far()
                if ended is not None:
                    self._bench.newest = ended
                    shown.show(ended)
                    mark_shown(error)
                raise
            self._bench.newest = result
        shown.show(result)
        return result


class _Shown:
    """What stands under the cell: one output, updated in place. A terminal gets the end alone."""

    def __init__(self, in_front_end: bool) -> None:
        self._in_front_end = in_front_end
        self._handle: Any = None
        self._later: asyncio.TimerHandle | None = None

    @contextmanager
    def growing(self, so_far: Callable[[], WorkflowResult | None]) -> Iterator[None]:
        """While the block runs, show what `so_far` gives every `REDRAW_SECONDS`."""
        if not self._in_front_end:
            yield
            return
        self._draw_later(so_far)
        try:
            yield
        finally:
            if self._later is not None:
                self._later.cancel()

    def _draw_later(self, so_far: Callable[[], WorkflowResult | None]) -> None:
        def draw() -> None:
            result = so_far()
            if result is not None:
                self.show(result)
            self._draw_later(so_far)

        self._later = asyncio.get_running_loop().call_later(REDRAW_SECONDS, draw)

    def show(self, result: WorkflowResult) -> None:
        if self._handle is not None:
            self._handle.update(result)
        elif self._in_front_end:
            self._handle = display(result, display_id=True)
        else:
            display(result)


def resumable(workflow: SequentialWorkflow, run_id: str) -> str:
    """The id of a run that can be resumed, given its beginning or `LAST`. What begins none is left as it is.

    Raises `UsageError` when there is none at all, or several begin so.
    """
    known = [checkpoint.run_id for checkpoint in workflow.checkpoints()]
    if not known:
        raise UsageError(
            f"no run of workflow {workflow.name!r} can be resumed: each has completed, or ran without checkpoints (--checkpoint "
            "in a cell, checkpoint=True in Python)."
        )
    if run_id == LAST:
        return known[-1]
    found = [each for each in known if each.startswith(run_id)]
    if len(found) > 1:
        raise UsageError(f"several runs begin with {run_id!r}: {', '.join(found)}. Write more of the id.")
    return found[0] if found else run_id


def _first_event(result: WorkflowResult | None) -> object:
    """What tells one run from another: a run that is resumed has the id that it had."""
    return result.events[0] if result is not None and result.events else None
