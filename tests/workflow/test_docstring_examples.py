"""Each policy's docstring shows it at work alone; what stands there is what happens."""

import doctest
import importlib
import pkgutil

import pytest

import adknb.workflow

MODULES = sorted(module.name for module in pkgutil.iter_modules(adknb.workflow.__path__, "adknb.workflow."))
WITH_EXAMPLES = {
    "adapters", "backpressure", "budget", "cache", "circuit", "classifier", "data", "metrics", "middleware", "observers",
    "rate_limit", "redaction", "retry", "telemetry",
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_show(name: str) -> None:
    done = doctest.testmod(importlib.import_module(name))
    assert done.failed == 0
    assert done.attempted > 0 or name.rpartition(".")[2] not in WITH_EXAMPLES
