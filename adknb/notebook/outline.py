"""What the cells of a pipeline come to before anything runs: keys read and written, text in braces, faults.

Names that the notebook does not define yet are faults here and stop only a run, so that cells can be written in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from adknb.analysis.findings import SEVERITIES, Finding
from adknb.analysis.lint import lint
from adknb.analysis.order import order
from adknb.analysis.uses import Place, Read, Uses, placed, texts
from adknb.core.errors import AdknbError
from adknb.core.events import USER
from adknb.core.run import Run
from adknb.core.specs import BaseAgent, LlmAgent, SequentialAgent
from adknb.core.state import APP_PREFIX, USER_PREFIX
from adknb.models.resolve import resolve_model
from adknb.notebook.pipelines import AgentCell, Pipeline, named_model
from adknb.notebook.records import Record
from adknb.rules.base import Rules
from adknb.rules.resolve import resolve_rules
from adknb.runtime.tree import LlmNode

_SAID_ELSEWHERE: Final = "braces-pass"
"""Lint's word for what `AgentOutline.braces` lists."""
_NOT_TEXT: Final = ("not-substituted", "doubled-braces")
"""Findings about braces that pass, but were hardly meant to."""


@dataclass(frozen=True, slots=True)
class KeyRead:
    """A state key that a prompt inserts. `source` says in words who has written it by then, None when nobody is known to."""

    key: str
    optional: bool
    source: str | None


@dataclass(frozen=True, slots=True)
class AgentOutline:
    """One agent: `place` is its place in the pipeline from 1, `readers` who reads what it writes under its key, in
    words. `callback_keys` are further keys that its callbacks and tools may write, by their names. `undefined` holds the
    names that the notebook does not define. `braces` pass through as text."""

    agent: AgentCell
    place: int
    reads: tuple[KeyRead, ...]
    readers: tuple[str, ...]
    callback_keys: Mapping[str, tuple[str, ...]]
    undefined: frozenset[str]
    braces: tuple[Place, ...]
    findings: tuple[Finding, ...]


class Outline:
    """A pipeline's agents in order; `findings` are all of lint's and of the names that are not there, errors first."""

    def __init__(
        self,
        pipeline: Pipeline,
        rules: str,
        namespace: Mapping[str, Any],
        given: Iterable[str] = (),
        resumable: bool = False,
    ) -> None:
        self.pipeline = pipeline
        self._rules = resolve_rules(rules)
        self._given = frozenset(given)
        built = [_leniently(agent, namespace) for agent in pipeline.agents]
        root = SequentialAgent(name=pipeline.name, sub_agents=tuple(agent for agent, _ in built))
        self._uses = Uses(root, self._rules)
        found = [fault for _, faults in built for fault in faults]
        found += _name_faults(root, self._rules)
        linted = lint(root, rules=self._rules, state=self._given, resumable=resumable)
        found += [finding for finding in linted if finding.code != _SAID_ELSEWHERE]
        self.findings = sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))
        self.agents = [
            self._agent(agent, place, node, namespace)
            for place, (agent, node) in enumerate(zip(pipeline.agents, self._uses.llm_nodes, strict=True), 1)
        ]

    def of(self, name: str) -> AgentOutline:
        """The outline of the agent of this name."""
        return next(outline for outline in self.agents if outline.agent.name == name)

    def _agent(self, agent: AgentCell, place: int, node: LlmNode, namespace: Mapping[str, Any]) -> AgentOutline:
        own = tuple(finding for finding in self.findings if finding.agent == agent.name)
        flagged = {finding.place for finding in own if finding.code in _NOT_TEXT}
        return AgentOutline(
            agent, place, tuple(self._reads(node)), tuple(self._readers(node)), self._callback_keys(node),
            frozenset(name for _, name in agent.options.names() if name not in namespace),
            tuple(brace for brace in _literal_braces(node) if brace not in flagged), own,
        )  # fmt: skip

    def _reads(self, node: LlmNode) -> Iterator[KeyRead]:
        first: dict[str, Read] = {}
        for read in self._uses.reads:
            if read.node is node and (read.key not in first or not read.optional):
                first[read.key] = read
        for read in first.values():
            yield KeyRead(read.key, read.optional, self._source(read))

    def _source(self, read: Read) -> str | None:
        """Who has written the key when the prompt is built; None when nobody is known to."""
        writers = [(write.node, order(write.node, read.node)) for write in self._uses.writers(read.key)]
        before = [writer.name for writer, when in writers if when == "before"]
        if before:
            return ", ".join(dict.fromkeys(before))
        perhaps = [f"perhaps {function.how} of {function.node.name}" for function in self._uses.may_write(read.key)]
        if perhaps:
            return ", ".join(dict.fromkeys(perhaps))
        if read.key in self._given:
            return "given at the start"
        if any(writer is read.node for writer, _ in writers):
            return "its own reply of the turn before"
        if writers:
            return f"{', '.join(dict.fromkeys(writer.name for writer, _ in writers))}, which runs later"
        return "set from outside" if read.key.startswith((APP_PREFIX, USER_PREFIX)) else None

    def _readers(self, node: LlmNode) -> Iterator[str]:
        key = node.agent.output_key
        readers = [read.node for read in self._uses.readers(key)] if key is not None else []
        for reader in dict.fromkeys(readers):
            if reader is node:
                yield "itself in the next turn"
            else:
                yield reader.name if order(node, reader) == "before" else f"{reader.name} in the next turn"

    def _callback_keys(self, node: LlmNode) -> dict[str, tuple[str, ...]]:
        return {
            function.name: tuple(sorted(function.stored))
            for function in self._uses.functions
            if function.node is node and function.may_write and function.stored
        }


