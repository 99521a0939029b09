"""`kill -9` at random moments: the run that is resumed comes to the same, and calls nothing again that has a checkpoint."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def killed(folder: Path, trials: int, seed: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.workflow.killing", str(folder), str(trials), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(found: dict[str, Any]) -> None:
    assert found["whole"]["output"] == "said g said g ['ConnectionError: refused']"
    assert [trial["ended"] for trial in found["trials"]] == [found["whole"]] * len(found["trials"])
    assert [trial["called again"] for trial in found["trials"]] == [[]] * len(found["trials"])
    assert sum(trial["deaths"] for trial in found["trials"]) > len(found["trials"]) / 2


def test_a_killed_run_is_resumed_to_the_same_result(tmp_path: Path) -> None:
    check(killed(tmp_path, 25, seed=1))


@pytest.mark.soak
def test_many_killed_runs_are_resumed_to_the_same_result(tmp_path: Path) -> None:
    check(killed(tmp_path, 200, seed=2))
