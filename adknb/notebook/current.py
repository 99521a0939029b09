"""The bench of this process: what the magics and `adknb.bench` share."""

from __future__ import annotations

from adknb.notebook.bench import Bench

bench = Bench()
