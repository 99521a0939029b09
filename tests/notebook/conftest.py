from collections.abc import Iterator

import pytest

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
