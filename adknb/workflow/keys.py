"""Under which names a step's output is found: in the context, and in the state, where a placeholder can read it."""

from __future__ import annotations

import re
from typing import Final

from adknb.core.events import USER
from adknb.core.specs import BaseAgent, LlmAgent, LoopAgent, SequentialAgent

PAYLOAD: Final = "payload"
"""In `Step.reads`: what the step before put out."""
INPUT: Final = "input"
"""In `Step.reads`: what the workflow was given."""

_NOT_OF_A_WORD: Final = re.compile(r"\W")
_NOT_ASCII_WORDS: Final = re.compile(r"[^A-Za-z0-9]+")


def identifier(name: str) -> str:
    """`name` with `_` for what no identifier may hold: `fact-check` becomes `fact_check`, `2nd` becomes `_2nd`."""
    text = _NOT_OF_A_WORD.sub("_", name)
    return text if text.isidentifier() else f"_{text}"


def agent_name(step: str) -> str:
    """A name for the step's function that every ADK allows for an agent: `fact-check` becomes `fact_check`."""
    text = _NOT_ASCII_WORDS.sub("_", step).strip("_")
    return text if text[:1].isalpha() and text != USER else f"step_{text}".rstrip("_")


def answer_key(agent: BaseAgent) -> str | None:
    """The output_key of the agent that has the last word, under which later steps may read the step's answer; None where there
    is none, or where several speak at once."""
    while isinstance(agent, (SequentialAgent, LoopAgent)) and agent.sub_agents:
        agent = agent.sub_agents[-1]
    return agent.output_key if isinstance(agent, LlmAgent) else None


def output_names(step: str) -> tuple[str, ...]:
    """The context's keys for the output of a step: `fact-check_output`, and as an identifier `fact_check_output`."""
    return tuple(dict.fromkeys((f"{step}_output", output_key(step))))


def output_key(step: str) -> str:
    """The state key of a step's output, which a placeholder can name: `{fact_check_output}`."""
    return f"{identifier(step)}_output"
