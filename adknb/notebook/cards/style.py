"""The style sheet of every card and readable table."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def style() -> str:
    """`style.css` as an element. It goes with every card, since a saved notebook keeps each output apart."""
    return f"<style>{files(__package__).joinpath('style.css').read_text(encoding='utf-8')}</style>"
