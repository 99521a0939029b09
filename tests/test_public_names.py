"""What `import adknb` offers, and that it costs no heavy import."""

import inspect
import subprocess
import sys

import pytest

import adknb

HEAVY = {
    "IPython", "aiosqlite", "altair", "anyio", "anywidget", "asyncpg", "google.adk", "google.genai",
    "ipywidgets", "jinja2", "numpy", "openai", "opentelemetry", "pandas", "scipy", "sqlalchemy", "tenacity", "xllamacpp",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted({*dir(adknb)} - {"bench"}))  # the bench is an object, not a class
def test_every_public_name_resolves_to_what_it_names(name: str) -> None:
    value = getattr(adknb, name)
    assert value.__name__ == name
    assert value.__module__.startswith("adknb.")
    assert inspect.getdoc(value)


def test_an_unknown_name_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'LlmAgnet' from 'adknb'"):
        from adknb import LlmAgnet  # type: ignore[attr-defined]  # noqa: F401


def test_the_import_alone_loads_no_event_loop() -> None:
    script = "import sys; from adknb import LlmAgent, Runner; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "adknb.runtime.runner" in loaded
    assert {*HEAVY, "asyncio"}.isdisjoint(loaded)


def test_describing_a_pipeline_loads_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from adknb import LlmAgent, Runner, SequentialAgent\n"
        "Runner(SequentialAgent(name='ticket', sub_agents=[LlmAgent(name='TriageAgent', model='echo')]))\n"
        "print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "adknb.runtime.runner" in loaded
    assert HEAVY.isdisjoint(loaded)
