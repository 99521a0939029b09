"""adknb: a notebook bench for ADK pipelines.

The public names stand in `__init__.pyi`. Each is imported when it is first used, so that `from adknb import LlmAgent,
Runner` loads neither pandas nor a model's SDK.
"""

import lazy_loader

from adknb.core import views

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _register_views() -> None:
    from adknb import defaults

    defaults.register_views()


views.load_with(_register_views)
