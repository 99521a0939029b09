"""What Tab offers after a magic: verbs, options, and the bench's own names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adknb.core.specs import BaseAgent
from adknb.notebook.bench import Bench
from adknb.notebook.command import Command

_ASSIGNED = re.compile(r"^\s*[\w.]+\s*=\s*(?=%)")
_PLACEHOLDER = re.compile(r"\{([^{}\n]*)$")


def complete(bench: Bench, verbs: Mapping[str, Command], text: str) -> tuple[str, list[str]]:
    """For a cell's text up to the cursor: the fragment to replace, and what may stand there instead."""
    from adknb.notebook.magic_lines import AGENT, AGENT_LINE, AGENTS, PIPELINE, PIPELINE_LINE, STEP

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
        magics = {command.invocation: command for command in (AGENT, AGENT_LINE, AGENTS, PIPELINE, PIPELINE_LINE, STEP)}
        command = magics.get(before[0])
    return (fragment, _of_command(bench, command, before[1:], fragment)) if command is not None else ("", [])


def _of_command(bench: Bench, command: Command, words: list[str], fragment: str) -> list[str]:
    options = {option.name: option for option in command.options}
    if fragment.startswith("--"):
        return sorted(name for name in options if name.startswith(fragment) and name not in words)
    last = next((word for word in reversed(words) if word.startswith("--")), None)
    option = options.get(last) if last is not None else None
    after = words[::-1].index(last) if last is not None else len(words)
    if option is not None and (option.takes == "several" or (option.takes == "one" and after == 0)):
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
        "pipelines": lambda: [*bench.pipelines, *_variables(bench, lambda value: isinstance(value, BaseAgent))],
        "keys": lambda: keys(bench),
        "callbacks": lambda: _variables(bench, lambda value: callable(value) and not isinstance(value, type)),
        "schemas": lambda: _variables(bench, lambda value: isinstance(value, (type, dict))),
        "models": lambda: ["echo", "local", *_variables(bench, lambda v: hasattr(v, "generate_content_async"))],
        "variables": lambda: _variables(bench, lambda value: isinstance(value, (str, dict))),
        "strategies": lambda: ["as_written", "default", "none"],
        "rules": lambda: ["java"],
        "runs": lambda: [run.id for run in reversed(bench.runs)],
        "sessions": lambda: bench.sessions,
        "steps": lambda: _steps(bench),
    }
    names = list(dict.fromkeys(finders[kind]())) if kind in finders else []
    return names if kind == "runs" else sorted(names)


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
    hidden = {"In", "Out", "exit", "quit", "get_ipython", "open", "display"}
    return [name for name, value in bench.namespace.items() if name[:1] != "_" and name not in hidden and fits(value)]


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
