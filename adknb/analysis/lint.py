"""Lint: what will go wrong in a pipeline, or only looks right, each with its place and its fix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from adknb.analysis.checks import braces, keys, pauses, seen, steps, target as elsewhere
from adknb.analysis.findings import SEVERITIES, Finding, Lint, Subject
from adknb.analysis.freshness import Ledger
from adknb.analysis.uses import Uses
from adknb.core.run import Run
from adknb.core.specs import BaseAgent
from adknb.rules.base import Rules
from adknb.rules.resolve import resolve_rules
from adknb.rules.resumable import check_resumable


def lint(
    root: BaseAgent,
    *,
    rules: str | Rules = "java",
    run: Run | None = None,
    state: Iterable[str] = (),
    target: str | Rules | None = None,
    resumable: bool = False,
) -> Lint:
    """The findings of the pipeline `root` under the rules of one ADK.

    `state` names the keys that are there when the run starts (a dict of them will do). A `run` adds what only a run
    shows: large values, stale reads, maps in prompts; what its session was created with counts as given.
    With a `target`, such as `"go"`, what will visibly differ under that ADK is found too (`differs-under-go`), as far as it
    can be told without running; `portability` runs it. With `resumable` it is the pipeline of a `Runner(resumable=True)`.
    """
    ledger = Ledger(run) if run is not None else None
    given = set(state)
    if ledger is not None:
        given.update(key for key in ledger.run.start_state if ledger.last_write(key, 0) is None)
    known = dict(state) if isinstance(state, Mapping) else {}
    if ledger is not None:
        known = {**{key: value for key, value in ledger.run.start_state.items() if key in given}, **known}
    own, other = resolve_rules(rules), resolve_rules(target) if target is not None else None
    if resumable:
        check_resumable(own)
    subject = Subject(Uses(root, own), own, frozenset(given), ledger, known, other, resumable)
    found = [finding for check in (braces, keys, steps, pauses, seen) for finding in check.findings(subject)]
    if other is not None:
        found += elsewhere.findings(subject, other)
    places = {node.name: number for number, node in reversed(list(enumerate(subject.uses.nodes)))}

    def rank(finding: Finding) -> tuple[int, int, int, int]:
        place = (finding.place.line, finding.place.column) if finding.place is not None else (0, 0)
        return (SEVERITIES.index(finding.severity), places.get(finding.agent, -1), *place)

    return Lint(root.name, sorted(dict.fromkeys(found), key=rank))
