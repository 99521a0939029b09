"""The notebook's variables that stand for the bench's agents and pipelines."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from adknb.adk.known import is_google
from adknb.core.errors import AdknbError
from adknb.core.specs import BaseAgent
from adknb.notebook.pipelines import AgentCell, Pipeline

_FREE: Final = object()
_IPYTHONS: Final = frozenset({"In", "Out", "exit", "quit", "get_ipython", "open", "display"})


def is_agent(value: Any) -> bool:
    """Whether a variable's value is an agent, one of google-adk's included."""
    return isinstance(value, BaseAgent) or is_google(value)


class Variables:
    """Keeps variables in step with what is written. A variable of the user's that has to give way comes back when its
    name is free again."""

    def __init__(self) -> None:
        self._bound: dict[str, BaseAgent] = {}
        self._users: dict[str, Any] = {}

    def bind(self, namespace: dict[str, Any], pipelines: Iterable[Pipeline], current: str | None) -> dict[str, Any]:
        """Bind every agent and pipeline that can be built; returns the user's variables that it hid.

        Where two pipelines have an agent of one name, the one in use has the variable; pipelines win over agents.
        """
        wanted = self._wanted(namespace, pipelines, current)
        self._unbind(namespace, wanted)
        hidden = {}
        for name, agent in wanted.items():
            value = namespace.get(name, _FREE)
            if value is not _FREE and value is not self._bound.get(name):
                hidden[name] = self._users[name] = value
            self._bound[name] = namespace[name] = agent
        return hidden

    def refresh(self, namespace: dict[str, Any], pipelines: Iterable[Pipeline], current: str | None) -> None:
        """Bind again what callbacks, tools or files have changed; what the user has bound since stays theirs."""
        wanted = self._wanted(namespace, pipelines, current)
        self._unbind(namespace, wanted)
        for name, agent in wanted.items():
            value = namespace.get(name, _FREE)
            if value is _FREE or value is self._bound.get(name):
                self._bound[name] = namespace[name] = agent

    def _unbind(self, namespace: dict[str, Any], wanted: dict[str, BaseAgent]) -> None:
        for name in [name for name in self._bound if name not in wanted]:
            if namespace.get(name) is self._bound.pop(name):
                del namespace[name]
                if name in self._users:
                    namespace[name] = self._users[name]
            self._users.pop(name, None)

    def _wanted(
        self, namespace: dict[str, Any], pipelines: Iterable[Pipeline], current: str | None
    ) -> dict[str, BaseAgent]:
        described: list[AgentCell | Pipeline] = []
        known = sorted(pipelines, key=lambda pipeline: pipeline.name == current)
        for pipeline in known:
            described += pipeline.agents
        wanted: dict[str, BaseAgent] = {}
        for one in [*described, *known]:
            if can_be_variable(one.name):
                with suppress(AdknbError):  # an error of a description is shown where it is run, and by lint
                    built = one.build(namespace)
                    before = self._bound.get(one.name)
                    wanted[one.name] = before if before is not None and before == built else built
        return wanted


def can_be_variable(name: str) -> bool:
    """Not a name of Python's own, which code in other cells relies on."""
    return name.isidentifier() and not (keyword.iskeyword(name) or name.startswith("_") or hasattr(builtins, name))


def users_names(namespace: Mapping[str, Any], fits: Callable[[Any], bool]) -> list[str]:
    """The names of the user's variables whose value fits; IPython's own and those that begin with `_` do not count."""
    return [name for name, value in namespace.items() if name[:1] != "_" and name not in _IPYTHONS and fits(value)]
