"""The measured pipelines, once as plain data and once for each contestant.

A contestant's `turn` starts a new session and runs the pipeline on one message inside the running event loop, with the
same scripted replies for all. Its `sent` is what the models were sent, to check that contestants did the same work.
"""

from __future__ import annotations

import logging
import operator
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol, TypedDict

if TYPE_CHECKING:
    from adknb import Run
    from adknb.core.protocols import SessionService

MESSAGE = "I was charged twice for September."


class Contestant(Protocol):
    async def turn(self) -> None: ...


class Step(NamedTuple):
    """One agent. `instruction` may name the keys of earlier steps in braces."""

    name: str
    description: str
    instruction: str
    key: str
    reply: str


class Sent(NamedTuple):
    """What one step's model was sent: the system text, and the text of each part of the history."""

    system: str
    texts: list[str]


def ticket() -> list[Step]:
    """The support pipeline of the README: triage, draft, policy check."""
    return [
        Step(
            "TriageAgent",
            "Classifies a support ticket.",
            "Classify the customer's message. Reply with JSON only:\n"
            '{"category": "billing|outage|account|other", "urgency": 1-3, "summary": "<one sentence>"}',
            "triage",
            '{"category": "billing", "urgency": 2, "summary": "Charged twice for September."}',
        ),
        Step(
            "DraftAgent",
            "Drafts a reply from the triage result.",
            "You write replies for the support team.\nTriage result: {triage}\nKnown customer tier: {user:tier?}\n"
            "Draft a reply of at most 120 words. Do not promise refunds.",
            "draft",
            "We are sorry about the double charge. Billing is looking into it and will write to you today.",
        ),
        Step(
            "PolicyCheckAgent",
            "Checks the draft against policy.",
            "Triage: {triage}\nDraft: {draft}\nReply APPROVE or REJECT: <reason>. Reject any refund promise.",
            "verdict",
            "APPROVE",
        ),
    ]


def chain(length: int) -> list[Step]:
    """Steps that each read what the step before wrote."""
    return [
        Step(
            f"Step{number}",
            f"Does part {number} of the work.",
            "Begin the work." if number == 0 else f"Go on from here: {{part_{number - 1}}}\nAdd one sentence.",
            f"part_{number}",
            f"Part {number} is done, and nothing was out of the ordinary.",
        )
        for number in range(length)
    ]


class Adknb:
    """adknb's Runner; each turn leaves a Run with every request in it, which a `session_service` keeps."""

    def __init__(
        self, steps: list[Step], include: str = "default", session_service: SessionService | None = None
    ) -> None:
        from adknb import LlmAgent, RunConfig, Runner, ScriptedModel, SequentialAgent

        agents = [
            LlmAgent(
                name=step.name,
                description=step.description,
                instruction=step.instruction,
                output_key=step.key,
                include_contents=include,
            )
            for step in steps
        ]
        model = ScriptedModel({step.name: [step.reply] for step in steps})
        root = SequentialAgent(name="pipeline", sub_agents=agents)
        self.runner = Runner(root, model=model, session_service=session_service)
        self.config = RunConfig(max_llm_calls=0)

    async def run(self) -> Run:
        return await self.runner.run_async(MESSAGE, config=self.config)

    async def turn(self) -> None:
        await self.run()

    async def sent(self) -> list[Sent]:
        run = await self.run()
        requests = [request.sent for step in run.step_runs for request in step.requests]
        return [
            Sent(
                str(request.system_instruction),
                [str(part.text) for content in request.contents for part in content.parts],
            )
            for request in requests
        ]


class AdknbCell(Adknb):
    """The plain call of a notebook cell, which waits inside the loop that is running already."""

    async def turn(self) -> None:
        self.runner.run(MESSAGE, config=self.config)


