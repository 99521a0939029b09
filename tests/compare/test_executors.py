"""Comparisons whose trials run elsewhere: in threads, in processes, on a Dask cluster. The rows are the same."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import pytest

from adknb import LlmAgent, LoopAgent, ParallelAgent, ScriptedModel, SequentialAgent, SpecError
from adknb.compare.comparison import Comparison
from adknb.compare.fingerprint import fingerprint
from adknb.compare.inputs import Input
from adknb.compare.lab import Lab, compare_variants
from adknb.compare.store import Store
from adknb.compare.trial import Arm, Task, perform_alone
from adknb.compare.variants import Variant
from adknb.core.errors import AdknbError
from adknb.core.specs import GenerateContentConfig
from adknb.core.tools import FunctionTool, LongRunningFunctionTool
from adknb.examples.ticket import scripted_replies, ticket_pipeline
from adknb.runtime.strategies import as_strategy
from tests.compare.pipelines import OnlyUser, call, crash, exit_at_two, greet, look, two_steps

SECONDS = 60.0
INPUTS = ["one", {"message": "two", "state": {"tier": "gold"}}, ["three", "and more"]]
REPLIES: dict[str, list[Any]] = {"A": [call("look", what="x"), "a", "a again"], "B": ["b", "b again"]}
VARIANTS = [
    "default",
    Variant("own", OnlyUser()),
    Variant("echo", "none", models={"B": "echo"}, prompts={"B": "For {tier}."}, off="greet"),
]


def root() -> SequentialAgent:
    first = LlmAgent(
        name="A", instruction="Say a. {greeting?}", output_key="a", tools=[look], before_agent_callback=greet
    )
    return SequentialAgent(
        name="two", sub_agents=[first, LlmAgent(name="B", instruction="Say b after {a}.", output_key="b")]
    )


def compared(executor: Any, kind: Any = "run", **options: Any) -> Comparison:
    return compare_variants(
        root(), INPUTS, VARIANTS, kind=kind, model=ScriptedModel(REPLIES), executor=executor, **options
    )


def without_ms(comparison: Comparison) -> list[dict[str, Any]]:
    return [{**row, "ms": None} for row in comparison.rows]


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


CLUSTER: Final = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "host": "127.0.0.1"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A Dask client of two worker processes."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, **CLUSTER) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(params=["threads", "processes", "cluster"])
def executor(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "threads":
        with ThreadPoolExecutor(3) as pool:
            yield pool
    else:
        yield request.getfixturevalue(request.param)


@pytest.mark.parametrize("kind", ["run", "paired"])
def test_the_rows_are_those_of_this_process(executor: Any, kind: Any) -> None:
    here, elsewhere = compared(None, kind, repeat=2, seed=5), compared(executor, kind, repeat=2, seed=5)
    assert [(record.variant, record.input, record.repeat) for record in elsewhere.records] == [
        (variant, input, repeat)
        for variant in ("default", "own", "echo")
        for input in ("1", "2", "3")
        for repeat in (0, 1)
    ]
    assert without_ms(elsewhere) == without_ms(here)
    assert [[step.prompts for step in record.steps] for record in elsewhere.records] == [
        [step.prompts for step in record.steps] for record in here.records
    ]
    errors = [record.error.partition(":")[0] for record in elsewhere.records]
    assert errors == [""] * 12 + ["MissingKeyError"] * 2 + [""] * 2 + ["MissingKeyError"] * 2


def test_a_store_goes_on_wherever_the_trials_run(executor: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "trials.jsonl")
    elsewhere = compared(executor, store=store)
    kept: list[int] = []
    again = compared(None, store=Store(store.path), progress=lambda progress: kept.append(progress.kept))
    assert kept[0] == 7  # of nine, two of which failed
    assert without_ms(again) == without_ms(elsewhere)


def test_the_ticket_pipeline_on_recorded_replies(executor: Any) -> None:
    here, elsewhere = (
        compare_variants(ticket_pipeline(guarded=True), ["one", "two"], model=scripted_replies(), executor=where)
        for where in (None, executor)
    )
    assert without_ms(elsewhere) == without_ms(here)


# what travels


AGENTS = [
    ticket_pipeline(guarded=True),
    root(),
    LlmAgent(
        name="A",
        output_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
        model=ScriptedModel({"A": ["a"]}),
    ),
    LlmAgent(name="A", generate_content_config=GenerateContentConfig(temperature=0.5, stop_sequences=("x",))),
    LlmAgent(name="A", tools=[FunctionTool(look), LongRunningFunctionTool(look, name="later")], instruction=greet),
    ParallelAgent(name="p", sub_agents=[LoopAgent(name="l", max_iterations=2, sub_agents=[LlmAgent(name="A")])]),
]


@pytest.mark.parametrize("agent", AGENTS)
def test_agents_travel(agent: Any) -> None:
    assert fingerprint(pickle.loads(pickle.dumps(agent))) == fingerprint(agent)


@pytest.mark.parametrize("value", ["default", "state_only", {"A": "none", "B": OnlyUser()}, OnlyUser()])
def test_strategies_travel(value: Any) -> None:
    strategy = as_strategy(value)
    assert fingerprint(pickle.loads(pickle.dumps(strategy))) == fingerprint(strategy)


def test_a_task_travels_and_is_done_alone() -> None:
    arm = Arm("v", root(), as_strategy("default"), ScriptedModel(REPLIES), None, "java")
    task = Task("run", Input(("one",), {"k": [1, None]}, {"A": "a"}, "1"), 2, (arm,), ("key",), 7)
    (record,) = perform_alone(pickle.loads(pickle.dumps(task)))
    assert (record.variant, record.input, record.repeat, record.key, record.answer) == ("v", "1", 2, "key", "b")
    assert [step.seed for step in record.steps] == [9, 9]


# limits


class Counting(Executor):
    """Threads, counted."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(16)
        self._lock = threading.Lock()
        self.under_way = self.most = 0

    def submit(self, function: Any, /, *args: Any, **options: Any) -> Future[Any]:
        def counted() -> Any:
            time.sleep(0.02)
            return function(*args, **options)

        with self._lock:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        future = self._pool.submit(counted)
        future.add_done_callback(self._done)
        return future

    def _done(self, future: Future[Any]) -> None:
        with self._lock:
            self.under_way -= 1

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.shutdown(wait)


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_trials_are_under_way_than_was_said(limit: int) -> None:
    with Counting() as pool:
        comparison = compare_variants(
            two_steps(), [str(n) for n in range(8)], model="echo", executor=pool, concurrency=limit
        )
        assert (pool.most, comparison.missing) == (limit, 0)


