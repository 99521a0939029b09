"""The requests that are built again from google-adk's database files are those that google-adk really sent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")
pytest.importorskip("aiosqlite", reason="aiosqlite is not installed: pip install 'adknb[db]'")

from adknb import Usage, adopt, compare_prompts, open_adk_sessions
from adknb.core.run import Session
from tests.adk import plain, stored

CONFORMANCE = Path(__file__).parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

from check import read_lines  # noqa: E402  # found through the path above

CASES = [case for case in read_lines(CONFORMANCE / "cases.jsonl") if case["id"] != "name-bad"]


def sent(session: Session) -> dict[str, list[Any]]:
    """The requests by agent, as `plain` logs them."""
    found: dict[str, list[Any]] = {}
    for run in session.turns:
        for step in run.step_runs:
            for request in step.requests:
                found.setdefault(step.agent.name, []).append(
                    {
                        "system_instruction": request.sent.system_instruction,
                        "contents": [plain.content_json(content) for content in request.sent.contents],
                        "tools": sorted(request.sent.tools),
                    }
                )
    return found


async def counted(
    cases: list[dict[str, Any]], kind: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, int, int]:
    """How many requests were sent, how many are built again equally, and how many of the rest nothing is said of.

    The last request of a run that failed left no event. A `temp:` value is in no file, and a note says so.
    """
    monkeypatch.setattr(plain, "Scripted", stored.Reporting)
    service = stored.service(kind, path)
    played = {case["id"]: await stored.play(case, service) for case in cases}
    await service.close()
    before = path.read_bytes()
    sessions = open_adk_sessions(path)
    whole = equal = unsaid = 0
    for name, (log, root) in played.items():
        adopted = adopt(sessions.session(name), root)
        rebuilt = sent(adopted)
        failed = log.pop("error", None) is not None
        notes = [note for run in adopted.turns for step in run.step_runs for note in step.notes]
        for agent, requests in log.items():
            again = rebuilt.get(agent, [])
            for place, request in enumerate(requests):
                whole += 1
                if place < len(again) and again[place] == request:
                    equal += 1
                elif place < len(again):
                    unsaid += not any("lives for one turn and is not stored" in note for note in notes)
                else:
                    unsaid += not failed
        for run in adopted.turns:
            assert all(prompts[0].is_as_sent for prompts in compare_prompts(run, ["as_written", "none"]).rows())
            for step in run.step_runs:
                reported = {request.usage for request in step.requests} <= {Usage(7, 3)}
                said = [
                    note for note in step.notes if note.startswith(("the events do not tell whether", "ended with"))
                ]
                assert reported or said
    assert path.read_bytes() == before
    return whole, equal, unsaid


@pytest.mark.parametrize(
    ("kind", "first", "expected"),
    [("DatabaseSessionService", 0, (55, 55, 0)), ("SqliteSessionService", 7, (70, 57, 0))],
)
async def test_requests(
    kind: str, first: int, expected: tuple[int, int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every 48th case; the 13 that differ read a `temp:` value."""
    assert await counted(CASES[first::48], kind, tmp_path / "copy.db", monkeypatch) == expected


@pytest.mark.soak
async def test_all_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The 237 others read a `temp:` value, or are the last of a run that failed on them."""
    assert await counted(CASES, "DatabaseSessionService", tmp_path / "copy.db", monkeypatch) == (2614, 2377, 0)
