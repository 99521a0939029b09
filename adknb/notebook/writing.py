"""What a cell that writes agents does to the pipelines: new, edited, renamed or moved. Pure: pipelines in, pipelines out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adknb.core.errors import SpecError
from adknb.notebook.pipelines import AgentCell, AgentOptions, Pipeline

Pipelines = Mapping[str, Pipeline]


def with_agent(
    pipelines: Pipelines,
    pipeline: str,
    name: str,
    prompt: str,
    options: AgentOptions,
    cell: str | None,
    at: int | None,
    after: str | None,
) -> tuple[Pipelines, AgentCell, str]:
    """The pipelines after the cell wrote the agent, the agent, and in words what became of it.

    A cell that wrote another agent before has renamed it, or moved it here from another pipeline.
    """
    known = pipelines.get(pipeline, Pipeline(pipeline))
    same = known.find(name)
    home, before = written_by(pipelines, cell)
    others = dict(pipelines)
    old, verb = same, "edited" if same is not None else "added"
    if home is not None and before is not None and before is not same:
        if home.name != pipeline and same is not None:  # the cell turns to a namesake; what it wrote before stays
            others[home.name] = home.with_agent(replace(before, cell=None))
        elif home.name != pipeline:
            old, verb = before, f"moved here from {home.name}"
            others[home.name] = home.without(before.name)
            if not others[home.name].agents:
                del others[home.name]
        elif same is None:
            old, verb = before, f"renamed from {before.name}"
        else:
            raise SpecError(
                f"this cell wrote agent {before.name!r} before, and pipeline {pipeline!r} has another agent {name!r}. "
                f"Take another name, or remove one first: %adk remove {name}"
            )
    agent = old.edited(prompt, options, cell, name) if old is not None else AgentCell(name, prompt, options, cell)
    agent.check()
    others[pipeline] = known.with_agent(agent, old.name if old is not None else None, at, after)
    return others, agent, verb


def with_pipelines(pipelines: Pipelines, written: Sequence[Pipeline], cell: str | None) -> Pipelines:
    """The pipelines after `written` were written whole. Agents that stay keep their versions; those that the cell wrote before
    and does not write now are gone."""
    others = {}
    for known in pipelines.values():
        agents = tuple(agent for agent in known.agents if cell is None or agent.cell != cell)
        if agents or not known.agents:
            others[known.name] = replace(known, agents=agents)
    for pipeline in written:
        cells = []
        for agent in pipeline.agents:
            agent.check()
            old = pipelines.get(pipeline.name, pipeline).find(agent.name) or agent
            cells.append(old.edited(agent.prompt, agent.options, agent.cell or old.cell))
        others[pipeline.name] = replace(pipeline, agents=tuple(cells))
    return {**{name: others[name] for name in pipelines if name in others}, **others}


def merged(kept: Pipelines, written: Pipelines) -> Pipelines:
    """The pipelines that are kept, with the agents that were written since in their places; what a cell wrote whole
    (several agents: `%%agents`) is as it was written."""
    cells = Counter(agent.cell for pipeline in written.values() for agent in pipeline.agents if agent.cell is not None)
    whole: set[str] = set()
    found = kept
    for cell in (cell for cell, agents in cells.items() if agents > 1):
        its = [pipeline for pipeline in written.values() if any(agent.cell == cell for agent in pipeline.agents)]
        found = with_pipelines(found, its, cell)
        whole.update(pipeline.name for pipeline in its)
    for pipeline in written.values():
        for agent in pipeline.agents if pipeline.name not in whole else ():
            arguments = (pipeline.name, agent.name, agent.prompt, agent.options)
            try:
                found = with_agent(found, *arguments, agent.cell, None, None)[0]
            except SpecError:  # its cell wrote another agent when it was kept; that one stays
                found = with_agent(found, *arguments, None, None, None)[0]
    return found


def written_by(pipelines: Pipelines, cell: str | None) -> tuple[Pipeline | None, AgentCell | None]:
    """The one agent that this cell wrote, and its pipeline. A cell that wrote several (`%%agents`) has no such agent."""
    found = [
        (pipeline, agent)
        for pipeline in pipelines.values()
        for agent in pipeline.agents
        if cell is not None and agent.cell == cell
    ]
    return found[0] if len(found) == 1 else (None, None)
