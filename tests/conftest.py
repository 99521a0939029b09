import hypothesis
import pytest

hypothesis.settings.register_profile("adknb", deadline=None)
hypothesis.settings.load_profile("adknb")


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, the loop that notebooks have."""
    return "asyncio"
