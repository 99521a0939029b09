"""The bench in a notebook: prompts in cells, runs cell by cell, everything undoable."""

from __future__ import annotations

from typing import Any


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext adknb`: register the magics in this shell. Loaded again, nothing changes."""
    from adknb.notebook.current import bench
    from adknb.notebook.magics import register

    if "adk" not in ipython.magics_manager.magics["line"]:
        register(ipython, bench)
