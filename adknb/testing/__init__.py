"""One step of a pipeline under test: run it on a seeded state, and assert on what it was sent and wrote.

pytest finds the fixture `run_step` by itself. The names are imported when first used, so that the plugin costs a test
run nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
