"""A limit on tokens that is kept before a call is made, not regretted after it."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from adknb.core.errors import RunStateError, SpecError
from adknb.workflow.errors import BudgetExceededError


class TokenBudget:
    """Tokens that a workflow may use, in and out; `limit` None counts without a limit. For tasks and threads alike.

    Before a call its counted prompt is reserved; the call is refused when the prompt does not fit beside what is used and what
    others have reserved. After it the real usage takes the reservation's place. So the budget is never passed by more than
    the replies of the calls in flight.

    >>> budget = TokenBudget(50_000)
    >>> with budget.reserve(1_200) as reservation:
    ...     reservation.settle(1_950)  # what the model reported, in and out
    >>> budget.used, budget.remaining
    (1950, 48050)
    """

    def __init__(self, limit: int | None, used: int = 0) -> None:
        self.limit = None if limit is None else _count(limit)
        self._used = _count(used)
        self._reserved = 0
        self._lock = threading.Lock()

    @property
    def used(self) -> int:
        """Tokens of the calls that have ended."""
        return self._used

    @property
    def reserved(self) -> int:
        """Prompt tokens of the calls in flight."""
        return self._reserved

    @property
    def remaining(self) -> int | None:
        """What can still be reserved, 0 or more; None without a limit."""
        if self.limit is None:
            return None
        with self._lock:
            return max(0, self.limit - self._used - self._reserved)

    def reserve(self, tokens: int) -> Reservation:
        """Set the counted tokens of a prompt aside. Raises `BudgetExceededError`, having set none aside, when they do not fit."""
        _count(tokens)
        with self._lock:
            taken = self._used + self._reserved
            if self.limit is not None and (taken >= self.limit or taken + tokens > self.limit):
                raise BudgetExceededError(
                    f"the call was not made: its prompt has {tokens:,} tokens, and {max(0, self.limit - taken):,} are left of "
                    f"the budget of {self.limit:,} ({self._used:,} used, {self._reserved:,} reserved). "
                    "Raise token_budget, or shorten the prompts.",
                    needed=tokens,
                    remaining=max(0, self.limit - taken),
                    limit=self.limit,
                )
            self._reserved += tokens
        return Reservation(self, tokens)

    def add(self, tokens: int) -> None:
        """Count tokens that were used without a reservation."""
        _count(tokens)
        with self._lock:
            self._used += tokens

    def _settle(self, reserved: int, used: int) -> None:
        with self._lock:
            self._reserved -= reserved
            self._used += used

    def __repr__(self) -> str:
        of = "" if self.limit is None else f" of {self.limit:,}"
        return f"TokenBudget({self.used:,}{of} tokens used, {self.reserved:,} reserved)"


class Reservation:
    """Tokens set aside for one call. Left as a context manager without `settle`, it is released: the call used none."""

    def __init__(self, budget: TokenBudget, tokens: int) -> None:
        self.tokens = tokens
        self._budget = budget
        self._lock = threading.Lock()
        self._open = True

    def settle(self, used: int) -> None:
        """The call has used this many tokens, in and out. Raises `RunStateError` when it was settled or released before."""
        _count(used)
        if not self._close():
            raise RunStateError("this reservation of tokens was settled or released already: one reservation, one call")
        self._budget._settle(self.tokens, used)

    def release(self) -> None:
        """The call was not made, or its usage is unknown: give the tokens back. Does nothing after `settle`."""
        if self._close():
            self._budget._settle(self.tokens, 0)

    def _close(self) -> bool:
        with self._lock:
            was_open, self._open = self._open, False
        return was_open

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


def _count(tokens: int) -> int:
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
        raise SpecError(f"tokens are counted in whole numbers from 0, not {tokens!r}")
    return tokens