# what goes wrong


def test_a_lambda_cannot_be_sent_to_processes(processes: ProcessPoolExecutor) -> None:
    with pytest.raises(SpecError) as failure:
        compare_variants(
            two_steps(before_agent_callback=lambda context: None), ["one"], model="echo", executor=processes
        )
    message = str(failure.value)
    assert message.startswith("a trial cannot be sent to the executor's workers: ")
    assert "<lambda>" in message
    assert message.endswith("a worker can import them: put functions into a module, and name models by a string.")


def test_a_lambda_can_be_sent_to_a_cluster(cluster: Any) -> None:
    """Dask sends code where pickle sends a name."""
    comparison = compare_variants(
        two_steps(before_agent_callback=lambda context: "own"), ["one"], ["default"], model="echo", executor=cluster
    )
    assert [row["answer"] for row in comparison.rows] == ["one", "own"]


def test_a_worker_that_dies_leaves_what_was_finished(tmp_path: Path) -> None:
    store = Store(tmp_path / "trials.jsonl")
    inputs = [*(str(n) for n in range(4)), "crash"]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        lab = Lab(two_steps(before_agent_callback=crash), inputs, ["default"], model="echo", executor=pool, store=store)
        with pytest.raises(
            AdknbError, match=r"the executor gave no result of a trial: BrokenProcessPool: .* What was finished is kept"
        ):
            lab.run()
    done = [record.input for record in lab.comparison.records]
    assert done == ["1", "2", "3", "4"]
    kept: list[int] = []
    again = compare_variants(
        two_steps(before_agent_callback=crash), inputs[:4], ["default"], model="echo", store=store.path,
        progress=lambda progress: kept.append(progress.kept),
    )  # fmt: skip
    assert (kept, again.missing) == ([4], 0)


def test_a_worker_of_a_cluster_that_dies(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=1, silence_logs=50, **CLUSTER) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(
            AdknbError, match=r"the executor gave no result of a trial: KilledWorker: .* What was finished is kept"
        ),
    ):
        compare_variants(two_steps(before_agent_callback=crash), ["crash"], ["default"], model="echo", executor=client)


def test_an_executor_that_was_shut_down() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(
        AdknbError, match=r"the executor gave no result of a trial: RuntimeError: cannot schedule new futures"
    ):
        compared(pool)


def test_sys_exit_in_a_worker(processes: ProcessPoolExecutor) -> None:
    lab = Lab(
        two_steps(before_agent_callback=exit_at_two),
        ["one", "two"],
        ["default"],
        model="echo",
        executor=processes,
        concurrency=1,
    )
    with pytest.raises(SystemExit):
        lab.run()
    assert [record.input for record in lab.comparison.records] == ["1"]


def test_a_model_that_there_is_not_is_a_row_with_its_error(processes: ProcessPoolExecutor) -> None:
    """Only the workers need to have the models."""
    comparison = compare_variants(two_steps(), ["one"], ["default"], model="nowhere", executor=processes)
    (row,) = comparison.rows
    assert row["error"].startswith("ModelError: agent 'A': there is no model 'nowhere'.")


def test_ctrl_c_while_threads_work() -> None:
    release = threading.Event()

    def wait(context: Any) -> None:
        if context.user_content.text == "two":
            os.kill(os.getpid(), signal.SIGINT)
            release.wait(SECONDS)

    with ThreadPoolExecutor(1) as pool:
        lab = Lab(
            two_steps(before_agent_callback=wait), ["one", "two", "three"], ["default"], model="echo", executor=pool
        )
        with pytest.raises(KeyboardInterrupt):
            lab.run()
        release.set()
    assert [record.input for record in lab.comparison.records] == ["1"]


NOTEBOOK = """
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from adknb import LlmAgent, SpecError
from adknb.compare.lab import compare_variants

def mine(context):
    return "mine"

class Own:
    name = "own"
    def contents(self, history):
        return []

with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
    try:
        compare_variants(LlmAgent(name="A", before_agent_callback=mine), ["one"], [Own()], model="echo", executor=pool)
    except SpecError as error:
        print(error)
"""


def test_what_a_notebook_defines_cannot_be_imported_by_processes() -> None:
    """As in a notebook, the main module of `python -c` has no file that a worker could read."""
    process = subprocess.run(
        [sys.executable, "-W", "error", "-c", NOTEBOOK], capture_output=True, text=True, timeout=SECONDS
    )
    assert process.stdout == (
        "a trial cannot be sent to the executor's workers: their modules do not have 'mine', 'Own', which only this "
        "program's main module or notebook has. Callbacks, tools and models must be such that a worker can import them: "
        "put functions into a module, and name models by a string.\n"
    )
