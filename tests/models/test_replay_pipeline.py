from pathlib import Path

from adknb import IncludeContents, LlmAgent, LoopAgent, Runner, SequentialAgent
from adknb.core.content import Part
from adknb.models.replay import recording
from adknb.models.request_key import request_key
from adknb.models.scripted import ScriptedModel
from tests.models.recorded import Asked


def pipeline() -> SequentialAgent:
    def lookup(order: int, city: str) -> dict[str, str]:
        """Finds an order."""
        return {"found": f"{order} in {city}"}

    finder = LlmAgent(name="Finder", instruction="Find it.", tools=[lookup], output_key="found")
    writer = LlmAgent(name="Writer", instruction="Write about {found}.", output_key="text")
    return SequentialAgent(
        name="root", sub_agents=[finder, LoopAgent(name="loop", sub_agents=[writer], max_iterations=2)]
    )


def test_a_pipeline_replays_as_it_ran_tools_and_all(tmp_path: Path) -> None:
    """The narrated call keeps the order of its arguments, and the ids of calls, new in each run, are in the way of nothing."""
    script = ScriptedModel(
        {
            "Finder": [Part.from_function_call("lookup", {"order": 7, "city": "Köln"}), "It is in Köln."],
            "Writer": ["one", "two"],
        },
        name="gemini-2.5-flash",
    )
    path = tmp_path / "t.jsonl"
    live = Runner(pipeline(), model=recording(script, path)).run("Where is order 7?")
    again = Runner(pipeline(), model=f"replay:{path}").run("Where is order 7?")
    sent = [[request.sent for step in run.step_runs for request in step.requests] for run in (live, again)]
    assert [request_key(one) for one in sent[0]] == [request_key(one) for one in sent[1]]
    assert '{"order":7,"city":"Köln"}' in str([part.text for part in sent[1][2].contents[1].parts])
    assert [event.text for event in again.turn_events] == [event.text for event in live.turn_events]
    assert again.output == live.output == "two"
    assert len(path.read_bytes().splitlines()) == 4
    recorded = path.read_text()
    assert not any(event.id in recorded for event in live.turn_events)
    assert not any(call.id in recorded for event in live.turn_events for call in event.function_calls if call.id)


def test_a_step_run_again_gets_its_reply_again(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    agent = LlmAgent(name="Writer", instruction="Write.", include_contents=IncludeContents.NONE)
    runner = Runner(agent, model=recording(Asked(), path))
    assert [runner.run("Go.").output for _ in range(2)] == ["reply 1", "reply 1"]
    first = runner.run("Go.")
    assert runner.run("Go.", session=first.session).output == "reply 2"
    assert [runner.run("Go.").output for _ in range(2)] == ["reply 1", "reply 1"]
