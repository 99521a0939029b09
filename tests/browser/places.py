"""Everywhere that a text of a model, tool, user or state can come to stand, with what shows it. Runs in the kernel."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final

from IPython.core.getipython import get_ipython

from adknb import (
    BaseAgent,
    Content,
    Event,
    EventActions,
    FunctionCall,
    LlmAgent,
    LlmResponse,
    Part,
    Run,
    Runner,
    ScriptedModel,
    SequentialAgent,
    compare_prompts,
    contract,
    lint,
)
from adknb.core.protocols import InvocationContext
from adknb.notebook.bench import Bench
from adknb.notebook.cards.error_card import error_html, error_text
from adknb.notebook.cards.prompt_card import PromptView
from adknb.notebook.pipelines import AgentOptions
from adknb.notebook.results import AgentCard, Message, PipelineCard, PromptHistory, RunDiff
from adknb.notebook.shown import display
from tests.browser.payloads import PAYLOADS, huge
from tests.notebook.hostile_comparison import hostile
from tests.notebook.hostile_workflow import hostile as hostile_workflow


class Shown:
    """HTML and text that some card drew, for IPython to display."""

    def __init__(self, html: str, text: str) -> None:
        self.bundle = {"text/html": html, "text/plain": text}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.bundle


class Speaker(BaseAgent):
    """An agent of a user's own, whose events carry whatever author and error it writes."""

    said: str

    async def _run_async_impl(self, ctx: InvocationContext) -> Any:
        yield Event(
            author=self.said, content=Content.model(self.said), actions=EventActions(state_delta={self.said: self.said}),
            error_code=self.said, error_message=self.said,
        )  # fmt: skip


MAY_STAY_OUT: Final = {"table tokens", "lint", "missing artifact", "missing artifact, alone"}
"""Places that show some payloads and have no use for others."""


def run_with(payload: str, spoken: bool = True) -> Run:
    """A run in which message, state, instructions, tool calls and their results, replies, notes and names are `payload`."""

    def look(query: str) -> dict[str, str]:
        return {"found": payload, payload: payload}

    look.__doc__ = f"Look it up. {payload}"
    described = "" if not payload.strip() else payload
    asking = LlmAgent(
        name="Asking", description=described, instruction=lambda context: payload, output_key=payload, tools=[look]
    )
    reading = LlmAgent(name="Reading", instruction="Value: {value} and {nested}.", output_key="answer")
    agents: list[BaseAgent] = [asking, reading]
    if spoken:
        agents.append(Speaker(name="Speaker", description=described, said=payload))
    call = Part(function_call=FunctionCall(name="look", args={"query": payload}))
    reply = LlmResponse(Content.model(payload), finish_reason=payload, note=payload or None)
    model = ScriptedModel({"Asking": [[call], reply], "Reading": [reply]}, name=payload)
    state = {
        payload: payload,
        f"user:{payload}": [payload],
        "value": payload,
        "nested": {payload: [payload, {"a": payload}]},
    }
    return Runner(SequentialAgent(name="hostile", sub_agents=agents), model=model).run(payload, state=state)


def failed(agent: BaseAgent, model: ScriptedModel, **options: Any) -> tuple[Run | None, Exception]:
    """The run of this, and the error that ended it."""
    runner: Runner | None = None
    try:
        runner = Runner(agent, model=model)
        runner.run("Go.", **options)
    except Exception as error:  # a model's own error comes out as it is
        return runner.last_run if runner is not None else None, error
    raise AssertionError("the run was to fail")


def failures(payload: str) -> Iterator[tuple[str, object]]:
    """Runs that fail with the payload in their errors, and the errors by themselves."""

    def raises(*_: Any) -> None:
        error = ValueError(payload)
        error.add_note(payload)
        raise error

    replies = ScriptedModel({"A": [payload]})
    cases = {
        "error of a callback": failed(LlmAgent(name="A", before_agent_callback=raises), replies),
        "error of a model": failed(LlmAgent(name="A"), ScriptedModel({"A": [RuntimeError(payload)]})),
        "missing key": failed(LlmAgent(name="A", instruction="{nowhere}"), replies, state={payload: payload}),
        "agent's name": failed(LlmAgent(name=f"{payload} "), replies),
        "missing artifact": failed(LlmAgent(name="A", instruction=f"{{artifact.{_inside_braces(payload)}}}"), replies),
    }
    for what, (run, error) in cases.items():
        if run is not None:
            yield what, run
        yield f"{what}, alone", Shown(error_html(error), error_text(error))


