"""How far a comparison is: trials done, rate, time left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(slots=True)
class Progress:
    """`done` of `total` trials, `failed` among them; `kept` of the done ones stood in the store already."""

    total: int
    done: int = 0
    failed: int = 0
    kept: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def rate(self) -> float:
        """Trials a second, of those that were asked; 0 before the first."""
        asked = self.done - self.kept
        elapsed = time.monotonic() - self.started
        return asked / elapsed if asked and elapsed > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds to the end at this rate; None before the first trial is done."""
        rate = self.rate
        return (self.total - self.done) / rate if rate else None

    def __str__(self) -> str:
        """`23 of 80 trials · 4.1 a second · 14 s left · 1 failed`."""
        said = [f"{self.done:,} of {self.total:,} trials"]
        left = self.left
        if left is not None:
            said.append(_rate(self.rate))
        if left is not None and self.done < self.total:
            said.append(f"{_time(left)} left")
        if self.kept:
            said.append(f"{self.kept:,} kept from before")
        if self.failed:
            said.append(f"{self.failed:,} failed")
        return " · ".join(said)


Watcher: TypeAlias = Callable[[Progress], object]
"""Called before the first trial and whenever some are done, with the one Progress of the comparison."""


def _rate(rate: float) -> str:
    return f"{rate:.1f} a second" if rate >= 1 else f"{rate * 60:.1f} a minute"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
