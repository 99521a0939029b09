"""Replies recorded for the lessons, so that they run where there is no model."""

from __future__ import annotations

from pathlib import Path

from adknb.core.errors import SpecError, near_names

_FOLDER = Path(__file__).parent


def cassette(name: str) -> Path:
    """The file of recorded replies of this name. Raises `SpecError` with the near names."""
    path = _FOLDER / f"{name}.jsonl"
    names = [known.stem for known in _FOLDER.glob("*.jsonl")]
    if name not in names:
        raise SpecError(f"there is no cassette {name!r}.{near_names(name, names)}")
    return path
