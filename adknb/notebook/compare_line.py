"""The line of a comparison's cell, `%%compare NAME …`: its options, read into a `Lab`."""

from __future__ import annotations

import argparse
import builtins
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from adknb.compare.input_files import ENDINGS
from adknb.compare.inputs import Input, as_inputs, split_messages
from adknb.compare.lab import Lab
from adknb.compare.trial import Kind
from adknb.compare.variants import DEFAULT_AND_NONE
from adknb.core.errors import SpecError, near_names
from adknb.core.run import Run, RunConfig
from adknb.notebook.bench import Bench
from adknb.notebook.choices import ANSWERING, choices
from adknb.notebook.command import TRACEBACK, Argument, Option, UsageError
from adknb.notebook.dry_runs import newest_runs
from adknb.notebook.turn_line import number, start_state
from adknb.notebook.variables import users_names
from adknb.notebook.variant_words import VariantWords
from adknb.rules.resolve import resolve_rules
from adknb.runtime.start import check_start_state

PIPELINE: Final = Argument(
    "pipeline", "a pipeline of the bench, or a variable that holds an agent", completes="pipelines"
)

OPTIONS: Final = (
    Option(
        "--variants",
        "what to compare, the others with the first: default, none, state_only, as_written; AGENT@2 (a version of its prompt); "
        "AGENT=VARIABLE (a prompt); model=NAME; rules=NAME; off=CALLBACK; several joined by +; or variables that hold "
        "Variants, strategies, or lists of these; without it default and none",
        "VARIANT",
        "several",
        "variants",
        aliases=("strategy", "strategies", "variant"),
    ),
    Option(
        "--kind",
        "run: each variant runs the whole pipeline (the default); paired: each step asked once per variant from the same "
        "session; dry: no model is asked, the prompts of runs that were made",
        choices=("run", "paired", "dry"),
    ),
    Option("--repeat", "how often each is asked; how a variant then differs from itself is the noise floor (1)", "NUMBER"),
    Option(
        "--inputs", "a file (CSV, TSV, JSON, JSON Lines) or a variable (list, DataFrame) instead of the body", "SOURCE",
        completes="inputs",
    ),
    Option("--columns", "which of its columns are meant: message=ticket_text expected=label", "NAME=COLUMN", "several"),
    Option("--sep", "the line between two inputs in the body (---)", "TEXT"),
    Option("--turn-sep", "the line between two turns of one conversation in the body (+++)", "TEXT"),
    Option("--state", "values to start with, for every input: KEY=TEXT, or KEY:=JSON", "KEY=VALUE", "several", "keys"),
    Option("--state-from", "more of these, from a variable that holds a dict", "VARIABLE", completes="variables"),
    Option(
        "--categories", "words that answers are sorted by (APPROVE REJECT), json:FIELD, or a variable", "WORD", "several",
        "categories",
    ),
    Option(
        "--measure", "functions of the answer (and its Input) whose results become columns", "FUNCTION", "several",
        "callbacks",
    ),
    Option("--seed", "for models that take one, and for the statistics", "NUMBER"),
    Option("--concurrency", "trials under way at once (8)", "NUMBER"),
    Option(
        "--store", "keep finished trials in this file; interrupted or restarted, the cell goes on from there", "FILE",
        completes="files",
    ),
    Option("--model", "who answers, whatever the agents name: a model or a variable", "MODEL", completes="models"),
    Option("--rules", "whose rules: java, go, go_fixed, js or python", "NAME", completes="rules"),
    Option("--max-llm-calls", "stop a run after so many model calls (500)", "NUMBER"),
    Option("--out", "bind the comparison to this variable", "NAME"),
    TRACEBACK,
    *ANSWERING,
)  # fmt: skip
"""Every option of a comparison."""


_ASKING: Final = (
    "repeat", "state", "state_from", "categories", "measure", "concurrency", "store", "model", "rules", "max_llm_calls",
    "base_url", "record", "record_mode",
)  # fmt: skip
"""What a dry comparison has no use for."""
_ARGUMENTS: Final = (
    (re.compile(r"\bkind='(\w+)'"), r"--kind \1"),
    (re.compile(r"\bcolumns=\{'message': …\}"), "--columns message=COLUMN"),
    (re.compile(r"\['default', 'none'\]"), "--variants default none"),
)
"""How errors write an argument of `compare_variants`, and how it stands on the line."""


def lab_of(options: argparse.Namespace, body: str, bench: Bench, **more: Any) -> Lab:
    """The comparison that a parsed line and its cell's body ask for; `more` goes to the `Lab` as it is.

    Raises `UsageError` for what cannot be read, or would have no effect.
    """
    names = bench.namespace
    kind: Kind = options.kind or "run"
    _check_together(options, body)
    root = bench.root(options.pipeline)
    chosen = choices(options, names, "models")
    answering = {name: chosen.pop(name, getattr(bench.settings, name)) for name in ("base_url", "record")}
    rules = chosen.pop("rules", bench.settings.rules)
    limit = number("--max-llm-calls", options.max_llm_calls)
    state = start_state(options.state, options.state_from, names)
    check_start_state(state, resolve_rules(rules))
    given: dict[str, Any] = {
        "inputs": _runs(options, body, bench) if kind == "dry" else _inputs(options, body, names, state),
        "variants": VariantWords(bench, options.pipeline, root).read(options.variants or DEFAULT_AND_NONE),
        "repeat": _counted("--repeat", options.repeat) or 1,
        "categories": _categories(options.categories, names),
        "measures": {word: _measure(word, names) for word in options.measure},
        "seed": number("--seed", options.seed),
        "concurrency": _counted("--concurrency", options.concurrency),
        "config": None if limit is None else RunConfig(max_llm_calls=limit),
        "resolve": bench.answering.resolver(**answering),
    }
    try:
        return Lab(root, kind=kind, model=bench.settings.model, rules=rules, **given, **chosen, **more)
    except SpecError as error:
        error.args = (_as_options(str(error.args[0])),)
        raise


