"""Answers that parrot the history: an ADK tells an agent what the others did, and small models repeat how it is told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_CONTEXT: Final = re.compile(r"\s*(For context:)")
_NEVER: Final = "(?!)"


def leaked(answer: str, agents: Iterable[str]) -> bool:
    """Whether the answer narrates what one of `agents` (names) did, in an ADK's own words, or begins `For context:`.

    The words are those of `leaked_what`; that an agent's name stands in the answer is no leak.
    """
    return leaked_what(answer, agents) != ""


def leaked_what(answer: str, agents: Iterable[str]) -> str:
    """The first stretch of an answer that is narration, up to the next one, a blank line or the end; "" without any.

    As the ADKs narrate (`JavaRules.narrate`; JavaScript says ``tool `lookup` returned result:``):
    ``[TriageAgent] said:``, ``[TriageAgent] called tool `lookup` with parameters:``,
    ``[TriageAgent] `lookup` tool returned result:``. The stretch is the answer's own text: escape it where it is shown.
    """
    narration = _narration(tuple(agents))
    first = narration.search(answer)
    if context := _CONTEXT.match(answer):
        start, behind = context.start(1), context.end()
        if first is not None and not answer[behind : first.start()].strip():
            behind = first.end()
    elif first is not None:
        start, behind = first.span()
    else:
        return ""
    following = narration.search(answer, behind)
    end = following.start() if following is not None else len(answer)
    blank_line = answer.find("\n\n", behind, end)
    return answer[start : blank_line if blank_line >= 0 else end].rstrip()


@lru_cache(maxsize=64)
def _narration(agents: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in agents if name) or _NEVER
    tool = r"`[^`\n]*`"
    return re.compile(
        rf"\[(?:{names})\] (?:said:|called tool {tool} with parameters:"
        rf"|{tool} tool returned result:|tool {tool} returned result:)"
    )
