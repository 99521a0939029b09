"""The comparison lab: a pipeline on many inputs, under several variants, each perhaps several times."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from adknb.compare.asking import ask_all
from adknb.compare.comparison import Comparison
from adknb.compare.dry_lab import check_dry, dry_records
from adknb.compare.fingerprint import fingerprint, told_apart
from adknb.compare.inputs import Input, as_inputs
from adknb.compare.measured import Measure, Measuring
from adknb.compare.progress import Progress, Watcher
from adknb.compare.records import TrialRecord
from adknb.compare.store import Store
from adknb.compare.trial import Arm, Kind, Resolve, Task
from adknb.compare.variants import DEFAULT_AND_NONE, Variant, as_variants
from adknb.core.errors import SpecError, near_names
from adknb.core.protocols import Model
from adknb.core.run import Run, RunConfig
from adknb.core.specs import BaseAgent
from adknb.models.resolve import resolve_model
from adknb.runtime.runner import Runner, as_root
from adknb.runtime.sync import run_sync

KINDS: Final = ("run", "paired", "dry")
MOST_SEED: Final = 2**31 - 1
"""Gemini's API has seeds of 32 bits with a sign; the statistics take none below 0."""


class Lab:
    """A comparison that is made, trial by trial; `comparison` holds what is done, at any time.

    See `compare_variants` for what the arguments mean.
    """

    def __init__(
        self,
        root: Any,
        inputs: Any,
        variants: Any = DEFAULT_AND_NONE,
        *,
        kind: Kind = "run",
        repeat: int = 1,
        model: Model | str | None = None,
        models: Mapping[str, Model | str] | Model | str | None = None,
        rules: Any = "java",
        state: Mapping[str, Any] | None = None,
        columns: Mapping[str, str] | None = None,
        categories: Any = None,
        measures: Mapping[str, Measure] | None = None,
        seed: int | None = None,
        concurrency: int | None = None,
        executor: Any = None,
        store: Store | str | os.PathLike[str] | None = None,
        progress: Watcher | None = None,
        config: RunConfig | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        root = as_root(root)
        if not isinstance(root, BaseAgent):
            raise SpecError(f"a comparison takes an agent, not {root!r}")
        if kind not in KINDS:
            raise SpecError(f"there is no kind of comparison {kind!r}.{near_names(str(kind), KINDS)}")
        for name, number in (("repeat", repeat), ("concurrency", 1 if concurrency is None else concurrency)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise SpecError(f"{name} is a whole number, 1 or more, not {number!r}")
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MOST_SEED):
            raise SpecError(f"seed is a whole number from 0 to 2**31 - 1, or None, not {seed!r}")
        if progress is not None and not callable(progress):
            raise SpecError(f"progress is a function of a Progress, not {progress!r}")
        if config is not None and not isinstance(config, RunConfig):
            raise SpecError(f"config is a RunConfig, not {config!r}")
        self.root: Final = root
        self.kind: Final = kind
        self.variants: Final = as_variants(variants)
        self.repeats: Final = repeat if kind != "dry" else 1
        self.seed: Final = seed
        self._runs: Sequence[Run] = _runs(inputs) if kind == "dry" else ()
        self.inputs: Final = (
            _inputs_of(self._runs) if kind == "dry" else as_inputs(inputs, state=state, columns=columns)
        )
        if kind == "dry":
            check_dry(self.variants)
        self._measuring = Measuring(root, self.variants, categories, measures or {})
        self._resolve = _Models(resolve or resolve_model)
        self._arms = [self._arm(variant, model, models, rules) for variant in self.variants]
        self._config = config or RunConfig()
        self._concurrency = concurrency
        self._executor = executor
        self._store = store if isinstance(store, Store) else Store(store)
        self._progress = progress
        self._records: dict[str, TrialRecord] = {}
        self.last_run: Run | None = None
        self.last_variant = ""
        """The variant under which the last run was made."""

    @property
    def comparison(self) -> Comparison:
        """What is done so far, in the order of variants, inputs and repeats."""
        return Comparison(
            self.root.name, self.kind, self.variants, self.inputs, self.repeats, tuple(self._ordered()), self._measuring,
            self.seed,
        )  # fmt: skip

    def run(self) -> Comparison:
        """Ask what is not in the store yet and return the whole; in a script and in a notebook cell alike.

        After Ctrl-C `comparison` holds what was done.
        """
        return run_sync(self.run_async)

    async def run_async(self) -> Comparison:
        """`run`, awaited."""
        if self.kind == "dry":
            for record in dry_records(self._runs, self.inputs, self._arms):
                self._records[record.key] = record
            self.last_run = self._runs[-1]
            return self.comparison
        self._check_models()
        tasks = list(self._tasks())
        progress = Progress(sum(len(task.keys) for task in tasks))
        with self._store.writing():
            missing = [task for task in tasks if not self._is_kept(task, progress)]
            self._watch(progress)

            def keep(task: Task, records: Sequence[TrialRecord], run: Run | None) -> None:
                self._store.keep(records)
                self._records.update((record.key, record) for record in records)
                if run is not None:
                    self.last_run, self.last_variant = run, task.arms[0].variant
                progress.done += len(records)
                progress.failed += sum(record.error != "" for record in records)
                self._watch(progress)

            await ask_all(missing, keep, self._resolve, self._concurrency, self._executor)
        return self.comparison

    # how it works

    def _arm(self, variant: Variant, model: Any, models: Any, rules: Any) -> Arm:
        own = variant.rules if variant.rules is not None else rules
        if self.kind == "paired" and variant.rules not in (None, self.variants[0].rules):
            raise SpecError(
                f"variant {variant.name!r} has rules of its own, but in a paired comparison all variants go on from one "
                "run's history. Compare rules with kind='run'."
            )
        answers = variant.models if variant.models is not None else models
        arm = Arm(variant.name, variant.applied(self.root), variant.strategy, model, answers, own)
        self._runner(arm)  # names, rules and strategies are checked here, before anything is asked
        return arm

    def _runner(self, arm: Arm) -> Runner:
        return Runner(
            arm.root, model=arm.model, models=arm.models, rules=arm.rules, strategy=arm.strategy, resolve=self._resolve
        )

    def _check_models(self) -> None:
        if self._executor is None:
            for arm in self._arms:
                self._runner(arm).check_models()

    def _tasks(self) -> Iterator[Task]:
        """Every task: whole inputs first, so that an interrupted comparison has as many as it can.

        Names are no part of the keys. A paired trial is asked from its supplier's session, so there an edit of one variant
        makes all of them new.
        """
        arms = told_apart(
            fingerprint((self.kind, arm.root, arm.strategy, arm.model, arm.models, arm.rules)) for arm in self._arms
        )
        together = fingerprint(arms)
        inputs = told_apart(fingerprint((each.messages, each.state)) for each in self.inputs)
        for repeat in range(self.repeats):
            for each, mark in zip(self.inputs, inputs, strict=True):
                asked = fingerprint((mark, repeat, self.seed, self._config))
                if self.kind == "paired":
                    keys = tuple(fingerprint((together, place, asked)) for place in range(len(arms)))
                    yield Task("paired", each, repeat, tuple(self._arms), keys, self.seed, self._config)
                    continue
                for arm, own in zip(self._arms, arms, strict=True):
                    yield Task("run", each, repeat, (arm,), (fingerprint((own, asked)),), self.seed, self._config)

    def _is_kept(self, task: Task, progress: Progress) -> bool:
        """Take over what the store has of this task, under the names that it has now."""
        found = self._store.finished(task.keys)
        if found is None:
            return False
        for record, arm in zip(found, task.arms, strict=True):
            self._records[record.key] = record.renamed(arm.variant, task.input.name)
        progress.done += len(found)
        progress.kept += len(found)
        return True

    def _watch(self, progress: Progress) -> None:
        if self._progress is not None:
            self._progress(progress)

    def _ordered(self) -> list[TrialRecord]:
        variants = {variant.name: place for place, variant in enumerate(self.variants)}
        inputs = {each.name: place for place, each in enumerate(self.inputs)}
        return sorted(
            self._records.values(), key=lambda record: (variants[record.variant], inputs[record.input], record.repeat)
        )


def compare_variants(
    root: Any,
    inputs: Any,
    variants: Any = DEFAULT_AND_NONE,
    *,
    kind: Kind = "run",
    repeat: int = 1,
    model: Model | str | None = None,
    models: Mapping[str, Model | str] | Model | str | None = None,
    rules: Any = "java",
    state: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    categories: Any = None,
    measures: Mapping[str, Measure] | None = None,
    seed: int | None = None,
    concurrency: int | None = None,
    executor: Any = None,
    store: Store | str | os.PathLike[str] | None = None,
    progress: Watcher | None = None,
    config: RunConfig | None = None,
) -> Comparison:
    """Run `root` on every input under every variant, and say what changed in tokens and in answers.

    `inputs` are messages, conversations, `Input`s, a DataFrame or a file (see `as_inputs`); `variants` strategies or
    `Variant`s (see `as_variants`), the first of which the others are measured against.

    `kind` is `run` (each variant runs the whole pipeline, so differences add up from step to step), `paired` (the first
    variant's run supplies the history; at each step every variant is asked from that same session) or `dry` (no model is
    asked: `inputs` are Runs, and only their prompts are worked out anew).

    `repeat` asks everything so often; how much a variant then differs from itself is the noise floor. `seed` goes to
    models that take one, plus the repeat's number, and to the statistics. `categories` says how an answer's category is
    found where that is not plain (a list of words, a field as `json:category`, or a function of the answer; or a map of
    agents to these). `measures` maps names to functions of the answer, or of the answer and its `Input`.

    Up to `concurrency` trials (8) are under way at once. `executor` is a `concurrent.futures.Executor` or a Dask client
    that runs them elsewhere (then 256 are under way). `store` names a file that keeps each finished trial: interrupted, the
    comparison goes on from there without asking again. `progress` is called with a `Progress` after each trial.

    A trial that fails is a row with its error. Raises `SpecError` for what cannot be compared, `ModelError` for a model
    that cannot be found, before anything is asked.
    """
    lab = Lab(
        root, inputs, variants, kind=kind, repeat=repeat, model=model, models=models, rules=rules, state=state,
        columns=columns, categories=categories, measures=measures, seed=seed, concurrency=concurrency,
        executor=executor, store=store, progress=progress, config=config,
    )  # fmt: skip
    return lab.run()


class _Models:
    """Finds each model once: a thousand trials share one client."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._found: dict[Any, tuple[Any, Model]] = {}

    def __call__(self, value: Any) -> Model:
        key = value if isinstance(value, str) else id(value)
        if key not in self._found:
            self._found[key] = (value, self._resolve(value))  # with the value, so that its id is not given anew
        return self._found[key][1]


def _runs(value: Any) -> Sequence[Run]:
    listed = [value] if isinstance(value, Run) else list(value) if isinstance(value, (list, tuple)) else []
    if not listed or not all(isinstance(each, Run) for each in listed):
        raise SpecError(
            "a dry comparison asks no model, so it takes runs: kind='dry' with the Runs whose prompts are to be worked out. "
            "For messages choose kind='run' or kind='paired'."
        )
    return listed


def _inputs_of(runs: Sequence[Run]) -> tuple[Input, ...]:
    """What the runs were about. A run's name is its place; its message may have no text."""
    return tuple(
        Input(
            (run.message.text if run.message.text.strip() else f"run {run.id}",),
            dict(run.start_state),
            None,
            str(place),
        )
        for place, run in enumerate(runs, 1)
    )
