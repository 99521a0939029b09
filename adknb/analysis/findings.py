"""What lint finds, and what its checks look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from adknb.analysis.freshness import Ledger
from adknb.analysis.uses import Place, Uses
from adknb.core.views import Viewed, table
from adknb.rules.base import Rules

if TYPE_CHECKING:
    import pandas as pd

Severity = Literal["error", "warning", "info"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
"""`error`: the run stops. `warning`: it goes on with something that was hardly meant. `info`: good to know."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend or to know.

    `code` is its kind, `agent` whose it is, `place` where in that agent's instruction (None when it is in no text),
    `message` what happens under ADK, `fix` what to do, empty when nothing need be done.
    """

    code: str
    severity: Severity
    agent: str
    place: Place | None
    message: str
    fix: str = ""

    def __str__(self) -> str:
        where = f"{self.agent}:{self.place.line}:{self.place.column}" if self.place is not None else self.agent
        return f"{where}: {self.severity} {self.code}: {self.message}{' ' + self.fix if self.fix else ''}"


class Lint(Viewed, Sequence[Finding]):
    """The findings of a pipeline, errors first, then in tree order; empty, and so false, when there is none."""

    __slots__ = ("findings", "pipeline")

    def __init__(self, pipeline: str, findings: Iterable[Finding]) -> None:
        self.pipeline = pipeline
        self.findings = tuple(findings)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Finding, ...]: ...
    def __getitem__(self, index: int | slice) -> Finding | tuple[Finding, ...]:
        return self.findings[index]

    def __len__(self) -> int:
        return len(self.findings)

    def __repr__(self) -> str:
        return f"Lint({self.pipeline!r}, {len(self)} findings)"

    def of(self, agent: str) -> Lint:
        """The findings of one agent."""
        return Lint(self.pipeline, (finding for finding in self.findings if finding.agent == agent))

    def to_frame(self) -> pd.DataFrame:
        """One row a finding: `severity`, `code`, `agent`, `line`, `column`, `text`, `message`, `fix`."""
        return table(self, "lint")


@dataclass(frozen=True, slots=True)
class Subject:
    """What the checks look at: the tree's reads and writes, the rules, the keys that are there at the start with the values
    that are known of them, what a run saw, when there is one, the rules of another ADK to look at, if any, and whether
    long-running calls pause."""

    uses: Uses
    rules: Rules
    given: frozenset[str]
    ledger: Ledger | None
    values: Mapping[str, Any] = field(default_factory=dict)
    target: Rules | None = None
    resumable: bool = False
