"""How Java writes values as text: `String.valueOf`, Jackson's JSON, white space, the order of a HashMap.

The values are those of JSON in Python: None, bool, int, float, str, list (or tuple) and mappings with text keys.
"""

import re
import struct
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from adknb.rules.java_double import double_to_string
from adknb.rules.java_identifiers import java_is_identifier, java_is_identifier_part

__all__ = [
    "java_concurrent_merge_order",
    "java_float",
    "java_hash_copy_order",
    "java_hash_order",
    "java_is_blank",
    "java_is_identifier",
    "java_is_identifier_part",
    "java_json",
    "java_text",
    "java_trim",
]

_WHITE_SPACE: Final = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a"
    "\u2028\u2029\u205f\u3000"
)
"""`Character.isWhitespace` of JDK 17: no no-break spaces (U+00A0, U+2007, U+202F) and not U+0085."""

_UP_TO_SPACE: Final = "".join(map(chr, range(0x21)))

_ESCAPED: Final = re.compile(r'["\\\x00-\x1f]')
_ESCAPES: Final = {chr(code): f"\\u{code:04X}" for code in range(0x20)} | {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def java_text(value: object) -> str:
    """`String.valueOf(value)` of JDK 17: `null`, `true`, `2.0`, `[1, two, null]`, `{a=1, b=[x]}`.

    Source: `InstructionUtils.resolveMatchAsync` inserts state values so.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{java_text(key)}={java_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(java_text, value)) + "]"
    return _scalar(value)


def java_json(value: object) -> str:
    """Compact JSON as Jackson's `writeValueAsString` writes it, maps in their own order.

    Non-ASCII text, DEL and lone surrogates stay as they are; NaN and the infinities become text.

    Source: `Contents.java` narrates another agent's calls and responses so (Jackson 2.18).
    """
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_quoted(java_text(key))}:{java_json(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(java_json, value)) + "]"
    text = _scalar(value)
    return _quoted(text) if text.endswith(("NaN", "Infinity")) else text


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return double_to_string(value)
    raise TypeError(f"{type(value).__name__} is no JSON value, so how Java would write it is not known: {value!r}")


def _quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(lambda match: _ESCAPES[match.group()], text) + '"'


def java_float(value: float) -> float:
    """What is left of a number in a 32-bit `Float`, as its digits say it: 0.123456789 becomes 0.12345679."""
    packed = struct.pack("f", value)
    (single,) = struct.unpack("f", packed)
    digits = (float(f"{single:.{count}g}") for count in range(1, 10))
    return next(shown for shown in digits if struct.pack("f", shown) == packed)


def java_is_blank(text: str) -> bool:
    """`String.isBlank()` of JDK 17: empty, or white space alone."""
    return not text.strip(_WHITE_SPACE)


def java_trim(text: str) -> str:
    """`String.trim()`: without the characters up to U+0020 at both ends."""
    return text.strip(_UP_TO_SPACE)


def java_hash_order(keys: Iterable[str], capacity: int = 16) -> list[str]:
    """The order in which a `java.util.HashMap` of this capacity gives back keys that were put in one by one.

    A key put in again keeps its place, as it does with Jackson's `readValue(text, HashMap.class)`.

    Source: `java.util.HashMap` of JDK 17, whose default capacity is 16. One limit: a bucket with more than eight
    keys becomes a tree in Java, in an order of its own; here it keeps that of insertion. Only keys chosen for
    their equal hash codes (`Aa`, `BB`) get there.
    """
    hashes = {key: _spread_hash(key) for key in keys}
    present: list[int] = []
    for new in hashes.values():
        # A small table also grows instead of letting one bucket become a tree.
        if capacity < 64 and sum((new ^ old) % capacity == 0 for old in present) >= 8:
            capacity *= 2
        present.append(new)
        if len(present) > capacity * 3 // 4:
            capacity *= 2
    return sorted(hashes, key=lambda key: hashes[key] % capacity)


def java_hash_copy_order(keys: Collection[str]) -> list[str]:
    """The order of `new HashMap<>(map)`, which takes its capacity from the map's size (JDK 17 `putMapEntries`)."""
    needed = int(len(keys) / 0.75 + 1)
    return java_hash_order(keys, 1 << max(0, needed - 1).bit_length())


def java_concurrent_merge_order(keys: Collection[str], added: Iterable[str]) -> list[str]:
    """The order of `new ConcurrentHashMap<>(map)` to which other keys are then added (JDK 17 `tryPresize`, `addCount`).

    One limit: keys that share a bucket may change places when the table grows in Java; here they keep theirs.
    """
    needed = 1 << (len(keys) + len(keys) // 2).bit_length()
    capacity = max(16, needed)
    while needed > capacity * 3 // 4:
        capacity *= 2
    hashes = {key: _spread_hash(key) for key in (*keys, *added)}
    while len(hashes) >= capacity * 3 // 4:
        capacity *= 2
    return sorted(hashes, key=lambda key: hashes[key] % capacity)


def _spread_hash(text: str) -> int:
    """`String.hashCode()`, as an unsigned number, with its upper half mixed into the lower one."""
    encoded = text.encode("utf-16-be", "surrogatepass")
    result = 0
    for unit in struct.unpack(f">{len(encoded) // 2}H", encoded):
        result = (31 * result + unit) & 0xFFFFFFFF
    return result ^ result >> 16
