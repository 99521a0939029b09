"""A pipeline as a plain Python module, which needs adknb's runtime and no notebook."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from adknb.core.errors import NotSupported
from adknb.core.specs import BaseAgent, IncludeContents, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adknb.core.tools import FunctionTool, LongRunningFunctionTool
from adknb.core.views import register_source
from adknb.export.literals import literal, text_literal
from adknb.export.sources import Sources

_CLASSES: Final = (LlmAgent, SequentialAgent, ParallelAgent, LoopAgent)
_TOOLS: Final = (FunctionTool, LongRunningFunctionTool)


def register() -> None:
    """Give agents their `to_python`."""
    register_source(BaseAgent, to_python)


def to_python(root: BaseAgent) -> str:
    """The module's text: callbacks and tools, each agent as a variable, and a `__main__` part that runs the pipeline.

    Raises `NotSupported` for what a module cannot hold: lambdas, agents of a class of the user's own, bound values.
    """
    module = _Module(root)
    name, sources = module.name, module.sources
    classes = ", ".join(sorted(module.classes))
    parts = [
        f'"""The pipeline `{name}`. Run it: python FILE.py "the message"."""',
        "\n".join([*sorted(sources.imports), *([""] if sources.imports else []), f"from adknb import {classes}"]),
        *sources.definitions,
        *module.agents,
        _MAIN.format(name=name),
    ]
    return "\n\n".join(parts) + "\n"


_MAIN: Final = """if __name__ == "__main__":
    import sys

    from adknb import Runner

    print(Runner({name}, model="local").run(" ".join(sys.argv[1:])).output)"""


class _Module:
    """What the module is made of. Functions get their names first, then the agents' variables make way for them."""

    def __init__(self, root: BaseAgent) -> None:
        self.sources = Sources()
        self.sources.taken = dict.fromkeys(["Runner", *(cls.__name__ for cls in (*_CLASSES, *_TOOLS))])
        self.classes: set[str] = set()
        self.agents: list[str] = []
        self._fields = {id(agent): list(self._written(agent)) for agent in root.walk()}
        self.name = self._agent(root)

    def _agent(self, agent: BaseAgent) -> str:
        """Write the agents below, then this one; returns its variable."""
        lines = list(self._fields[id(agent)])
        if agent.sub_agents:
            lines.append(f"sub_agents={_listed([self._agent(child) for child in agent.sub_agents])},")
        variable = self._variable(agent)
        self.agents.append(
            "\n".join([f"{variable} = {type(agent).__name__}(", *(f"    {line}" for line in lines), ")"])
        )
        return variable

    def _written(self, agent: BaseAgent) -> Iterator[str]:
        """Every field that says something, but the agents below."""
        if type(agent) not in _CLASSES:
            raise NotSupported(
                f"agent {agent.name!r}: {type(agent).__name__} is a class of your own. Put the class and the pipeline "
                "into a module."
            )
        self.classes.add(type(agent).__name__)
        for name, field in type(agent).model_fields.items():
            value = getattr(agent, name)
            if name == "sub_agents" or value == field.default:
                continue
            if name == "model" and not isinstance(value, str):
                yield f"# its model was an object of the notebook: Runner(…, models={{{agent.name!r}: …}})"
            else:
                yield f"{name}={self._field(agent, name, value)},"

    def _field(self, agent: BaseAgent, name: str, value: Any) -> str:
        place = f"agent {agent.name!r}: {name}"
        if name == "tools":
            return _listed([self._tool(tool, place) for tool in value])
        if name.endswith("_callback"):
            return _listed([self.sources.reference(function, place) for function in value])
        if isinstance(value, str) and not isinstance(value, IncludeContents):
            return text_literal(value)
        if isinstance(value, Callable):  # type: ignore[arg-type]  # an instruction function
            return self.sources.reference(value, place)
        plain = (
            value.value
            if isinstance(value, IncludeContents)
            else value.to_dict()
            if hasattr(value, "to_dict")
            else value
        )
        source = literal(plain)
        if source is None:
            raise NotSupported(f"{place}: {value!r} cannot be written into a module")
        return source

    def _tool(self, tool: FunctionTool, place: str) -> str:
        name = self.sources.reference(tool.func, place)
        if type(tool) is FunctionTool and tool.name == FunctionTool(tool.func).name:
            return name
        if type(tool) not in _TOOLS:
            raise NotSupported(
                f"{place}: {type(tool).__name__} is a class of your own. Put the class and the pipeline into a module."
            )
        self.classes.add(type(tool).__name__)
        return f"{type(tool).__name__}({name}, name={tool.name!r}, description={text_literal(tool.description)})"

    def _variable(self, agent: BaseAgent) -> str:
        """The agent's name as far as Python allows, and not one that the module has already."""
        name = re.sub(r"\W", "_", agent.name) or "agent"
        name = name if name.isidentifier() and not keyword.iskeyword(name) else f"agent_{name}"
        free, number = name, 2
        while free in self.sources.taken:
            free, number = f"{name}_{number}", number + 1
        self.sources.taken[free] = agent
        return free


def _listed(names: list[str]) -> str:
    return f"[{', '.join(names)}]"