class GoogleAdk:
    """google-adk's LlmAgents under its in-memory runner, in a SequentialAgent or in the Workflow that is to follow it.

    The Workflow gives each step the reply before it instead of the history. A turn deletes its session, as adknb drops it;
    a `session_service` keeps it.
    """

    def __init__(self, steps: list[Step], workflow: bool = False, session_service: Any = None) -> None:
        from google.adk import Workflow
        from google.adk.agents import LlmAgent, SequentialAgent
        from google.adk.agents.run_config import RunConfig
        from google.adk.models import BaseLlm, LlmRequest, LlmResponse
        from google.adk.runners import InMemoryRunner, Runner
        from google.genai import types

        logging.getLogger("google_adk").setLevel(logging.ERROR)  # it warns of each reply that reports no tokens

        received: list[LlmRequest] = []

        class Scripted(BaseLlm):
            reply: types.Content

            async def generate_content_async(
                self, llm_request: LlmRequest, stream: bool = False
            ) -> AsyncGenerator[LlmResponse, None]:
                received.append(llm_request)
                yield LlmResponse(content=self.reply)

        agents = [
            LlmAgent(
                name=step.name,
                description=step.description,
                instruction=step.instruction,
                output_key=step.key,
                model=Scripted(model="scripted", reply=types.ModelContent(step.reply)),
            )
            for step in steps
        ]
        if workflow:
            self._runner = InMemoryRunner(node=Workflow(name="pipeline", edges=[("START", *agents)]))
        else:
            root = SequentialAgent(name="pipeline", sub_agents=agents)
            self._runner = (
                InMemoryRunner(agent=root)
                if session_service is None
                else Runner(app_name="bench", agent=root, session_service=session_service)
            )
        self._keeps = session_service is not None
        self._received = received
        self._config = RunConfig(max_llm_calls=0)
        self._message = types.UserContent(MESSAGE)

    async def turn(self) -> None:
        self._received.clear()
        service, app_name = self._runner.session_service, self._runner.app_name
        session = await service.create_session(app_name=app_name, user_id="user")
        async for _ in self._runner.run_async(
            user_id="user", session_id=session.id, new_message=self._message, run_config=self._config
        ):
            continue
        if not self._keeps:
            await service.delete_session(app_name=app_name, user_id="user", session_id=session.id)

    async def sent(self) -> list[Sent]:
        await self.turn()
        return [
            Sent(
                str(request.config.system_instruction),
                [str(part.text) for content in request.contents for part in content.parts or ()],
            )
            for request in self._received
        ]


class LangGraph:
    """A LangGraph chain whose nodes only hand on their replies: it builds no prompt at all."""

    def __init__(self, steps: list[Step]) -> None:
        from langgraph.graph import END, START, StateGraph

        class State(TypedDict):
            replies: Annotated[list[str], operator.add]

        def node(step: Step) -> Callable[[State], Awaitable[dict[str, Any]]]:
            async def reply(state: State) -> dict[str, Any]:
                return {"replies": [step.reply]}

            return reply

        graph = StateGraph(State)
        before: str = START
        for step in steps:
            graph.add_node(step.name, node(step))
            graph.add_edge(before, step.name)
            before = step.name
        graph.add_edge(before, END)
        self._graph = graph.compile()
        self._config = {"recursion_limit": len(steps) + 1}

    async def turn(self) -> None:
        await self._graph.ainvoke({"replies": []}, self._config)


class BareLoop:
    """What one writes without a framework: a loop that builds each step's strings and takes the reply."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps
        self._sent: list[Sent] = []

    async def turn(self) -> None:
        state: dict[str, str] = {}
        said: list[tuple[str, str]] = []
        sent: list[Sent] = []
        for step in self._steps:
            instruction = re.sub(r"{([\w:]+)\??}", lambda key: state.get(key.group(1), ""), step.instruction)
            system = (
                f'{instruction}\n\nYou are an agent. Your internal name is "{step.name}". '
                f'The description about you is "{step.description}".'
            )
            texts = [MESSAGE]
            for author, text in said:
                texts.append("For context:")
                texts.append(f"[{author}] said: {text}")
            sent.append(Sent(system, texts))
            said.append((step.name, step.reply))
            state[step.key] = step.reply
        self._sent = sent

    async def sent(self) -> list[Sent]:
        await self.turn()
        return self._sent
