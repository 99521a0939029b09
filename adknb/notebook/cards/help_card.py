"""The verbs of `%adk` in one line each, and the help of one command."""

from __future__ import annotations

from typing import Final

from adknb.core.escape import escape
from adknb.notebook.cards.html import block, card, div, facts, heading
from adknb.notebook.cards.text import wrapped
from adknb.notebook.results import HelpText, VerbList

HINT: Final = "%adk help VERB has a verb's options. Every verb returns an object: df = %adk state"


def verbs_html(verbs: VerbList) -> str:
    groups = [
        heading(group) + facts([(verb, [escape(summary)]) for verb, summary in commands], "adknb-verbs")
        for group, commands in verbs.groups.items()
    ]
    return card(*groups, div(HINT, "adknb-dim adknb-hint"))


def verbs_text(verbs: VerbList) -> str:
    lines = []
    for group, commands in verbs.groups.items():
        lines.append(wrapped(group))
        lines.extend(wrapped(f"  {verb:<10}  {summary}", "", " " * 14) for verb, summary in commands)
    return "\n".join([*lines, "", wrapped(HINT)])


def help_html(help_text: HelpText) -> str:
    return card(
        f'<div class="adknb-scroll" tabindex="0">{block(help_text.text, "adknb-text adknb-mono adknb-help")}</div>'
    )


def help_text(help_text: HelpText) -> str:
    return "\n".join(wrapped(line, "", " " * 4) for line in help_text.text.split("\n"))
