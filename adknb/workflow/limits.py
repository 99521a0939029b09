"""What may stand for a limit on how many or how long."""

from __future__ import annotations


def is_count(value: object, least: int = 1) -> bool:
    """Whether it is a whole number, and at least so many."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_seconds(value: object) -> bool:
    """Whether it is a number of seconds above 0, endless ones included; NaN is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
