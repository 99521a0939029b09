"""Values as Python source that reads back the same."""

from __future__ import annotations

import ast
import math
from typing import Any


def literal(value: Any) -> str | None:
    """The value's source; None when no literal says it."""
    if isinstance(value, str):
        return text_literal(value)
    try:
        source = repr(value)
        return source if _is_plain(value) and ast.literal_eval(source) == value else None
    except (ValueError, SyntaxError, RecursionError):
        return None


def text_literal(text: str) -> str:
    """A text's source: in triple quotes, line by line, where every character shows itself."""
    if "\n" in text and all(char.isprintable() or char == "\n" for char in text):
        body = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        if body.endswith('"'):
            body = f'{body[:-1]}\\"'
        return f'"""{body}"""'
    source = repr(text)
    return source if '"' in text else f'"{source[1:-1]}"'


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple, set)):
        return all(_is_plain(item) for item in value)
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(item) for key, item in value.items())
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or type(value) in (str, bytes, bool, int)
