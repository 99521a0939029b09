"""What Tab offers after a magic: verbs, options, and the bench's own names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from adknb.compare.input_files import ENDINGS
from adknb.core.run import Run
from adknb.notebook.bench import Bench
from adknb.notebook.command import Command
from adknb.notebook.compare_line import holds_inputs
from adknb.notebook.variables import is_agent, users_names
from adknb.notebook.variant_words import CHANGES, holds_variants
from adknb.notebook.verbs.explore import is_explored
from adknb.notebook.verbs.workflow import WHAT, is_workflow
from adknb.rules.resolve import NAMES as RULE_SETS
from adknb.runtime.strategies import NAMES as STRATEGIES

_ASSIGNED = re.compile(r"^\s*[\w.]+\s*=\s*(?=%)")
_PLACEHOLDER = re.compile(r"\{([^{}\n]*)$")


def complete(bench: Bench, verbs: Mapping[str, Command], text: str) -> tuple[str, list[str]]:
    """For a cell's text up to the cursor: the fragment to replace, and what may stand there instead."""
    from adknb.notebook.magic_lines import MAGICS

    first_line, newline, _ = text.partition("\n")
    line = text.rsplit("\n", 1)[-1]
    if newline and first_line.startswith(("%%agent", "%%step")):
        started = _PLACEHOLDER.search(line)
        if started is not None:
            fragment = started.group(1)
            return fragment, [key for key in keys(bench) if key.startswith(fragment)]
    words = _ASSIGNED.sub("", line).split()
    if not words or not words[0].startswith("%"):
        return "", []
    fragment = "" if line[-1:].isspace() else words[-1]
    before = words if fragment == "" else words[:-1]
    if not before:
        return "", []
    if before[0] == "%adk":
        if len(before) == 1:
            return fragment, sorted(verb for verb in [*verbs, "help"] if verb.startswith(fragment))
        if before[1] == "help":
            return fragment, sorted(verb for verb in verbs if verb.startswith(fragment))
        command = verbs.get(before[1])
        before = before[1:]
    else:
        command = MAGICS.get(before[0])
    return (fragment, _of_command(bench, command, before[1:], fragment)) if command is not None else ("", [])


def _of_command(bench: Bench, command: Command, words: list[str], fragment: str) -> list[str]:
    options = {option.name: option for option in command.options}
    if fragment.startswith("--"):
        return sorted(name for name in options if name.startswith(fragment) and name not in words)
    last = next((word for word in reversed(words) if word.startswith("--")), None)
    option = options.get(last) if last is not None else None
    after = words[::-1].index(last) if last is not None else len(words)
    if option is not None and (option.takes == "several" or (option.takes == "one" and after == 0)):
        if option.completes == "variants":
            return _variants(bench, next(iter(words), None), fragment)
        if option.completes == "inputs":
            return _inputs(bench, fragment)
        offered: Iterable[str] = option.choices or _known(bench, option.completes)
        if option.completes in ("callbacks",) and "," in fragment:
            head, _, tail = fragment.rpartition(",")
            return [f"{head},{name}" for name in offered if name.startswith(tail)]
        return [name for name in offered if name.startswith(fragment)]
    place = len([word for word in words if not word.startswith("--")])
    arguments = command.arguments
    if arguments and (place < len(arguments) or arguments[-1].count in ("*", "+")):
        argument = arguments[min(place, len(arguments) - 1)]
        return [name for name in _known(bench, argument.completes) if name.startswith(fragment)]
    return [] if fragment else sorted(name for name in options if name not in words)


