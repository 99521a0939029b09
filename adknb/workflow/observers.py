"""Who watches a workflow, and how they are told without being able to hurt it."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, Protocol

from adknb.core.errors import SpecError
from adknb.core.escape import one_line
from adknb.workflow.events import StepEvent

LOGGER: Final = logging.getLogger("adknb.workflow")

_BY_NAME: Final = ("on_step_start", "on_step_complete", "on_step_error")


class Observer(Protocol):
    """Is told of every event of a workflow run, in order, while the run waits: be quick.

    A class with some of `on_step_start(step, input)`, `on_step_complete(step, result, latency)` and
    `on_step_error(step, error, attempt)` is an observer too. Input and result are payloads, the result also one from a cache;
    `latency` is in seconds, and `error` is a `PipelineError`.
    """

    def on_event(self, event: StepEvent) -> None: ...


class ObserverFault(NamedTuple):
    """An observer that raised, with its first error and how `often` it did."""

    observer: object
    error: BaseException
    often: int


class Observers:
    """Tells several observers. One that raises is logged the first time and counted; neither the others nor the run see it.

    >>> class Names:
    ...     def on_step_complete(self, step, result, latency):
    ...         print(f"{step} took {latency} s")
    >>> watching = Observers([Names()])
    >>> watching.notify(StepEvent("news", "run-1", 0, "research", "completed", latency_ms=1500.0))
    research took 1.5 s
    """

    def __init__(self, observers: Iterable[object] = ()) -> None:
        self._observers: Final = tuple(observers)
        self._faults: dict[int, ObserverFault] = {}
        for observer in self._observers:
            _check(observer)

    @property
    def faults(self) -> tuple[ObserverFault, ...]:
        """The observers that raised, in the order in which they first did."""
        return tuple(self._faults.values())

    def notify(self, event: StepEvent) -> None:
        for observer in self._observers:
            try:
                _tell(observer, event)
            except (KeyboardInterrupt, SystemExit, GeneratorExit):
                raise
            except (
                BaseException
            ) as error:  # a CancelledError too: it is of something else, since nothing is awaited here
                self._report(observer, error, event)

    def _report(self, observer: object, error: BaseException, event: StepEvent) -> None:
        before = self._faults.get(id(observer))
        if before is not None:
            self._faults[id(observer)] = before._replace(often=before.often + 1)
            return
        self._faults[id(observer)] = ObserverFault(observer, error, 1)
        LOGGER.error(
            "observer %s raised at %r of step %r; the workflow goes on, and further errors of it are only counted",
            type(observer).__name__,
            event.action,
            event.step_name,
            exc_info=error,
        )


class LoggingObserver:
    """Writes a line for each event to a logger, `adknb.workflow` by default: failures as warnings, all else at `level`."""

    def __init__(self, logger: logging.Logger = LOGGER, level: int = logging.INFO) -> None:
        self._logger = logger
        self._level = level

    def on_event(self, event: StepEvent) -> None:
        level = max(self._level, logging.WARNING) if event.error is not None else self._level
        if self._logger.isEnabledFor(level):
            self._logger.log(level, "%s", self._line(event))

    def _line(self, event: StepEvent) -> str:
        said = [f"[{event.workflow}]", f"step {event.step_name} {event.action}" if event.step_name else event.action]
        if event.action in ("completed", "run_completed"):
            said.append(f"in {event.latency_ms:,.0f} ms, {event.tokens:,} tokens")
        if event.attempt and event.error is not None:
            said.append(f"(attempt {event.attempt})")
        if event.wait:
            said.append(f"in {event.wait:.2f} s")
        line = " ".join(said)
        why = "; ".join(each for each in (event.detail, str(event.error or "")) if each)
        return one_line(f"{line}: {why}" if why else line, 500)


def _check(observer: object) -> None:
    methods = [method for name in ("on_event", *_BY_NAME) if callable(method := getattr(observer, name, None))]
    if not methods:
        raise SpecError(f"{observer!r} is no observer: it needs on_event(event), or one of {', '.join(_BY_NAME)}")
    if any(map(inspect.iscoroutinefunction, methods)):
        raise SpecError(
            f"{observer!r}: an observer's methods are plain functions, since the workflow does not wait for them"
        )


def _tell(observer: Any, event: StepEvent) -> None:
    if hasattr(observer, "on_event"):
        observer.on_event(event)
        return
    payload = None if event.data is None else event.data.payload
    if event.action == "started" and hasattr(observer, "on_step_start"):
        observer.on_step_start(event.step_name, payload)
    elif event.action in ("completed", "cache_hit") and hasattr(observer, "on_step_complete"):
        observer.on_step_complete(event.step_name, payload, event.latency_ms / 1000)
    elif event.action in ("retry", "failed") and hasattr(observer, "on_step_error"):
        observer.on_step_error(event.step_name, event.error, event.attempt)
