"""The workflow that a cell asks for: one of the notebook's, or one made of a pipeline, a step for each agent."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, Final

from adknb.core.errors import SpecError, near_names
from adknb.core.protocols import SessionService
from adknb.core.specs import BaseAgent, SequentialAgent
from adknb.notebook.bench import Bench
from adknb.notebook.bench_home import MEMORY, DatabaseHome
from adknb.notebook.choices import choices
from adknb.notebook.command import UsageError
from adknb.notebook.pipelines import named_model
from adknb.notebook.turn_line import number
from adknb.notebook.variables import is_agent, users_names
from adknb.notebook.workflow_line import named, seconds
from adknb.sessions.memory import InMemorySessionService
from adknb.workflow.cache import ResultCache
from adknb.workflow.retry import RetryPolicy
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow

Lines = Mapping[str, argparse.Namespace]

_OF_A_RUN: Final = ("workflow", "resume", "context", "out", "traceback", "words", "input")
"""What the line of a workflow that is there already may say; the rest says how one is made of a pipeline."""


class Making:
    """Makes workflows. Their checkpoints and caches stay when a cell is run again."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._memory = InMemorySessionService()
        self._stores: dict[str, SessionService] = {}
        self._caches: dict[str, ResultCache] = {}

    def workflow(self, options: argparse.Namespace, lines: Lines) -> SequentialWorkflow:
        """The workflow that a parsed line and its `%step` lines ask for.

        Raises `UsageError` for what cannot be read, `SpecError` for what there is not or cannot run.
        """
        name, bench = options.workflow, self._bench
        found = bench.namespace.get(name)
        if name not in bench.pipelines:
            if isinstance(found, SequentialWorkflow):
                _check_only_of_a_run(options, lines)
                return found
            if not is_agent(found):
                what = f" (the variable is of type {type(found).__name__})" if found is not None else ""
                known = users_names(
                    bench.namespace, lambda value: is_agent(value) or isinstance(value, SequentialWorkflow)
                )
                near = near_names(name, [*bench.pipelines, *known])
                raise SpecError(f"there is no workflow, pipeline or agent {name!r}{what}.{near}")
        return self._of_pipeline(options, lines, self._bench.root(options.workflow))

    def _of_pipeline(self, options: argparse.Namespace, lines: Lines, root: BaseAgent) -> SequentialWorkflow:
        bench = self._bench
        agents = _agents(root)
        names = [agent.name for agent in agents]
        for name in lines:
            if name not in names:
                raise UsageError(f"%step {name}: {options.workflow!r} has no agent {name!r}.{near_names(name, names)}")
        chosen = choices(options, bench.namespace)
        is_kept = options.checkpoint or options.resume is not None
        answering = {name: chosen.pop(name, getattr(bench.settings, name)) for name in ("base_url", "record")}
        return SequentialWorkflow(
            [self._step(agent, lines.get(agent.name), options) for agent in agents],
            options.workflow,
            model=chosen.get("model", bench.settings.model),
            rules=chosen.get("rules", bench.settings.rules),
            strategy=bench.settings.strategy,
            retry_policy=_retry(options.retry),
            token_budget=number("--budget", options.budget),
            timeout=seconds("--timeout", options.timeout),
            session_service=self._service(chosen.get("db"), is_kept),
            checkpoint=is_kept,
            share_history=options.share_history,
            max_parallel=1 if options.parallel is None else number("--parallel", options.parallel) or 0,
            resolve=bench.answering.resolver(**answering),
        )

    def _step(self, agent: BaseAgent, line: argparse.Namespace | None, options: argparse.Namespace) -> Step:
        """A step for the agent; its own line wins over what the cell says of all steps."""
        names = self._bench.namespace
        fields: dict[str, Any] = {"on_error": options.on_error, "cache": self._cache(options.cache)}
        if line is not None:
            functions = {
                "condition": ("--condition", line.condition), "fallback": ("--fallback", line.fallback),
                "transformer": ("--transformer", line.transformer), "context_updates": ("--updates", line.updates),
            }  # fmt: skip
            own = {field: named(option, word, names) for field, (option, word) in functions.items() if word is not None}
            own |= {
                "on_error": line.on_error, "timeout": seconds("--timeout", line.timeout),
                "retry_policy": _retry(line.retry), "reads": tuple(line.reads) or None, "writes": tuple(line.writes) or None,
                "cache": self._cache(line.cache),
                "model": named_model(names, line.model) if line.model is not None else None,
            }  # fmt: skip
            fields |= {name: value for name, value in own.items() if value is not None}
        return Step(
            name=agent.name, agent=agent, **{name: value for name, value in fields.items() if value is not None}
        )

    def _service(self, url: str | None, is_kept: bool) -> SessionService | None:
        """Where the workflow's sessions live: in the database that is named, in the bench's, or in memory; None for a store of
        each run's own."""
        home = self._bench.home
        if url is None and isinstance(home, DatabaseHome):
            return home.store
        if url is None or url == MEMORY:
            return self._memory if is_kept else None
        if url not in self._stores:
            from adknb.sessions.database import DatabaseSessionService

            self._stores[url] = DatabaseSessionService(url)
        return self._stores[url]

    def _cache(self, file: str | None) -> ResultCache | None:
        if file is None:
            return None
        if file not in self._caches:
            self._caches[file] = ResultCache(file)
        return self._caches[file]


def _agents(root: BaseAgent) -> tuple[BaseAgent, ...]:
    """The agents of which each becomes a step."""
    if not isinstance(root, SequentialAgent):
        return (root,)
    own = [name for name in ("before_agent_callback", "after_agent_callback") if getattr(root, name)]
    if own:
        raise UsageError(
            f"{root.name!r} has a {own[0]} of its own. As a workflow its agents are the steps, and nothing would call it: give "
            "it to the first or last agent, or make a SequentialWorkflow of one Step with the whole pipeline."
        )
    return tuple(root.sub_agents)


def _check_only_of_a_run(options: argparse.Namespace, lines: Lines) -> None:
    """Raise `UsageError` for what would change a workflow that the notebook made."""
    said = [
        f"--{name.replace('_', '-')}"
        for name, value in vars(options).items()
        if name not in _OF_A_RUN and value not in (None, False, [])
    ]
    said += [f"%step {name}" for name in lines]
    if said:
        raise UsageError(
            f"{options.workflow} is a SequentialWorkflow, which has its own policies: {said[0]} says how one is made of a "
            "pipeline. Say it where the workflow is made: SequentialWorkflow(…), Step(…)."
        )


def _retry(attempts: str | None) -> RetryPolicy | None:
    found = number("--retry", attempts)
    return None if found is None else RetryPolicy(max_attempts=found)
