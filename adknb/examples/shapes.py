"""Four shapes that pipelines often have, small, with scripted replies: a chain, a loop with a critic, a fan-out, a custom flow.

Each function makes its pipeline anew; `SHAPES` has each with a message and one script that runs it to its end.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Final, NamedTuple

from adknb.core.content import FunctionCall, Part
from adknb.core.events import Event
from adknb.core.protocols import InvocationContext
from adknb.core.specs import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adknb.models.scripted import ScriptedModel
from adknb.runtime.callbacks import ToolContext


def code_chain() -> SequentialAgent:
    """Writes code, reviews it, and applies the review: each step reads what the ones before it stored."""
    return SequentialAgent(
        name="code_chain",
        sub_agents=[
            LlmAgent(
                name="CodeWriter",
                description="Writes a first version.",
                instruction="Write the Python function that the user asks for. Reply with code only.",
                output_key="code",
            ),
            LlmAgent(
                name="CodeReviewer",
                description="Reviews the code.",
                instruction="Name the worst fault of this code in one sentence:\n{code}",
                output_key="review",
            ),
            LlmAgent(
                name="CodeRefactorer",
                description="Applies the review.",
                instruction="Rewrite the code so that the fault is gone.\nCode:\n{code}\nFault: {review}",
                output_key="refactored",
            ),
        ],
    )


def exit_loop(tool_context: ToolContext) -> None:
    """Accept the text: nothing is left to improve."""
    tool_context.actions.escalate = True


def improvement() -> SequentialAgent:
    """Drafts a text, then improves it until the critic calls `exit_loop`, at most three times."""
    critic = LlmAgent(
        name="TextCritic",
        description="Objects, or accepts.",
        instruction="Text: {text}\nSay what it lacks, in one sentence. Call exit_loop when it lacks nothing.",
        output_key="objection",
        tools=[exit_loop],
    )
    improver = LlmAgent(
        name="TextImprover",
        description="Answers the objection.",
        instruction="Text: {text}\nObjection: {objection}\nReply with the better text only.",
        output_key="text",
    )
    return SequentialAgent(
        name="improvement",
        sub_agents=[
            LlmAgent(
                name="FirstDraft",
                description="Writes the first text.",
                instruction="Write one sentence on the user's subject.",
                output_key="text",
            ),
            LoopAgent(name="until_accepted", max_iterations=3, sub_agents=[critic, improver]),
        ],
    )


def research() -> SequentialAgent:
    """Looks at a question from two sides at once, then joins what was found."""
    sides = [
        LlmAgent(
            name=f"{side}Researcher",
            description=f"Looks at {side.lower()}.",
            instruction=f"In one sentence: what does the user's plan mean for {side.lower()}?",
            output_key=side.lower(),
        )
        for side in ("Cost", "Safety")
    ]
    return SequentialAgent(
        name="research",
        sub_agents=[
            ParallelAgent(name="both_sides", sub_agents=sides),
            LlmAgent(
                name="Synthesis",
                description="Joins the findings.",
                instruction="Advise the user in one sentence.\nCost: {cost}\nSafety: {safety}",
                output_key="advice",
            ),
        ],
    )


class StoryFlow(BaseAgent):
    """Tells a story, revises it, and asks for its mood; a gloomy one is told once more."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event]:
        teller, revision, mood = self.sub_agents
        for agent in (teller, revision, mood):
            async for event in agent.run_async(ctx):
                yield event
        if ctx.session.state.get("mood") == "gloomy":
            async for event in teller.run_async(ctx):
                yield event


def story() -> StoryFlow:
    """A custom agent that decides by the state which step comes next."""
    critic = LlmAgent(
        name="StoryCritic",
        description="Names a weakness.",
        instruction="Story: {story}\nName its weakest word.",
        output_key="weakness",
    )
    reviser = LlmAgent(
        name="StoryReviser",
        description="Removes the weakness.",
        instruction="Story: {story}\nReplace: {weakness}",
        output_key="story",
    )
    return StoryFlow(
        name="story_flow",
        sub_agents=[
            LlmAgent(
                name="StoryTeller",
                description="Tells a story.",
                instruction="Tell a story of one sentence. Mood to avoid: {mood?}",
                output_key="story",
            ),
            SequentialAgent(name="revision", sub_agents=[critic, reviser]),
            LlmAgent(
                name="MoodCheck",
                description="Says a story's mood.",
                instruction="Story: {story}\nReply with one word: bright or gloomy.",
                output_key="mood",
            ),
        ],
    )


class Shape(NamedTuple):
    """A pipeline, a message for it, and one script of each agent's replies, which ends it."""

    make: Callable[[], BaseAgent]
    message: str
    replies: Mapping[str, list[Any]]

    def model(self) -> ScriptedModel:
        """The script, from its beginning."""
        return ScriptedModel(self.replies)


SHAPES: Final[Mapping[str, Shape]] = {
    "code_chain": Shape(
        code_chain,
        "Add up a list of numbers.",
        {
            "CodeWriter": ["def total(xs):\n    return eval('+'.join(map(str, xs)))"],
            "CodeReviewer": ["It evaluates text."],
            "CodeRefactorer": ["def total(xs):\n    return sum(xs)"],
        },
    ),
    "improvement": Shape(
        improvement,
        "Tides",
        {
            "FirstDraft": ["Tides are water."],
            "TextCritic": [
                "It does not say why they come.",
                Part(function_call=FunctionCall("exit_loop", {})),
                "Done.",
            ],
            "TextImprover": ["Tides are water that follows the moon.", "Tides follow the moon."],
        },
    ),
    "research": Shape(
        research,
        "A bicycle lane on the high street.",
        {
            "CostResearcher": ["Paint is cheap."],
            "SafetyResearcher": ["Paint protects nobody."],
            "Synthesis": ["Build a kerb."],
        },
    ),
    "story": Shape(
        story,
        "A lighthouse.",
        {
            "StoryTeller": ["The lamp went out for good.", "The lamp was lit again."],
            "StoryCritic": ["good"],
            "StoryReviser": ["The lamp went out for ever."],
            "MoodCheck": ["gloomy"],
        },
    ),
}
