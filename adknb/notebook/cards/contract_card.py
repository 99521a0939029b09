"""The contract of a pipeline: one row a key, then the code that may touch others, and the constants class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adknb.analysis.contract import Contract, ContractKey
from adknb.core.escape import escape, one_line
from adknb.notebook.cards.html import block, card, chip, cut, div, head, span, table
from adknb.notebook.cards.words import counted

_COLUMNS: Final = (
    ("Key", "adknb-name"), ("Scope", ""), ("Written by", ""), ("Read by", ""), ("Shape", ""), ("Note", ""),
)  # fmt: skip


def contract_html(contract: Contract) -> str:
    pieces = [
        head(f"Contract of {contract.pipeline}", span(counted(len(contract), "key"), "adknb-dim")),
        table(_COLUMNS, [[*map(cut, _cells(entry)), _note(entry)] for entry in contract]),
    ]
    unknown = _unknown(contract)
    if unknown:
        pieces.append(div(unknown, "adknb-dim"))
    constants = block(contract.to_python(), "adknb-text adknb-mono")
    pieces.append(f"<details><summary>{escape('The keys as a Python class')}</summary>{constants}</details>")
    return card(*pieces)


def contract_text(contract: Contract) -> str:
    """A few lines a key, since a table of them is wider than a terminal."""
    lines = [one_line(f"Contract of {contract.pipeline} · {counted(len(contract), 'key')}", 300)]
    for entry in contract:
        key, *facts = [*_cells(entry), entry.note]
        named = zip([name.lower() for name, _ in _COLUMNS[1:]], facts, strict=True)
        lines.append(one_line(key, 200))
        lines.extend(f"  {name:<12}{one_line(fact, 1_000)}" for name, fact in named if fact)
    unknown = _unknown(contract)
    return "\n".join([*lines, one_line(unknown, 1_000)] if unknown else lines)


def _cells(entry: ContractKey) -> Sequence[str]:
    producers, consumers = (", ".join(map(str, people)) for people in (entry.producers, entry.consumers))
    return [entry.key, entry.scope, producers, consumers, entry.shape]


def _note(entry: ContractKey) -> str:
    return chip(entry.note, "" if entry.producers or entry.scope in ("user", "app") else "warn") if entry.note else ""


def _unknown(contract: Contract) -> str:
    if not contract.unknown:
        return ""
    return f"Code that may read and write other keys too: {', '.join(contract.unknown)}."
