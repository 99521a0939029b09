"""How ADK Java makes a model's JSON argument a Java parameter.

Source: `FunctionTool.buildArguments` and `castValue`, which leave what has another type to Jackson's
`convertValue` (2.20, with its default coercions). Where Java raises and answers the call with its error, this
raises `ValueError`.
"""

import math
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Final, Protocol

from adknb.rules.values import java_text, java_trim

_INT_LOWEST: Final = -(2**31)
_INT_HIGHEST: Final = 2**31 - 1

_LONGEST_NUMBER: Final = 1000
"""Jackson's `StreamReadConstraints` allow a number so many characters."""

_WHOLE: Final = re.compile(r"[+-]?\d+")
_DECIMAL: Final = re.compile(r"[+-]?([0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?|[0-9]+\.)")
_NOT_FINITE: Final = {
    "NaN": math.nan,
    "INF": math.inf,
    "Infinity": math.inf,
    "-INF": -math.inf,
    "-Infinity": -math.inf,
}
_TRUTH: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class JavaType(Protocol):
    """A parameter's type in the words of a Gemini schema.

    The kinds are INTEGER (Java's int or Integer), NUMBER (Double), BOOLEAN (Boolean), STRING, OBJECT
    (Map<String, Object>) and ARRAY, a List of the boxed type that `items` names.
    """

    @property
    def kind(self) -> str: ...

    @property
    def items(self) -> "JavaType | None": ...


def coerce(value: object, type: JavaType, *, boxed: bool = False) -> object:
    """Return what the Java method receives for this argument, as a plain Python value.

    An INTEGER that is not `boxed` is Java's `int`, which cannot be null and is 0 instead; all other types can.
    Text for a number or a boolean is read, blank text and `null` as null; a number is cut off at the point
    for an INTEGER. Lists and maps are copied, what is inside a map or an inner list is left as it is.

    Raises `ValueError` where Java cannot convert the value.
    """
    if type.kind == "ARRAY":
        return _list(value, type.items)
    result = _SCALARS[type.kind](value)
    return 0 if result is None and type.kind == "INTEGER" and not boxed else result


def _list(value: object, items: JavaType | None) -> list[object] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise _cannot(value, "a List")
    if items is None or items.kind == "ARRAY":
        return [_inner_list(item) for item in value]
    return [coerce(item, items, boxed=True) for item in value]


def _inner_list(value: object) -> object:
    if value is not None and not isinstance(value, list):
        raise _cannot(value, "a List")
    return deepcopy(value)


def _integer(value: object) -> int | None:
    number = _digits(value) if isinstance(value, str) else value
    if number is None:
        return None
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        if isinstance(number, float) and math.isnan(number):
            return 0
        if _INT_LOWEST <= number <= _INT_HIGHEST:
            return int(number)
    raise _cannot(value, "an int")


def _digits(text: str) -> int | None:
    trimmed = _read(text)
    if trimmed is None:
        return None
    # Java reads the digits of any script, but one unit of UTF-16 at a time.
    if _WHOLE.fullmatch(trimmed) and max(trimmed) <= "\uffff" and len(trimmed) <= _LONGEST_NUMBER:
        return int(trimmed)
    raise _cannot(text, "an int")


def _number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, str):
        if value in _NOT_FINITE:  # with spaces around it, Java refuses it
            return _NOT_FINITE[value]
        text = _read(value)
        if text is None:
            return None
        if _DECIMAL.fullmatch(text) and len(text) <= _LONGEST_NUMBER:
            return float(text)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    raise _cannot(value, "a Double")


def _boolean(value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value != 0
    if isinstance(value, str):
        text = _read(value)
        if text is None:
            return None
        if text in _TRUTH:
            return _TRUTH[text]
    raise _cannot(value, "a Boolean")


def _string(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, (str, bool, int, float)):
        return java_text(value)
    raise _cannot(value, "a String")


def _map(value: object) -> object:
    if value is not None and not isinstance(value, dict):
        raise _cannot(value, "a Map")
    return deepcopy(value)


def _read(text: str) -> str | None:
    trimmed = java_trim(text)
    return None if trimmed in ("", "null") else trimmed


def _cannot(value: object, wanted: str) -> ValueError:
    return ValueError(f"ADK Java cannot make {wanted} of {value!r}")


_SCALARS: Final[dict[str, Callable[[object], object]]] = {
    "INTEGER": _integer,
    "NUMBER": _number,
    "BOOLEAN": _boolean,
    "STRING": _string,
    "OBJECT": _map,
}
