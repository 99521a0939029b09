"""adknb: a notebook bench for ADK pipelines.

The public names stand in `__init__.pyi`. Each is imported when it is first used, so that `from adknb import LlmAgent,
Runner` loads neither pandas nor a model's SDK.
"""

from typing import Any

import lazy_loader

from adknb.core import views

__version__ = "0.1.0"

_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "last":  # the newest result changes, so it is never kept as an attribute
        from adknb.notebook.current import bench

        return bench.newest
    return _public(name)


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext adknb`."""
    from adknb import notebook

    notebook.load_ipython_extension(ipython)


def _register_views() -> None:
    from adknb import defaults

    defaults.register_views()


views.load_with(_register_views)
