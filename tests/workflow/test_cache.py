"""What is kept, for how long, and that equal calls at the same time are made once."""

import asyncio
import logging
import random
import sqlite3
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from adknb.core.errors import SpecError
from adknb.workflow.cache import Kept, ResultCache
from adknb.workflow.data import PipelineData
from adknb.workflow.errors import BudgetExceededError, CacheError, PayloadError

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Answers:
    """Counts how often it is asked; answers `answer 1`, `answer 2`, …"""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.asked = 0

    async def __call__(self) -> str:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        return f"answer {self.asked}"


async def test_what_was_asked_before_is_not_asked_again() -> None:
    cache, answers = ResultCache(), Answers()
    assert [await cache.get_or_execute("a", answers) for _ in range(3)] == ["answer 1"] * 3
    assert await cache.get_or_execute("b", answers) == "answer 2"
    assert (cache.hits, cache.misses, cache.joined, len(cache)) == (2, 2, 0, 2)
    assert (cache.get("a"), cache.get("c")) == (Kept("answer 1"), None)


@pytest.mark.parametrize(
    ("later", "expected"), [(0.0, "answer 1"), (59.9, "answer 1"), (60.0, "answer 2"), (1e9, "answer 2")]
)
async def test_a_result_is_kept_for_its_time(later: float, expected: str) -> None:
    clock, answers = Clock(), Answers()
    cache = ResultCache(ttl=60.0, clock=clock)
    await cache.get_or_execute("a", answers)
    clock.now += later
    assert await cache.get_or_execute("a", answers) == expected
    assert await cache.get_or_execute("a", answers) == expected


async def test_without_a_ttl_it_is_kept_for_good() -> None:
    clock, answers = Clock(), Answers()
    cache = ResultCache(clock=clock)
    await cache.get_or_execute("a", answers)
    clock.now *= 1e6
    assert await cache.get_or_execute("a", answers) == "answer 1"
    assert cache.prune() == 0


async def test_old_results_are_pruned_and_all_are_cleared() -> None:
    clock = Clock()
    cache = ResultCache(ttl=10.0, clock=clock)
    for key in ("a", "b", "c"):
        cache.put(key, key)
        clock.now += 4.0
    assert (len(cache), cache.prune(), len(cache)) == (3, 1, 2)
    assert (cache.get("a"), cache.get("b")) == (None, Kept("b"))
    cache.clear()
    assert len(cache) == 0


@pytest.mark.parametrize("error", [ValueError("no"), BudgetExceededError("no", 1, 0, 1)])
async def test_errors_are_never_kept(error: Exception) -> None:
    cache, answers = ResultCache(), Answers(error)
    with pytest.raises(type(error)):
        await cache.get_or_execute("a", answers)
    assert (await cache.get_or_execute("a", answers), answers.asked) == ("answer 2", 2)


async def test_what_is_not_to_be_kept_is_asked_again() -> None:
    cache, answers = ResultCache(), Answers()
    for expected in ("answer 1", "answer 2", "answer 2"):
        assert await cache.get_or_execute("a", answers, keep=lambda value: value == "answer 2") == expected


@pytest.mark.parametrize("value", [None, 0, "", [], {"a": [1, "ü", "\ud800"]}, PipelineData({"a": [1]}).payload])
async def test_any_json_is_kept_and_belongs_to_who_gets_it(value: Any) -> None:
    cache = ResultCache()

    async def give() -> Any:
        return value

    first = await cache.get_or_execute("a", give)
    second = await cache.get_or_execute("a", give)
    assert first == second == value
    if isinstance(first, dict):
        second["a"].append("mine")
        assert await cache.get_or_execute("a", give) == first == value


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), {"a": object()}])
async def test_what_is_no_json_is_refused(value: object) -> None:
    cache = ResultCache()

    async def give() -> object:
        return value

    with pytest.raises(PayloadError, match="Only JSON can be kept under 'a'"):
        await cache.get_or_execute("a", give)
    with pytest.raises(PayloadError):
        cache.put("a", value)
    assert len(cache) == 0


