"""Record what a real ADK does with cases: `python tests/conformance/record/record.py java CASES.jsonl OUT.jsonl`.

OUT gets one line a case, with the ADK's name and version in `adk`. `--version 1.9.0` takes another version of it than the
recorder names; `--against TRACES.jsonl` prints what is different from an earlier recording, case by case, last
`N equal, M changed, …`, and exits 1 when anything is. Needs the ADK's own tools: mvn and a JDK of 17 or later; go; node and npm; or
this Python. The ADK is downloaded from where these are set up to look.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from check import differences, read_lines, without_objects  # noqa: E402  # found through the path above

from record.toolchains import RECORDERS, NotRecordable  # noqa: E402


def record(adk: str, cases: Path, folder: Path, version: str | None = None, timeout: float | None = None) -> list[str]:
    """The traces of `cases` as lines. `folder`, a new one, is where the recorder is built; `timeout` is for downloads.

    Raises `NotRecordable` where that ADK cannot be recorded, and `CalledProcessError` when the recorder fails.
    """
    recorder = RECORDERS[adk]
    found = recorder.prepare(HERE / adk, folder, version, timeout)
    command = [*recorder.command(folder), str(cases.resolve())]
    out = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    named = json.dumps(f"{recorder.package} {found}")
    return [f'{{"adk":{named},{line[1:]}' for line in out.split("\n") if line]


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Each case that is in both recordings, in the earlier one's order, and where it differs."""
    for name, trace in before.items():
        if name in now and not trace.get("unsupported"):
            yield name, list(differences(without_objects(trace), without_objects(now[name])))


def report(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Print what changed; whether anything did."""
    equal = changed = 0
    for name, found in changes(before, now):
        if found:
            changed += 1
            print(f"{name}:", *found, sep="\n  ")
        else:
            equal += 1
    new = len(now.keys() - before.keys())
    print(f"{equal} equal, {changed} changed, {new} without an earlier trace")
    return changed > 0


def by_id(path: Path) -> dict[str, Any]:
    return {trace["id"]: trace for trace in read_lines(path)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("adk", choices=RECORDERS)
    parser.add_argument("cases", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--version", help="of the ADK; by default the one that the recorder names")
    parser.add_argument("--against", type=Path, help="an earlier recording")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            lines = record(options.adk, options.cases, Path(folder), options.version)
        except NotRecordable as error:
            print(f"{options.adk} cannot be recorded here: {error}", file=sys.stderr)
            return 2
    before = by_id(options.against) if options.against is not None else None  # first: it may be OUT itself
    options.out.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return int(report(before, by_id(options.out))) if before is not None else 0


if __name__ == "__main__":
    sys.exit(main())
