"""What workflows of functions that fail come to, worked out without the engine: the policies in a few plain loops."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from adknb.core.errors import ModelError

ACTIONS = ("fail", "skip", "retry", "fallback", "continue")


def rate_limited() -> ModelError:
    error = ModelError("answered 429")
    error.status = 429
    return error


class Fault(NamedTuple):
    """How a category looks, and whether the same call may succeed later."""

    make: Callable[[], Exception]
    is_passing: bool


FAULTS = {
    "network": Fault(lambda: ConnectionError("connection refused"), True),
    "rate_limit": Fault(rate_limited, True),
    "timeout": Fault(lambda: TimeoutError("deadline exceeded"), True),
    "validation": Fault(lambda: ValueError("invalid"), False),
    "model": Fault(lambda: ModelError("odd"), False),
    "tool": Fault(lambda: LookupError("no such source"), False),
}


@dataclass
class ModelStep:
    """A step: what its calls come to in order (a category of fault, or None for success, also beyond the list)."""

    name: str
    calls: list[str | None]
    action: str
    attempts: int | None
    is_beside: bool
    fallback_fails: bool
    made: int = 0

    def call(self) -> str | None:
        self.made += 1
        return self.calls[self.made - 1] if self.made <= len(self.calls) else None


@dataclass
class Expected:
    """Where a run stands. `ended` says how each step ended that is behind it, in the order of the steps."""

    payload: Any
    given: Any
    error: str | None = None
    warnings: list[str] = field(default_factory=list)
    context: dict[str, Any] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)
    kept: dict[str, tuple[str, str | None, Any]] = field(default_factory=dict)
    failed: str | None = None


def draw(seed: int) -> tuple[list[ModelStep], int | None]:
    """A workflow of 2 to 6 steps whose calls fail with 30 %, and the attempts of its own policy, if it has one."""
    chance = random.Random(seed)
    steps = [
        ModelStep(
            f"s{number}",
            [chance.choice(list(FAULTS)) if chance.random() < 0.3 else None for _ in range(12)],
            chance.choice(ACTIONS), chance.choice([None, None, 1, 2, 4]), chance.random() < 0.4, chance.random() < 0.3,
        )
        for number in range(chance.randint(2, 6))
    ]  # fmt: skip
    return steps, chance.choice([None, 2])


def groups(steps: list[ModelStep]) -> list[list[ModelStep]]:
    """Steps that stand beside the one before them, together with it."""
    found: list[list[ModelStep]] = []
    for step in steps:
        if found and step.is_beside:
            found[-1].append(step)
        else:
            found.append([step])
    return found


def run(steps: list[ModelStep], policy: int | None, state: Expected, *, at_once: bool) -> Expected:
    """On to the end, or to the first step that ends the run. What `state.kept` holds is not called again.

    Where the steps of a group run `at_once`, those beside a failing one have begun already and end too.
    """
    state.failed = None
    expected = Expected(state.given, state.given, kept=state.kept)
    for group in groups(steps):
        for step in group:
            if step.name not in expected.kept:
                given = expected.given if step.is_beside else expected.payload
                ended = _end(step, policy, given)
                if ended is not None:
                    expected.kept[step.name] = ended
                elif not at_once:
                    expected.failed = step.name
                    break
                else:
                    expected.failed = expected.failed or step.name
        for step in group:
            if step.name in expected.kept:
                expected.ended[step.name] = expected.kept[step.name][0]
        if expected.failed:
            return expected
        _merge(expected, group)
    return expected


def _end(step: ModelStep, policy: int | None, given: Any) -> tuple[str, str | None, Any] | None:
    """How the step ends: status, category of its error, output; None where it ends the run."""
    attempts = step.attempts or policy or (3 if step.action == "retry" else 1)
    for attempt in range(attempts):
        fault = step.call()
        if fault is None:
            return ("completed", None, said(step.name, given))
        if not FAULTS[fault].is_passing or attempt + 1 == attempts:
            break
    if step.action == "skip":
        return ("skipped", fault, None)
    if step.action == "continue":
        return ("continued", fault, None)
    if step.action == "fallback" and not step.fallback_fails:
        return ("fallback", fault, said(f"{step.name}!", given))
    return None


def _merge(expected: Expected, group: list[ModelStep]) -> None:
    ended = {step.name: expected.kept[step.name] for step in group}
    outputs = {name: output for name, (status, _, output) in ended.items() if status in ("completed", "fallback")}
    if outputs:
        expected.payload = next(iter(outputs.values())) if len(group) == 1 else outputs
    for name, output in outputs.items():
        expected.context[f"{name}_output"] = output
    for status, fault, _ in ended.values():
        if status == "continued":
            expected.error = fault
        if status in ("continued", "fallback"):
            expected.warnings.append(str(fault))


def said(name: str, payload: Any) -> str:
    """What a step puts out: its own name, and those of the outputs that it was given."""
    before = "".join(payload.values()) if isinstance(payload, dict) else payload
    return f"({before}{name})"
