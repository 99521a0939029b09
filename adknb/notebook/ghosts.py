"""Agents that a cell leaves behind. With cell ids they go by themselves, and that is said; without, they may stay as ghosts."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher

from adknb.notebook.pipelines import AgentCell, Pipeline

ALIKE = 0.85
"""From this similarity of two prompts on, one may be the other's ghost."""


def gone_remarks(before: Mapping[str, Pipeline], after: Mapping[str, Pipeline]) -> tuple[str, ...]:
    """Remarks on agents that a cell wrote before and does not write now."""
    left = {(pipeline.name, agent) for pipeline in after.values() for agent in pipeline.names()}
    return tuple(
        f"{agent} is no longer in {pipeline.name}, because this cell wrote it before; %adk undo brings it back"
        for pipeline in before.values()
        for agent in pipeline.names()
        if (pipeline.name, agent) not in left
    )


def ghost_remarks(pipeline: Pipeline, written: AgentCell) -> tuple[str, ...]:
    """Remarks on agents of the pipeline that look like an earlier form of the one just written, where no cell ids are known."""
    if written.cell is not None:
        return ()
    remarks = []
    for agent in pipeline.agents:
        if agent.name == written.name or agent.cell is not None:
            continue
        same_key = agent.options.key is not None and agent.options.key == written.options.key
        if same_key or SequenceMatcher(None, agent.prompt, written.prompt).ratio() >= ALIKE:
            why = f"writes {agent.options.key!r} too" if same_key else "has almost the same prompt"
            remarks.append(
                f"{agent.name} is still in {pipeline.name} and {why}. If this cell was {agent.name} before: "
                f"%adk remove {agent.name}"
            )
    return tuple(remarks)
