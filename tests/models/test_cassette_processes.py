"""Several processes at one file, and one that is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from adknb.models.cassette import Cassette
from tests.models.test_cassette import found, line

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from adknb.models.cassette import Cassette
from tests.models.test_cassette import line
cassette = Cassette(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    cassette.keep(line(number, sys.argv[4] * 200), replace=len(sys.argv) > 5)
    if number % 20 == 0:
        cassette.tidy()
cassette.close()
"""


def writer(path: Path, *arguments: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", WRITER, str(path), *arguments], cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_two_processes_that_record_into_one_file_lose_nothing(tmp_path: Path) -> None:
    """Both write 1 to 80 anew again and again, and tidy the file under each other; each has 40 of its own besides."""
    path = tmp_path / "t.jsonl"
    both = [writer(path, "0", "120", "a", "replace"), writer(path, "80", "200", "b", "replace")]
    for process in both:
        begin(process)
    for process in both:
        process.communicate()
        assert process.returncode == 0
    cassette = Cassette(path)
    assert len(cassette) == 200
    replies = [found(cassette, number) for number in range(200)]
    assert replies[:80] == ["a" * 200] * 80
    assert replies[120:] == ["b" * 200] * 80
    assert set(replies[80:120]) <= {"a" * 200, "b" * 200}
    cassette.tidy()
    assert len(path.read_bytes().splitlines()) == 200
    cassette.close()


def test_of_two_processes_that_record_the_same_the_first_stands(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    both = [writer(path, "0", "60", "a"), writer(path, "0", "60", "b")]
    for process in both:
        begin(process)
    for process in both:
        process.communicate()
        assert process.returncode == 0
    assert len(path.read_bytes().splitlines()) == 60
    cassette = Cassette(path)
    assert {found(cassette, number) for number in range(60)} <= {"a" * 200, "b" * 200}
    cassette.close()


def test_a_killed_process_leaves_every_whole_line_and_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    process = writer(path, "0", "1000000", "a")
    begin(process)
    while not path.exists() or path.stat().st_size < 20_000:
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    lines = path.read_bytes().splitlines(keepends=True)
    with path.open("ab") as file:
        file.write(line(999_999)[:100])  # what a kill in the middle of a write leaves
    cassette = Cassette(path)
    assert len(cassette) >= len(lines) - 1
    with pytest.warns(UserWarning, match="was cut off while it was written"):
        cassette.keep(line(-1, "after"), replace=False)
    assert [found(cassette, 0), found(cassette, len(lines) - 2), found(cassette, -1)] == ["a" * 200, "a" * 200, "after"]
    cassette.close()
