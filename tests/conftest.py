import asyncio
from collections.abc import Iterator

import hypothesis
import pytest

hypothesis.settings.register_profile("adknb", deadline=None)
hypothesis.settings.load_profile("adknb")


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, the loop that notebooks have."""
    return "asyncio"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-help", action="store_true", help="write the help of magics and verbs anew (tests/notebook/help)"
    )


_asyncio_run = asyncio.run


@pytest.fixture(autouse=True)
def own_asyncio_run() -> Iterator[None]:
    """A test that runs a pipeline inside a running loop applies nest_asyncio2, whose asyncio.run never closes its loop."""
    yield
    asyncio.run = _asyncio_run
