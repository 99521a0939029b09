"""Checking a pipeline without a model call: contract, lint, both prompts side by side."""

from __future__ import annotations

from argparse import Namespace
from typing import Any, Final

from adknb.analysis.contract import contract as make_contract
from adknb.analysis.lint import lint as make_lint
from adknb.compare.dry import DRY, PromptComparison, compare_prompts
from adknb.core.errors import RunStateError
from adknb.core.run import Run
from adknb.notebook.bench import Bench
from adknb.notebook.command import Argument, Command, Option
from adknb.notebook.verbs import portability
from adknb.notebook.verbs.go import RUN

PIPELINE: Final = Argument(
    "pipeline", "the pipeline, or an agent variable; without it the one in use", "?", "pipelines"
)


def _last_run(bench: Bench, pipeline: str | None) -> Run | None:
    """The newest run of the pipeline, for what only a run can show; None when there is none."""
    try:
        return bench.record(None, pipeline or bench.pipeline().name).run
    except RunStateError:
        return None


def contract(bench: Bench, options: Namespace) -> Any:
    root = bench.root(options.pipeline)
    return make_contract(root, rules=bench.settings.rules, run=_last_run(bench, root.name))


def lint(bench: Bench, options: Namespace) -> Any:
    root = bench.root(options.pipeline)
    target = getattr(options, "for")
    run = _last_run(bench, root.name)
    resumable = bench.settings.resumable or (
        run is not None and run.status == "waiting" and run.rules == bench.settings.rules
    )
    return make_lint(root, rules=bench.settings.rules, run=run, target=target, resumable=resumable)


def compare(bench: Bench, options: Namespace) -> PromptComparison:
    return compare_prompts(bench.record(options.run).run, strategies=tuple(options.strategies) or DRY)


COMMANDS: Final = (
    Command(
        "%adk contract",
        "Every state key: who writes it, who reads it, whether required, its scope and shape.",
        contract,
        (PIPELINE,),
        (),
        ("%adk contract", "c = %adk contract ticket\nprint(c.to_python())"),
    ),
    Command(
        "%adk lint",
        "What will surprise: names never substituted, keys nobody writes, missing guards.",
        lint,
        (PIPELINE,),
        (Option("--for", "also what will differ under another ADK: go", "NAME", completes="rules"),),
        ("%adk lint --for go", "findings = %adk lint ticket"),
    ),
    Command(
        "%adk compare",
        "Each step's prompt under DEFAULT and NONE side by side; no model is asked.",
        compare,
        (
            Argument(
                "strategies",
                "which strategies to put beside each other; default and none when left out",
                "*",
                "strategies",
            ),
        ),
        (RUN,),
        ("%adk compare", "c = %adk compare default none --run 3f2a"),
    ),
    portability.COMMAND,
)
