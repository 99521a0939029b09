"""`assert_comparison`: a test that fails when a change costs more tokens, or flips more answers, than is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from adknb.compare.comparison import Comparison
from adknb.compare.findings import WHOLE
from adknb.compare.measured import Row
from adknb.core.errors import SpecError, near_names
from adknb.core.escape import one_line

_SHOWN: Final = 5
"""Inputs that a failure names for each reason."""
_LINE: Final = 200


def assert_comparison(
    comparison: Comparison,
    *,
    token_growth: float = 0.0,
    flips: int = 0,
    changes: int | None = None,
    errors: int = 0,
    as_expected: float | None = None,
    variants: Iterable[str] | None = None,
    steps: Iterable[str] | None = None,
) -> None:
    """Fail unless every variant (or those named) keeps within what is allowed against the first one.

    `token_growth` is by what share a step's mean input tokens may exceed the first variant's (0.05 allows 5 %), and those
    of the whole pipeline, when no steps are named: a step may run under one variant alone. `flips` is how many answers may
    change their category, `changes` how many may change at all (any number when None), `errors` how many rows may have
    failed, each for one variant over all steps (or those named); the first variant may have as many errors.
    `as_expected` is the least share of expected answers that must be right. A comparison with missing trials fails too.
    Raises `SpecError` for a variant or step that there is not, and for a comparison of one variant; the AssertionError
    names variant, step and inputs.
    """
    first, *others = comparison.names
    if not others:
        raise SpecError(f"assert_comparison: there is only the variant {first!r}, so nothing to hold against it")
    chosen = _known("variant", others, variants)
    looked_at = _known("step", comparison.steps, steps)
    rows = [row for row in comparison.rows if row["step"] in looked_at or not row["step"]]
    faults = [f"{comparison.missing} trials are missing"] if comparison.missing else []
    faults += _beyond(
        first, "errors", [row for row in rows if row["variant"] == first and row["error"]], errors, "error"
    )
    for variant in chosen:
        own = [row for row in rows if row["variant"] == variant]
        grown = list(_grown(comparison, variant, looked_at, token_growth))
        faults += grown or (_grown(comparison, variant, [WHOLE], token_growth) if steps is None else [])
        faults += _beyond(variant, "flipped answers", [row for row in own if row["flip"]], flips, "flip")
        if changes is not None:
            faults += _beyond(
                variant, "changed answers", [row for row in own if row["equal"] is False], changes, "answer"
            )
        faults += _beyond(variant, "errors", [row for row in own if row["error"]], errors, "error")
        if as_expected is not None:
            faults += _expected(variant, own, as_expected)
    if faults:
        raise AssertionError(f"{comparison.pipeline}, against {comparison.names[0]!r}:\n" + "\n".join(faults))


def _grown(comparison: Comparison, variant: str, steps: Sequence[str], allowed: float) -> Iterator[str]:
    for step in steps:
        found = comparison.finding(variant, step).tokens
        if found is not None and found.after > found.before * (1 + allowed):
            growth = 100 * found.difference / found.before if found.before else float("inf")
            where = step or "over all steps"
            yield (
                f"{variant!r}, {where}: input tokens grew from {found.before:,.1f} to {found.after:,.1f} a run "
                f"({growth:.1f} %, allowed {100 * allowed:.1f} %; n = {found.n})"
            )


def _beyond(variant: str, what: str, found: Sequence[Row], allowed: int, told: str) -> Iterator[str]:
    if len(found) > allowed:
        where = [
            f"{row['step'] or 'before any step'}, input {row['input']}: {one_line(row[told], _LINE)}" for row in found
        ]
        more = f"\n  … {len(where) - _SHOWN} more" if len(where) > _SHOWN else ""
        yield f"{variant!r}: {len(found)} {what}, allowed {allowed}\n  " + "\n  ".join(where[:_SHOWN]) + more


def _expected(variant: str, own: Sequence[Row], least: float) -> Iterator[str]:
    judged = [row for row in own if row["as_expected"] is not None]
    right = sum(row["as_expected"] for row in judged)
    if not judged:
        yield f"{variant!r}: no input says what is expected, so as_expected={least} cannot be judged"
    elif right < least * len(judged):
        yield f"{variant!r}: {right} of {len(judged)} answers are as expected; at least {100 * least:.0f} % are wanted"


def _known(what: str, known: Sequence[str], named: Iterable[str] | None) -> list[str]:
    if named is None:
        return list(known)
    chosen = [named] if isinstance(named, str) else list(named)
    for name in chosen:
        if name not in known:
            raise SpecError(f"assert_comparison: there is no {what} {name!r}.{near_names(name, known)}")
    return chosen
