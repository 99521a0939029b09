"""`Step`: an agent or a function, and the policies around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeAlias

from pydantic import SkipValidation, field_validator, model_validator

from adknb.core.errors import near_names
from adknb.core.specs import BaseAgent, Spec
from adknb.workflow.actions import ErrorAction
from adknb.workflow.adapters import DataAdapter, DataTransformer
from adknb.workflow.cache import ResultCache
from adknb.workflow.circuit import CircuitBreaker
from adknb.workflow.data import PipelineData
from adknb.workflow.keys import output_key, output_names
from adknb.workflow.retry import RetryPolicy

Condition: TypeAlias = Callable[[PipelineData], Any]
"""Says whether the step runs; sync or async."""


class Step(Spec):
    """One step of a workflow; frozen, `step.model_copy(update={…})` makes a changed one.

    `agent` is an agent (google-adk's too), or a function, sync or async, of the payload or of the `PipelineData` (where its
    parameter is annotated so or called `data`) that returns the new payload or changed data. An agent's payload is the text
    of its last final event. `model` answers instead of the agents' own.

    Before the agent: the step is passed over where `condition(data)` is false; `input_adapter` validates and converts the
    payload, `transformer` makes of it what the agent is sent. After it: `output_adapter` converts and validates what the
    agent said, and `context_updates` (a dict, or a function of the new data that returns one) adds to the context. These
    three belong to the attempt: what they raise is an error of the step.

    `timeout` is in seconds, for each attempt. `retry_policy` comes before `on_error` (`ErrorAction` has the exact outcomes);
    without one the workflow's counts. `fallback` is what `agent` may be; it is handed the step's input. `cache` keeps
    answers, `circuit_breaker` refuses calls while the step's service is down.

    `reads` names what the step needs: keys of context and state, `"payload"` for what the step before put out, `"input"` for
    what the workflow was given. A step that names its reads without `"payload"` is sent the workflow's input, wherever it
    stands, and so can run together with its neighbours (see `plan`). `writes` names the keys that it writes beside its
    output and its agents' output_keys.

    Raises `SpecError`.
    """

    name: str
    agent: Any
    condition: Condition | None = None
    transformer: SkipValidation[DataTransformer | Callable[[Any], Any] | None] = None
    timeout: float | None = None
    retry_policy: RetryPolicy | None = None
    on_error: ErrorAction | str = ErrorAction.FAIL
    fallback: Any = None
    input_adapter: SkipValidation[DataAdapter | None] = None
    output_adapter: SkipValidation[DataAdapter | None] = None
    cache: ResultCache | None = None
    context_updates: Any = None
    reads: Sequence[str] | None = None
    writes: Sequence[str] = ()
    circuit_breaker: CircuitBreaker | None = None
    model: Any = None

    @field_validator("name")
    @classmethod
    def _has_a_name(cls, name: str) -> str:
        if not name.strip() or not name.isprintable():
            raise ValueError(f"a step's name is one line of text, not {name!r}")
        return name

    @field_validator("agent", "fallback")
    @classmethod
    def _can_answer(cls, value: Any) -> Any:
        if value is None or isinstance(value, BaseAgent) or callable(value) or hasattr(value, "name"):
            return value
        raise ValueError(f"an agent or a function is needed, not {value!r}")

    @field_validator("input_adapter", "output_adapter")
    @classmethod
    def _adapts(cls, value: Any) -> Any:
        if value is None or (callable(getattr(value, "convert", None)) and callable(getattr(value, "validate", None))):
            return value
        raise ValueError(f"an adapter with convert(data) and validate(data) is needed, not {value!r}")

    @field_validator("transformer")
    @classmethod
    def _transforms(cls, value: Any) -> Any:
        if value is None or callable(getattr(value, "transform", value)):
            return value
        raise ValueError(f"an object with transform(data), or a function of the payload, is needed, not {value!r}")

    @field_validator("context_updates")
    @classmethod
    def _gives_a_dict(cls, value: Any) -> Any:
        if value is None or isinstance(value, Mapping) or callable(value):
            return value
        raise ValueError(f"a dict, or a function of the data that returns one, not {value!r}")

    @field_validator("timeout")
    @classmethod
    def _takes_time(cls, seconds: float | None) -> float | None:
        if seconds is not None and not (seconds > 0 and math.isfinite(seconds)):
            raise ValueError(f"seconds above 0 are needed, or None for no limit; not {seconds}")
        return seconds

    @field_validator("on_error", mode="before")
    @classmethod
    def _is_an_action(cls, value: object) -> object:
        if isinstance(value, str) and value.lower() in list(ErrorAction):
            return ErrorAction(value.lower())
        raise ValueError(f"there is no error action {value!r}.{near_names(str(value), ErrorAction)}")

    @field_validator("reads", "writes", mode="before")
    @classmethod
    def _several_keys(cls, value: object) -> object:
        if value is None or isinstance(value, str):
            return value if value is None else (value,)
        return tuple(value) if isinstance(value, Iterable) else value

    @model_validator(mode="after")
    def _fallback_fits(self) -> Self:
        if self.agent is None:
            raise ValueError("agent: the step needs an agent or a function")
        if (self.on_error is ErrorAction.FALLBACK) != (self.fallback is not None):
            raise ValueError("fallback: on_error='fallback' and fallback=… go together; give both or neither")
        return self

    @property
    def output_names(self) -> tuple[str, ...]:
        """The context's keys for this step's output: one, or two where its name is no identifier."""
        return output_names(self.name)

    @property
    def output_key(self) -> str:
        """The key of this step's output in the state, for placeholders."""
        return output_key(self.name)
