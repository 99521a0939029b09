"""Dry prompts are the bytes that the real ADK Java sends when every LlmAgent has that setting."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from adknb.compare.dry import DryPrompt, compare_prompts
from adknb.core.requests import LlmRequest

CONFORMANCE = Path(__file__).parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

from case import as_recorded, request_json, runs  # noqa: E402  # found through the path above
from check import differences  # noqa: E402
from settings import SETTINGS, copy, main, packed, read_all, requests_under  # noqa: E402

TRACES = CONFORMANCE / "traces"
CASES = read_all(CONFORMANCE / f"{name}.jsonl" for name in ("cases", "features", "gemini", "extra"))
OWN = {
    trace["id"]: trace
    for trace in read_all(TRACES / f"{name}.jsonl" for name in ("java", "features.java", "gemini.java", "extra.java"))
}
LINES = {(line["id"], line["setting"]): line for line in read_all([TRACES / "settings.java.jsonl"])}


def dry_requests(case: dict[str, Any], strategy: str) -> dict[str, list[Any]]:
    """The case's requests under each setting in a trace's JSON, worked out from a run under `strategy`, in its order."""
    sent: list[LlmRequest] = []
    made = runs(case, strategy, lambda agent, request: sent.append(request))
    prompts = [prompt for run in made for prompt in compare_prompts(run, SETTINGS).prompts]
    by_request: dict[tuple[int, str], DryPrompt] = {
        (id(prompt.step.requests[prompt.number - 1].sent), prompt.strategy): prompt for prompt in prompts
    }
    assert len(by_request) == len(prompts) == len(SETTINGS) * len(sent)
    return {setting: [as_json(by_request[id(request), setting]) for request in sent] for setting in SETTINGS}


def as_json(prompt: DryPrompt) -> Any:
    return as_recorded(request_json(prompt.step.agent.name, prompt.request)) if prompt.request else prompt.note


def test_every_line_of_the_settings_belongs_to_a_case() -> None:
    assert len(CASES) == len(OWN) == 873
    assert {name for name, _ in LINES} <= set(OWN)
    assert [sum(1 for _, setting in LINES if setting == each) for each in SETTINGS] == [242, 474]


@pytest.mark.parametrize("strategy", ["as_written", "none"])
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_dry_prompts_are_what_adk_java_sends(case: dict[str, Any], strategy: str) -> None:
    found = dry_requests(case, strategy)
    for setting in SETTINGS:
        recorded = requests_under(OWN[case["id"]], LINES.get((case["id"], setting)))
        assert list(differences(recorded, found[setting], setting)) == []


# how the traces of the settings are written


def test_a_copy_has_the_setting_at_every_llm_agent_and_nothing_else() -> None:
    root = {
        "type": "loop",
        "max_iterations": 2,
        "sub_agents": [
            {"type": "llm", "name": "A", "include_contents": "none"},
            {"type": "sequential", "sub_agents": [{"type": "llm", "name": "B", "sub_agents": []}]},
        ],
    }
    assert copy(root, "default") == {
        "type": "loop",
        "max_iterations": 2,
        "sub_agents": [
            {"type": "llm", "name": "A", "include_contents": "default"},
            {
                "type": "sequential",
                "sub_agents": [{"type": "llm", "name": "B", "include_contents": "default", "sub_agents": []}],
            },
        ],
    }


def trace(*contents: str, **fields: Any) -> dict[str, Any]:
    requests = [{"agent": "A", "system_instruction": "s", "contents": [content]} for content in contents]
    return {"id": "x", "requests": requests, "events": [], "state": {}, "error": None, **fields}


def test_a_line_holds_the_contents_that_differ() -> None:
    own, other = trace("a", "b"), trace("a", "c")
    line = packed(other, own, "none")
    assert line == {"id": "x", "setting": "none", "contents": {"1": ["c"]}}
    assert requests_under(own, line) == other["requests"]
    assert packed(own, own, "none") is None
    assert requests_under(own, None) == own["requests"]


@pytest.mark.parametrize(
    ("recorded", "message"),
    [
        (trace("a"), "x under none: .requests: 2 recorded, 1 here"),
        (trace("a", "b", "c"), "x under none: .requests: 2 recorded, 3 here"),
        (trace("a", "b", state={"k": 1}), "x under none: .state.k: recorded absent, here 1"),
        (trace("a", "b", events=["e"]), "x under none: .events: 0 recorded, 1 here"),
        (
            trace("a", "b", error={"type": "E", "message": "m"}),
            "x under none: .error: recorded None, here {'type': 'E', 'message': 'm'}",
        ),
    ],
)
def test_a_copy_that_does_something_else_is_no_line(recorded: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        packed(recorded, trace("a", "b"), "none")


def test_a_message_that_lists_objects_is_compared_without_their_addresses() -> None:
    def failed(address: str) -> dict[str, Any]:
        message = f"duplicate names: [A]. Sub-agents: [com.google.adk.agents.LlmAgent@{address}, com"
        return trace(error={"type": "IllegalArgumentException", "message": message})

    assert packed(failed("4f1bfe23"), failed("7a30d1e6"), "none") is None


def test_copies_and_lines_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def settings(*arguments: object) -> list[Any]:
        monkeypatch.setattr(sys, "argv", ["settings.py", *map(str, arguments)])
        main()
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    cases, traces = tmp_path / "cases", tmp_path / "traces"
    cases.write_text('{"id": "x", "root": {"type": "llm"}, "turns": ["\\u2028"]}\n')
    assert settings("copies", "none", cases, cases) == [
        {"id": "x", "root": {"type": "llm", "include_contents": "none"}, "turns": ["\u2028"]}
    ] * 2  # fmt: skip
    traces.write_text(json.dumps(trace("a")))
    other = json.dumps(trace("\u2028"), ensure_ascii=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{other}\n{json.dumps(trace('a'))}\n"))
    assert settings("pack", "none", traces) == [{"id": "x", "setting": "none", "contents": {"0": ["\u2028"]}}]
