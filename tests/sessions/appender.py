"""A process that appends to a session: `appender.py URL SESSION NAME COUNT`; says what was acknowledged."""

from __future__ import annotations

import asyncio
import json
import sys

from adknb import DatabaseSessionService, Event, EventActions, Session, StaleSessionError


async def append(url: str, session_id: str, name: str, count: int) -> None:
    service = DatabaseSessionService(url, synchronous="normal", wait=60.0)

    async def read() -> Session:
        session = await service.get_session(app_name="a", user_id="u", session_id=session_id)
        assert session is not None
        return session

    session = await read()
    print("ready", flush=True)
    sys.stdin.readline()  # so that both begin at once
    acknowledged: list[str] = []
    for number in range(count):
        delta = {f"app:{name}": number, f"user:{name}": [number], name: number}
        event = Event(name, actions=EventActions(delta))
        while True:
            try:
                await service.append_event(session, event)
                break
            except StaleSessionError:
                session = await read()
        acknowledged.append(event.id)
    print(json.dumps({"acknowledged": acknowledged, "conflicts": service.conflicts}), flush=True)
    await service.aclose()


asyncio.run(append(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
