"""What a dry comparison costs: every prompt of a run under DEFAULT and NONE, worked out and counted without a model.

Needs adknb alone. Compared is the last run of a session of 1,000 events, of which DEFAULT sends each step all that came
before. Prints a Markdown table with the target and exits 1 when it is missed.
"""

from __future__ import annotations

import argparse
import gc
import platform
import sys
import time
import tracemalloc
from typing import Any, NamedTuple

from overhead import Row, Timed, cpu_name, figures, markdown

import adknb
from adknb import Content, LlmAgent, LlmResponse, LoopAgent, Part, Run, Runner, ScriptedModel, SequentialAgent
from adknb.compare.dry import PromptComparison, compare_prompts
from adknb.examples.ticket import ticket_pipeline
from adknb.tokens.counter import default_counter

EVENTS = 1_000
TARGET = 50
"""Milliseconds, warm: the texts were counted before."""


def ticket_session() -> Run:
    """250 tickets in one session, each with a message and replies of its own: 4 events a turn."""
    turns = EVENTS // 4
    replies = {
        "TriageAgent": [f'{{"category": "billing", "urgency": 2, "summary": "Ticket {n}."}}' for n in range(turns)],
        "DraftAgent": [f"We are sorry about ticket {n}. Billing will write to you by Friday." for n in range(turns)],
        "PolicyCheckAgent": [f"APPROVE ticket {n}" for n in range(turns)],
    }
    return conversation(Runner(ticket_pipeline(), model=ScriptedModel(replies)), turns)


def tool_session() -> Run:
    """200 turns in which one of two agents calls a tool: 5 events a turn."""

    def look_up(order: int) -> dict[str, Any]:
        """Look an order up."""
        return {"order": order, "lines": [{"item": f"item {line}", "price": 9.5} for line in range(3)]}

    turns = EVENTS // 5
    finder = LlmAgent(name="Finder", instruction="Find the order.", tools=[look_up], output_key="found")
    teller = LlmAgent(name="Teller", instruction="Tell what was found: {found}")
    found: list[str | LlmResponse] = []
    for n in range(turns):
        call = Content("model", (Part.from_function_call("look_up", {"order": n}),))
        found += [LlmResponse(call), f"order {n} has three lines"]
    model = ScriptedModel({"Finder": found, "Teller": [f"Order {n} has three lines." for n in range(turns)]})
    return conversation(Runner(SequentialAgent(name="orders", sub_agents=[finder, teller]), model=model), turns)


def conversation(runner: Runner, turns: int) -> Run:
    """The last of so many turns in one session."""
    run = runner.run("Ticket 0: I was charged twice.")
    for n in range(1, turns):
        run = runner.run(f"Ticket {n}: I was charged twice.", session=run.session)
    return run


def one_long_run() -> Run:
    """A loop of 333 times three agents, in one run: the message and 999 replies, each step with a request of its own."""
    times = EVENTS // 3
    agents = [
        LlmAgent(name=name, instruction=f"Go on from {{{name.lower()}?}}", output_key=name.lower()) for name in "ABC"
    ]
    model = ScriptedModel({agent.name: [f"{agent.name} says {n}" for n in range(times)] for agent in agents})
    return Runner(LoopAgent(name="loop", sub_agents=agents, max_iterations=times), model=model).run(
        "Begin.", config=adknb.RunConfig(max_llm_calls=0)
    )


def checked(run: Run) -> PromptComparison:
    """A comparison of the run. Stops unless it covers the whole session and equals what the run sent."""
    comparison = compare_prompts(run)
    longest = comparison.rows()[-1][0].request
    if len(run.session.events) != EVENTS or longest is None or len(longest.contents) != EVENTS - 1:
        raise SystemExit("the session is not of the size that the table says")
    if not all(prompt.is_as_sent for prompt, _ in comparison.rows()):
        raise SystemExit("a prompt under DEFAULT is not what the run sent")
    return comparison


class Warm(NamedTuple):
    """Comparisons of a run that was compared before: by the clock on the wall, and by what the process was given of it."""

    wall: Timed
    own: Timed


def warm(run: Run, repeats: int) -> Warm:
    timed = Warm(Timed([]), Timed([]))
    for _ in range(repeats):
        gc.collect()
        wall, own = time.perf_counter(), time.process_time()
        compare_prompts(run)
        timed.wall.samples.append((time.perf_counter() - wall) * 1000)
        timed.own.samples.append((time.process_time() - own) * 1000)
    return timed


def first(run: Run) -> float:
    """Milliseconds of the first comparison, in which each text of the session is counted."""
    started = time.perf_counter()
    compare_prompts(run)
    return (time.perf_counter() - started) * 1000


def kept(run: Run) -> float:
    """MiB that one comparison keeps beside the run's own events and requests."""
    tracemalloc.start()
    comparison = compare_prompts(run)
    gc.collect()
    memory = tracemalloc.get_traced_memory()[0] / 2**20
    tracemalloc.stop()
    del comparison
    return memory


def measure(quick: bool) -> list[Row]:
    many = 10 if quick else 60
    default_counter().count("")  # its vocabulary takes up to a second to load, once in a process
    rows = []
    for what, run in (("3 steps", ticket_session()), ("2 steps and a tool", tool_session())):
        cold = first(run)
        checked(run)
        timed = warm(run, many)
        met = timed.wall.median <= TARGET
        rows += [
            Row(f"{EVENTS:,} events, last turn of {what}", str(timed.wall), "", "", f"≤ {TARGET} ms", met),
            Row("  by the processor time of the process", str(timed.own), "", ""),
            Row("  the first one, which counts every text", f"{figures(cold)} ms", "", ""),
            Row("  memory that it keeps", f"{kept(run):.2f} MiB", "", ""),
        ]
    run, prompts = one_long_run(), 2 * (EVENTS - 1)
    checked(run)
    timed = warm(run, 3 if quick else 5)
    rows += [
        Row(f"{EVENTS:,} events in one run, {prompts:,} prompts", str(timed.wall), "", ""),
        Row("  by the processor time of the process", str(timed.own), "", ""),
        Row("  memory that it keeps", f"{kept(run):.1f} MiB", "", ""),
    ]
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    rows = measure(parser.parse_args().quick)
    print(f"adknb {adknb.__version__}, Python {platform.python_version()}, {cpu_name()}\n", *markdown(rows), sep="\n")
    return 0 if all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
