"""Agents as JSON, and back: descriptions whole; of functions, model objects and classes of the user's own the names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import BaseModel

from adknb.core.json_values import fault
from adknb.core.specs import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent, as_tuple
from adknb.core.tools import FunctionTool, Parameter, ValueType
from adknb.sessions.stand_ins import StoredAgent, StoredFunction, StoredModel, name_of, stored_tool

_KINDS: Final[dict[str, type[BaseAgent]]] = {
    "llm": LlmAgent, "sequential": SequentialAgent, "parallel": ParallelAgent, "loop": LoopAgent,
}  # fmt: skip
_AGENT_CALLBACKS: Final = ("before_agent_callback", "after_agent_callback")
_CALLBACKS: Final = (
    "before_model_callback", "after_model_callback", "before_tool_callback", "after_tool_callback",
)  # fmt: skip
_FILES: Final = ("replay:", "local:")
_INSTRUCTIONS: Final = ("instruction", "global_instruction")
_AS_THEY_ARE: Final = (
    "output_key", "disallow_transfer_to_parent", "disallow_transfer_to_peers",
)  # fmt: skip


def agent_document(agent: BaseAgent) -> dict[str, Any]:
    """The agent and all below it."""
    kind = next((name for name, cls in _KINDS.items() if isinstance(agent, cls)), "custom")
    data: dict[str, Any] = {"kind": kind, "name": agent.name}
    if agent.description is not None:
        data["description"] = agent.description
    if agent.sub_agents:
        data["sub_agents"] = [agent_document(child) for child in agent.sub_agents]
    _add_callbacks(data, agent, _AGENT_CALLBACKS)
    if kind == "custom":
        data["class"] = agent.class_name if isinstance(agent, StoredAgent) else type(agent).__qualname__
    if isinstance(agent, LoopAgent) and agent.max_iterations is not None:
        data["max_iterations"] = agent.max_iterations
    if isinstance(agent, LlmAgent):
        _add_llm_fields(data, agent)
    return data


def read_agent(data: Mapping[str, Any]) -> BaseAgent:
    """The inverse of `agent_document`. Raises what Python and pydantic raise for a document that is none."""
    fields: dict[str, Any] = {
        "name": data["name"],
        "description": data.get("description"),
        "sub_agents": [read_agent(child) for child in data.get("sub_agents", ())],
        **_read_callbacks(data, _AGENT_CALLBACKS),
    }
    kind = data["kind"]
    if kind == "custom":
        return StoredAgent(**fields, class_name=data["class"])
    if kind == "loop":
        fields["max_iterations"] = data.get("max_iterations")
    if kind != "llm":
        return _KINDS[kind](**fields)
    agent = LlmAgent(
        **fields,
        **_read_callbacks(data, _CALLBACKS),
        **{name: data[name] for name in (*_AS_THEY_ARE, "include_contents", "generate_content_config") if name in data},
        **{name: _read_instruction(data[name]) for name in _INSTRUCTIONS if name in data},
        model=_read_model(data.get("model")),
        tools=[_read_tool(tool) for tool in data.get("tools", ())],
    )
    # the schema was converted when the agent was written; pydantic's own copy takes it as it is
    return BaseModel.model_copy(agent, update={"output_schema": data.get("output_schema")})


def _add_callbacks(data: dict[str, Any], agent: BaseAgent, names: tuple[str, ...]) -> None:
    for name in names:
        functions = as_tuple(getattr(agent, name))
        if functions:
            data[name] = [_function_document(function) for function in functions]


def _read_callbacks(data: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: [_read_function(function) for function in data[name]] for name in names if name in data}


def _add_llm_fields(data: dict[str, Any], agent: LlmAgent) -> None:
    _add_callbacks(data, agent, _CALLBACKS)
    data.update({name: value for name in _AS_THEY_ARE if (value := getattr(agent, name))})
    data["include_contents"] = agent.include_contents.value
    for name in _INSTRUCTIONS:
        value = getattr(agent, name)
        if value:
            data[name] = value if isinstance(value, str) else _function_document(value)
    if agent.model is not None:
        data["model"] = (
            agent.model if isinstance(agent.model, str) else {"name": str(getattr(agent.model, "name", agent.model))}
        )
    if agent.tools:
        data["tools"] = [_tool_document(tool) for tool in agent.function_tools]
    if agent.output_schema is not None:
        data["output_schema"] = agent.output_schema
    if agent.generate_content_config is not None:
        data["generate_content_config"] = agent.generate_content_config.to_dict()


def _function_document(function: Callable[..., Any]) -> dict[str, Any]:
    return {"name": name_of(function), "module": str(getattr(function, "__module__", ""))}


def _read_function(data: Mapping[str, Any], signature: inspect.Signature | None = None) -> StoredFunction:
    return StoredFunction(str(data["name"]), str(data["module"]), signature)


def _read_instruction(data: Any) -> Any:
    return data if isinstance(data, str) else _read_function(data)


def _read_model(data: Any) -> Any:
    """The model's name. One that names a file stays a name: what a document says never chooses a file to open."""
    if data is None:
        return None
    name = data if isinstance(data, str) else str(data["name"])
    return name if isinstance(data, str) and not name.startswith(_FILES) else StoredModel(name)


def _tool_document(tool: FunctionTool) -> dict[str, Any]:
    defaults = {name: parameter.default for name, parameter in inspect.signature(tool.func).parameters.items()}
    return {
        "name": tool.name,
        "description": tool.description,
        "function": _function_document(tool.func),
        "parameters": [_parameter_document(parameter, defaults) for parameter in tool.parameters],
        "returns": _type_document(tool.returns),
        "context_parameter": tool.context_parameter,
        "is_async": tool.is_async,
        "long_running": tool.long_running,
    }


def _read_tool(data: Mapping[str, Any]) -> FunctionTool:
    signature = inspect.Signature(
        [
            inspect.Parameter(
                each["name"], inspect.Parameter.KEYWORD_ONLY, default=each.get("default", inspect.Parameter.empty)
            )
            for each in data["parameters"]
        ]
    )
    parameters = [Parameter(each["name"], _must_be(each["type"]), each["required"]) for each in data["parameters"]]
    return stored_tool(
        data["name"], data["description"], _read_function(data["function"], signature), parameters,
        _read_type(data["returns"]), data["context_parameter"], data["is_async"], data["long_running"],
    )  # fmt: skip


def _parameter_document(parameter: Parameter, defaults: Mapping[str, Any]) -> dict[str, Any]:
    data = {"name": parameter.name, "type": _type_document(parameter.type), "required": parameter.required}
    default = defaults.get(parameter.name, inspect.Parameter.empty)
    if default is not inspect.Parameter.empty and fault(parameter.name, default) is None:
        data["default"] = default
    return data


def _type_document(value: ValueType | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"kind": value.kind, "items": _type_document(value.items), "choices": list(value.choices)}


def _must_be(data: Mapping[str, Any]) -> ValueType:
    return ValueType(data["kind"], _read_type(data["items"]), tuple(data["choices"]))


def _read_type(data: Mapping[str, Any] | None) -> ValueType | None:
    return None if data is None else _must_be(data)
