"""Resumable mode of ADK Java: where a run pauses at a long-running call, and where an answer goes on.

Nothing is recorded for it, all is read off the session's events. Sources: `Functions.hasPendingLongRunningCall`,
`Functions.findMatchingFunctionCallEvent`, `WorkflowAgentResumption`, `SequentialAgent`, `LoopAgent`, `BaseLlmFlow.run`,
`Runner.topmostSequentialAncestor`; traces `resumable.jsonl`.
"""

from __future__ import annotations

from collections.abc import Sequence

from adknb.core.errors import NotSupported
from adknb.core.events import Event
from adknb.core.pending import long_running_calls
from adknb.core.specs import BaseAgent
from adknb.rules.base import Rules


def check_resumable(rules: Rules) -> None:
    """Raise `NotSupported` for rules under which nobody recorded what resumable mode does."""
    if rules.name != "java":
        raise NotSupported(
            f"resumable=True follows ADK Java, whose behaviour is recorded; of rules={rules.name!r} there is no recorded "
            'trace in this mode, so it is not guessed. Use rules="java", or leave resumable out: then nothing pauses, and '
            "an answer runs the asking agent alone."
        )


def pauses(event: Event) -> bool:
    """Whether nothing more starts in the sequentials and loops that the event passes through. Responses are not looked at."""
    return bool(long_running_calls(event))


def step_pauses(before_last: Event | None) -> bool:
    """Whether an LLM agent whose last event is not final ends without another call of its model.

    Its last two events count, and a last one that pauses is final anyway.
    """
    return before_last is not None and pauses(before_last)


def answered_call(events: Sequence[Event]) -> Event | None:
    """The newest event with a call that the last event answers; None when there is none.

    A tool's own response counts as well as a person's answer: in a loop over a sequential whose last step ends on a response
    (skip_summarization) this is that step's call.
    """
    if not events:
        return None
    ids = {response.id for response in events[-1].function_responses if response.id}
    if not ids:
        return None
    for event in reversed(events[:-1]):
        if any(call.id in ids for call in event.function_calls):
            return event
    return None


def first_child(children: Sequence[BaseAgent], events: Sequence[Event]) -> int:
    """The place of the child that a sequential begins with, whenever it starts: the first whose subtree holds the author of
    the call that the session's last event answers, else 0."""
    call = answered_call(events)
    if call is not None:
        for place, child in enumerate(children):
            if any(agent.name == call.author for agent in child.walk()):
                return place
    return 0