def _inside_braces(text: str) -> str:
    return text.replace("{", "(").replace("}", ")").replace("?", "¿")


def benched(payload: str) -> Iterator[tuple[str, object]]:
    """What the bench shows of texts in cells, names and files."""
    bench = Bench()
    options = AgentOptions(key=payload or None, description=payload, tools=(payload,), model=payload)
    bench.put_agent(payload, "Writing", payload, options)
    bench.put_agent(payload, "Writing", f"before {payload} after", AgentOptions(key="other", prompt_file=None))
    bench.put_agent(payload, payload, payload)
    pipeline = bench.pipelines[payload]
    agent = pipeline["Writing"]
    remarks = (payload,)
    yield "agent card", AgentCard(pipeline, agent, "java", remarks)
    yield "agent card of the first version", AgentCard(pipeline, bench.restore_version("Writing", 1, payload), "java")
    yield "pipeline card", PipelineCard(bench.pipelines[payload], "java", remarks)
    yield "history", PromptHistory(bench.pipelines[payload]["Writing"])
    yield "message", Message(payload, remarks)
    first, second = run_with(payload), run_with(f"{payload} again")
    yield "run diff", RunDiff(first, second)


def compared(payload: str) -> Iterator[tuple[str, object]]:
    """What a comparison of variants shows, of which every text is the payload."""
    made = hostile(payload)
    yield "comparison of variants", made
    yield "input of a comparison", made.inspect(1)
    for table in ("rows", "summary", "twice", "flips", "by_input"):
        yield f"comparison's table {table}", made.view(table)


def places(payload: str) -> Iterator[tuple[str, object]]:
    """Each place by its name, with the object that shows the payload there."""
    run = run_with(payload)
    yield "run card", run
    yield "session card", run.session
    for step in ("Asking", "Reading"):
        for number in range(1, len(run.step(step).requests) + 1):
            yield f"prompt view of {step}, request {number}", PromptView(run, step, number)
    for table in (
        "steps",
        "state",
        "state_history",
        "events",
        "tokens",
        "prompt Asking",
        "prompt Asking 2",
        "prompt Reading",
    ):
        yield f"table {table}", run.view(table)
    yield "run.events, as a table of pandas", run.events
    yield "run.prompt(…), as a table of pandas", run.prompt("Reading")
    yield "comparison", compare_prompts(run_with(payload, spoken=False))
    yield "contract", contract(run.root, run=run)
    yield "lint", lint(run.root)
    yield from failures(payload)
    yield from benched(payload)
    yield from compared(payload)
    yield from hostile_workflow(payload)


def show(name: str) -> None:
    """Print the names of all places, then display each with the payload of this name."""
    found = dict(places(PAYLOADS[name]))
    print("\n".join(found))
    for shown in found.values():
        display(shown)


def show_replies(names: Sequence[str]) -> None:
    """Display one run in which the payloads of these names are replies and values, in its card and tables."""
    agents = [LlmAgent(name=f"Agent {number}", output_key=f"key {number}") for number in range(len(names))]
    model = ScriptedModel({agent.name: [PAYLOADS[name]] for agent, name in zip(agents, names, strict=True)})
    run = Runner(SequentialAgent(name="hostile", sub_agents=agents), model=model).run("Go.")
    for shown in (run, run.view("state"), run.view("events")):
        display(shown)


def show_huge(name: str) -> None:
    """Display a run whose message, reply and value are the payload again and again, to ten million characters."""
    text = huge(PAYLOADS[name])
    agents = (
        LlmAgent(name="Saying", instruction="Say it.", output_key="said"),
        LlmAgent(name="Reading", instruction="Read: {said}"),
    )
    model = ScriptedModel({"Saying": [text], "Reading": ["Read."]})
    run = Runner(SequentialAgent(name="huge", sub_agents=agents), model=model).run(text)
    for shown in (
        run,
        run.session,
        PromptView(run, "Reading"),
        run.view("state"),
        run.view("events"),
        compare_prompts(run),
    ):
        display(shown)


def fail(name: str) -> None:
    """Fail in a cell, as a verb does whose file has the payload's name."""
    shell: Any = get_ipython()
    shell.run_line_magic("adk", f"load {shlex.quote(PAYLOADS[name])}")


def break_down(name: str) -> None:
    """Fail in a cell with a model's own error, which Python shows with its traceback."""
    model = ScriptedModel({"A": [RuntimeError(PAYLOADS[name])]})
    Runner(LlmAgent(name="A"), model=model).run("Go.")
