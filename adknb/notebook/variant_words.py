"""The words of `--variants`: strategies, versions of a prompt, models, callbacks, and variables that hold variants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Final

from adknb.compare.variants import Variant, as_variants
from adknb.core.errors import SpecError, near_names
from adknb.core.specs import BaseAgent, IncludeContents, LlmAgent
from adknb.notebook.bench import Bench
from adknb.notebook.command import UsageError
from adknb.notebook.pipelines import named_model
from adknb.notebook.variables import is_agent, users_names
from adknb.runtime.strategies import NAMES

CHANGES: Final = ("model", "rules", "strategy", "off")
"""What a word may change beside prompts: `model=local`."""
WAYS: Final = (
    "A variant is default, none, state_only or as_written; AGENT@2; AGENT=VARIABLE; model=NAME; rules=NAME; off=CALLBACK; "
    "several of these joined by +; or a variable."
)
_VERSION: Final = re.compile(r"(.+)@(\d+)")
_NEAR: Final = 0.8
"""How near a dict's key must be to an agent's name to be meant as one."""


class VariantWords:
    """Reads words as variants of the pipeline that the bench has under this name; `root` is its agent.

    What a word does not name is as the bench has it set. Raises `UsageError` for what cannot be read.
    """

    def __init__(self, bench: Bench, pipeline: str, root: BaseAgent) -> None:
        self._bench = bench
        self._pipeline = pipeline
        self._agents = [agent.name for agent in root.walk() if isinstance(agent, LlmAgent)]

    def read(self, words: Iterable[str]) -> list[Variant]:
        """The variants that the words name, in order; a variable may hold several."""
        variants = [variant for word in words for variant in self._variants(word)]
        names = [variant.name for variant in variants]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(
                    f"--variants names {name!r} twice. Name it once: --repeat 2 shows how far a variant differs from itself."
                )
        return variants

    def _variants(self, word: str) -> list[Variant]:
        if word.lower() in NAMES or word not in self._bench.namespace:
            return [self._written(word)]
        return self._held(word, self._bench.namespace[word])

    def _held(self, name: str, value: Any) -> list[Variant]:
        """What a variable holds: a variant, several, or a strategy."""
        if isinstance(value, Variant):
            return [value]
        if isinstance(value, Mapping) and not self._is_per_agent(value):
            return [replace(self._one(name, each), name=str(called)) for called, each in value.items()]
        if isinstance(value, (list, tuple)):
            return [self._one(name, each) for each in value]
        return [replace(self._one(name, value), name=name)]

    def _one(self, place: str, value: Any) -> Variant:
        """A variant from what stands in the variable `place`."""
        if isinstance(value, str) and not isinstance(value, IncludeContents):
            return self._written(value)
        if isinstance(value, (Variant, Mapping)) or is_strategy(value):
            try:
                return as_variants([value])[0]
            except SpecError as error:
                raise UsageError(f"--variants {place}: {error}") from None
        if is_agent(value):
            raise UsageError(
                f"--variants {place}: {value.name} is an agent. A version of its prompt is {value.name}@NUMBER (see %adk "
                f"history {value.name}), another prompt {value.name}=VARIABLE."
            )
        raise UsageError(f"--variants {place}: a value of type {type(value).__name__} is no variant. {WAYS}")

    def _is_per_agent(self, value: Mapping[Any, Any]) -> bool:
        """Whether a dict gives agents their strategies; else its keys name variants."""
        return not any(isinstance(each, Variant) for each in value.values()) and any(
            get_close_matches(str(key), self._agents, 1, _NEAR) for key in value
        )

    def _written(self, word: str) -> Variant:
        """A variant from its changes, joined by `+`."""
        fields: dict[str, Any] = {}
        for piece in word.split("+"):
            self._take(piece, word, fields)
        fields.setdefault("strategy", self._bench.settings.strategy)
        return Variant(word, **fields)

    def _take(self, piece: str, word: str, fields: dict[str, Any]) -> None:
        """One change, put into the fields of a `Variant`."""
        version = _VERSION.fullmatch(piece)
        what, is_change, value = piece.partition("=")
        if version is not None:
            self._put_prompt(version[1], self._version(word, version[1], int(version[2])), word, fields)
        elif not is_change:
            _put("strategy", self._strategy(piece, word), word, fields)
        elif not value:
            raise UsageError(f"--variants {word}: a value is missing behind {piece}")
        elif what == "model":
            _put("models", named_model(self._bench.namespace, value), word, fields)
        elif what == "rules":
            _put("rules", value, word, fields)
        elif what == "strategy":
            _put("strategy", self._strategy(value, word), word, fields)
        elif what == "off":
            fields["off"] = (*fields.get("off", ()), *value.split(","))
        else:
            self._put_prompt(what, self._prompt(word, what, value), word, fields)

    def _strategy(self, name: str, word: str) -> Any:
        value = self._bench.namespace.get(name)
        if name.lower() in NAMES:
            return name.lower()
        if isinstance(value, Mapping) or is_strategy(value):
            return value
        if isinstance(value, Variant):
            raise UsageError(f"--variants {word}: {name} is a Variant, which stands alone, not joined by +")
        if "," in name:
            raise UsageError(f"--variants {word}: separate variants by spaces: --variants {' '.join(word.split(','))}")
        near = get_close_matches(name, [*NAMES, *users_names(self._bench.namespace, holds_variants)], 3)
        offer = f"Did you mean {' or '.join(map(repr, near))}?" if near else WAYS
        raise UsageError(f"--variants: there is no variant {name!r}. {offer}")

    def _version(self, word: str, agent: str, number: int) -> str:
        self._check_agent(agent, word)
        written = self._bench.pipelines.get(self._pipeline)
        if written is None:
            raise UsageError(
                f"--variants {word}: versions are kept of agents that cells wrote, and {self._pipeline!r} is a variable. Name a "
                f"prompt: {agent}=VARIABLE"
            )
        cell = written[agent]
        forms = [replace(cell, prompt=each.prompt, options=each.options) for each in cell.versions] + [cell]
        if not 1 <= number <= len(forms):
            have = f"versions 1 to {len(forms)}" if len(forms) > 1 else "one version"
            raise UsageError(f"--variants {word}: {agent} has {have}, not {number}. See them: %adk history {agent}")
        return forms[number - 1].text()

    def _prompt(self, word: str, agent: str, variable: str) -> str:
        if agent not in self._agents:
            near = near_names(agent, [*self._agents, *CHANGES])
            raise UsageError(f"--variants {word}: {agent!r} is no agent of {self._pipeline!r}.{near} {WAYS}")
        names = self._bench.namespace
        if variable not in names:
            near = near_names(variable, users_names(names, lambda value: isinstance(value, str)))
            raise UsageError(
                f"--variants {word}: {variable!r} is a variable that the notebook does not define.{near} "
                f'Write the prompt in a cell first: {variable} = "…"'
            )
        if not isinstance(names[variable], str):
            kind = type(names[variable]).__name__
            raise UsageError(f"--variants {word}: {variable} is of type {kind}, not the text of a prompt")
        return str(names[variable])

    def _put_prompt(self, agent: str, prompt: str, word: str, fields: dict[str, Any]) -> None:
        prompts = fields.setdefault("prompts", {})
        if agent in prompts:
            raise UsageError(f"--variants {word}: {agent} is given two prompts; a variant has one of each agent")
        prompts[agent] = prompt

    def _check_agent(self, agent: str, word: str) -> None:
        if agent not in self._agents:
            raise UsageError(
                f"--variants {word}: {agent!r} is no agent of {self._pipeline!r}.{near_names(agent, self._agents)}"
            )


def holds_variants(value: Any) -> bool:
    """Whether a variable's value is a variant or a strategy, or holds some."""
    values = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(each, Variant) or is_strategy(each) for each in values)


def is_strategy(value: Any) -> bool:
    """Whether it is a setting of ADK's or a `ContextStrategy`; a strategy's name and a map of agents do not count."""
    if isinstance(value, (IncludeContents, type)):
        return isinstance(value, IncludeContents)
    return callable(getattr(value, "contents", None)) and isinstance(getattr(value, "name", None), str)


def _put(name: str, value: Any, word: str, fields: dict[str, Any]) -> None:
    if name in fields:
        raise UsageError(f"--variants {word}: a variant names its {name} once; this word does so twice")
    fields[name] = value
