"""The contract of a pipeline and the findings of lint, one row each."""

from __future__ import annotations

from typing import Final

from adknb.analysis.constants import constant_names
from adknb.analysis.contract import Contract
from adknb.analysis.findings import Lint
from adknb.tables.frame import Kind, Row

CONTRACT: Final[dict[str, Kind]] = {
    "key": "text", "constant": "text", "scope": "text", "producer": "text", "consumer": "text", "required": "text",
    "shape": "text", "seen": "text", "note": "text",
}  # fmt: skip
LINT: Final[dict[str, Kind]] = {
    "severity": "text", "code": "text", "agent": "text", "line": "maybe", "column": "maybe", "text": "text",
    "message": "text", "fix": "text",
}  # fmt: skip


def contract_rows(contract: Contract) -> list[Row]:
    """One row a key. `shape` is what its producer's schema or instruction says, `seen` what the run showed."""
    names = constant_names(entry.key for entry in contract)
    return [
        {
            "key": entry.key,
            "constant": names[entry.key],
            "scope": entry.scope,
            "producer": ", ".join(map(str, entry.producers)),
            "consumer": ", ".join(map(str, entry.consumers)),
            "required": entry.required,
            "shape": entry.documented,
            "seen": entry.seen,
            "note": entry.note,
        }
        for entry in contract
    ]


def lint_rows(lint: Lint) -> list[Row]:
    """One row a finding; `line`, `column` and `text` are absent where it is about no text."""
    return [
        {
            "severity": finding.severity,
            "code": finding.code,
            "agent": finding.agent,
            "line": finding.place.line if finding.place is not None else None,
            "column": finding.place.column if finding.place is not None else None,
            "text": finding.place.text if finding.place is not None else "",
            "message": finding.message,
            "fix": finding.fix,
        }
        for finding in lint
    ]
