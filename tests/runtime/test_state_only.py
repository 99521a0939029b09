"""`state_only`: no other agent's words, the user's message kept."""

from __future__ import annotations

from adknb import (
    Content,
    ContextStrategy,
    Event,
    FunctionCall,
    History,
    LlmAgent,
    Part,
    Runner,
    ScriptedModel,
    SequentialAgent,
    compare_prompts,
)
from adknb.core.run import Run


def look_up(order: str) -> str:
    """Look an order up."""
    return f"{order} was sent"


def run_of(*turns: str, strategy: object = "state_only") -> list[Run]:
    root = SequentialAgent(
        name="ticket",
        sub_agents=[
            LlmAgent(name="Triage", instruction="Classify.", output_key="triage"),
            LlmAgent(name="Draft", instruction="Answer {triage}.", tools=[look_up]),
        ],
    )
    call = Part(function_call=FunctionCall("look_up", {"order": "A1"}))
    model = ScriptedModel({"Triage": ["billing", "outage"], "Draft": [call, "Sorry.", "On it."]})
    runner = Runner(root, model=model, strategy=strategy)
    runs: list[Run] = []
    for message in turns:
        runs.append(runner.run(message, session=runs[-1].session if runs else None))
    return runs


def sent(run: Run, step: str, request: int = 1) -> list[str]:
    contents = run.step(step).requests[request - 1].sent.contents
    return [f"{content.role}: {part.text or part.function_call or part.function_response}"
            .replace("FunctionCall", "call").replace("FunctionResponse", "response").partition("(")[0]
            for content in contents for part in content.parts]  # fmt: skip


def test_a_step_gets_the_user_s_message_and_none_of_the_other_agent_s_words() -> None:
    (run,) = run_of("Where is my parcel?")
    assert sent(run, "Draft") == ["user: Where is my parcel?"]


def test_a_step_with_tools_keeps_its_own_calls_and_their_answers() -> None:
    (run,) = run_of("Where is my parcel?")
    assert sent(run, "Draft", 2) == ["user: Where is my parcel?", "model: call", "user: response"]


def test_a_second_turn_starts_at_its_own_message() -> None:
    _, second = run_of("Where is my parcel?", "And now?")
    assert sent(second, "Draft") == ["user: And now?"]


def test_none_loses_the_message_that_state_only_keeps() -> None:
    (run,) = run_of("Where is my parcel?", strategy="default")
    compared = compare_prompts(run, ["none", "state_only"])
    texts = {
        name: [part.text for content in compared.prompt("Draft", name).request.contents for part in content.parts]  # type: ignore[union-attr]
        for name in ("none", "state_only")
    }
    assert texts == {"none": ["For context:", "[Triage] said: billing"], "state_only": ["Where is my parcel?"]}


def test_a_user_s_own_strategy_can_leave_events_out() -> None:
    class LastTwo:
        name = "last_two"

        def contents(self, history: History) -> list[tuple[Content, Event | None]]:
            from adknb import IncludeContents

            return history.of(history.events[-2:]).included(IncludeContents.DEFAULT)

    strategy: ContextStrategy = LastTwo()
    _, second = run_of("Where is my parcel?", "And now?", strategy=strategy)
    assert sent(second, "Draft") == ["user: And now?", "user: For context:", "user: [Triage] said: outage"]
