from collections.abc import Iterator

import pytest

from tests.notebook.notebook import Notebook


@pytest.fixture
def notebook(capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    made = Notebook(capsys)
    yield made
    made.close()
