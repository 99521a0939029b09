"""Assertions on one step, whose failures say what happened instead. Each takes a `StepResult` or a run's `StepRun`."""

from __future__ import annotations

from typing import Any, Final, Protocol

from adknb.core.errors import near_names
from adknb.core.requests import LlmRequest, Request
from adknb.testing.step import passages, shown

_ANY: Final = object()


class Step(Protocol):
    """What the assertions look at."""

    @property
    def name(self) -> str: ...

    @property
    def requests(self) -> list[Request]: ...

    @property
    def state_delta(self) -> dict[str, Any]: ...

    @property
    def output(self) -> str: ...


def assert_wrote(step: Step, key: str, value: Any = _ANY) -> None:
    """The step wrote `key`; with `value`, its last write was exactly that."""
    __tracebackhide__ = True
    delta = step.state_delta
    if key not in delta:
        wrote = f"it wrote {', '.join(map(repr, delta))}.{near_names(key, delta)}" if delta else "it wrote nothing."
        raise AssertionError(f"{step.name} did not write {key!r}; {wrote}")
    if value is not _ANY and (delta[key] != value or type(delta[key]) is not type(value)):
        raise AssertionError(f"{step.name} wrote {key!r} as\n  {delta[key]!r}\nand not as\n  {value!r}")


def assert_not_written(step: Step, key: str) -> None:
    """The step left `key` alone."""
    __tracebackhide__ = True
    if key in step.state_delta:
        raise AssertionError(f"{step.name} wrote {key!r}: {step.state_delta[key]!r}")


def assert_not_asked(step: Step) -> None:
    """No model was asked: a callback answered in the agent's place."""
    __tracebackhide__ = True
    if step.requests:
        raise AssertionError(f"{step.name} asked its model, with\n{shown(step.requests[0].sent)}")


def assert_prompt_contains(step: Step, text: str, request: int = 1) -> None:
    """The step's `request`-th call (from 1) was sent `text`, in the system instruction or in one part of a content."""
    __tracebackhide__ = True
    sent = _sent(step, request)
    if not _found(sent, text):
        raise AssertionError(f"{step.name} was not sent {text!r}. It was sent\n{shown(sent)}")


def assert_prompt_lacks(step: Step, text: str, request: int = 1) -> None:
    """The step's `request`-th call (from 1) was sent `text` nowhere."""
    __tracebackhide__ = True
    sent = _sent(step, request)
    if _found(sent, text):
        raise AssertionError(f"{step.name} was sent {text!r}, in\n{shown(sent)}")


def _sent(step: Step, request: int) -> LlmRequest:
    __tracebackhide__ = True
    if not 1 <= request <= len(step.requests):
        raise AssertionError(
            f"{step.name} has no request {request}; it made {len(step.requests)}. Its output is {step.output!r}."
        )
    return step.requests[request - 1].sent


def _found(sent: LlmRequest, text: str) -> bool:
    return any(text in passage for _, passage in passages(sent))
