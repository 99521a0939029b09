"""Another prompt in a system instruction that was sent: byte for byte what the run would have sent with it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adknb import LlmAgent, LlmRequest, MissingKeyError, NotSupported, Runner, ScriptedModel, SequentialAgent
from adknb.compare.dry_system import with_prompt
from adknb.compare.variants import edited
from adknb.core.content import Part
from adknb.core.errors import MissingArtifactError
from adknb.core.requests import Segment
from adknb.core.run import Run
from adknb.core.specs import BaseAgent
from adknb.rules.resolve import resolve_rules
from adknb.runtime.turns import fold

CONFORMANCE = Path(__file__).parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

import case as cases  # noqa: E402  # found through the path above
from settings import read_all  # noqa: E402

CASES = read_all(CONFORMANCE / f"{name}.jsonl" for name in ("cases", "features", "gemini", "extra"))
JAVA = resolve_rules("java")


def rewritten(run: Run, prompt_of: Any) -> list[list[Segment]]:
    """The system instruction of each request of the run, with `prompt_of(agent)` in place of the agent's own."""
    found = []
    for step in run.step_runs:
        for request in step.requests:
            assert isinstance(step.agent, LlmAgent)
            state = fold(run.start_state, run.turn_events[: request.seen])
            found.append(with_prompt(request.sent, step.agent, run.root, prompt_of(step.agent), state, JAVA))
    return found


def sent(run: Run) -> list[list[Segment]]:
    return [request.sent.system for step in run.step_runs for request in step.requests]


def ignore(agent: str, request: LlmRequest) -> None:
    """The cases' models tell of each request."""


def written(agent: LlmAgent) -> str:
    """The agent's own prompt, where it is text."""
    return agent.instruction if isinstance(agent.instruction, str) else "Of a function."


