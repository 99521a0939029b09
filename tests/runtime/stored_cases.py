"""The recorded cases, run here with models that report tokens, and their sessions as another process would get them."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest

from adknb.core.requests import LlmRequest, LlmResponse, Request
from adknb.core.run import Run, Session
from adknb.core.usage import Usage

CONFORMANCE = Path(__file__).parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

import case as cases  # noqa: E402  # found through the path above
from check import read_lines  # noqa: E402


class Reporting(cases.Scripted):
    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        async for reply in super().generate_content_async(request, stream):
            reply.usage = Usage(7, 3)
            yield reply


def played(case: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs of a case's turns; none for one whose agents are refused before anything runs."""
    monkeypatch.setattr(cases, "Scripted", Reporting)
    try:
        return cases.runs(case, "as_written", lambda agent, request: None)
    except (ValueError, TypeError):
        return []


def stored(session: Session) -> Session:
    """The session as a store would give it back, without its runs."""
    return Session(
        session.id, session.app_name, session.user_id, dict(session.state), list(session.events), list(session.history)
    )


def all_cases() -> list[Mapping[str, Any]]:
    return [case for name in ("cases", "features", "extra") for case in read_lines(CONFORMANCE / f"{name}.jsonl")]


def data(request: Request) -> tuple[Any, ...]:
    """What was sent, to the last segment and source, and how much of the turn it had seen."""
    sent = request.sent
    return (
        sent.agent, sent.model, sent.system, sent.contents, sent.sources, sent.tools, sent.config, sent.ordinal, request.seen,
        request.usage,
    )  # fmt: skip
