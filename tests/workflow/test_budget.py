"""A budget that is kept: nothing is called that does not fit, whoever else calls at the same time."""

import random
import threading
from collections.abc import Callable
from typing import NamedTuple

import anyio.lowlevel
import pytest
from hypothesis import given, strategies as st

from adknb.core.errors import RunStateError, SpecError
from adknb.workflow.budget import Reservation, TokenBudget
from adknb.workflow.errors import BudgetExceededError


def test_a_reservation_becomes_what_was_used() -> None:
    budget = TokenBudget(1_000)
    reservation = budget.reserve(300)
    assert (budget.used, budget.reserved, budget.remaining) == (0, 300, 700)
    reservation.settle(450)
    assert (budget.used, budget.reserved, budget.remaining) == (450, 0, 550)
    assert repr(budget) == "TokenBudget(450 of 1,000 tokens used, 0 reserved)"


@pytest.mark.parametrize(
    ("used", "reserved", "asked", "fits"),
    [
        (0, 0, 100, True),
        (0, 0, 101, False),
        (40, 30, 30, True),
        (40, 30, 31, False),
        (99, 0, 0, True),
        (100, 0, 0, False),
        (0, 100, 0, False),
        (150, 0, 1, False),
    ],
)
def test_a_call_that_does_not_fit_is_refused(used: int, reserved: int, asked: int, fits: bool) -> None:
    budget = TokenBudget(100, used)
    if reserved:
        budget.reserve(reserved)
    if fits:
        budget.reserve(asked)
        assert budget.reserved == reserved + asked
        return
    with pytest.raises(BudgetExceededError) as caught:
        budget.reserve(asked)
    error = caught.value
    assert (error.needed, error.remaining, error.limit) == (asked, max(0, 100 - used - reserved), 100)
    assert (budget.used, budget.reserved) == (used, reserved)


def test_the_refusal_says_how_much_is_left() -> None:
    budget = TokenBudget(50_000, used=48_000)
    budget.reserve(1_500)
    with pytest.raises(BudgetExceededError) as caught:
        budget.reserve(1_200)
    assert str(caught.value) == (
        "the call was not made: its prompt has 1,200 tokens, and 500 are left of the budget of 50,000 "
        "(48,000 used, 1,500 reserved). Raise token_budget, or shorten the prompts."
    )


def test_a_call_that_was_not_made_costs_nothing() -> None:
    budget = TokenBudget(100)
    with pytest.raises(OSError, match="no route"), budget.reserve(60):
        raise OSError("no route")
    assert (budget.used, budget.reserved) == (0, 0)
    with budget.reserve(60) as reservation:
        reservation.settle(80)
    assert (budget.used, budget.reserved) == (80, 0)


def test_a_reservation_is_settled_once() -> None:
    budget = TokenBudget(100)
    settled, released = budget.reserve(10), budget.reserve(10)
    settled.settle(5)
    released.release()
    released.release()
    settled.release()
    for reservation in (settled, released):
        with pytest.raises(RunStateError, match="settled or released already"):
            reservation.settle(5)
    assert (budget.used, budget.reserved) == (5, 0)


def test_without_a_limit_it_counts() -> None:
    budget = TokenBudget(None)
    budget.reserve(10**9).settle(7)
    budget.add(3)
    assert (budget.used, budget.remaining, repr(budget)) == (10, None, "TokenBudget(10 tokens used, 0 reserved)")


def test_what_was_used_without_a_reservation_counts_too() -> None:
    budget = TokenBudget(10)
    budget.add(12)
    assert (budget.used, budget.remaining) == (12, 0)


@pytest.mark.parametrize("tokens", [-1, True, 1.5, "7"])
def test_tokens_are_whole_numbers(tokens: int) -> None:
    budget = TokenBudget(10)
    reservation = budget.reserve(1)
    takers: list[Callable[[int], object]] = [
        budget.reserve,
        budget.add,
        reservation.settle,
        lambda used: TokenBudget(9, used),
    ]
    for take in takers:
        with pytest.raises(SpecError, match="whole numbers from 0"):
            take(tokens)
    assert (budget.used, budget.reserved) == (0, 1)


@pytest.mark.parametrize("limit", [-1, 1.5, "50000", True])
def test_a_limit_is_a_whole_number_too(limit: int) -> None:
    with pytest.raises(SpecError, match="whole numbers from 0"):
        TokenBudget(limit)


class Call(NamedTuple):
    reservation: Reservation
    prompt: int
    reply: int
    fails: bool

    def land(self) -> int:
        """The call ends: how many tokens it used."""
        if self.fails:
            self.reservation.release()
            return 0
        self.reservation.settle(self.prompt + self.reply)
        return self.prompt + self.reply


@given(
    limit=st.integers(0, 1000),
    calls=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 200), st.booleans()), max_size=30),
    order=st.randoms(use_true_random=False),
)
def test_it_is_never_passed_by_more_than_the_replies_in_flight(
    limit: int, calls: list[tuple[int, int, bool]], order: random.Random
) -> None:
    budget, used, bound = TokenBudget(limit), 0, 0
    flying: list[Call] = []
    for prompt, reply, fails in calls:
        while flying and order.random() < 0.4:
            used += flying.pop(order.randrange(len(flying))).land()
        taken = used + sum(call.prompt for call in flying)
        assert (budget.used, budget.reserved) == (used, taken - used)
        if taken < limit and taken + prompt <= limit:
            flying.append(Call(budget.reserve(prompt), prompt, reply, fails))
            bound = limit + sum(call.reply for call in flying)
        else:
            with pytest.raises(BudgetExceededError):
                budget.reserve(prompt)
    for call in flying:
        used += call.land()
    assert (budget.used, budget.reserved) == (used, 0)
    assert used <= bound


@pytest.mark.parametrize("seed", range(5))
def test_threads_never_reserve_more_than_there_is(seed: int) -> None:
    budget, most, granted = TokenBudget(1_000), [0], list[int]()
    start = threading.Barrier(8)

    def work(seed: int) -> None:
        random_ = random.Random(seed)
        start.wait()
        for _ in range(300):
            prompt = random_.randrange(400)
            try:
                reservation = budget.reserve(prompt)
            except BudgetExceededError:
                continue
            most[0] = max(most[0], budget.used + budget.reserved)
            used = random_.choice([0, prompt // 100])
            if used:
                reservation.settle(used)
                granted.append(used)
            else:
                reservation.release()

    threads = [threading.Thread(target=work, args=(seed * 100 + number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] <= 1_000
    assert (budget.used, budget.reserved) == (sum(granted), 0)


@pytest.mark.anyio
async def test_tasks_that_do_not_fit_together_do_not_run_together() -> None:
    budget, refused = TokenBudget(100), 0

    async def call(prompt: int) -> None:
        nonlocal refused
        try:
            with budget.reserve(prompt) as reservation:
                await anyio.lowlevel.checkpoint()
                reservation.settle(prompt + 5)
        except BudgetExceededError:
            refused += 1

    async with anyio.create_task_group() as tasks:
        for prompt in (40, 40, 40, 20):
            tasks.start_soon(call, prompt)
    assert (refused, budget.used, budget.reserved) == (1, 115, 0)
