"""What a line may choose for its runs: the model, the rules, the context strategy. And what comes later."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any, Final

from adknb.core.errors import NotSupported
from adknb.models.resolve import resolve_model
from adknb.notebook.pipelines import named_model

_LATER_OPTIONS: Final = {
    "db": "sessions in a database come with a later version; sessions live in this process now",
    "record": "recorded replies come with a later version; script replies with ScriptedModel, or use --model local",
}
_LATER_VALUES: Final = {
    "rules": (("go", "go_fixed", "js", "python"), "Now: java."),
    "strategy": (("state_only",), "Now: as_written, default, none, or a variable that holds a strategy of your own."),
}


def choices(options: Namespace, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The model, rules and strategy that the line names, as a Runner takes them; a variable's value where it is one.

    Raises `NotSupported` for what comes later, `ModelError` for a model that there is not.
    """
    for name, what in _LATER_OPTIONS.items():
        if getattr(options, name, None) is not None:
            raise NotSupported(f"--{name}: {what}.")
    chosen = {name: getattr(options, name, None) for name in ("model", "rules", "strategy")}
    for name, (values, now) in _LATER_VALUES.items():
        if chosen[name] in values:
            raise NotSupported(f"--{name} {chosen[name]} comes with a later version. {now}")
    if chosen["model"] is not None:
        chosen["model"] = named_model(namespace, chosen["model"])
        resolve_model(chosen["model"])
    strategy = namespace.get(chosen["strategy"] or "")
    if isinstance(strategy, Mapping) or hasattr(strategy, "contents"):
        chosen["strategy"] = strategy
    return {name: value for name, value in chosen.items() if value is not None}
