"""What verbs return when it is no table: small results that show themselves and hold their data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adknb.core.run import Run
from adknb.core.views import Viewed
from adknb.notebook.pipelines import AgentCell, Pipeline
from adknb.notebook.run_diff import RUN_DIFF, run_diff_rows
from adknb.notebook.shown import shown_table
from adknb.tables.frame import frame

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Message(Viewed):
    """A sentence about what was done, and remarks on it."""

    text: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentCard(Viewed):
    """What an agent's cell came to: what it reads and writes, what passes through as text, lint.

    `given` names the state keys that runs start with, as far as a run has shown them, `resumable` says that long-running
    calls pause them.
    """

    pipeline: Pipeline
    agent: AgentCell
    rules: str
    remarks: tuple[str, ...] = ()
    namespace: Mapping[str, object] = field(default_factory=dict, repr=False)
    given: frozenset[str] = frozenset()
    resumable: bool = False


@dataclass(frozen=True, slots=True)
class PipelineCard(Viewed):
    """A pipeline's agents in order, with the keys that pass between them. `given` and `resumable` as in `AgentCard`."""

    pipeline: Pipeline
    rules: str
    remarks: tuple[str, ...] = ()
    namespace: Mapping[str, object] = field(default_factory=dict, repr=False)
    given: frozenset[str] = frozenset()
    resumable: bool = False


@dataclass(frozen=True, slots=True)
class PromptHistory(Viewed):
    """An agent's versions, oldest first, each with what it changed; the last is the agent as it is.

    `pipeline` is named in the commands that restore one; None for the pipeline in use.
    """

    agent: AgentCell
    pipeline: str | None = None


@dataclass(frozen=True, slots=True)
class RunDiff(Viewed):
    """Two runs step by step: prompts, replies, state and tokens (see `run_diff`)."""

    before: Run
    after: Run

    def to_frame(self) -> pd.DataFrame:
        """One row a part of a step, of the runs as a whole first: `step`, `part`, `key`, `request`, `change` (`same`,
        `changed`, `added`, `removed`), `before`, `after`, and the `difference` of token numbers."""
        return shown_table(frame(run_diff_rows(self.before, self.after), RUN_DIFF))


@dataclass(frozen=True, slots=True)
class VerbList(Viewed):
    """The verbs of `%adk`, grouped, one line each."""

    groups: Mapping[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class HelpText(Viewed):
    """A command's help."""

    text: str
