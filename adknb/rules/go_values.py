"""How Go writes values as text: `%v`, `%q`, `encoding/json`, white space, identifiers, escaped HTML.

The values are those of JSON in Python. Source: the packages fmt, strconv, encoding/json and unicode of Go 1.26.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Final

_INT64: Final = range(-(2**63), 2**63)

_WHITE_SPACE: Final = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""`unicode.IsSpace`."""

_QUOTED: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
}  # fmt: skip

_JSON_ESCAPED: Final = re.compile('[\x00-\x1f"\\\\<>&\u2028\u2029\ud800-\udfff]')
_JSON_ESCAPES: Final = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}

_NOT_INTERCHANGEABLE: Final = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ud800-\udfff"
    + "".join(chr(plane + 0xFFFE) + chr(plane + 0xFFFF) for plane in range(0, 0x110000, 0x10000))
    + "]"
)


def go_text(value: object) -> str:
    """`fmt.Sprintf("%v", value)`: `2` for 2.0, `[1 two <nil> true]`, `map[a:1 b:[x]]` with its keys in order."""
    if isinstance(value, str):
        return value
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value) if value in _INT64 else _general(_as_float(value))
    if isinstance(value, float):
        return _general(value)
    if isinstance(value, Mapping):
        return "map[" + " ".join(f"{go_text(key)}:{go_text(value[key])}" for key in sorted(value, key=go_order)) + "]"
    if isinstance(value, (list, tuple)):
        return "[" + " ".join(map(go_text, value)) + "]"
    raise _no_json(value)


def go_quote(text: str) -> str:
    """`%q`: in double quotes, what does not print escaped (`strconv.Quote`)."""
    return '"' + "".join(map(_quoted, text)) + '"'


def go_json(value: object) -> str:
    """`json.Marshal`: compact, keys in order, `<`, `>`, `&`, U+2028 and U+2029 escaped."""
    if isinstance(value, str):
        return '"' + _JSON_ESCAPED.sub(_json_escape, value) + '"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value) if value in _INT64 else _json_number(_as_float(value))
    if isinstance(value, float):
        return _json_number(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{go_json(key)}:{go_json(value[key])}" for key in sorted(value, key=go_order)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(go_json, value)) + "]"
    raise _no_json(value)


def go_trim(text: str) -> str:
    """`strings.TrimSpace`."""
    return text.strip(_WHITE_SPACE)


def go_is_identifier(text: str) -> bool:
    """`isIdentifier` of `instruction_processor.go`: a letter or `_`, then letters, decimal digits and `_`."""
    return bool(text) and _is_letter(text[0]) and all(_is_letter(char) or char.isdecimal() for char in text[1:])


def go_html(text: str) -> str:
    """Text as `safehtml/template` inserts it: escaped, and what may not be interchanged replaced by U+FFFD."""
    return html.escape(_NOT_INTERCHANGEABLE.sub("\ufffd", text)).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")


def go_order(key: object) -> bytes:
    """Sort key of Go's strings: by their bytes."""
    return str(key).encode("utf-8", "surrogatepass")


def go_whole(value: object) -> bool:
    """Whether a JSON value is a whole number, in whatever way it is written: 3, 3.0, 3e2."""
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _is_letter(char: str) -> bool:
    return char == "_" or unicodedata.category(char).startswith("L")


def _quoted(char: str) -> str:
    if char in _QUOTED:
        return _QUOTED[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    if 0xD800 <= code < 0xE000:
        code = 0xFFFD
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(match: re.Match[str]) -> str:
    char = match.group()
    if char in _JSON_ESCAPES:
        return _JSON_ESCAPES[char]
    return "\\ufffd" if "\ud800" <= char <= "\udfff" else f"\\u{ord(char):04x}"


def _general(number: float) -> str:
    """`%g` with the shortest digits; with an exponent when that is below -4 or at least 6."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    sign, digits, exponent = _shortest(number)
    return sign + (_plain(digits, exponent) if -4 <= exponent < 6 else _scientific(digits, exponent))


def _json_number(number: float) -> str:
    """`floatEncoder` of encoding/json: with an exponent below 1e-6 and from 1e21 on, without a leading zero in it."""
    if not math.isfinite(number):
        raise ValueError(f"json: unsupported value: {_general(number)}")
    sign, digits, exponent = _shortest(number)
    if number != 0 and (abs(number) < 1e-6 or abs(number) >= 1e21):
        return sign + _scientific(digits, exponent).replace("e-0", "e-")
    return sign + _plain(digits, exponent)


def _shortest(number: float) -> tuple[str, str, int]:
    """Sign, digits and decimal exponent of the shortest text that reads back as the number."""
    mantissa, _, exponent = f"{number!r}e0".partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    power = int(exponent.partition("e")[0]) + len(whole) - 1
    digits = whole + fraction
    leading = len(digits) - len(digits.lstrip("0"))
    stripped = digits.strip("0")
    return (sign, stripped, power - leading) if stripped else (sign, "0", 0)


def _scientific(digits: str, exponent: int) -> str:
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _plain(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    if len(digits) <= exponent + 1:
        return digits + "0" * (exponent + 1 - len(digits))
    return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"


def _as_float(number: int) -> float:
    """An integer beyond 64 bits is read as a float64."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _no_json(value: object) -> TypeError:
    return TypeError(f"{type(value).__name__} is no JSON value, so how Go would write it is not known: {value!r}")
