"""The contract of a pipeline: each state key with who writes it, who reads it, and what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adknb.analysis.constants import constants_class
from adknb.analysis.freshness import PRESET, Ledger, Write as SeenWrite
from adknb.analysis.order import order
from adknb.analysis.shapes import documented_shape, seen_shape
from adknb.analysis.uses import CUSTOM, OUTPUT_KEY, WORKFLOWS, Uses
from adknb.core.events import USER
from adknb.core.run import Run
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.core.state import APP_PREFIX, USER_PREFIX, scope
from adknb.core.views import Viewed, table
from adknb.rules.base import Rules
from adknb.rules.resolve import resolve_rules

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Producer:
    """Who writes a key. `how` is `output_key`, a callback's or tool's name, `preset` or `message`.

    `certain` is false for code that only may write it; `seen` says that the run shows the write.
    """

    name: str
    how: str
    certain: bool = True
    seen: bool = False

    def __str__(self) -> str:
        if self.how == OUTPUT_KEY:
            return self.name
        return _code(self.how, self.name) if self.certain else f"perhaps {_code(self.how, self.name)}"


@dataclass(frozen=True, slots=True)
class Consumer:
    """Who reads a key. `how` is the field that the placeholder stands in, or the code that names the key.

    `required` is whether its run fails without the key; None where code reads it.
    """

    name: str
    how: str
    required: bool | None

    def __str__(self) -> str:
        if self.required is None:
            return f"perhaps {_code(self.how, self.name)}"
        where = f", {self.how}" if self.how != "instruction" else ""
        return f"{self.name} ({'required' if self.required else 'optional'}{where})"


@dataclass(frozen=True, slots=True)
class ContractKey:
    """One key. `documented` is the shape that the producer's schema or instruction tells, `seen` the one in the run.

    `note` says what the tables of producers and consumers cannot: that nobody writes it, or when it is written.
    """

    key: str
    producers: tuple[Producer, ...]
    consumers: tuple[Consumer, ...]
    documented: str
    seen: str
    note: str

    @property
    def scope(self) -> str:
        """`session`, `user`, `app` or `temp`."""
        return scope(self.key)

    @property
    def required(self) -> str:
        """`required` when a placeholder needs the key, `optional` when all can do without; empty when none reads it."""
        needs = [consumer.required for consumer in self.consumers if consumer.required is not None]
        return "" if not needs else "required" if any(needs) else "optional"

    @property
    def shape(self) -> str:
        """What the run showed, else what is documented."""
        return self.seen or self.documented


@dataclass(frozen=True, slots=True)
class Contract(Viewed):
    """Every state key of a pipeline, inputs first. `unknown` names the code that may touch further keys."""

    pipeline: str
    keys: tuple[ContractKey, ...]
    unknown: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[ContractKey]:
        return iter(self.keys)

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, key: str) -> ContractKey:
        """The entry of a key. Raises `KeyError`."""
        for entry in self.keys:
            if entry.key == key:
                return entry
        raise KeyError(key)

    def to_frame(self) -> pd.DataFrame:
        """One row a key: `key`, `constant`, `scope`, `producer`, `consumer`, `required`, `shape`, `seen`, `note`."""
        return table(self, "contract")

    def to_python(self) -> str:
        """A module with one class that holds every key name, each with its producer, consumer and shape."""
        return constants_class(
            self.pipeline,
            [(entry.key, {
                "producer": ", ".join(map(str, entry.producers)) or "outside the pipeline",
                "consumer": ", ".join(map(str, entry.consumers)) or "none in the pipeline",
                "shape": entry.shape or "unknown",
                "note": entry.note,
            }) for entry in self.keys],
        )  # fmt: skip


def contract(root: BaseAgent, *, rules: str | Rules = "java", run: Run | None = None) -> Contract:
    """The contract of the pipeline `root`.

    Placeholders and output_keys are known; what callbacks, tools and custom agents do is read off their code as far as
    it shows, and said with "perhaps". With a `run`, the writes and shapes that it saw are added.
    """
    uses = Uses(root, resolve_rules(rules))
    ledger = Ledger(run) if run is not None else None
    keys = dict.fromkeys(uses.keys)
    if ledger is not None:
        keys.update(dict.fromkeys(write.key for write in ledger.writes))
        keys.update(dict.fromkeys(ledger.run.start_state))
    return Contract(
        root.name,
        tuple(_entry(uses, key, ledger) for key in keys),
        tuple(dict.fromkeys(function.title for function in uses.functions)),
    )


def _code(how: str, name: str) -> str:
    """`callback require_triage of DraftAgent`, `custom agent Router`, `preset`."""
    if how == name:
        return how
    return f"{how} {name}" if how == CUSTOM else f"{how} of {name}"


def _entry(uses: Uses, key: str, ledger: Ledger | None) -> ContractKey:
    producers = [Producer(write.node.name, OUTPUT_KEY) for write in uses.writers(key)]
    producers += [Producer(each.node.name, each.how, certain=False) for each in uses.may_write(key)]
    if ledger is not None:
        producers = _with_seen(producers, key, ledger)
    consumers = [Consumer(read.node.name, read.origin, not read.optional) for read in uses.readers(key)] + [
        Consumer(each.node.name, each.how, None) for each in uses.may_read(key)
    ]
    documented = dict.fromkeys(documented_shape(write.node.agent) for write in uses.writers(key))
    return ContractKey(
        key, tuple(producers), _merged(consumers), " or ".join(documented),
        " or ".join(_seen_shapes(key, ledger)), _note(uses, key, producers),
    )  # fmt: skip


def _merged(consumers: list[Consumer]) -> tuple[Consumer, ...]:
    """Each reader once: one that reads a key twice requires it if either place does."""
    found: dict[tuple[str, str], Consumer] = {}
    for consumer in consumers:
        place = (consumer.name, consumer.how)
        if place not in found or consumer.required:
            found[place] = consumer
    return tuple(found.values())


def _with_seen(producers: list[Producer], key: str, ledger: Ledger) -> list[Producer]:
    """The producers with what the run saw: a write that was expected is marked, another is added."""
    found = list(producers)
    if key in ledger.run.start_state and ledger.last_write(key, 0) is None:
        found.append(Producer(PRESET, PRESET, seen=True))
    for write in ledger.writes:
        if write.key != key or write.removed:
            continue
        name, how = _writer(write, ledger)
        for place, producer in enumerate(found):
            if producer.name == name and (producer.how == how or not producer.certain):
                found[place] = Producer(name, producer.how, certain=True, seen=True)
                break
        else:
            found.append(Producer(name, how, seen=True))
    return found


def _writer(write: SeenWrite, ledger: Ledger) -> tuple[str, str]:
    """The agent that wrote, and how: by its output_key, a callback or a tool."""
    event = write.event
    if event.author == USER:
        return "message", "message"
    agent = ledger.run.root.find_agent(event.author)
    if event.function_responses:
        return event.author, "tool"
    skipped = any(step.status == "skipped" and event in step.events for step in ledger.run.step_runs)
    if isinstance(agent, LlmAgent) and agent.output_key == write.key and event.content is not None and not skipped:
        return event.author, OUTPUT_KEY
    return event.author, "callback" if isinstance(agent, (LlmAgent, *WORKFLOWS)) else CUSTOM


def _seen_shapes(key: str, ledger: Ledger | None) -> list[str]:
    if ledger is None:
        return []
    values = [write.value for write in ledger.writes if write.key == key and not write.removed]
    if not values and key in ledger.run.start_state:
        values = [ledger.run.start_state[key]]
    return list(dict.fromkeys(seen_shape(value) for value in values))


def _note(uses: Uses, key: str, producers: list[Producer]) -> str:
    readers = uses.readers(key)
    if not producers:
        if key.startswith((APP_PREFIX, USER_PREFIX)):
            return "set from outside"
        return "nobody writes it" if readers else ""
    if any(producer.how != OUTPUT_KEY for producer in producers):
        return ""
    writers = uses.writers(key)
    notes = []
    for read in readers:
        orders = {order(write.node, read.node) for write in writers}
        if orders and not orders & {"before", "unknown"}:
            notes.append(f"{read.node.name} reads it {_TOO_EARLY[min(orders)]}")
    return "; ".join(dict.fromkeys(notes))


_TOO_EARLY = {
    "at once": "while it is being written",
    "later": "before it is written",
    "next iteration": "before it is written in the loop's first iteration",
}
