"""How JavaScript writes values as text: `String(value)`, `JSON.stringify`, `trim`, its words for names.

The values are those of JSON in Python: None, bool, int, float, str, list (or tuple) and mappings with text keys. Every
number is a double there, so a whole one above 2^53 loses digits.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final

_WHITE_SPACE: Final = (
    "\t\n\x0b\x0c\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""ECMAScript's WhiteSpace and LineTerminator."""

_ESCAPED: Final = re.compile(r'["\\\x00-\x1f\ud800-\udfff]')
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_MOST_INDEX: Final = 2**32 - 2

_INHERITED: Final = frozenset(
    {
        "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "hasOwnProperty", "isPrototypeOf",
        "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
    }
)  # fmt: skip
"""The methods of `Object.prototype`."""

_LETTERS: Final = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl"})
_MORE: Final = frozenset({"Mn", "Mc", "Nd", "Pc"})
_OTHER_START: Final = frozenset("\u1885\u1886\u2118\u212e\u309b\u309c")
_OTHER_CONTINUE: Final = frozenset(
    "\xb7\u0387\u1369\u136a\u136b\u136c\u136d\u136e\u136f\u1370\u1371\u19da\u200c\u200d\u30fb\uff65"
)
_PATTERN_SYNTAX: Final = "\u2e2f"
"""A modifier letter that is no part of a name (VERTICAL TILDE)."""


def js_text(value: object) -> str:
    """`String(value)`; objects and arrays as `JSON.stringify` writes them.

    Source: `formatValue` in `agents/instructions.js` inserts state values so.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return js_number(value)
    return js_json(value)


def js_json(value: object) -> str:
    """`JSON.stringify(value)`: keys that are whole numbers come first, in their order; lone surrogates are escaped."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        text = js_number(value)
        return "null" if text.endswith(("NaN", "Infinity")) else text
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_quoted(key)}:{js_json(value[key])}" for key in js_key_order(value)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(js_json, value)) + "]"
    raise TypeError(
        f"{type(value).__name__} is no JSON value, so how JavaScript would write it is not known: {value!r}"
    )


def js_number(value: float) -> str:
    """`String(value)` of a number: `2` for 2.0, `1e-7`, `1e+21`; plain from 10⁻⁶ up to 10²¹."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if math.isnan(number):
        return "NaN"
    sign = "-" if number < 0 else ""
    if math.isinf(number):
        return f"{sign}Infinity"
    if number == 0:
        return "0"
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(exponent or 0)  # how many of the digits stand before the point
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = point - 1
    return f"{sign}{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{'+' if power > 0 else '-'}{abs(power)}"


def js_key_order(keys: Iterable[str]) -> list[str]:
    """The order in which an object gives back its keys: array indices by their number, then the others as they came."""
    given = list(keys)
    indices = [key for key in given if _INDEX.fullmatch(key) and int(key) <= _MOST_INDEX]
    if not indices:
        return given
    first = sorted(indices, key=int)
    return first + [key for key in given if key not in set(first)]


def js_kind(value: object) -> str:
    """zod's word for a value's type."""
    if isinstance(value, bool):
        return "boolean"
    kinds = {type(None): "null", str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), "number")


def js_inherited(name: str) -> str | None:
    """`String({}[name])` of what every object inherits; None for other names."""
    if name == "constructor":
        return "function Object() { [native code] }"
    if name == "__proto__":
        return "{}"
    return f"function {name}() {{ [native code] }}" if name in _INHERITED else None


def js_parse(text: str) -> Any:
    """`JSON.parse(text)`. Raises `ValueError` for a text that is not exactly one JSON value."""
    try:
        return json.loads(text, parse_constant=_no_constant) if text[:1] != "\ufeff" else _no_constant("\ufeff")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def js_error_code(message: str) -> tuple[str, str]:
    """Code and message of an error: those that a JSON message holds under `error`, as the Gemini API writes them.

    Source: `runAndHandleError` in `agents/llm_agent.js`.
    """
    code = "UNKNOWN_ERROR"
    try:
        held = js_parse(message)
    except ValueError:
        return code, message
    inner = held.get("error") if isinstance(held, dict) else None
    if not isinstance(inner, dict):
        return code, message
    return js_text(inner.get("code") or code), inner.get("message") or message


def js_trim(text: str) -> str:
    """`text.trim()`."""
    return text.strip(_WHITE_SPACE)


def js_is_agent_name(name: str) -> bool:
    """`isIdentifier` in `agents/base_agent.js`: Unicode's ID_Start, `$` or `_`, then also ID_Continue and `-`."""
    return bool(name) and _starts(name[0]) and all(_starts(character) or _goes_on(character) for character in name[1:])


def _starts(character: str) -> bool:
    return (
        character in "$_"
        or (unicodedata.category(character) in _LETTERS and character not in _PATTERN_SYNTAX)
        or character in _OTHER_START
    )


def _goes_on(character: str) -> bool:
    return character == "-" or unicodedata.category(character) in _MORE or character in _OTHER_CONTINUE


def _quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _ESCAPES.get(character) or f"\\u{ord(character):04x}"


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
