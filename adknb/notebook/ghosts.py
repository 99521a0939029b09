"""Agents that a cell may have left behind: where a front end names no cells, a renamed agent stays beside its new self."""

from __future__ import annotations

from difflib import SequenceMatcher

from adknb.notebook.pipelines import AgentCell, Pipeline

ALIKE = 0.85
"""From this similarity of two prompts on, one may be the other's ghost."""


def ghost_remarks(pipeline: Pipeline, written: AgentCell) -> tuple[str, ...]:
    """Remarks on agents of the pipeline that look like an earlier form of the one just written.

    With cell ids there are none: the bench knows which agent a cell named before.
    """
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
