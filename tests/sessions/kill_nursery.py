"""A process that has everything imported, and forks one for each line of JSON that it reads: one to run a pipeline and be
killed.

An order is `{"url": …, "seed": …, "pause": seconds after each event}`. Its process says `{"pid": …}`, the id of each event that it was acknowledged, and how it
ended: `{"error": …}` when its store failed. When it is gone the nursery says `{"ended": exit status}`.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import sqlalchemy.dialects.sqlite.pysqlite  # noqa: F401  # what a service imports when it first connects

from adknb import DatabaseSessionService, Event, InMemorySessionService, Session, SessionStoreError
from tests.sessions.random_pipelines import finish


def say(text: str) -> None:
    """In one piece and at once, so that no kill cuts it."""
    os.write(1, f"{text}\n".encode())


class Acknowledging(DatabaseSessionService):
    pause = 0.0

    async def append_event(self, session: Session, event: Event) -> Event:
        stored = await super().append_event(session, event)
        say(event.id)
        time.sleep(self.pause)
        return stored


def work(order: dict[str, Any]) -> None:
    say(json.dumps({"pid": os.getpid()}))
    service = Acknowledging(order["url"])
    service.pause = order["pause"]
    try:
        finish(order["seed"], service)
        service.close()
    except SessionStoreError as error:
        say(json.dumps({"error": str(error)}))


def main() -> None:
    finish(0, InMemorySessionService())
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                work(json.loads(line))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)  # what the nursery has open is not the child's to close
        _, status = os.waitpid(child, 0)
        say(json.dumps({"ended": status}))


main()
