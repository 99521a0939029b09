"""The bench: pipelines written in cells, their runs and sessions, and everything that changes them, undoably.

Nothing here needs a notebook: `adknb.bench` serves plain Python too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from adknb.core.errors import SpecError, near_names
from adknb.core.specs import LlmAgent
from adknb.notebook import writing
from adknb.notebook.bench_sessions import SessionsBench
from adknb.notebook.pipelines import AgentCell, AgentOptions, Pipeline
from adknb.notebook.records import Settings
from adknb.runtime.runner import Runner
from adknb.runtime.strategies import as_strategy


class Bench(SessionsBench):
    """Pipelines by name, runs in order. `namespace` is where names of callbacks, tools and agents are looked up."""

    def put_agent(
        self,
        pipeline: str,
        name: str,
        prompt: str,
        options: AgentOptions | None = None,
        *,
        cell: str | None = None,
        at: int | None = None,
        after: str | None = None,
    ) -> AgentCell:
        """Write an agent: new, in place of the one of its name, or of the one that this cell named before.

        `at` is its place, from 1; `after` names the agent that it follows.
        """
        options = options or AgentOptions()
        pipelines, agent, verb = writing.with_agent(self.pipelines, pipeline, name, prompt, options, cell, at, after)
        self._write(pipelines, f"{pipeline}: {name} {verb}", pipeline)
        return agent

    def put_pipelines(self, pipelines: Sequence[Pipeline], label: str, cell: str | None = None) -> None:
        """Write whole pipelines in one change: each with its agents, in this order, and no others."""
        self._write(writing.with_pipelines(self.pipelines, pipelines, cell), label, pipelines[-1].name)

    def home_of(self, cell: str | None) -> str | None:
        """The pipeline of the agent that this cell wrote before."""
        home, _ = writing.written_by(self.pipelines, cell)
        return home.name if home is not None else None

    def remove_agent(self, name: str, pipeline: str | None = None) -> None:
        known = self.pipeline(pipeline)
        self._write({**self.pipelines, known.name: known.without(name)}, f"{known.name}: {name} removed")

    def remove_pipeline(self, name: str) -> None:
        gone = self.pipeline(name)
        others = {known: pipeline for known, pipeline in self.pipelines.items() if pipeline is not gone}
        self._write(others, f"{name}: removed")

    def order(self, names: Sequence[str], pipeline: str | None = None) -> None:
        known = self.pipeline(pipeline)
        changed = known.ordered(list(names))
        self._write({**self.pipelines, known.name: changed}, f"{known.name}: ordered {' '.join(names)}")

    def copy(self, pipeline: str, name: str) -> None:
        """A second pipeline with the same agents, their versions too; its agents belong to no cell yet."""
        known = self.pipeline(pipeline)
        if name in self.pipelines:
            raise SpecError(
                f"there is a pipeline {name!r} already. Take another name, or remove it: %adk remove {name}"
            )
        copied = Pipeline(name, tuple(replace(agent, cell=None) for agent in known.agents))
        self._write({**self.pipelines, name: copied}, f"{pipeline}: copied to {name}")

    def restore_version(self, name: str, number: int, pipeline: str | None = None) -> AgentCell:
        """The agent as version `number` (from 1) was; the form that it had becomes a version too."""
        known = self.pipeline(pipeline)
        agent = known[name]
        if not 1 <= number <= len(agent.versions):
            have = f"versions 1 to {len(agent.versions)}, not {number}" if agent.versions else "no earlier version"
            raise SpecError(f"agent {name!r} has {have}. See them: %adk history {name}")
        version = agent.versions[number - 1]
        restored = agent.edited(version.prompt, version.options, agent.cell)
        changed = {**self.pipelines, known.name: known.with_agent(restored)}
        self._write(changed, f"{known.name}: {name} restored to version {number}")
        return restored

    def use(self, **settings: Any) -> Settings:
        """Change what pipelines run with. Raises `SpecError` or `ModelError` for what there is not."""
        changed = self.checked(**settings)
        if changed == self.settings:  # said again, as after a restart: nothing that undo would take back
            return changed
        with self.change("use " + ", ".join(settings)):
            self.settings = changed
        return changed

    def checked(self, **settings: Any) -> Settings:
        """What the settings would be. Raises as `use` does."""
        names = [field.name for field in fields(Settings)]
        for name in settings:
            if name not in names:
                raise SpecError(f"there is no setting {name!r}.{near_names(name, names)}")
        changed = replace(self.settings, **settings)
        as_strategy(changed.strategy)
        resolve = self.answering.resolver(changed.base_url, changed.record)
        runner = Runner(
            LlmAgent(name="check"),
            model=changed.model,
            rules=changed.rules,
            resumable=changed.resumable,
            resolve=resolve,
        )
        if changed.model is not None:
            runner.check_models()
        return changed