def _known(bench: Bench, kind: str) -> list[str]:
    """The names of one kind that there are now."""
    finders: dict[str, Callable[[], Iterable[str]]] = {
        "agents": lambda: [name for pipeline in bench.pipelines.values() for name in pipeline.names()],
        "pipelines": lambda: [*bench.pipelines, *_variables(bench, is_agent)],
        "workflows": lambda: [*bench.pipelines, *_variables(bench, lambda v: is_agent(v) or is_workflow(v))],
        "workflow_views": lambda: WHAT,
        "keys": lambda: keys(bench),
        "callbacks": lambda: _variables(bench, lambda value: callable(value) and not isinstance(value, type)),
        "schemas": lambda: _variables(bench, lambda value: isinstance(value, (type, dict))),
        "models": lambda: ["echo", "local", *_variables(bench, lambda v: hasattr(v, "generate_content_async"))],
        "variables": lambda: _variables(bench, lambda value: isinstance(value, (str, dict))),
        "texts": lambda: _variables(bench, lambda value: isinstance(value, str)),
        "strategies": lambda: STRATEGIES,
        "categories": lambda: _variables(bench, lambda value: isinstance(value, (list, dict)) or callable(value)),
        "rules": lambda: RULE_SETS,
        "runs": lambda: [run.id for run in reversed(bench.runs)],
        "calls": lambda: [row["call"] for row in bench.waiting_rows()],
        "sessions": bench.session_words,
        "steps": lambda: _steps(bench),
        "explored": lambda: [*bench.pipelines, *_variables(bench, is_explored), *(run.id for run in bench.runs)],
    }
    names = list(dict.fromkeys(finders[kind]())) if kind in finders else []
    return names if kind == "runs" else sorted(names)


def _variants(bench: Bench, pipeline: str | None, fragment: str) -> list[str]:
    """What may stand in a word of `--variants`, whose pieces are joined by `+`."""
    head, plus, piece = fragment.rpartition("+")
    cells = bench.pipelines[pipeline].agents if pipeline in bench.pipelines else ()
    what, is_change, _ = piece.partition("=")
    if is_change and what == "off":
        found: Iterable[str] = {name for cell in cells for names in cell.options.callbacks.values() for name in names}
        names = [f"off={name}" for name in sorted(found)]
    elif is_change:
        kind = {"model": "models", "rules": "rules", "strategy": "strategies"}.get(what, "texts")
        names = [f"{what}={name}" for name in _known(bench, kind)]
    else:
        versions = [f"{cell.name}@{number}" for cell in cells for number in range(1, len(cell.versions) + 2)]
        changes = [f"{name}=" for name in (*CHANGES, *(cell.name for cell in cells))]
        held = [] if plus else _variables(bench, holds_variants)
        names = [*STRATEGIES, *sorted(held), *versions, *changes]
    return [f"{head}{plus}{name}" for name in names if name.startswith(piece)]


def _inputs(bench: Bench, fragment: str) -> list[str]:
    """The variables and files that may hold inputs; folders too, to go on into them."""
    folder, slash, start = fragment.rpartition("/")
    try:
        found = sorted(Path(f"{folder}{slash}" or ".").expanduser().iterdir())
    except OSError:
        found = []
    files = [
        f"{folder}{slash}{each.name}{'/' if each.is_dir() else ''}"
        for each in found
        if each.name.startswith(start)
        and (start or each.name[:1] != ".")
        and (each.is_dir() or each.suffix.lower() in ENDINGS)
    ]
    variables = _variables(bench, lambda value: holds_inputs(value) or isinstance(value, Run))
    return [*sorted(name for name in variables if name.startswith(fragment)), *files]


def keys(bench: Bench) -> list[str]:
    """Every state key that an agent writes or a run has seen."""
    written = [
        agent.options.key
        for pipeline in bench.pipelines.values()
        for agent in pipeline.agents
        if agent.options.key is not None
    ]
    seen = [] if bench.last is None else list(bench.last.session.state)
    return list(dict.fromkeys([*written, *seen]))


def _steps(bench: Bench) -> list[str]:
    """The steps of the last run, and agents of the pipeline in use that have not run."""
    ran = [] if bench.last is None else [step.name for step in bench.last.step_runs]
    written = bench.pipelines[bench.current].names() if bench.current in bench.pipelines else []
    return [*ran, *written]


def _variables(bench: Bench, fits: Callable[[Any], bool]) -> list[str]:
    return users_names(bench.namespace, fits)


def matcher(bench: Bench, verbs: Mapping[str, Command]) -> Any:
    """`complete` as IPython's completer wants it."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    as_matcher: Any = context_matcher(identifier="adknb")

    def adknb_matcher(context: Any) -> dict[str, Any]:
        lines = context.full_text.split("\n")[: context.cursor_line + 1]
        lines[-1] = lines[-1][: context.cursor_position]
        fragment, names = complete(bench, verbs, "\n".join(lines))
        return {
            "completions": [SimpleCompletion(text=name, type="adknb") for name in names],
            "matched_fragment": fragment,
            "suppress": bool(names),
            "ordered": True,
        }

    return as_matcher(adknb_matcher)
