"""A conversation under one rule set: run once with real models, then with the same replies under other rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from adknb.compare.inputs import Input
from adknb.core.content import Content
from adknb.core.errors import AdknbError, ModelError, ReplyMissingError
from adknb.core.events import USER, Event
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest
from adknb.core.run import Run, StepRun
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.models.scripted import ScriptedModel
from adknb.rules.base import Rules
from adknb.runtime.runner import Runner
from adknb.tokens.channels import canonical_json, part_text, pieces
from adknb.tokens.counter import default_counter

ASPECTS: Final = (
    "step", "system instruction", "history", "declarations", "config", "requests", "error", "answer", "state", "events"
)  # fmt: skip
"""What is looked at in each step, in the order in which a difference shows; of a turn as a whole, the last four."""
NOT_RUN: Final = "did not run"
RAN: Final = "ran"
BETWEEN: Final = "\n---\n"
"""What stands between the texts of several requests."""

Place: TypeAlias = tuple[int, str, int]
"""A step's turn (from 0), agent and number; a turn as a whole has no agent."""
Aspects: TypeAlias = Mapping[str, str]


class Trial:
    """One input under one rule set: its runs by turn, each turn's state as it was left, and the error that ended it."""

    def __init__(self, runner: Runner, asked: Input) -> None:
        self.runs: list[Run] = []
        self.error: AdknbError | None = None
        self._states: list[dict[str, Any]] = []
        for message in asked.messages:
            session, state = (self.runs[-1].session, None) if self.runs else (None, asked.state)
            try:
                self._keep(runner.run(message, session=session, state=state))
            except AdknbError as error:
                self.error = error
                if error.run is not None:
                    self._keep(error.run)
                break
        self.steps: dict[Place, StepRun] = {
            (run.turn, step.agent.name, step.number): step for run in self.runs for step in run.step_runs
        }

    def _keep(self, run: Run) -> None:
        self.runs.append(run)
        self._states.append(dict(run.session.state))  # a copy: later turns write into the same session

    def aspects(self, place: Place, requests: int | None = None) -> Aspects:
        """A step or turn as texts, by what is looked at; of its first `requests` requests alone, if that many are named."""
        turn, name, _ = place
        if name:
            return _of_step(self.steps.get(place), requests)
        return self._of_turn(turn)

    def requests(self, place: Place) -> int:
        step = self.steps.get(place)
        return len(step.requests) if step is not None else 0

    def tokens(self, place: Place) -> int:
        """The step's input tokens, counted."""
        step, counter = self.steps.get(place), default_counter()
        sent = [request.sent for request in step.requests] if step is not None else []
        return sum(piece.tokens for request in sent for piece in pieces(request, counter))

    def _of_turn(self, turn: int) -> Aspects:
        said = _error(self.error) if self.error is not None and turn >= len(self.runs) - 1 else ""
        if turn >= len(self.runs):
            return {"error": said or "not reached"}
        run = self.runs[turn]
        return {
            "error": said,
            "answer": run.output,
            "state": _state(self._states[turn]),
            "events": "\n".join(
                f"{event.author}: {_event(event)}" for event in run.turn_events if event.author != USER
            ),
        }


class Replies:
    """What the models answered in some runs, by agent and in order, and the names by which agents know their models."""

    def __init__(self, root: BaseAgent, runs: Iterable[Run], strategy: Any) -> None:
        self._root = root
        self._strategy = strategy
        self._answers: dict[str, list[Any]] = {}
        self._names: dict[str, str] = {}
        self._rules = ""
        for run in runs:
            self._rules = run.rules
            for step in run.step_runs:
                for request in step.requests:
                    answer = request.reply if request.reply is not None else _failure(step)
                    self._answers.setdefault(step.agent.name, []).append(answer)
                    self._names[step.agent.name] = request.sent.model

    def __bool__(self) -> bool:
        return bool(self._answers)

    def trial(self, asked: Input, rules: Rules) -> Trial:
        """The input with these replies under other rules. Raises `AdknbError` when they refuse the pipeline."""
        usual = next(iter(self._names.values()), "scripted")
        models: dict[str, Model] = {}
        for agent in self._root.walk():
            if isinstance(agent, LlmAgent):
                model = agent.model if isinstance(agent.model, str) else getattr(agent.model, "name", usual)
                name = self._names.get(agent.name, model)
                models[agent.name] = ScriptedModel(self._answer, name)
        return Trial(Runner(self._root, rules=rules, models=models, strategy=self._strategy), asked)

    def _answer(self, request: LlmRequest) -> Any:
        answers = self._answers.get(request.agent, [])
        if request.ordinal < len(answers):
            return answers[request.ordinal]
        return ReplyMissingError(
            f"no reply was recorded for request {request.ordinal + 1}: under {self._rules} its model got {len(answers)}"
        )


def _failure(step: StepRun) -> BaseException:
    """The error of a model that did not answer, to be raised again; where the step went on, as its event says it."""
    if step.error is not None:
        return step.error
    said = next((event.error_message for event in reversed(step.events) if event.error_message), None)
    return ModelError(said or "the model did not answer")


def _of_step(step: StepRun | None, requests: int | None) -> Aspects:
    if step is None:
        return {"step": NOT_RUN}
    sent = [request.sent for request in step.requests[:requests]]
    return {
        "step": RAN,
        "system instruction": BETWEEN.join(request.system_instruction or "" for request in sent),
        "history": BETWEEN.join(_contents(request.contents) for request in sent),
        "declarations": BETWEEN.join(canonical_json(list(request.tools.values())) for request in sent),
        "config": BETWEEN.join(canonical_json(request.config) for request in sent),
        "requests": f"{len(step.requests)} request{'' if len(step.requests) == 1 else 's'}",
        "error": _error(step.error),
        "answer": step.output,
        "state": "\n".join(filter(None, (_state(event.actions.state_delta) for event in step.events))),
        "events": "\n".join(map(_event, step.events)),
    }


def _contents(contents: Iterable[Content]) -> str:
    return "\n".join(f"{content.role}: {_texts(content)}" for content in contents)


def _texts(content: Content | None) -> str:
    if content is None:
        return "no content"
    return " | ".join(f"{'(thought) ' if part.thought else ''}{part_text(part)}" for part in content.parts)


def _event(event: Event) -> str:
    failed = f" (error: {event.error_message})" if event.error_message else ""
    return f"{_texts(event.content)}{' (final)' if event.is_final_response() else ''}{failed}"


def _state(state: Mapping[str, Any]) -> str:
    return "\n".join(f"{key} = {canonical_json(state[key])}" for key in sorted(state))


def _error(error: BaseException | None) -> str:
    """An error as the ADK says it, else as we do."""
    if error is None:
        return ""
    if isinstance(error, AdknbError) and error.adk_type is not None:
        return f"{error.adk_type}: {error.adk_message}"
    return f"{type(error).__name__}: {error}"
