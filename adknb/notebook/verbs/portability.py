"""`%adk portability`: will the pipeline behave the same on the other ADKs?"""

from __future__ import annotations

from argparse import Namespace
from typing import Any, Final

from adknb.compare.portability import ADKS, Portability, portability as run_under_each
from adknb.core.run import Run
from adknb.notebook.bench import Bench
from adknb.notebook.command import Argument, Command, Option, UsageError
from adknb.notebook.sessions_revived import revived

_INPUT: Final = Option(
    "--input", "a variable with messages, conversations or runs: the model is asked once for each", "VAR",
    completes="inputs",
)  # fmt: skip
_RULES: Final = Option(
    "--rules", "the ADKs to look at, the first against the others; java, go and js when left out", "NAME", "several",
    "rules",
)  # fmt: skip
_EXPLAIN: Final = Option(
    "--explain", "find the rule behind each difference, though tools run again for it", takes="nothing"
)


def portability(bench: Bench, options: Namespace) -> Portability:
    if options.input is not None and options.run is not None:
        raise UsageError("%adk portability: --input and --run both say which replies to take; leave one out")
    explain = True if options.explain else None
    settings = bench.settings
    if options.input is None:
        run = bench.record(options.run, options.pipeline, trials=False).run
        with bench.busy():
            return run_under_each(revived(run, bench.namespace), run, rules=_rules(options, run.rules), explain=explain)
    root, inputs = bench.root(options.pipeline), _inputs(bench, options.input)
    with bench.busy():
        return run_under_each(
            root, inputs, rules=_rules(options, settings.rules), model=settings.model, strategy=settings.strategy,
            explain=explain, resolve=bench.answering.resolver(settings.base_url, settings.record),
        )  # fmt: skip


def _rules(options: Namespace, own: str) -> list[str]:
    """The rule sets that the line names; else those of the ADKs, the one in use first."""
    return options.rules or list(dict.fromkeys([own, *ADKS]))


def _inputs(bench: Bench, name: str) -> Any:
    if name not in bench.namespace:
        raise UsageError(f"--input names {name!r}, which the notebook does not define. Run its cell first.")
    value = bench.namespace[name]
    if not isinstance(value, (str, list, tuple, Run)) and not hasattr(value, "columns"):
        raise UsageError(
            f"--input: {name} is of type {type(value).__name__}; a message, a list of messages or conversations, a "
            "DataFrame or a run is needed"
        )
    return value


COMMAND: Final = Command(
    "%adk portability",
    "Will it behave the same on the other ADKs? What differs, and by which rule.",
    portability,
    (Argument("pipeline", "the pipeline whose last run is taken; without it the one in use", "?", "pipelines"),),
    (
        _RULES,
        Option("--run", "the run whose replies are taken; without it the last one", "ID", completes="runs"),
        _INPUT,
        _EXPLAIN,
    ),
    ("%adk portability", "p = %adk portability ticket --rules java go js --explain"),
)
