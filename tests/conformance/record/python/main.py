# google-adk is not installed where types are checked.
# mypy: ignore-errors
"""`python main.py CASES.jsonl` prints what the ADK for Python does with each case, one JSON line a case."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")  # of the SDK's experimental parts, while it is imported
logging.disable(logging.CRITICAL)

from agents import build  # noqa: E402  # after the warnings are off
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.genai import types  # noqa: E402
from traces import error_json, event_json, plain  # noqa: E402

APP, USER = "app", "user-42"


def message(turn: Any, asked: list[types.FunctionCall]) -> types.Content:
    """A turn's content; an answer names the call that it answers by its number, from the case's first."""
    if isinstance(turn, str):
        return types.Content(role="user", parts=[types.Part(text=turn)])
    parts = []
    for answer in turn.get("function_responses") or [turn["function_response"]]:
        call = asked[answer["call"]]
        response = types.FunctionResponse(id=call.id, name=call.name, response=answer["response"])
        parts.append(types.Part(function_response=response))
    return types.Content(role="user", parts=parts)


async def trace(case: Mapping[str, Any]) -> dict[str, Any]:
    """Play the turns in one session, up to the first error."""
    requests: list[Any] = []
    events: list[Any] = []
    asked: list[types.FunctionCall] = []
    found: dict[str, Any] = {"id": case["id"], "requests": requests, "events": events, "state": {}, "error": None}
    runner = session = None
    try:
        runner = InMemoryRunner(agent=build(case["root"], requests), app_name=APP)
        start = dict(case.get("state") or {})
        session = await runner.session_service.create_session(app_name=APP, user_id=USER, state=start)
        for turn in case["turns"]:
            content = message(turn, asked)
            async for event in runner.run_async(user_id=USER, session_id=session.id, new_message=content):
                events.append(event_json(event))
                asked += [call for call in event.get_function_calls() if call.id in (event.long_running_tool_ids or ())]
    except Exception as error:  # whatever the SDK raises is what is recorded
        found["error"] = error_json(error)
    if runner and session:
        end = await runner.session_service.get_session(app_name=APP, user_id=USER, session_id=session.id)
        found["state"] = plain(end.state) if end else {}
    return found


def main() -> None:
    for line in Path(sys.argv[1]).read_text("utf-8").split("\n"):
        if line.strip():
            print(json.dumps(asyncio.run(trace(json.loads(line))), sort_keys=True))


if __name__ == "__main__":
    main()
