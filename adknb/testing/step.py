"""`run_step`: one agent on a seeded state, without the pipeline around it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from adknb.core.content import Content
from adknb.core.errors import RunStateError, SpecError
from adknb.core.escape import visible
from adknb.core.events import USER, Event, final_text, written
from adknb.core.protocols import InvocationContext, Model
from adknb.core.requests import LlmRequest, Request
from adknb.core.run import Run
from adknb.core.specs import BaseAgent, LlmAgent, SequentialAgent
from adknb.models.scripted import ScriptedModel
from adknb.rules.base import Rules
from adknb.runtime.runner import Runner
from adknb.tokens.channels import part_text

Replies: TypeAlias = Sequence[Any] | Mapping[str, Sequence[Any]] | Callable[[LlmRequest], Any]
"""As `ScriptedModel` takes them: a list for the one agent, lists by agent, or a function of the request."""

MESSAGE: Final = "A test message."
WHOLE: Final = 4_000
"""Characters of one text that a failure shows."""


@dataclass(frozen=True, slots=True, eq=False)
class StepResult:
    """What one step was sent and what it did. `run` is the whole run behind it, `name` the agent's."""

    name: str
    run: Run
    events: list[Event]
    """The step's own events, in order."""

    @property
    def requests(self) -> list[Request]:
        """The calls of the model, in order; empty when a callback answered in its place."""
        return [request for step in self.run.step_runs for request in step.requests]

    @property
    def sent(self) -> LlmRequest:
        """What the model was sent first. Raises `RunStateError` when it was not asked."""
        if not self.requests:
            raise RunStateError(f"{self.name} asked no model, so there is no prompt; its output is {self.output!r}.")
        return self.requests[0].sent

    @property
    def state_delta(self) -> dict[str, Any]:
        """Every key that the step wrote, with its last value."""
        return written(self.events)

    @property
    def state(self) -> dict[str, Any]:
        """The session's state after the step; a turn's `temp:` keys are gone by then and stand in `state_delta`."""
        return dict(self.run.session.state)

    @property
    def output(self) -> str:
        """The text of the step's last final event."""
        return final_text(self.events)

    def __repr__(self) -> str:
        return f"StepResult({self._summary()})"

    def __str__(self) -> str:
        """What the step was sent and wrote, for a terminal and for a failing test's report."""
        lines = [self._summary()]
        for request in self.requests:
            lines.extend(["sent", shown(request.sent)])
        for key, value in self.state_delta.items():
            lines.append(f"wrote {visible(key)}: {value!r}")
        return "\n".join(lines)

    def _summary(self) -> str:
        asked = len(self.requests)
        calls = "model not asked" if not asked else "1 request" if asked == 1 else f"{asked} requests"
        return f"{self.name}, {calls}, wrote {', '.join(self.state_delta) or 'nothing'}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.run._repr_mimebundle_(include, exclude)


def run_step(
    agent: BaseAgent,
    *,
    state: Mapping[str, Any] | None = None,
    message: str | Content = MESSAGE,
    replies: Replies | None = None,
    history: Sequence[tuple[str, str] | Event] = (),
    rules: str | Rules = "java",
    model: Model | str | None = None,
) -> StepResult:
    """Run `agent` alone in a fresh session that starts with `state`, and return what it was sent and wrote.

    `replies` are what its model answers (see `ScriptedModel`); without them `model` is asked, or the agent's own.
    `history` is what the pipeline's earlier steps said after the message: pairs of agent and text, or Events. With it
    the agent runs as in a `SequentialAgent`, so its request carries these words as it would there. An error of the run
    is raised as the Runner raises it.
    """
    asked = [each for each in agent.walk() if isinstance(each, LlmAgent)]
    if replies is not None:
        if model is not None:
            raise SpecError("run_step takes replies or a model, not both")
        # rules look at a model's name, so the script goes by the agent's own
        model = ScriptedModel(replies, next((each.model for each in asked if isinstance(each.model, str)), "scripted"))
    models = {each.name: model for each in asked} if model is not None else {}
    earlier = [_as_event(item) for item in history]
    root = agent
    if earlier:
        root = SequentialAgent(
            name="run_step", sub_agents=(_EarlierSteps(name="earlier_steps", said=tuple(earlier)), agent)
        )
    run = Runner(root, models=models, rules=rules).run(message, state=state)
    return StepResult(agent.name, run, run.turn_events[1 + len(earlier) :])


def passages(sent: LlmRequest) -> list[tuple[str, str]]:
    """Every text of a request under its role: the system instruction, then each part of each content."""
    system = [("system", sent.system_instruction)] if sent.system_instruction is not None else []
    return [*system, *((content.role or "", part_text(part)) for content in sent.contents for part in content.parts)]


def shown(sent: LlmRequest) -> str:
    """A request's texts for a terminal, each under its role; of a long one its beginning."""
    return "\n".join(f"  [{role}] {_cut(text)}" for role, text in passages(sent)) or "  nothing"


def _cut(text: str) -> str:
    more = f"… {len(text) - WHOLE:,} more characters" if len(text) > WHOLE else ""
    return (visible(text[:WHOLE]) + more).replace("\n", "\n    ")


class _EarlierSteps(BaseAgent):
    """Stands for the agents that ran before the step: yields what they said, under their names."""

    said: tuple[Event, ...]

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event]:
        for event in self.said:
            yield replace(event, invocation_id=ctx.invocation_id)


def _as_event(item: object) -> Event:
    if isinstance(item, Event):
        return item
    if isinstance(item, tuple) and len(item) == 2 and all(isinstance(each, str) for each in item) and item[0] != USER:
        author, text = item
        return Event(author, Content.model(text))
    raise SpecError(f"run_step: history holds pairs such as ('TriageAgent', 'what it said'), or Events, not {item!r}")
