"""Agents as they are written: frozen descriptions under ADK Python's names. Nothing here runs."""

from __future__ import annotations

import enum
import inspect
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from adknb.core import views
from adknb.core.errors import SpecError, near_names
from adknb.core.events import Event
from adknb.core.schema import gemini_schema
from adknb.core.tools import FunctionTool, as_tool

if TYPE_CHECKING:
    from adknb.core.protocols import InvocationContext

Callback: TypeAlias = Callable[..., Any]
Callbacks: TypeAlias = Callback | Sequence[Callback]
"""One callback or several, called in order until one answers; kept as a tuple."""


class IncludeContents(enum.StrEnum):
    """Which history a request carries: all of it, or only the current turn (see `rules.history`)."""

    DEFAULT = "default"
    NONE = "none"


class Spec(BaseModel):
    """Shared by everything that a user describes: frozen, no unknown fields, errors that name the way out."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, defer_build=True)

    if not TYPE_CHECKING:  # type checkers keep the signature that pydantic derives from the fields

        def __init__(self, **data: Any) -> None:
            try:
                super().__init__(**data)
            except ValidationError as error:
                raise SpecError(_explain(type(self), data, error)) from None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with the fields of `update` changed, checked like a new one (pydantic's own would not check)."""
        return type(self)(**{**dict(self), **(update or {})})

    def __setattr__(self, name: str, value: Any) -> None:
        raise SpecError(
            f"{type(self).__name__} {getattr(self, 'name', '')!r} cannot be changed. Make a changed copy: "
            f"agent.model_copy(update={{{name!r}: …}})"
        )


class GenerateContentConfig(Spec):
    """How the model is to answer; goes with every request as it stands. Unset fields are not sent."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    max_output_tokens: int | None = None
    stop_sequences: tuple[str, ...] | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    candidate_count: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self.model_dump(exclude_none=True).items()
        }


class BaseAgent(Spec):
    """What every agent has; subclass it for an agent of your own.

    Write `async def _run_async_impl(self, ctx)` as in ADK Python: an async generator of `Event`s. Run a sub-agent
    with `async for event in self.sub_agents[0].run_async(ctx): yield event`. A callback takes a `CallbackContext` and
    returns None, or a `Content` (or text) that stands for the agent's answer.
    """

    name: str
    description: str | None = None
    sub_agents: Sequence[BaseAgent] = ()
    before_agent_callback: Callbacks = ()
    after_agent_callback: Callbacks = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if inspect.iscoroutinefunction(cls._run_async_impl):
            raise SpecError(
                f"{cls.__name__}._run_async_impl has no `yield`, so nothing can be read off it. Yield an Event."
            )

    @field_validator("sub_agents", mode="before")
    @classmethod
    def _several_agents(cls, value: object) -> object:
        if isinstance(value, BaseAgent):
            return (value,)
        for item in value if isinstance(value, Sequence) else ():
            if not isinstance(item, BaseAgent):
                raise ValueError(f"a sub-agent must be an agent, not {item!r}")
        return tuple(value) if isinstance(value, Sequence) else value

    @field_validator("before_agent_callback", "after_agent_callback", mode="before")
    @classmethod
    def _several_callbacks(cls, value: object) -> object:
        return _callbacks(value)

    def run_async(self, ctx: InvocationContext) -> AsyncGenerator[Event]:
        """Run this agent inside a custom agent's `_run_async_impl`; yields its events as they come."""
        return ctx.run_agent(self)

    def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event]:
        raise SpecError(
            f"{type(self).__name__} {self.name!r} does not say how to run. "
            "Write `async def _run_async_impl(self, ctx): …` with at least one `yield`."
        )

    def to_python(self) -> str:
        """The pipeline as a plain Python module that runs without a notebook, its callbacks and tools included.

        Raises `NotSupported` for what a module cannot hold, such as a lambda.
        """
        return views.source(self)

    def walk(self) -> Iterator[BaseAgent]:
        """This agent and all below it, parents first, in tree order."""
        yield self
        for agent in self.sub_agents:
            yield from agent.walk()

    def find_agent(self, name: str) -> BaseAgent | None:
        """The first agent of this name in tree order, or None."""
        return next((agent for agent in self.walk() if agent.name == name), None)


