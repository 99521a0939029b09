"""The one way in which text of a model, tool, user or state reaches a screen: nothing in it acts, and nothing hides."""

from __future__ import annotations

import html
import re
from typing import Final

_NONCHARACTERS: Final = "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
_MARKS: Final = (
    "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"  # accents of any script
    "\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u06d6-\u06ed\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"  # Cyrillic, Hebrew, Arabic, Thai
)
_HIDDEN: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed: they drive terminals
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # invisible, or turning what follows
    "\ud800-\udfff"  # lone surrogates: no encoding has them
    f"\ufdd0-\ufdef{_NONCHARACTERS}"  # never a character: HTML forbids them, fonts draw nothing
    "\U000e0000-\U000e0fff"  # tags and variation selectors in which whole sentences can be hidden
    "]"
    # joiners belong between characters of other scripts and in emoji; elsewhere they only hide
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
    # a variation selector chooses the look of a symbol, or of a digit on its key
    "|(?<![^\x00-\x22\x24-\x29\x2b-\x2f\x3a-\x7f])[\ufe00-\ufe0f]"
    f"|(?<=[{_MARKS}]{{6}})[{_MARKS}]"  # no script stacks more; a tower of marks covers the lines beside it
    # one joiner or variation selector has a meaning; runs of them spell what nobody sees
    "|(?<=[\u200c\u200d])[\u200c\u200d\ufe00-\ufe0f]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)
_SPACES: Final = re.compile(r"\s+")


def visible(text: str) -> str:
    """`text` with every invisible, covering or acting character spelled out (`\\x1b`, `\\u202e`): safe to print.

    Line feeds, tabs and the joiners inside emoji and other scripts stay.
    """
    return _HIDDEN.sub(_spelled, text)


def escape(text: str) -> str:
    """`text` as HTML, for element content and quoted attributes alike."""
    return html.escape(visible(text), quote=True)


def one_line(text: str, limit: int) -> str:
    """`text` safe to print in at most `limit` characters of one line; what is cut ends in `…`."""
    line = _SPACES.sub(" ", visible(text[: 4 * limit])).strip()
    if len(line) > limit or len(text) > 4 * limit:
        return line[: limit - 1].rstrip() + "…"
    return line


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
