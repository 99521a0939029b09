"""`%adk workflow`: what a workflow's last run did, its plan, and its checkpoints."""

from __future__ import annotations

from argparse import Namespace
from typing import Final

from adknb.core.errors import near_names
from adknb.core.views import Viewed
from adknb.notebook.bench import Bench
from adknb.notebook.command import Argument, Command, Option, UsageError
from adknb.notebook.results import Message
from adknb.notebook.variables import users_names
from adknb.notebook.workflow_running import LAST, resumable
from adknb.workflow.result import WorkflowResult
from adknb.workflow.workflow import SequentialWorkflow

WHAT: Final = ("timeline", "plan", "checkpoints", "resume", "prune")


def is_resume(options: Namespace) -> bool:
    """Whether the line runs something, which `magics.py` shows while it goes on."""
    return bool(options.what == "resume")


def chosen(bench: Bench, options: Namespace) -> SequentialWorkflow:
    """The workflow of the last `%%workflow` cell, or the one that `--of` names. Raises `UsageError`."""
    if options.of is None:
        if bench.workflow is None:
            raise UsageError(
                "no workflow has run yet. Run one: %%workflow NAME, with the input below it. One that another kernel left goes "
                "on in its own cell, with --resume last and without its input."
            )
        return bench.workflow
    found = bench.namespace.get(options.of)
    if isinstance(found, SequentialWorkflow):
        return found
    if bench.workflow is not None and bench.workflow.name == options.of:
        return bench.workflow
    known = [*users_names(bench.namespace, is_workflow), *([bench.workflow.name] if bench.workflow is not None else [])]
    raise UsageError(f"there is no workflow {options.of!r}.{near_names(options.of, known)}")


def is_workflow(value: object) -> bool:
    return isinstance(value, SequentialWorkflow)


def run_named(options: Namespace) -> str:
    """The run that `resume` goes on with. Raises `UsageError` when several are named."""
    if len(options.runs) > 1:
        raise UsageError(f"%adk workflow resume goes on with one run, not with {len(options.runs)}")
    return options.runs[0] if options.runs else LAST


def workflow(bench: Bench, options: Namespace) -> Viewed:
    what = options.what or "timeline"
    if what not in WHAT:
        raise UsageError(f"%adk workflow shows or does {', '.join(WHAT)}, not {what!r}.{near_names(what, WHAT)}")
    if options.runs and what != "prune":
        raise UsageError(f"%adk workflow {what} takes no run. `%adk workflow --help` has all that it takes.")
    found = chosen(bench, options)
    if what == "plan":
        return found.plan()
    if what == "checkpoints":
        return found.checkpoints()
    if what == "prune":
        return _pruned(found, options.runs)
    if isinstance(bench.newest, WorkflowResult) and found is bench.workflow:
        return bench.newest  # with the error that ended it
    if found.last is None:
        raise UsageError(f"workflow {found.name!r} has not run yet. Run it: %%workflow NAME, with the input below it.")
    return found.last


def _pruned(found: SequentialWorkflow, run_ids: list[str]) -> Message:
    """Forget checkpoints: those of the runs, or all when none is named."""
    known = [checkpoint.run_id for checkpoint in found.checkpoints()]
    if not known:
        return Message(f"Workflow {found.name!r} has no checkpoints.")
    wanted = [resumable(found, run_id) for run_id in run_ids] or known
    for run_id in wanted:
        if run_id not in known:
            raise UsageError(
                f"workflow {found.name!r} has no checkpoint of a run {run_id!r}.{near_names(run_id, known)}"
            )
    found.prune_checkpoints(wanted)
    return Message(f"Forgotten: the checkpoints of {', '.join(wanted)}. Their sessions stay.")


COMMAND: Final = Command(
    "%adk workflow",
    "The last workflow: its timeline, plan or checkpoints; go on with a run, or forget it.",
    workflow,
    (
        Argument("what", "timeline (the default), plan, checkpoints, resume, prune", "?", "workflow_views"),
        Argument("runs", "resume: the run to go on with (the newest); prune: the runs to forget (all)", "*"),
    ),
    (Option("--of", "another workflow than that of the last cell, by its variable", "NAME", completes="workflows"),),
    ("%adk workflow", "%adk workflow resume 3f2a"),
)
