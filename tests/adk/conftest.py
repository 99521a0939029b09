"""Tests that run the real google-adk; without it they are skipped."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")

sys.path.insert(0, str(Path(__file__).parent))
