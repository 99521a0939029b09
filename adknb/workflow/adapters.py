"""Between steps that do not speak alike: adapters convert and validate payloads, transformers make of one what is sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

from adknb.core.errors import SpecError
from adknb.core.escape import one_line
from adknb.workflow.errors import AdapterError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_FENCE: Final = "```"


class DataAdapter(Protocol):
    """Converts a payload, then validates what came out; both say by raising that they cannot. A step's `input_adapter` is used
    before its agent, its `output_adapter` after it."""

    def convert(self, data: Any) -> Any: ...

    def validate(self, data: Any) -> None: ...


class DataTransformer(Protocol):
    """Makes of the payload what the step's agent is sent. A plain function of the payload is one too."""

    def transform(self, data: Any) -> Any: ...


def adapt(adapter: DataAdapter, data: Any, where: str) -> Any:
    """The payload as the adapter gives it. Raises `AdapterError`, naming `where`, for what it raises."""
    try:
        converted = adapter.convert(data)
        adapter.validate(converted)
    except Exception as error:
        raise _refused(f"{where}: {_name(adapter)} does not take the payload", error, data) from error
    return converted


def transform(transformer: DataTransformer | Callable[[Any], Any], data: Any, where: str) -> Any:
    """The payload as the transformer gives it. Raises `AdapterError`, naming `where`, for what it raises.

    >>> transform(lambda research: f"Write about: {research}", "bees", "step 'writing'")
    'Write about: bees'
    """
    function = getattr(transformer, "transform", transformer)
    if not callable(function):
        raise SpecError(f"{where}: {transformer!r} is no transformer: it needs transform(data), or to be a function")
    try:
        return function(data)
    except Exception as error:
        raise _refused(f"{where}: {_name(transformer)} could not transform the payload", error, data) from error


class JsonAdapter:
    """Reads JSON out of a model's text, with or without a Markdown fence around it; other payloads stay as they are.

    `shape` is what the JSON must fit, as pydantic knows it: a model, a TypedDict, `list[int]`. The payload is then what
    pydantic makes of it, as JSON again.

    >>> adapt(JsonAdapter(dict[str, int]), '```json\\n{"urgency": 2}\\n```', "step 'triage'")
    {'urgency': 2}
    """

    def __init__(self, shape: Any = None) -> None:
        self.shape: Final = shape
        self._reader: Final = _reader(shape) if shape is not None else None

    def convert(self, data: Any) -> Any:
        if isinstance(data, str):
            data = json.loads(_unfenced(data))
        if self._reader is None:
            return data
        return self._reader.dump_python(self._reader.validate_python(data), mode="json")

    def validate(self, data: Any) -> None:
        """`convert` has validated it, before it made JSON of it again, which need not fit the shape (aliases)."""


def _unfenced(text: str) -> str:
    """What stands inside the fence, when the whole text is one block of code; else the text."""
    block = text.strip()
    opening, _, rest = block.partition("\n")
    if not (opening.startswith(_FENCE) and rest.endswith(_FENCE)):
        return text
    return rest.removesuffix(_FENCE)


def _reader(shape: Any) -> TypeAdapter[Any]:
    from pydantic import PydanticUserError, TypeAdapter

    try:
        return TypeAdapter(shape)
    except PydanticUserError as error:
        raise SpecError(f"{shape!r} is no shape that pydantic knows: {error}") from error


def _refused(what: str, error: Exception, data: Any) -> AdapterError:
    shown = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, default=repr)
    return AdapterError(f"{what}: {type(error).__name__}: {error}. The payload was: {one_line(shown, 200)}")


def _name(value: object) -> str:
    return str(getattr(value, "__name__", type(value).__name__))