class Gate:
    """A call that waits until it is opened, then ends as it was told."""

    def __init__(self, ends: Callable[[], object] = lambda: "answered") -> None:
        self.ends = ends
        self.asked = 0
        self.opened = anyio.Event()

    async def __call__(self) -> object:
        self.asked += 1
        await self.opened.wait()
        return self.ends()


def fails(error: Exception) -> Callable[[], object]:
    def end() -> object:
        raise error

    return end


async def begun(
    cache: ResultCache, call: Callable[[], Awaitable[Any]], count: int, **asked: Any
) -> list[asyncio.Task[Any]]:
    tasks = [asyncio.create_task(cache.get_or_execute("a", call, **asked)) for _ in range(count)]
    await anyio.wait_all_tasks_blocked()
    return tasks


async def test_equal_calls_at_once_are_made_once() -> None:
    cache, gate = ResultCache(), Gate()
    tasks = await begun(cache, gate, 10)
    gate.opened.set()
    assert await asyncio.gather(*tasks) == ["answered"] * 10
    assert (gate.asked, cache.misses, cache.joined, cache.hits) == (1, 1, 9, 0)


async def test_an_error_is_everyones_who_waits_for_it_and_nobody_elses() -> None:
    cache, error = ResultCache(), ConnectionError("refused")
    gate = Gate(fails(error))
    tasks = await begun(cache, gate, 5)
    gate.opened.set()
    assert await asyncio.gather(*tasks, return_exceptions=True) == [error] * 5
    assert gate.asked == 1
    assert await cache.get_or_execute("a", Answers()) == "answer 1"


async def test_a_refusal_is_for_its_caller_alone() -> None:
    cache, error = ResultCache(), BudgetExceededError("no", 1, 0, 1)
    gate, answers = Gate(fails(error)), Answers()
    (refused,) = await begun(cache, gate, 1)
    others = await begun(cache, answers, 3)
    gate.opened.set()
    assert await asyncio.gather(refused, *others, return_exceptions=True) == [error, *["answer 1"] * 3]
    assert answers.asked == 1


async def test_what_is_not_kept_is_for_its_caller_alone() -> None:
    cache, gate = ResultCache(), Gate(lambda: "not for you")
    (first,) = await begun(cache, gate, 1, keep=lambda value: False)
    others = await begun(cache, Answers(), 3)
    gate.opened.set()
    assert await asyncio.gather(first, *others) == ["not for you", *["answer 1"] * 3]


async def test_when_the_one_that_is_made_is_cancelled_another_takes_its_place() -> None:
    cache, gate = ResultCache(), Gate()
    tasks = await begun(cache, gate, 4)
    for number, task in enumerate(tasks[:3], 1):
        task.cancel()
        with anyio.fail_after(10):
            while gate.asked <= number:
                await anyio.sleep(0)
    gate.opened.set()
    assert (await tasks[3], gate.asked) == ("answered", 4)
    assert all(task.cancelled() for task in tasks[:3])


async def test_who_waits_may_be_cancelled_alone() -> None:
    cache, gate = ResultCache(), Gate()
    first, second, third = await begun(cache, gate, 3)
    second.cancel()
    await anyio.wait_all_tasks_blocked()
    gate.opened.set()
    assert [await first, await third] == ["answered"] * 2
    assert second.cancelled()
    assert gate.asked == 1


