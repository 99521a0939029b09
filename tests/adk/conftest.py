"""Tests that run the real google-adk; without it they are skipped."""

from __future__ import annotations

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")
