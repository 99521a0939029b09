"""What only a run shows: values that are too big, too old, or maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from adknb.analysis.findings import Finding, Subject
from adknb.analysis.freshness import PRESET, Ledger, Read
from adknb.analysis.uses import Place
from adknb.core.state import TEMP_PREFIX

LARGE: Final = 8_000
"""Characters from which on a state value is called large: some 2,000 tokens in each prompt that inserts it."""


def findings(subject: Subject) -> Iterator[Finding]:
    ledger = subject.ledger
    if ledger is None:
        return
    yield from _large(subject, ledger)
    stale = (read for read in reversed(ledger.reads) if read.stale)
    for first in {(read.step.agent.name, read.key): read for read in stale}.values():
        yield _stale(subject, first)
    for read in ledger.reads:
        yield from _map(subject, ledger, read)


def _large(subject: Subject, ledger: Ledger) -> Iterator[Finding]:
    for key, value in ledger.state.items():
        size = len(subject.rules.text_of(value))
        if size < LARGE:
            continue
        write = ledger.last_write(key)
        readers = ledger.readers(key)
        into = f"goes into the prompt of {', '.join(readers)}" if readers else "goes into no prompt of this run"
        yield Finding(
            "large-value", "warning" if readers else "info", write.event.author if write is not None else PRESET, None,
            f"{key!r} holds {size:,} characters and {into}; it is stored with its event and in the state.",
            "Save it as an artifact, keep a summary or the artifact's name in state, and load it where it is needed.",
        )  # fmt: skip


def _stale(subject: Subject, read: Read) -> Finding:
    write = read.write
    assert write is not None
    if read.key.startswith(TEMP_PREFIX):
        return Finding(
            "temp-earlier-turn", "warning", read.step.agent.name, _place(subject, read),
            f"{read.step.name} read {read.key!r} of turn {write.turn}. ADK's contract discards temp: keys when a "
            "turn ends; ADK Java's in-memory service keeps them.",
            "Write it in an earlier step of each turn, or use a key without temp:.",
        )  # fmt: skip
    return Finding(
        "stale-read", "warning", read.step.agent.name, _place(subject, read),
        f"{read.step.name} read {read.key!r} as {write.step} left it in turn {write.turn}: this turn had not written "
        "it.",
        f"Clear it when a turn starts (clear=[{read.key!r}]), or keep it under temp:.",
    )  # fmt: skip


def _map(subject: Subject, ledger: Ledger, read: Read) -> Iterator[Finding]:
    """A map in a prompt, where no output_schema told so before."""
    value = read.write.value if read.write is not None else ledger.run.start_state.get(read.key)
    if not isinstance(value, Mapping) or any(each.node.agent.output_schema for each in subject.uses.writers(read.key)):
        return
    shown = subject.rules.text_of({next(iter(value), "field"): "…"})
    if shown.startswith('{"'):
        return
    yield Finding(
        "map-in-prompt", "warning", read.step.agent.name, _place(subject, read),
        f"{read.key!r} holds a map, and a map arrives as {shown}, not as JSON.", "If the model needs JSON, store "
        "JSON text.",
    )  # fmt: skip


def _place(subject: Subject, read: Read) -> Place | None:
    return next(
        (each.place for each in subject.uses.readers(read.key) if each.node.agent.name == read.step.agent.name), None
    )
