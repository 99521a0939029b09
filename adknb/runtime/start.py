"""What a turn starts with: its message, its state, and a session in which nothing else goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adknb.core.content import Content, FunctionResponse, Part
from adknb.core.errors import SpecError, StateValueError
from adknb.core.name_only import names_only
from adknb.core.specs import BaseAgent
from adknb.rules.base import Rules

Message = str | Content | FunctionResponse | Sequence[FunctionResponse]


def as_message(message: Message) -> Content:
    """A turn's message: text, a Content, or the answers to long-running calls."""
    if isinstance(message, Content):
        return message
    if isinstance(message, str):
        return Content.user(message)
    answers = [message] if isinstance(message, FunctionResponse) else message
    if (
        isinstance(answers, (list, tuple))
        and answers
        and all(isinstance(answer, FunctionResponse) for answer in answers)
    ):
        return Content("user", tuple(Part(function_response=answer) for answer in answers))
    raise SpecError(f"a message is text, a Content or FunctionResponses, not {message!r}")


def check_start_state(state: Mapping[str, Any] | None, rules: Rules) -> None:
    """Raise `StateValueError` for values that a turn cannot start with."""
    if state is None:
        return
    if not isinstance(state, Mapping):
        raise StateValueError(f"state is a dict of keys and values, not {type(state).__name__}")
    for key, value in state.items():
        if not isinstance(key, str):
            raise StateValueError(f"a state key must be text, not {type(key).__name__}: {key!r}")
        rules.check_state_value(key, value)


def why_it_cannot_run(root: BaseAgent, models: Any) -> str:
    """What of the agents a store kept by name only, and the way out; empty when they are whole.

    Told before a run begins: of a tool, the model would be told. `models` answers in place of the agents' own models.
    """
    missing: dict[str, None] = {}
    for agent in root.walk():
        is_answered = models is not None and (not isinstance(models, Mapping) or agent.name in models)
        for field, found in names_only(agent):
            if field != "model" or not is_answered:
                missing[f"agent {agent.name!r}: {found.in_words}"] = None
    if not missing:
        return ""
    return (
        f"these agents are of a run that was read back, and of what they call only the names were stored ({', '.join(missing)}). "
        "Give the pipeline's own agents: Runner(root).continue_run(run), .run_from(run, step) and the like."
    )


async def let_abandoned_streams_close() -> None:
    """A stream that was left without `aclose` is closed by the event loop, as soon as the loop gets a turn or two."""
    from asyncio import sleep

    for _ in range(3):
        await sleep(0)