def _as_options(text: str) -> str:
    """An error's text with the way out as it is written on the line."""
    for argument, option in _ARGUMENTS:
        text = argument.sub(option, text)
    return text


def _check_together(options: argparse.Namespace, body: str) -> None:
    """Raise `UsageError` for options that have no effect beside each other."""
    if options.inputs is not None and body.strip():
        raise UsageError("there are inputs in the body and --inputs. Leave one out.")
    if options.columns and options.inputs is None:
        raise UsageError(
            "--columns says which columns of --inputs are meant: name a file or variable with --inputs too"
        )
    for name in ("sep", "turn_sep"):
        if getattr(options, name) is not None and not body.strip():
            raise UsageError(
                f"--{name.replace('_', '-')} cuts the inputs in the body of %%compare, and there is no body"
            )
    if options.kind == "dry":
        for name in _ASKING:
            if getattr(options, name) not in (None, []):
                raise UsageError(
                    f"--{name.replace('_', '-')} is for comparisons that ask a model; --kind dry asks none: it works out the "
                    "prompts of runs that were made. Leave it out, or choose --kind run or --kind paired."
                )


def _inputs(
    options: argparse.Namespace, body: str, names: Mapping[str, Any], state: Mapping[str, Any] | None = None
) -> tuple[Input, ...]:
    if options.inputs is not None:
        value, columns = _source(options.inputs, names), _columns(options.columns)
        try:
            return as_inputs(value, state=state, columns=columns)
        except SpecError as error:
            said = _as_options(str(error)).removeprefix(f"{options.inputs}: ")
            raise UsageError(f"--inputs {options.inputs}: {said}") from None
    if not body.strip():
        raise UsageError(
            f"the inputs are missing: write them below %%compare {options.pipeline}, with a line --- between two, or "
            "name a file or variable with --inputs"
        )
    separators = [
        default if given is None else given for given, default in ((options.sep, "---"), (options.turn_sep, "+++"))
    ]
    return as_inputs(split_messages(body, *separators), state=state)


def _source(word: str, names: Mapping[str, Any]) -> Any:
    """What `--inputs` names: a variable's value, else a file."""
    if word in names:
        return names[word]
    if word.lower().endswith(ENDINGS):
        return Path(word)
    if not word.isidentifier():
        raise UsageError(
            f"--inputs takes the name of a variable, or of a file that ends in {', '.join(ENDINGS)}, not {word!r}. Bind what is "
            "meant to a variable first."
        )
    near = near_names(word, users_names(names, holds_inputs))
    raise UsageError(f"--inputs names {word!r}, which the notebook does not define.{near} Run its cell first.")


def holds_inputs(value: Any) -> bool:
    """Whether a variable's value may be meant as inputs: a list, a DataFrame, an `Input` or a path."""
    return isinstance(value, (list, tuple, Input, Path)) or type(value).__name__ == "DataFrame"


def _runs(options: argparse.Namespace, body: str, bench: Bench) -> list[Run]:
    """The runs whose prompts a dry comparison works out: those of a variable, else the newest run of each message (or
    conversation) of the pipeline's, of the inputs' messages only where there are inputs."""
    held = bench.namespace.get(options.inputs or "")
    if isinstance(held, Run):
        return [held]
    if isinstance(held, (list, tuple)) and held and all(isinstance(each, Run) for each in held):
        return list(held)
    newest = newest_runs(bench.records, options.pipeline)
    if not newest:
        raise UsageError(
            f"--kind dry works out the prompts of runs, and there is no run of {options.pipeline!r} yet. Make one: %%pipeline "
            f"{options.pipeline}. Or ask the model: --kind run or --kind paired."
        )
    if options.inputs is None and not body.strip():
        return list(newest.values())
    asked = _inputs(options, body, bench.namespace)
    for each in asked:
        if each.messages not in newest:
            what = "this message" if len(each.messages) == 1 else "these messages in one session"
            raise UsageError(
                f"--kind dry: input {each.name} ({each.title!r}): there is no run of {options.pipeline!r} on {what}. Run it "
                "first, or choose --kind run or --kind paired."
            )
    return [newest[each.messages] for each in asked]


def _measure(name: str, names: Mapping[str, Any]) -> Any:
    """A function of the notebook's, or of Python's own: `--measure len`."""
    if name in names:
        return names[name]
    if callable(getattr(builtins, name, None)):
        return getattr(builtins, name)
    near = near_names(name, users_names(names, callable))
    raise UsageError(f"--measure names {name!r}, which the notebook does not define.{near} Run its cell first.")


def _categories(words: list[str], names: Mapping[str, Any]) -> Any:
    if len(words) != 1:
        return words or None
    word = words[0]
    if word.startswith("json:") or word in names:
        return names.get(word, word)
    raise UsageError(
        f"--categories {word}: one word tells no answers apart, and no variable has this name. Name several words (APPROVE "
        "REJECT), a field of the JSON (json:category), or a variable that holds words or a function."
    )


def _columns(pairs: list[str]) -> dict[str, str] | None:
    columns = {}
    for pair in pairs:
        name, _, column = pair.partition("=")
        if not name or not column:
            raise UsageError(f"--columns takes NAME=COLUMN, such as message=ticket_text, not {pair!r}")
        columns[name] = column
    return columns or None


def _counted(option: str, value: str | None) -> int | None:
    found = number(option, value)
    if found is not None and found < 1:
        raise UsageError(f"{option} is 1 or more, not {found}")
    return found
