"""The recorders: what they record now is what the traces hold, where an ADK's tools and the ADK itself can be had."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from check import differences, read_lines, without_objects  # noqa: E402  # found through the path above
from record import record  # noqa: E402
from record.toolchains import RECORDERS, NotRecordable, Recorder, download, has_pinned, nothing  # noqa: E402

VERSIONS = {
    "java": "com.google.adk:google-adk 1.8.0",
    "go": "google.golang.org/adk/v2 v2.2.0",
    "js": "@google/adk 2.0.0",
    "python": "google-adk 2.13.0",
}
LONGEST_DOWNLOAD = 60.0
"""Seconds."""


def by_id(path: Path) -> dict[str, Any]:
    return {trace["id"]: trace for trace in read_lines(path)}


@pytest.mark.parametrize("adk", RECORDERS)
def test_what_is_recorded_now_is_what_was_recorded(adk: str, tmp_path: Path) -> None:
    if adk == "python" and not has_pinned(HERE / "record" / "python"):
        pytest.skip(f"python: {VERSIONS[adk]} is not installed")
    earlier = by_id(HERE / "traces" / f"features.{adk}.jsonl")
    cases = [case for case in read_lines(HERE / "features.jsonl")[::5] if case["id"] in earlier]
    (tmp_path / "cases").write_text("".join(json.dumps(case) + "\n" for case in cases), "utf-8")
    try:
        lines = record.record(adk, tmp_path / "cases", tmp_path / "built", timeout=LONGEST_DOWNLOAD)
    except NotRecordable as error:
        pytest.skip(f"{adk}: {error}")
    now = {trace["id"]: trace for trace in map(json.loads, lines)}
    assert len(now) >= 20
    assert {trace["adk"] for trace in now.values()} == {VERSIONS[adk]}
    found = {name: list(differences(without_objects(earlier[name]), without_objects(now[name]))) for name in now}
    assert {name: differing for name, differing in found.items() if differing} == {}


@pytest.mark.parametrize("file", sorted((HERE / "traces").glob("*.jsonl")), ids=lambda file: file.name)
def test_every_trace_names_its_adk(file: Path) -> None:
    if file.name.startswith("settings."):
        pytest.skip("holds parts of traces")
    assert {trace["adk"] for trace in read_lines(file)} == {VERSIONS[file.stem.split(".")[-1]]}


def fake(pinned: str = r"(adk==)(\S+)", programs: tuple[str, ...] = ()) -> Recorder:
    """A recorder whose ADK answers every case with its manifest's text."""
    script = (
        "import json, sys; sys.stdout.reconfigure(newline=''); text = open('manifest').read()\n"
        "for line in open(sys.argv[1]): print(json.dumps({'id': json.loads(line)['id'], 'error': None, 'says': text}))"
    )
    return Recorder(
        package="some-adk",
        manifest="manifest",
        pinned=pinned,
        programs=programs,
        fetch=lambda folder, timeout: None,
        build=nothing,
        command=lambda folder: [sys.executable, "-c", script],
    )


@pytest.fixture
def some_adk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a recorder `some` and two cases; `record.py some` finds them."""
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "manifest").write_text("adk==1.0\nrest\n")
    (tmp_path / "cases").write_text('{"id": "a"}\n{"id": "b"}\n')
    monkeypatch.setitem(RECORDERS, "some", fake())
    monkeypatch.setattr(record, "HERE", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def main(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["record.py", "some", "cases", *arguments])
    return record.main()


def test_another_version_is_written_into_the_copy(some_adk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(monkeypatch, "old") == 0
    assert (some_adk / "old").read_text() == (
        '{"adk":"some-adk 1.0","id": "a", "error": null, "says": "adk==1.0\\nrest\\n"}\n'
        '{"adk":"some-adk 1.0","id": "b", "error": null, "says": "adk==1.0\\nrest\\n"}\n'
    )
    assert main(monkeypatch, "new", "--version", "2.0b1") == 0
    assert read_lines(some_adk / "new")[0] == {
        "adk": "some-adk 2.0b1", "id": "a", "error": None, "says": "adk==2.0b1\nrest\n",
    }  # fmt: skip
    assert (some_adk / "some" / "manifest").read_text() == "adk==1.0\nrest\n"


def test_what_changed_is_printed(
    some_adk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(monkeypatch, "old")
    (some_adk / "cases").write_text('{"id": "b"}\n{"id": "c"}\n')
    assert main(monkeypatch, "same", "--against", "old") == 0
    assert capsys.readouterr().out == "1 equal, 0 changed, 1 without an earlier trace\n"
    assert main(monkeypatch, "old", "--version", "1.2", "--against", "old") == 1
    assert capsys.readouterr().out == (
        "b:\n  .says: differs at character 7: recorded 'adk==1.0\\nrest\\n', here 'adk==1.2\\nrest\\n'\n"
        "0 equal, 1 changed, 1 without an earlier trace\n"
    )


def test_a_missing_program_is_named(
    some_adk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(RECORDERS, "some", fake(programs=("no-such-program",)))
    assert main(monkeypatch, "out") == 2
    assert capsys.readouterr().err == "some cannot be recorded here: no-such-program is not installed\n"
    assert not (some_adk / "out").exists()


def test_a_download_that_fails_says_why_and_a_program_that_fails_is_no_download(
    some_adk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = [sys.executable, "-c", "import sys; sys.exit('first\\nno route to host')"]
    with pytest.raises(NotRecordable, match=r" -c failed: no route to host$"):
        download(failing, some_adk, None)
    with pytest.raises(NotRecordable, match=r" -c took longer than 0\.2 s$"):
        download([sys.executable, "-c", "import time; time.sleep(60)"], some_adk, 0.2)
    (some_adk / "cases").write_text("no JSON\n")
    with pytest.raises(subprocess.CalledProcessError):
        main(monkeypatch, "out")
