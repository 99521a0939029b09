"""An error as people need it: what failed, where, the way out, and the real ADK's words."""

from __future__ import annotations

from adknb.core.errors import AdknbError, SessionStoreError, StaleSessionError
from adknb.core.escape import one_line
from adknb.notebook.cards.html import block, box, card, title
from adknb.notebook.cards.text import passage


def error_html(error: BaseException) -> str:
    """The error as a card of its own."""
    return card(error_box(error))


def error_box(error: BaseException) -> str:
    """The error as a part of another card."""
    pieces = [title(_title(error)), block(str(error))]
    pieces.extend(block(line, "adknb-text adknb-dim") for line in _details(error))
    return box("".join(pieces), "bad")


def error_text(error: BaseException) -> str:
    return "\n".join([one_line(_title(error), 400), passage(str(error)), *(passage(line) for line in _details(error))])


def _title(error: BaseException) -> str:
    agent = getattr(error, "agent", None)
    key = getattr(error, "key", None)
    places = [f"agent {agent}" if agent else "", f"key {key}" if key else ""]
    return " · ".join(filter(None, [type(error).__name__, *places]))


def _details(error: BaseException) -> list[str]:
    lines = []
    if isinstance(error, AdknbError) and error.adk_type is not None:
        words = f": {error.adk_message}" if error.adk_message is not None else " (without a message)"
        lines.append(f"ADK says {error.adk_type}{words}")
    if error.__cause__ is not None and not _has_its_words(error, error.__cause__):
        lines.append(f"Caused by {type(error.__cause__).__name__}: {error.__cause__}")
    lines.extend(getattr(error, "__notes__", []))
    return lines


def _has_its_words(error: BaseException, cause: BaseException) -> bool:
    """Whether the error of a store says what its cause says."""
    return isinstance(error, (SessionStoreError, StaleSessionError)) and str(cause) in str(error)
