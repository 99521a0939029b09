"""What a comparison changes: a context strategy, a prompt, a model, the rules, callbacks switched off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from adknb.analysis.functions import name_of
from adknb.core.errors import SpecError, near_names
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.runtime.strategies import as_strategy

CALLBACK_FIELDS: Final = (
    "before_agent_callback", "after_agent_callback", "before_model_callback", "after_model_callback",
    "before_tool_callback", "after_tool_callback",
)  # fmt: skip
DEFAULT_AND_NONE: Final = ("default", "none")


@dataclass(frozen=True, slots=True)
class Variant:
    """One form of a pipeline. What is not given stays as the pipeline has it.

    `strategy` is a context strategy (see `as_strategy`), `prompts` maps agents to other instructions, `models` answers
    instead of the agents' own (one for all, or a map of agent names), `rules` names a rule set, and `off` names the
    callback functions that are left out.
    """

    name: str
    strategy: Any = "as_written"
    prompts: Mapping[str, str] = field(default_factory=dict)
    models: Any = None
    rules: Any = None
    off: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise SpecError(f"a variant needs a name, not {self.name!r}")
        if not isinstance(self.prompts, Mapping):
            raise SpecError(f"variant {self.name!r}: prompts maps agents to their texts, not {self.prompts!r}")
        object.__setattr__(self, "strategy", as_strategy(self.strategy))
        object.__setattr__(self, "off", (self.off,) if isinstance(self.off, str) else tuple(self.off))

    def applied(self, root: BaseAgent) -> BaseAgent:
        """`root` with this variant's prompts, without the callbacks that are off; `root` itself when neither is given.

        Raises `SpecError` for an agent or a callback that the pipeline does not have.
        """
        askers = [agent.name for agent in root.walk() if isinstance(agent, LlmAgent)]
        for agent, prompt in self.prompts.items():
            if agent not in askers:
                raise SpecError(f"variant {self.name!r} has a prompt for {agent!r}, which {root.name!r} does not have."
                                f"{near_names(agent, askers)}")  # fmt: skip
            if not isinstance(prompt, str):
                raise SpecError(f"variant {self.name!r}: the prompt of {agent!r} is text, not {prompt!r}")
        known = {name_of(callback) for agent in root.walk() for callback in _callbacks(agent)}
        for callback in self.off:
            if callback not in known:
                has = f"{root.name!r} has no callback {callback!r}"
                raise SpecError(f"variant {self.name!r} switches off {callback!r}: {has}.{near_names(callback, known)}")
        if not self.prompts and not self.off:
            return root
        return edited(root, self._changes)

    def _changes(self, agent: BaseAgent) -> Mapping[str, Any]:
        changes: dict[str, Any] = {}
        if agent.name in self.prompts and isinstance(agent, LlmAgent):
            changes["instruction"] = self.prompts[agent.name]
        for name in CALLBACK_FIELDS:
            callbacks = getattr(agent, name, ())
            kept = tuple(callback for callback in callbacks if name_of(callback) not in self.off)
            if len(kept) < len(callbacks):
                changes[name] = kept
        return changes


def as_variants(value: Any = DEFAULT_AND_NONE) -> tuple[Variant, ...]:
    """Variants from a list of strategies and `Variant`s, or from a map of names to these.

    A strategy is a name, an `IncludeContents`, a map of agent names to these, or a `ContextStrategy`. The first variant
    is what the others are measured against. Raises `SpecError` for none, or two of one name.
    """
    if isinstance(value, Mapping):
        listed = [_named(name, each) for name, each in value.items()]
    elif isinstance(value, (str, Variant)) or not isinstance(value, Iterable):
        listed = [_variant(value)]
    else:
        listed = [_variant(each) for each in value]
    names = [variant.name for variant in listed]
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"two variants are named {name!r}. Name them: {{'first': …, 'second': …}}")
    if not listed:
        raise SpecError("there are no variants to compare. Name some, such as ['default', 'none'].")
    return tuple(listed)


def edited(root: BaseAgent, changes: Callable[[BaseAgent], Mapping[str, Any]]) -> BaseAgent:
    """The tree with `changes(agent)` made to each agent; what does not change stays the same object."""
    children = tuple(edited(child, changes) for child in root.sub_agents)
    update = dict(changes(root))
    if any(new is not old for new, old in zip(children, root.sub_agents, strict=True)):
        update["sub_agents"] = children
    return root.model_copy(update=update) if update else root


def _named(name: Any, value: Any) -> Variant:
    return replace(value, name=name) if isinstance(value, Variant) else Variant(name, value)


def _variant(value: Any) -> Variant:
    return value if isinstance(value, Variant) else Variant(as_strategy(value).name, value)


def _callbacks(agent: BaseAgent) -> list[Callable[..., Any]]:
    return [callback for name in CALLBACK_FIELDS for callback in getattr(agent, name, ())]