def given_keys(records: Iterable[Record], pipeline: str) -> frozenset[str]:
    """The state keys that the newest run of a pipeline was given: at its session's start, and beside its messages."""
    runs = [record.run for record in records if record.pipeline == pipeline and not record.trial]
    if not runs:
        return frozenset()
    run: Run = runs[-1]
    keys = {key for event in (*run.past, *run.turn_events) if event.author == USER for key in event.actions.state_delta}
    first = run
    while first.previous is not None:
        first = first.previous.run
    return frozenset(keys.union(first.start_state))


def _leniently(agent: AgentCell, namespace: Mapping[str, Any]) -> tuple[LlmAgent, list[Finding]]:
    """The agent as far as it can be built now, and what would stop its run."""
    options = agent.options
    faults: list[AdknbError] = [
        agent.unresolved(option, name, namespace) for option, name in options.names() if name not in namespace
    ]
    if isinstance(options.model, str):
        try:
            resolve_model(named_model(namespace, options.model))
        except AdknbError as error:
            faults.append(error)
    known = replace(
        options,
        tools=tuple(name for name in options.tools if name in namespace),
        schema=options.schema if options.schema in namespace else None,
        callbacks={kind: tuple(filter(namespace.__contains__, names)) for kind, names in options.callbacks.items()},
    )
    try:
        built = replace(agent, options=known).build(namespace)
    except AdknbError as error:
        faults.append(error)
        built = LlmAgent(name=agent.name, instruction=_text(agent), output_key=options.key or None)
    who = f"agent {agent.name!r}: "
    return built, [Finding("not-ready", "error", agent.name, None, str(fault).removeprefix(who)) for fault in faults]


def _text(agent: AgentCell) -> str:
    try:
        return agent.text()
    except AdknbError:  # said already, by the build that failed for it
        return ""


def _name_faults(root: SequentialAgent, rules: Rules) -> Iterator[Finding]:
    """Names that the rules do not allow: each agent's own, else the pipeline's."""
    faults = [(agent.name, error) for agent in root.sub_agents if (error := _name_fault(agent, rules)) is not None]
    whole = _name_fault(root, rules) if not faults else None
    if whole is not None:
        faults.append((root.name, whole))
    for name, error in faults:
        yield Finding("name", "error", name, None, str(error).removeprefix(f"agent {name!r}: "))


def _name_fault(agent: BaseAgent, rules: Rules) -> AdknbError | None:
    try:
        rules.check_names(agent)
    except AdknbError as error:
        return error
    return None


def _literal_braces(node: LlmNode) -> Iterator[Place]:
    """The outermost pairs of braces that stay in the prompt."""
    for _, text, template in texts(node):
        open_at: list[int] = []
        pairs: list[tuple[int, int]] = []
        for piece, offset in placed(text, template):
            for place, character in enumerate(piece if isinstance(piece, str) else "", offset):
                if character == "{":
                    open_at.append(place)
                elif character == "}" and open_at:
                    pairs.append((open_at.pop(), place + 1))
        end = 0
        for start, stop in sorted(pairs):
            if start >= end:
                yield Place.at(text, start, text[start:stop])
                end = stop
