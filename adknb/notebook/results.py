"""What verbs return when it is no table: small results that show themselves and hold their data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adknb.core.run import Run
from adknb.core.views import Viewed
from adknb.notebook.pipelines import AgentCell, Pipeline


@dataclass(frozen=True, slots=True)
class Message(Viewed):
    """A sentence about what was done, and remarks on it."""

    text: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentCard(Viewed):
    """What an agent's cell came to: what it reads and writes, what passes through as text, lint."""

    pipeline: Pipeline
    agent: AgentCell
    rules: str
    remarks: tuple[str, ...] = ()
    namespace: Mapping[str, object] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class PipelineCard(Viewed):
    """A pipeline's agents in order, with the keys that pass between them."""

    pipeline: Pipeline
    rules: str
    remarks: tuple[str, ...] = ()
    namespace: Mapping[str, object] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class PromptHistory(Viewed):
    """An agent's versions, oldest first, each with what it changed; the last is the agent as it is."""

    agent: AgentCell


@dataclass(frozen=True, slots=True)
class RunDiff(Viewed):
    """Two runs step by step: prompts, replies, state and tokens. `tables.run_diff` has it as rows."""

    before: Run
    after: Run


@dataclass(frozen=True, slots=True)
class VerbList(Viewed):
    """The verbs of `%adk`, grouped, one line each."""

    groups: Mapping[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class HelpText(Viewed):
    """A command's help."""

    text: str
