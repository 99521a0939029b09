"""Compare adknb with recorded traces: `python tests/conformance/check.py CASES TRACES --rules java`.

Prints each difference with the first character that differs, last `N equal, M different`; exits 1 when there is one. Cases
without a trace, and traces marked `unsupported`, are counted apart. Compared are the requests (with `config` and
`declarations` where the trace has them), the events, the end state and the error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from case import trace
from dialects import CALL_ID

ABSENT = object()

OBJECTS = re.compile(r" Sub-agents: \[[\w.]+@.*", re.DOTALL)
"""The end of a message that lists Java objects by their addresses, which no two runs share: not compared."""


def read_lines(path: Path) -> list[dict[str, Any]]:
    """JSON Lines. Split at `\\n` only: some texts hold U+2028, where `splitlines` would cut."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def differences(expected: Any, found: Any, place: str = "") -> Iterator[str]:
    """Each place where the two differ, as parsed JSON: the order of an object's keys does not matter."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in [*expected, *(key for key in found if key not in expected)]:
            yield from differences(expected.get(key, ABSENT), found.get(key, ABSENT), f"{place}.{key}")
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{place}: {len(expected)} recorded, {len(found)} here"
        for index, pair in enumerate(zip(expected, found, strict=False)):
            yield from differences(*pair, f"{place}[{index}]")
    elif isinstance(expected, str) and isinstance(found, str):
        if expected != found:
            shared = min(len(expected), len(found))
            at = next((i for i in range(shared) if expected[i] != found[i]), shared)
            start = max(0, at - 20)
            yield f"{place}: differs at character {at}: recorded {expected[start : at + 40]!r}, here {found[start : at + 40]!r}"
    elif type(expected) is not type(found) or expected != found:
        shown = ["absent" if value is ABSENT else repr(value)[:120] for value in (expected, found)]
        yield f"{place}: recorded {shown[0]}, here {shown[1]}"


def compare(case: dict[str, Any], recorded: dict[str, Any], rules: str) -> list[str]:
    try:
        found = asyncio.run(trace(case, rules))
    except Exception as error:
        return [f"could not be run: {type(error).__name__}: {error}"]
    if recorded["requests"] and "config" not in recorded["requests"][0]:
        for request in found["requests"]:
            del request["config"], request["declarations"]
    if recorded["events"] and "actions" not in recorded["events"][0]:
        for event in found["events"]:
            for field in ("actions", "branch", "long_running"):
                event.pop(field, None)
    return list(differences(without_objects(recorded), found))


def without_objects(recorded: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the ADK did: the trace without the ADK's name, its error without the objects and call ids that the message lists."""
    done = {field: value for field, value in recorded.items() if field != "adk"}
    raised = done["error"]
    if raised is None or raised["message"] is None:
        return done
    return {**done, "error": {**raised, "message": CALL_ID.sub("ID", OBJECTS.sub("", raised["message"]))}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("traces", type=Path)
    parser.add_argument("--rules", default="java")
    options = parser.parse_args()
    traces = {recorded["id"]: recorded for recorded in read_lines(options.traces)}
    equal = different = unsupported = missing = 0
    for case in read_lines(options.cases):
        recorded = traces.get(case["id"])
        if recorded is None:
            missing += 1
        elif recorded.get("unsupported"):
            unsupported += 1
        elif found := compare(case, recorded, options.rules):
            different += 1
            print(f"{case['id']}:", *found, sep="\n  ")
        else:
            equal += 1
    if missing or unsupported:
        print(f"{missing} without a trace, {unsupported} unsupported by that ADK")
    print(f"{equal} equal, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
