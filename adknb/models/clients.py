"""The SDKs' clients: one for each event loop and setting, since connections live in the loop that opened them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from typing import Any, Final

_Kept = tuple[Any, AsyncGenerator[Any]]

_kept: Final[dict[tuple[asyncio.AbstractEventLoop, Hashable], _Kept]] = {}


async def shared_client(
    settings: Hashable, open_client: Callable[[], Any], close_client: Callable[[Any], Awaitable[None]]
) -> Any:
    """The running loop's client of these settings: opened when it is first asked for, closed when the loop ends.

    A notebook has one loop as long as it runs, a script makes a new one with each `asyncio.run`. As a loop ends it closes
    the async generators that it has begun, so the client sits in one.
    """
    loop = asyncio.get_running_loop()
    if (loop, settings) not in _kept:
        for place in list(_kept):
            if place[0].is_closed():
                del _kept[place]
        keeper = _keep(open_client, close_client)
        _kept[loop, settings] = (await anext(keeper), keeper)
    return _kept[loop, settings][0]


async def _keep(open_client: Callable[[], Any], close_client: Callable[[Any], Awaitable[None]]) -> AsyncGenerator[Any]:
    client = open_client()
    try:
        yield client
    finally:
        await close_client(client)
