"""The pytest plugin: the fixture `run_step`, and what its steps were sent beside a test that fails."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from adknb.testing.step import StepResult

_RESULTS: Final = pytest.StashKey["list[StepResult]"]()


@pytest.fixture
def run_step(request: pytest.FixtureRequest) -> Callable[..., StepResult]:
    """`adknb.testing.run_step`; when the test fails, its report shows each step that it ran."""
    from adknb.testing.step import run_step as run

    results = request.node.stash.setdefault(_RESULTS, [])

    def run_and_keep(*args: Any, **options: Any) -> StepResult:
        result = run(*args, **options)
        results.append(result)
        return result

    return run_and_keep


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and report.failed:
        report.sections.extend((f"adknb: {result.name}", str(result)) for result in item.stash.get(_RESULTS, []))
    return report
