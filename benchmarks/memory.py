"""The memory of a long session, measured in a process of its own.

`python memory.py append EVENTS` or `python memory.py conversation EVENTS` prints one JSON object; `peak` is in MiB and
counts the whole process.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from pipelines import MESSAGE, ticket


async def append(count: int) -> dict[str, Any]:
    """`count` small events put into one session, nothing else."""
    from adknb import Content, Event, EventActions, InMemorySessionService

    service = InMemorySessionService()
    session = await service.create_session(app_name="bench", user_id="user")
    for number in range(count):
        text = f"Part {number} is done, and nothing was out of the ordinary."
        await service.append_event(session, Event("Step", Content.model(text), EventActions({"part": text})))
    return {"events": len(session.events), "peak": peak()}


async def conversation(count: int) -> dict[str, Any]:
    """Turns of the ticket pipeline under NONE in one session, until it holds `count` events; every Run is kept.

    `early` and `late` are the milliseconds of its first and its last hundred turns.
    """
    from adknb import LlmAgent, Runner, ScriptedModel, SequentialAgent

    steps = ticket()
    agents = [
        LlmAgent(
            name=step.name, description=step.description, instruction=step.instruction, output_key=step.key,
            include_contents="none",
        )
        for step in steps
    ]  # fmt: skip
    replies = {step.name: step.reply for step in steps}
    runner = Runner(
        SequentialAgent(name="ticket", sub_agents=agents), model=ScriptedModel(lambda request: replies[request.agent])
    )
    session = (await runner.run_async(MESSAGE)).session
    turns = []
    while len(session.events) < count:
        started = time.perf_counter()
        await runner.run_async(MESSAGE, session=session)
        turns.append((time.perf_counter() - started) * 1000)
    return {
        "events": len(session.events),
        "runs": len(session.turns),
        "peak": peak(),
        "early": turns[:100],
        "late": turns[-100:],
    }


def peak() -> float:
    """The largest resident size of this process so far, in MiB (`ru_maxrss` would begin with the parent's)."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


if __name__ == "__main__":
    measured = {"append": append, "conversation": conversation}[sys.argv[1]]
    print(json.dumps(asyncio.run(measured(int(sys.argv[2])))))
