"""What a comparison keeps of each trial: plain values, so that they travel between processes and lie in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, NamedTuple, Self

from pydantic import TypeAdapter

from adknb.analysis.accounts import Account
from adknb.core.pending import long_running_calls
from adknb.core.run import StepRun
from adknb.core.specs import LlmAgent
from adknb.tokens.channels import CHANNELS, OVERHEAD, Piece

COUNTED_CHANNELS = tuple(channel for channel in CHANNELS if channel != OVERHEAD)


class SentPiece(NamedTuple):
    """One stretch of a prompt that was sent, as `tokens.channels.Piece` has it; `author` is whose event it came from."""

    text: str
    origin: str
    channel: str
    tokens: int
    role: str
    key: str | None = None
    content: int | None = None
    author: str | None = None


Prompt = tuple[SentPiece, ...]
"""One request, in the order in which it was sent."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step of a trial.

    `step` is its name: `DraftAgent`, and `DraftAgent#2` when the agent ran again. `turn` counts from 1. `input_tokens`
    and `output_tokens` are the model's report (`counted_by` is `reported`), else counted by the tokenizer that
    `counted_by` names; `counted` and `channels` are always counted, so that variants compare alike. `twice` holds the
    tokens sent twice by key. `ms` is wall time in milliseconds, `cost` None without a price. `seed` is what the last
    request went with. `guarded` says that a callback answered in the model's place. `prompts` are its requests; `answer`
    is the text of its last final event.
    """

    step: str
    agent: str
    turn: int = 1
    status: str = "completed"
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    counted: int = 0
    counted_by: str = ""
    channels: Mapping[str, int] = field(default_factory=dict)
    twice: Mapping[str, int] = field(default_factory=dict)
    cost: float | None = None
    ms: float = 0.0
    answer: str = ""
    tools: tuple[str, ...] = ()
    guarded: bool = False
    model: str = ""
    temperature: float | None = None
    seed: int | None = None
    note: str = ""
    error: str = ""
    prompts: tuple[Prompt, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One input under one variant, once. `repeat` counts from 0. `answer` is the last turn's; `error` is empty when
    every turn went to its end. `key` says what was asked (see `fingerprint`)."""

    variant: str
    input: str
    repeat: int
    steps: tuple[StepRecord, ...] = ()
    answer: str = ""
    error: str = ""
    ms: float = 0.0
    key: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON values, shared with it; `from_dict` reads it back."""
        return {**_fields(self), "steps": [_fields(step) for step in self.steps]}

    def renamed(self, variant: str, input: str) -> Self:
        """The same trial under the names that a later comparison has for its variant and input."""
        return self if (self.variant, self.input) == (variant, input) else replace(self, variant=variant, input=input)

    @staticmethod
    def from_dict(data: Any) -> TrialRecord:
        """The record that `to_dict` gave. Raises pydantic's `ValidationError` for a value of another type."""
        return _reader().validate_python(data)


@cache
def _reader() -> TypeAdapter[TrialRecord]:
    return TypeAdapter(TrialRecord)


def _fields(record: TrialRecord | StepRecord) -> dict[str, Any]:
    """Not by `asdict`, which copies every piece of every prompt."""
    return {each.name: getattr(record, each.name) for each in fields(record)}


def step_record(
    step: StepRun,
    accounts: Sequence[Account],
    *,
    turn: int,
    seed: int | None = None,
    error: BaseException | None = None,
) -> StepRecord:
    """The record of a step with the accounts of its requests; `turn` counts from 1."""
    asked = step.requests[-1].sent if step.requests else None
    channels = dict.fromkeys(COUNTED_CHANNELS, 0)
    twice: dict[str, int] = {}
    for account in accounts:
        for name in COUNTED_CHANNELS:
            channels[name] += getattr(account.channels, name)
        for key, tokens in account.twice.items():
            twice[key] = twice.get(key, 0) + tokens
    costs = [account.cost for account in accounts if account.cost is not None]
    return StepRecord(
        step=step_name(step),
        agent=step.agent.name,
        turn=turn,
        status=step.status,
        requests=len(step.requests),
        input_tokens=sum(account.channels.total for account in accounts),
        output_tokens=sum(account.output for account in accounts),
        counted=sum(account.channels.counted for account in accounts),
        counted_by=", ".join(
            dict.fromkeys("reported" if each.channels.reported else each.channels.counted_by for each in accounts)
        ),
        channels=channels,
        twice=twice,
        cost=sum(costs) if costs else None,
        ms=round(step.ms, 3),
        answer=step.output,
        tools=tuple(call.name for event in step.events for call in event.function_calls),
        guarded=_is_guarded(step),
        model=asked.model if asked is not None else "",
        temperature=asked.config.get("temperature") if asked is not None else None,
        seed=seed,
        note="; ".join(_notes(step)),
        error=error_text(error) if error is not None else "",
        prompts=tuple(sent_pieces(account.pieces) for account in accounts),
    )


def step_name(step: StepRun) -> str:
    """The same in every trial, whether the agent ran again or not: an agent's first step has no number."""
    return step.agent.name if step.number == 1 else f"{step.agent.name}#{step.number}"


def sent_pieces(made_of: Iterable[Piece]) -> Prompt:
    """A prompt's pieces as plain values."""
    return tuple(
        SentPiece(
            piece.text, piece.origin, piece.channel, piece.tokens, piece.role, piece.key, piece.content,
            piece.source.author if piece.source is not None else None,
        )
        for piece in made_of
    )  # fmt: skip


def error_text(error: BaseException) -> str:
    """`MissingKeyError: agent 'DraftAgent': …`."""
    return f"{type(error).__name__}: {error}"


def _is_guarded(step: StepRun) -> bool:
    """Whether a callback gave the answer: the agent's model was not asked, and it said something all the same."""
    return isinstance(step.agent, LlmAgent) and not step.requests and any(event.text for event in step.events)


def _notes(step: StepRun) -> list[str]:
    said = [request.reply.note for request in step.requests if request.reply is not None and request.reply.note]
    asked = [
        f"nobody answers {call.name} in a comparison: what it returned at once is all that it says"
        for event in step.events
        for call in long_running_calls(event)
    ]
    return list(dict.fromkeys([*said, *step.notes, *asked]))
