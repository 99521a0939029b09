"""Which rule makes a difference: the pipeline once more with a single rule of the other ADK."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from adknb.compare.inputs import Input
from adknb.compare.rule_trials import Place, Replies, Trial
from adknb.core.errors import AdknbError
from adknb.core.specs import BaseAgent, IncludeContents, LlmAgent, ParallelAgent
from adknb.rules.base import Rules
from adknb.rules.differences import DIFFERENCES, Difference
from adknb.rules.mixed import with_rule

_COLUMNS: Final = {"java": "java", "go": "go", "go_fixed": "go", "js": "js"}
_NOT_IMITATED: Final = "python"
"""The real SDK runs under these rules: it cannot run with a single one of another."""


class Causes:
    """Finds the rules between two rule sets that make an input's differences. Each rule is tried once, when first asked."""

    def __init__(self, root: BaseAgent, asked: Input, replies: Replies, first: Rules, other: Rules) -> None:
        self._asked = asked
        self._replies = replies
        self._sets = (first, other)
        self._tried: dict[tuple[str, bool], Trial | None] = {}
        self._topics = _topics(root)
        self._names = [
            name
            for name in dict.fromkeys(difference.name for difference in DIFFERENCES)
            if getattr(type(first), name) is not getattr(type(other), name)
            and _NOT_IMITATED not in (first.name, other.name)
        ]

    def of(self, place: Place, aspect: str, before: str | None, after: str | None, requests: int) -> list[Difference]:
        """The rules of which each alone brings the aspect from `before` to `after`; else those that change it at all;
        else those without which it does not come about. Empty when no single rule has a part in it."""
        alone = {name: self._text(name, False, place, aspect, requests) for name in self._names}
        found = [name for name, text in alone.items() if text == after]
        found = found or [name for name, text in alone.items() if text not in (before, _REFUSED)]
        found = found or [name for name in self._names if self._text(name, True, place, aspect, requests) == before]
        return [row for name in found for row in self._rows(name)]

    def _text(self, name: str, is_without: bool, place: Place, aspect: str, requests: int) -> str | None:
        """The aspect under the first rule set with the other's rule, or the other `is_without` it."""
        trial = self._trial(name, is_without)
        return trial.aspects(place, requests).get(aspect) if trial is not None else _REFUSED

    def _trial(self, name: str, is_without: bool) -> Trial | None:
        key = (name, is_without)
        if key not in self._tried:
            base, giver = reversed(self._sets) if is_without else self._sets
            try:
                self._tried[key] = self._replies.trial(self._asked, with_rule(base, giver, name))
            except AdknbError:  # with this one rule the pipeline is refused before it begins
                self._tried[key] = None
        return self._tried[key]

    def _rows(self, name: str) -> Iterator[Difference]:
        """What is said of a rule: of several points those that concern these ADKs and this pipeline, all if none does."""
        rows = [difference for difference in DIFFERENCES if difference.name == name]
        first, other = (_COLUMNS.get(rules.name) for rules in self._sets)
        if first is not None and other is not None and first != other:
            rows = [row for row in rows if getattr(row, first) != getattr(row, other)] or rows
        yield from [row for row in rows if not any(word in row.sentence for word in self._topics)] or rows


_REFUSED: Final = "\0refused"
"""Equal to no text of a step."""


def _topics(root: BaseAgent) -> list[str]:
    """Words of sentences that are about what the pipeline does not have."""
    agents = list(root.walk())
    models = [agent for agent in agents if isinstance(agent, LlmAgent)]
    has = {
        "output_schema": any(agent.output_schema is not None for agent in models),
        "include_contents none": any(agent.include_contents is IncludeContents.NONE for agent in models),
        "tool result": any(agent.tools for agent in models),
        "branches": any(isinstance(agent, ParallelAgent) for agent in agents),
    }
    return [word for word, is_there in has.items() if not is_there]