def longer(agent: LlmAgent) -> str:
    return f'{{k?}} {{user:tier?}} {{{{nobody?}}}} {{"n": 1}}: {written(agent)} {{k?}}.'


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_the_same_prompt_gives_what_was_sent(case: dict[str, Any]) -> None:
    for run in cases.runs(case, "as_written", ignore):
        own = [
            isinstance(step.agent, LlmAgent) and isinstance(step.agent.instruction, str)
            for step in run.step_runs
            for _ in step.requests
        ]
        pairs = zip(own, rewritten(run, written), sent(run), strict=True)
        assert [(new, old) for is_text, new, old in pairs if is_text and new != old] == []


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_a_new_prompt_gives_what_a_run_with_it_sends(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The replies are scripted, so a run with other prompts differs in its system instructions alone."""
    first = cases.runs(case, "as_written", ignore)
    build = cases.build

    def changed(agent: BaseAgent) -> Mapping[str, Any]:
        return {"instruction": longer(agent)} if isinstance(agent, LlmAgent) else {}

    def build_changed(node: Mapping[str, Any], log: Any, *more: Any) -> BaseAgent:
        return build(node, log, *more) if depth else at_the_root(node, log)

    def at_the_root(node: Mapping[str, Any], log: Any) -> BaseAgent:
        depth.append(1)
        try:
            return edited(build(node, log), changed)
        finally:
            depth.clear()

    depth: list[int] = []
    monkeypatch.setattr(cases, "build", build_changed)
    second = cases.runs(case, "as_written", ignore)
    for one, other in zip(first, second, strict=False):
        texts = ["".join(segment.text for segment in system) for system in rewritten(one, longer)]
        assert texts == ["".join(segment.text for segment in system) for system in sent(other)]


def only(root: BaseAgent, replies: Any = ("done",), **state: Any) -> Run:
    return Runner(root, model=ScriptedModel(list(replies))).run("hello", state=state)


def text_of(run: Run, prompt: str) -> str:
    (system,) = rewritten(run, lambda agent: prompt)
    return "".join(segment.text for segment in system)


IDENTITY = 'You are an agent. Your internal name is "A".'


@pytest.mark.parametrize(
    ("global_instruction", "instruction", "expected"),
    [
        ("", "Old.", f"New.\n\n{IDENTITY}"),
        ("", "", f"New.\n\n{IDENTITY}"),
        ("Global.", "Old.", f"Global.\n\nNew.\n\n{IDENTITY}"),
        ("Global.", "", f"Global.\n\nNew.\n\n{IDENTITY}"),
        ("{nobody?}", "Old.", f"\n\nNew.\n\n{IDENTITY}"),
        ("{nobody?}", "{nobody?}", f"\n\nNew.\n\n{IDENTITY}"),
        ("{k}", "{k}", f"v\n\nNew.\n\n{IDENTITY}"),
        ("Global.", "{nobody?}", f"Global.\n\nNew.\n\n{IDENTITY}"),
        (lambda context: "Global.", "Old.", f"Global.\n\nNew.\n\n{IDENTITY}"),
        (lambda context: "", "Old.", f"New.\n\n{IDENTITY}"),
        (lambda context: "", "{k}", f"New.\n\n{IDENTITY}"),
        ("Global.", lambda context: "", f"Global.\n\nNew.\n\n{IDENTITY}"),
        ("{k}", lambda context: "", f"v\n\nNew.\n\n{IDENTITY}"),
        ("Global.", lambda context: "Old.", f"Global.\n\nNew.\n\n{IDENTITY}"),
        (lambda context: "Global.", lambda context: "", f"Global.\n\nNew.\n\n{IDENTITY}"),
        (lambda context: "", lambda context: "Old.", f"New.\n\n{IDENTITY}"),
        (lambda context: "", lambda context: "", f"New.\n\n{IDENTITY}"),
    ],
)
def test_the_sections_around_it_stay(global_instruction: Any, instruction: Any, expected: str) -> None:
    run = only(LlmAgent(name="A", global_instruction=global_instruction, instruction=instruction), k="v")
    assert text_of(run, "New.") == expected


def test_without_a_prompt() -> None:
    assert text_of(only(LlmAgent(name="A", instruction="Old.")), "") == IDENTITY
    assert text_of(only(LlmAgent(name="A", instruction="Old.", global_instruction="All.")), "") == f"All.\n\n{IDENTITY}"


def test_values_are_those_of_the_state_when_it_was_sent() -> None:
    def count(context: Any) -> None:
        context.state["n"] = context.state.get("n", 0) + 1
        context.state["temp:n"] = [context.state["n"], None]

    steps = [LlmAgent(name=name, output_key="said", before_agent_callback=count) for name in ("A", "B")]
    run = Runner(SequentialAgent(name="p", sub_agents=steps), model="echo").run("hello", state={"user:tier": "gold"})
    texts = [
        "".join(segment.text for segment in system)
        for system in rewritten(run, lambda agent: "{n} {temp:n} {user:tier} {said?}")
    ]
    assert [text.partition("\n")[0] for text in texts] == ["1 [1, null] gold ", "2 [2, null] gold hello"]


def test_a_key_that_nobody_wrote() -> None:
    with pytest.raises(
        MissingKeyError, match="agent 'A': the instruction needs the state key 'tire', which nobody wrote"
    ):
        text_of(only(LlmAgent(name="A"), tier="gold"), "{tire}")


def test_artifacts_are_known_where_they_were_inserted_or_absent() -> None:
    async def save(context: Any) -> None:
        await context.save_artifact("note.txt", Part.from_text("text"))

    run = only(LlmAgent(name="A", instruction="{artifact.note.txt} {artifact.gone.txt?}", before_agent_callback=save))
    assert text_of(run, "See {artifact.note.txt}{artifact.gone.txt?}.").startswith('See {"text":"text"}.\n')
    with pytest.raises(NotSupported, match=r"the artifact 'other[.]txt' was not inserted before"):
        text_of(run, "{artifact.other.txt?}")
    with pytest.raises(MissingArtifactError):
        text_of(run, "{artifact.gone.txt}")


@pytest.mark.parametrize("text", ["rewritten", None])
def test_a_system_instruction_that_a_callback_rewrote(text: str | None) -> None:
    def rewrite(context: Any, request: LlmRequest) -> None:
        request.system_instruction = text

    def extend(context: Any, request: LlmRequest) -> None:
        request.append_instructions(["More."])

    for callback in (rewrite, extend):
        run = only(LlmAgent(name="A", instruction="Old.", before_model_callback=callback))
        with pytest.raises(NotSupported, match="a before_model_callback rewrote the system instruction"):
            text_of(run, "New.")