@pytest.mark.parametrize("seed", range(3))
def test_threads_with_loops_of_their_own_share_calls(seed: int) -> None:
    cache = ResultCache()
    made, errors = Counter[str](), list[BaseException]()
    start = threading.Barrier(6)

    async def one(key: str, random_: random.Random) -> None:
        async def call() -> str:
            made[key] += 1
            await anyio.sleep(random_.random() / 500)
            return f"of {key}"

        assert await cache.get_or_execute(key, call) == f"of {key}"

    async def several(seed: int) -> None:
        random_ = random.Random(seed)
        async with anyio.create_task_group() as tasks:
            for _ in range(40):
                tasks.start_soon(one, f"key {random_.randrange(30)}", random_)

    def work(number: int) -> None:
        start.wait()
        try:
            asyncio.run(several(seed * 10 + number))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert set(made.values()) == {1}
    assert cache.hits + cache.misses + cache.joined == 240
    assert cache.misses == len(made)


async def test_results_outlive_the_object_in_a_file(tmp_path: Path) -> None:
    path, clock = tmp_path / "new" / "answers.db", Clock()
    with ResultCache(path, ttl=60.0, clock=clock) as cache:
        await cache.get_or_execute("a", Answers())
    clock.now += 30.0
    with ResultCache(path, ttl=60.0, clock=clock) as again, ResultCache(path, clock=clock) as beside:
        assert await again.get_or_execute("a", Answers(ValueError())) == "answer 1"
        beside.put("b", 2)
        assert again.get("b") == Kept(2)
    with ResultCache(path, ttl=20.0, clock=clock) as stricter:
        assert stricter.get("a") is None


def database(path: Path, *statements: str) -> None:
    rows = sqlite3.connect(path)
    for statement in statements:
        rows.execute(statement)
    rows.commit()
    rows.close()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_text("my notes, " * 200), "cannot be opened: file is not a database"),
        (lambda path: path.mkdir(), "cannot be opened: unable to open database file"),
        (
            lambda path: database(path, "CREATE TABLE mine (a)"),
            "is a database, but no result cache; it was not changed",
        ),
        (
            lambda path: database(
                path, f"PRAGMA application_id = {int.from_bytes(b'adkc')}", "PRAGMA user_version = 2"
            ),
            "is of version 2, and this release reads 1",
        ),
    ],
)
def test_a_file_of_somebody_else_is_not_touched(make: Callable[[Path], object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(CacheError) as caught:
        ResultCache(path)
    assert message in str(caught.value)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert [each.name for each in tmp_path.iterdir()] == ["file.db"]


async def test_a_file_that_fails_later_costs_its_results_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, answers = tmp_path / "answers.db", Answers()
    with ResultCache(path) as cache:
        await cache.get_or_execute("a", answers)
        database(path, "DROP TABLE results")
        with caplog.at_level(logging.WARNING, "adknb.workflow"):
            assert await cache.get_or_execute("a", answers) == "answer 2"
        assert [record.getMessage().rsplit("; ")[-1] for record in caplog.records] == [
            "the result is asked for",
            "the result is not kept",
        ]
        with pytest.raises(CacheError, match="no such table"):
            cache.clear()


async def test_while_another_process_writes_the_answer_is_not_lost(tmp_path: Path) -> None:
    path, answers = tmp_path / "answers.db", Answers()
    with ResultCache(path) as cache:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert await cache.get_or_execute("a", answers) == "answer 1"
        other.execute("ROLLBACK")
        other.close()
        assert await cache.get_or_execute("a", answers) == "answer 2"
        assert await cache.get_or_execute("a", answers) == "answer 2"


@pytest.mark.parametrize("text", ["'not json'", "x'00ff'", "'" + "[" * 100_000 + "'"])
async def test_a_row_that_others_spoiled_is_asked_for(text: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    with ResultCache(path) as cache:
        cache.put("a", 1)
        database(path, f"UPDATE results SET value = {text}")
        assert cache.get("a") is None
        assert await cache.get_or_execute("a", Answers()) == "answer 1"
        assert cache.get("a") == Kept("answer 1")


@pytest.mark.parametrize("ttl", [0, -1.0, float("nan")])
def test_a_time_that_makes_no_sense_is_refused(ttl: float) -> None:
    with pytest.raises(SpecError, match="ttl are seconds above 0"):
        ResultCache(ttl=ttl)
