"""One turn of each of many resumable cases, in a process of its own: `answering.py URL TURN < LEFT > DONE`.

The cases' sessions live in the database. LEFT says how many scripted replies each agent has left after the turns before, by
case (nothing before the first turn); DONE is one JSON object: by case what was found in the database before the turn, what the
turn did, and how many replies are left.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CONFORMANCE = Path(__file__).parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

from case import answers, build, error_json, event_json, request_json  # noqa: E402  # found through the path above
from check import read_lines  # noqa: E402
from dialects import JAVA  # noqa: E402

from adknb.core.errors import AdknbError  # noqa: E402
from adknb.core.pending import pending_calls  # noqa: E402
from adknb.core.specs import BaseAgent, LlmAgent  # noqa: E402
from adknb.runtime.runner import Runner  # noqa: E402
from adknb.sessions.database.service import DatabaseSessionService  # noqa: E402

USER = "user-42"
CASES = [case for case in read_lines(CONFORMANCE / "resumable.jsonl") if "temp:" not in json.dumps(case)]
"""Every case but those on `temp:` keys, which a database does not keep and ADK Java's memory does."""


def scripts(root: BaseAgent) -> list[Any]:
    """The scripted models of the tree, in its order."""
    return [agent.model for agent in root.walk() if isinstance(agent, LlmAgent)]


async def play(
    case: Mapping[str, Any], turn: int, services: DatabaseSessionService, left: Sequence[int] | None
) -> dict[str, Any]:
    requests: list[Any] = []
    events: list[Any] = []
    root = build(case["root"], lambda agent, request: requests.append(request_json(agent, request)))
    if left is None:
        await services.create_session(app_name="adknb", user_id=USER, state=case["state"], session_id=case["id"])
    else:
        for script, number in zip(scripts(root), left, strict=True):
            del script._replies[: len(script._replies) - number]
    session = await services.get_session(app_name="adknb", user_id=USER, session_id=case["id"])
    assert session is not None
    before = {
        "statuses": [run.status for run in session.turns],
        "pending": [
            [call.event.author, call.call.name, call.call.args["question"]] for call in pending_calls(session.history)
        ],
    }
    said = case["turns"][turn]
    message = said if isinstance(said, str) else answers(said, session.events)
    runner = Runner(root, session_service=services, resumable=True)
    error = None
    try:
        async for event in runner.stream(message, session=case["id"], user_id=USER):
            events.append(event_json(event))
    except AdknbError as raised:
        error = error_json(raised, JAVA)
    assert runner.last_run is not None
    return {
        **before, "requests": requests, "events": events, "error": error,
        "state": dict(runner.last_run.session.state), "left": [len(script._replies) for script in scripts(root)],
    }  # fmt: skip


async def main(url: str, turn: int, left: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    services = DatabaseSessionService(url, synchronous="normal")
    try:
        cases = [case for case in CASES if turn < len(case["turns"])]
        return {case["id"]: await play(case, turn, services, left.get(case["id"])) for case in cases}
    finally:
        services.close()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], int(sys.argv[2]), json.load(sys.stdin)))))
