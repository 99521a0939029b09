"""A pipeline as a plain module: run in a process of its own, it sends the same prompts."""

from __future__ import annotations

import itertools
import json
import linecache
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adknb import (
    BaseAgent,
    GenerateContentConfig,
    IncludeContents,
    LlmAgent,
    LongRunningFunctionTool,
    LoopAgent,
    NotSupported,
    ParallelAgent,
    Runner,
    ScriptedModel,
    SequentialAgent,
)
from adknb.examples.ticket import MESSAGE, REPLIES, ticket_pipeline
from adknb.export.literals import text_literal

NUMBERS = itertools.count()


def in_a_cell(source: str, **names: Any) -> dict[str, Any]:
    """A notebook's namespace after a cell with this source; its source is known to `inspect`, as IPython's is."""
    namespace: dict[str, Any] = {"__name__": "__main__", **names}
    file = f"<cell {next(NUMBERS)}>"
    text = textwrap.dedent(source)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), namespace)
    return namespace


def read_back(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "read_back"}
    exec(compile(source, "module", "exec"), namespace)
    return namespace


def prompts(root: BaseAgent) -> list[Any]:
    run = Runner(root, model=ScriptedModel({name: [reply] for name, reply in REPLIES.items()})).run(MESSAGE)
    return [request.sent.system_instruction for step in run.step_runs for request in step.requests]


def test_the_module_sends_the_same_prompts_in_a_process_without_a_notebook(tmp_path: Path) -> None:
    cell = in_a_cell(
        """
        import json
        LIMIT = {"urgency": 3}
        def parsed(text):
            return json.loads(text)
        def require_triage(ctx):
            '''Writes what the notebook's other cells say.'''
            ctx.state["seen"] = parsed(ctx.state["triage"])["urgency"] <= LIMIT["urgency"]
        """
    )
    root = ticket_pipeline()
    draft = root.sub_agents[1].model_copy(
        update={
            "before_agent_callback": (cell["require_triage"],),
            "instruction": 'Seen: {seen}. """Quoted""" \\n {triage}"',
        }
    )
    root = root.model_copy(update={"sub_agents": (root.sub_agents[0], draft, root.sub_agents[2])})
    (tmp_path / "ticket_module.py").write_text(root.to_python())
    script = f"""
        import json, sys
        from ticket_module import ticket_pipeline
        from adknb import Runner, ScriptedModel
        run = Runner(ticket_pipeline, model=ScriptedModel({ {name: [reply] for name, reply in REPLIES.items()}!r})).run({MESSAGE!r})
        assert "IPython" not in sys.modules
        print(json.dumps([request.sent.system_instruction for step in run.step_runs for request in step.requests]))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}"},
    )  # fmt: skip
    assert json.loads(done.stdout) == prompts(root)
    assert done.stderr == ""


def test_every_kind_of_agent_and_option_reads_back_equal() -> None:
    cell = in_a_cell(
        """
        from typing import Literal
        def look_up(kind: Literal["a", "b"]) -> dict:
            '''Look up.'''
            return {"kind": kind}
        """
    )
    tool = LongRunningFunctionTool(cell["look_up"])
    root = LoopAgent(
        name="loop",
        max_iterations=3,
        sub_agents=[
            ParallelAgent(name="at once", sub_agents=[LlmAgent(name="class"), LlmAgent(name="1st", model="echo")]),
            LlmAgent(
                name="LlmAgent",
                instruction="one line",
                include_contents=IncludeContents.NONE,
                output_schema={"type": "OBJECT", "properties": {"ok": {"type": "BOOLEAN"}}},
                generate_content_config=GenerateContentConfig(temperature=0.5, stop_sequences=("x",)),
                tools=[tool],
            ),
        ],
    )
    source = root.to_python()
    made = read_back(source)["loop"]
    again = made.find_agent("LlmAgent").tools[0]
    assert (type(again), again.name, again.func("a")) == (LongRunningFunctionTool, "look_up", {"kind": "a"})
    assert made.model_dump(exclude={"sub_agents"}) == root.model_dump(exclude={"sub_agents"})
    assert [agent.name for agent in made.walk()] == [agent.name for agent in root.walk()]
    for name in ("class", "1st"):
        assert made.find_agent(name) == root.find_agent(name)
    assert "from typing import Literal" in source


def test_functions_of_modules_are_imported() -> None:
    assert "from adknb.examples.ticket import require_triage\n" in ticket_pipeline(guarded=True).to_python()


@given(st.text())
def test_any_text_reads_back(text: str) -> None:
    assert eval(text_literal(text)) == text


def test_a_model_object_is_named_in_a_comment() -> None:
    source = LlmAgent(name="A", model=ScriptedModel(["x"])).to_python()
    assert "# its model was an object of the notebook: Runner(…, models={'A': …})" in source
    assert read_back(source)["A"] == LlmAgent(name="A")


class Own(BaseAgent):
    """An agent of the user's."""


CLOSED = in_a_cell("def outer():\n    value = object()\n    def inner(ctx): return value\n    return inner")["outer"]()
BOUND = in_a_cell("connection = object()\ndef call(ctx): return str(connection)")["call"]
NOWHERE: dict[str, Any] = {"__name__": "__main__"}
exec("def unknown(ctx): return None", NOWHERE)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (LlmAgent(name="A", before_agent_callback=lambda ctx: None), "has no name that a module could hold"),
        (LlmAgent(name="A", before_agent_callback=CLOSED), "has no name that a module could hold"),
        (LlmAgent(name="A", before_agent_callback=NOWHERE["unknown"]), "the source of 'unknown' is not known"),
        (
            LlmAgent(name="A", before_agent_callback=BOUND),
            "agent 'A': before_agent_callback: call uses 'connection', a object, which cannot be written into a module. Make it "
            "inside the function, or import it from a file of yours.",
        ),
        (
            SequentialAgent(name="s", sub_agents=[Own(name="A")]),
            "agent 'A': Own is a class of your own. Put the class and the pipeline into a module.",
        ),
    ],
)
def test_what_a_module_cannot_hold(agent: BaseAgent, message: str) -> None:
    with pytest.raises(NotSupported) as raised:
        agent.to_python()
    assert message in str(raised.value)
