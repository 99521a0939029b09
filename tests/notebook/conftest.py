from collections.abc import Iterator

import pytest

from tests.notebook.kernel import Kernel
from tests.notebook.notebook import Notebook


@pytest.fixture
def notebook(capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    made = Notebook(capsys)
    yield made
    made.close()


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    made = Kernel()
    yield made
    made.close()
