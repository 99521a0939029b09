from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adknb import ScriptedModel
from adknb.notebook.bench import Bench
from tests.notebook.asked import Asked
from tests.notebook.kernel import Kernel
from tests.notebook.notebook import Notebook


@pytest.fixture
def notebook(capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    made = Notebook(capsys)
    yield made
    made.close()


@pytest.fixture
def asked(notebook: Notebook) -> Asked:
    """The model of the pipeline p, which has the agents A and B."""
    model = notebook.names["asked"] = Asked()
    notebook.run("%adk use --model asked")
    notebook.run("%%agent A --pipeline p --key a\nAgent A.", "A")
    notebook.run("%%agent B --key b\nAgent B reads {a}.", "B")
    return model


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    made = Kernel()
    yield made
    made.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Bench]]:
    """Starts a kernel's bench, each on the same database and as the same notebook."""
    made: list[Bench] = []

    def start() -> Bench:
        bench = Bench({"model": ScriptedModel(lambda request: f"{request.agent} says {request.ordinal + 1}")})
        made.append(bench)
        bench.open(f"sqlite:///{tmp_path / 'tickets.db'}", "n")
        return bench

    yield start
    for bench in made:
        bench.open("memory")
