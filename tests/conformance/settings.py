"""The cases with one `include_contents` for every LlmAgent: what the real ADK sends under DEFAULT and under NONE.

The replies are scripted, so under both settings an ADK does the same and its requests differ in their contents alone.
`settings.java.jsonl` has one line for each case and setting under which any contents differ from the case's own trace:
`{"id", "setting", "contents": {"0": […]}}`, by the request's number from 0. All else is as in that trace.

    python tests/conformance/settings.py copies none CASES… > none.jsonl      (what the real ADK is to run)
    python tests/conformance/settings.py pack none TRACES… < none.traces.jsonl     (its traces, as above)
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from check import differences, read_lines, without_objects

SETTINGS = ("default", "none")


def copy(node: Mapping[str, Any], setting: str) -> dict[str, Any]:
    """A case's node, in which every LlmAgent has this setting."""
    own = {"include_contents": setting} if node["type"] == "llm" else {}
    subs = {"sub_agents": [copy(child, setting) for child in node["sub_agents"]]} if "sub_agents" in node else {}
    return {**node, **own, **subs}


def packed(recorded: Mapping[str, Any], own: Mapping[str, Any], setting: str) -> dict[str, Any] | None:
    """The line for a copy's trace; None when its requests are those of the case's own trace.

    Raises `ValueError` when anything differs besides the contents of requests: no line can say that.
    """
    same = zip(own["requests"], recorded["requests"], strict=False)
    contents = {
        str(number): request["contents"]
        for number, (before, request) in enumerate(same)
        if request["contents"] != before["contents"]
    }
    line = {"id": own["id"], "setting": setting, "contents": contents}
    explained = {**own, "requests": requests_under(own, line)}
    for difference in differences(without_objects(explained), without_objects(recorded)):
        raise ValueError(f"{own['id']} under {setting}: {difference}")
    return line if contents else None


def requests_under(own: Mapping[str, Any], line: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The requests of a case under a setting, from its own trace and the setting's line (None: there is none)."""
    contents = line["contents"] if line is not None else {}
    return [
        {**request, "contents": contents.get(str(number), request["contents"])}
        for number, request in enumerate(own["requests"])
    ]


def read_all(files: Iterable[Path]) -> list[dict[str, Any]]:
    return [line for file in files for line in read_lines(file)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("copies", "pack"))
    parser.add_argument("setting", choices=SETTINGS)
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    lines: list[dict[str, Any] | None]
    if options.what == "copies":
        lines = [{**case, "root": copy(case["root"], options.setting)} for case in read_all(options.files)]
    else:
        own = {trace["id"]: trace for trace in read_all(options.files)}
        recorded = [json.loads(line) for line in sys.stdin]
        lines = [packed(trace, own[trace["id"]], options.setting) for trace in recorded]
    for line in lines:
        if line is not None:
            print(json.dumps(line))


if __name__ == "__main__":
    main()
