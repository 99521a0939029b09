"""What no model may see is taken out of what it is sent, and put back into what it says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from adknb.core.errors import SpecError
from adknb.workflow.middleware import CallNext, StepReply, StepRequest

PATTERNS: Final = {
    "EMAIL": r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+",
    "CARD": r"\b(?:\d[ -]?){12,18}\d\b",
    "PHONE": r"\+\d[\d ()-]{6,17}\d(?!\d)",
    "KEY": r"\b(?:sk|pk|ghp|xox[abp])[-_][\w-]{16,}\b|\bAIza[\w-]{35}\b|\bAKIA[0-9A-Z]{16}\b",
}
"""E-mail addresses, card and international telephone numbers, keys of well-known services."""


class RedactionMiddleware:
    """Sends `[EMAIL_1]` in place of what the pattern `EMAIL` finds in the payload; equal text, equal number.

    `patterns` are regular expressions by name. With `restore` the reply says again what was taken out. The context is left
    as it is: what a placeholder in an instruction inserts from there is not redacted.

    >>> import anyio
    >>> async def agent(request: StepRequest) -> StepReply:
    ...     return StepReply(f"answered to {request.data.payload}")
    >>> from adknb.workflow.data import PipelineData
    >>> request = StepRequest("news", "run-1", 0, "research", 1, PipelineData("write to ann@example.org"))
    >>> anyio.run(RedactionMiddleware(restore=False), request, agent).payload
    'answered to write to [EMAIL_1]'
    """

    def __init__(self, patterns: Mapping[str, str | re.Pattern[str]] = PATTERNS, *, restore: bool = True) -> None:
        if not patterns or not all(re.fullmatch("[A-Z][A-Z0-9_]*", name) for name in patterns):
            raise SpecError(f"patterns go by names in capitals, such as EMAIL; not {list(patterns)!r}")
        self._patterns: Final = {name: re.compile(pattern) for name, pattern in patterns.items()}
        self._restore: Final = restore

    async def __call__(self, request: StepRequest, call_next: CallNext) -> StepReply:
        found = _Found(request.data.text)
        payload = found.hidden(request.data.payload, self._patterns)
        if not found.marks:
            return await call_next(request)
        reply = await call_next(request.with_payload(payload))
        return reply.with_payload(found.shown(reply.payload)) if self._restore else reply


class _Found:
    """What was taken out of one payload, whose text is `text`, by the marks that stand for it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._numbers: Counter[str] = Counter()
        self.marks: dict[str, str] = {}
        self._by_text: dict[tuple[str, str], str] = {}

    def hidden(self, value: Any, patterns: Mapping[str, re.Pattern[str]]) -> Any:
        if isinstance(value, str):
            for name, pattern in patterns.items():
                value = pattern.sub(partial(self._mark, name), value)
            return value
        if isinstance(value, Mapping):
            return {self.hidden(name, patterns): self.hidden(item, patterns) for name, item in value.items()}
        return [self.hidden(item, patterns) for item in value] if isinstance(value, (list, tuple)) else value

    def shown(self, value: Any) -> Any:
        if isinstance(value, str):
            return re.sub(r"\[[A-Z][A-Z0-9_]*_\d+\]", lambda match: self.marks.get(match.group(), match.group()), value)
        if isinstance(value, Mapping):
            return {self.shown(name): self.shown(item) for name, item in value.items()}
        return [self.shown(item) for item in value] if isinstance(value, (list, tuple)) else value

    def _mark(self, name: str, match: re.Match[str]) -> str:
        text = match.group()
        mark = self._by_text.get((name, text))
        if mark is None:
            mark = self._by_text[name, text] = self._free_mark(name)
            self.marks[mark] = text
        return mark

    def _free_mark(self, name: str) -> str:
        """One that stands nowhere in the payload: what somebody wrote there is not to be restored as something else."""
        while True:
            self._numbers[name] += 1
            mark = f"[{name}_{self._numbers[name]}]"
            if mark not in self._text:
                return mark
