"""Asking a step's agent once, through a Runner."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final

from adknb.compare.fingerprint import fingerprint
from adknb.core.errors import AgentError, ModelError, SpecError
from adknb.core.events import written
from adknb.core.protocols import ArtifactService, Model
from adknb.core.run import Run, Session
from adknb.core.specs import BaseAgent
from adknb.core.state import REMOVED, TEMP_PREFIX
from adknb.rules.base import Rules
from adknb.runtime.runner import Runner, as_root
from adknb.sessions.memory import InMemorySessionService
from adknb.workflow.data import PipelineData
from adknb.workflow.functions import NOTHING, FunctionAgent, Handed, function_agent, handed
from adknb.workflow.kept_answers import data_given
from adknb.workflow.keys import agent_name, answer_key
from adknb.workflow.metering import Meter, meter, metered
from adknb.workflow.middleware import Middleware, StepReply, StepRequest, chain

_ON_COPIES: Final = InMemorySessionService()
"""Appends to the sessions of attempts, which it does not keep."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent said: `payload`, and for a function that returned data what it changed in the context. `run` is None
    where a middleware answered in its place. `state` are the values that later steps may read and that no run wrote (null:
    removed)."""

    payload: Any
    run: Run | None
    context: Mapping[str, Any]
    state: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asking:
    """How a workflow asks its agents: the arguments of `Runner` that all steps share."""

    model: Model | str | None
    rules: str | Rules
    strategy: Any
    app_name: str
    artifacts: ArtifactService
    resolve: Callable[[Any], Model]

    def agent(self, value: Any, step: str, model: Any) -> StepAgent:
        """The agent or function of a step, ready to be asked. `model` answers instead of the agents' own, if given."""
        root = as_agent(value, step)
        runner = Runner(
            root, model=self.model, models=model, rules=self.rules, strategy=self.strategy, app_name=self.app_name,
            session_service=_ON_COPIES, artifact_service=self.artifacts, resolve=metered(self.resolve),
        )  # fmt: skip
        return StepAgent(runner, root, (self.model, model, self.strategy, self.app_name))


@dataclass(frozen=True, slots=True)
class StepAgent:
    """The agent of a step, which may be asked any number of times, at once too."""

    runner: Runner
    root: BaseAgent
    settings: Sequence[Any]

    def key(self, step: str, data: PipelineData, session: Session) -> str | None:
        """What stands for all that the answer depends on; None where that is more than the data and the state."""
        if session.history:
            return None
        asked = fingerprint([self.root, *self.settings, self.runner.rules.name])
        text = json.dumps([asked, step, data_given(data), session.user_id, session.state], sort_keys=True)
        return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def said(self, payload: Any) -> dict[str, Any]:
        """The state's values of an answer that did not come from the agent itself: later steps read it under its key."""
        key = answer_key(self.root)
        return {} if key is None else {key: payload}

    async def ask(self, data: PipelineData, session: Session, attempt: Meter, runs: list[Run]) -> Answer:
        """What the agent makes of the payload; an agent is sent it as its user's message, text as it is, else as JSON.

        `session` is the attempt's own. The Run is added to `runs` also when it fails. A function's own errors come as it
        raised them.
        """
        own = Handed(data)
        before, metered_before = handed.set(own), meter.set(attempt)
        seen = len(session.chain)
        raised: Exception | None = None
        try:
            run = await self.runner.run_async(data.text, session=session)
        except AgentError as error:
            if not (isinstance(self.root, FunctionAgent) and isinstance(error.__cause__, Exception)):
                raise
            raised = error.__cause__
        finally:
            meter.reset(metered_before)
            handed.reset(before)
            for turn in session.chain[seen:]:
                turn.run.since = 0
                runs.append(turn.run)
        if raised is not None:  # outside of the except, so that it keeps its own cause
            raise raised
        _raise_what_became_an_event(run)
        if own.returned is NOTHING:
            return Answer(run.output, run, {})
        if isinstance(own.returned, PipelineData):
            return Answer(own.returned.payload, run, _changed(data.context, own.returned.context))
        return Answer(own.returned, run, {})


async def ask_through(
    middleware: Sequence[Middleware],
    agent: StepAgent,
    request: StepRequest,
    session: Callable[[], Session],
    attempt: Meter,
    runs: list[Run],
) -> Answer:
    """Ask the agent through the middleware, which may answer in its place, or ask it more than once: each time on a `session`
    of its own."""
    if not middleware:
        return await agent.ask(request.data, session(), attempt, runs)

    async def ask(request: StepRequest) -> StepReply:
        answer = await agent.ask(request.data, session(), attempt, runs)
        context, wrote = dict(answer.context), written_by(answer.run)
        return StepReply(answer.payload, context, attempt.tokens, answer.run, attempt.is_cached, wrote)

    def key_of(data: PipelineData) -> str | None:
        return agent.key(request.step_name, data, session())

    reply = await chain(middleware, ask)(replace(request, key_of=key_of))
    context = reply.context or {}
    if reply.run is not None:  # its state is that of the agent's own words
        said = {} if reply.payload == reply.run.output else agent.said(reply.payload)
        return Answer(reply.payload, reply.run, context, said)
    attempt.tokens = attempt.tokens or reply.tokens  # it may say itself what the answer cost, or that it was kept
    if reply.cached:
        attempt.calls = attempt.hits = max(1, attempt.calls)
    said, wrote = agent.said(reply.payload), reply.state or {}
    changed = {
        key: value for key, value in said.items() if isinstance(wrote.get(key, ""), str)
    }  # else it was read as JSON
    return Answer(reply.payload, None, context, {**wrote, **changed})


def written_by(run: Run | None) -> dict[str, Any]:
    """What the run wrote to the state, as JSON: null for what it removed. `temp:` keys are gone with it."""
    found = {} if run is None else written(run.turn_events)
    return {key: None if value is REMOVED else value for key, value in found.items() if not key.startswith(TEMP_PREFIX)}


def as_agent(value: Any, step: str) -> BaseAgent:
    """The agent of a step: an agent of adknb or google-adk, or a function as one."""
    root = as_root(value)
    if isinstance(root, BaseAgent):
        return root
    if callable(root):
        return function_agent(agent_name(step), root)
    raise SpecError(f"step {step!r}: an agent or a function is needed, not {value!r}")


def _raise_what_became_an_event(run: Run) -> None:
    """Some ADKs make an event of a failed call and end the step as if it had said something; for a workflow it failed."""
    last = run.turn_events[-1]
    if last.error_code and not last.text:
        raise ModelError(f"the step ended with {last.error_code}: {last.error_message or 'no message'}").of_agent(
            last.author
        )


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    missing = object()
    return {name: value for name, value in now.items() if before.get(name, missing) != value}