class LlmAgent(BaseAgent):
    """An agent that asks a model.

    `instruction` is text with placeholders (`{key}`, `{user:key?}`, `{artifact.name}`), or a function of a
    `CallbackContext` whose text is taken as it is. `output_key` names the state key that receives the final text;
    with `output_schema` (a pydantic model, JSON schema or Gemini schema) the parsed object. `model` is a name, a model
    object, or None for the parent's or the Runner's.
    """

    model: Any = None
    instruction: str | Callable[..., Any] = ""
    global_instruction: str | Callable[..., Any] = ""
    output_key: str | None = None
    output_schema: Any = None
    include_contents: IncludeContents = IncludeContents.DEFAULT
    tools: Sequence[FunctionTool | Callable[..., Any]] = ()
    generate_content_config: GenerateContentConfig | None = None
    disallow_transfer_to_parent: bool = False
    disallow_transfer_to_peers: bool = False
    before_model_callback: Callbacks = ()
    after_model_callback: Callbacks = ()
    before_tool_callback: Callbacks = ()
    after_tool_callback: Callbacks = ()

    @field_validator("tools", mode="before")
    @classmethod
    def _functions_are_tools(cls, value: object) -> object:
        tools = tuple(as_tool(tool) for tool in as_tuple(value))
        names = [tool.name for tool in tools]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two tools are named {name!r}; rename one")
        return tools

    @field_validator("output_key")
    @classmethod
    def _key_is_not_blank(cls, key: str | None) -> str | None:
        if key == "":
            raise ValueError("output_key is empty; name a key, or leave it out")
        return key

    @field_validator("output_schema", mode="before")
    @classmethod
    def _schema_as_sent(cls, value: Any) -> Any:
        return None if value is None else gemini_schema(value)

    @field_validator("include_contents", mode="before")
    @classmethod
    def _any_case(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) and not isinstance(value, enum.Enum) else value

    @field_validator(
        "before_model_callback", "after_model_callback", "before_tool_callback", "after_tool_callback", mode="before"
    )
    @classmethod
    def _several_model_callbacks(cls, value: object) -> object:
        return _callbacks(value)

    @field_validator("instruction", "global_instruction", mode="before")
    @classmethod
    def _text_or_function(cls, value: object) -> object:
        if not isinstance(value, str) and not callable(value):
            raise ValueError(f"an instruction is text or a function, not {value!r}")
        return value

    @property
    def function_tools(self) -> tuple[FunctionTool, ...]:
        """`tools`, each as the FunctionTool that it became."""
        return tuple(as_tool(tool) for tool in self.tools)


class SequentialAgent(BaseAgent):
    """Runs its sub-agents one after another in the same session; a reply never stops it."""


class ParallelAgent(BaseAgent):
    """Runs its sub-agents at once, each on its own branch of the history, all on one state."""


class LoopAgent(BaseAgent):
    """Runs its sub-agents in turn, again and again, until an event escalates or `max_iterations` are done."""

    max_iterations: int | None = None

    @field_validator("max_iterations")
    @classmethod
    def _not_negative(cls, value: int | None) -> int | None:
        if value is not None and value < 0:
            raise ValueError("max_iterations must be 0 or more, or None for no limit")
        return value


def _callbacks(value: object) -> tuple[Any, ...]:
    callbacks = as_tuple(value)
    for callback in callbacks:
        if not callable(callback):
            raise ValueError(f"a callback must be a function, not {callback!r}")
    return callbacks


def as_tuple(value: object) -> tuple[Any, ...]:
    """None as no items, a list as a tuple, anything else as one item."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _explain(cls: type[BaseModel], data: Mapping[str, Any], error: ValidationError) -> str:
    """One line a fault: the class and name, the field, what is wrong, and what would be right."""
    who = f"{cls.__name__} {data['name']!r}" if isinstance(data.get("name"), str) else cls.__name__
    lines = []
    for fault in error.errors():
        field = ".".join(str(place) for place in fault["loc"])
        if fault["type"] == "extra_forbidden":
            lines.append(f"{who}: there is no field {field!r}.{near_names(field, cls.model_fields)}")
        elif fault["type"] == "missing":
            lines.append(f"{who}: the field {field!r} is missing")
        else:
            message = fault["msg"].removeprefix("Value error, ")
            lines.append(f"{who}: {field}: {message}" if field else f"{who}: {message}")
    return "\n".join(lines)
