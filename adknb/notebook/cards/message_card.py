"""A sentence about what was done, and remarks on it."""

from __future__ import annotations

from adknb.core.escape import escape
from adknb.notebook.cards.html import block, box, card
from adknb.notebook.cards.text import wrapped
from adknb.notebook.results import Message


def message_html(message: Message) -> str:
    return card(block(message.text), remarks_html(message.remarks))


def message_text(message: Message) -> str:
    return "\n".join([wrapped(message.text), *map(remark_text, message.remarks)])


def remarks_html(remarks: tuple[str, ...]) -> str:
    return "".join(box(escape(remark), "warn") for remark in remarks)


def remark_text(remark: str) -> str:
    return wrapped(remark, "! ", "  ")
