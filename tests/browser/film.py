"""A short moving picture of an explorer: what it looks like from step to step, as a file that a README shows."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Locator

SECONDS: Final = 4
"""Each picture stays for so long."""
LARGEST: Final = 600_000
"""Bytes of the file."""


class Film:
    """Takes pictures of one place, if a folder for them was named, else does nothing."""

    def __init__(self, folder: Path | None, place: Locator) -> None:
        self._folder = folder
        self._place = place
        self._taken: list[bytes] = []

    def take(self) -> None:
        if self._folder is not None:
            self._taken.append(self._place.screenshot())

    def save(self, name: str) -> None:
        """Put the pictures together, below each other's upper edge on a common ground. Raises AssertionError for a file
        that a README should not load."""
        if self._folder is None:
            return
        image = pytest.importorskip("PIL.Image", reason="Pillow is missing: pip install pillow")
        taken = [image.open(BytesIO(each)).convert("RGB") for each in self._taken]
        ground = (max(each.width for each in taken), max(each.height for each in taken))
        frames = []
        for each in taken:
            frame = image.new("RGB", ground, each.getpixel((0, each.height - 1)))
            frame.paste(each)
            frames.append(frame)  # in its own size: scaled letters take twice the space
        path = self._folder / name
        frames[0].save(
            path, save_all=True, append_images=frames[1:], duration=1000 * SECONDS, loop=0, lossless=True, method=6
        )
        assert path.stat().st_size <= LARGEST
