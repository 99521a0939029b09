"""Hostile texts for an explorer: as names of agents, keys, values, replies, errors, messages. Runs in the kernel."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

from adknb import Content, LlmAgent, LlmRequest, LlmResponse, SequentialAgent
from tests.browser.payloads import PAYLOADS

SHORT: Final = {name: text for name, text in PAYLOADS.items() if len(text) < 300 and text.strip()}
"""Those that a name can be."""


class Echo:
    """Answers an agent with what it is to say; one that is not to say anything fails with all of them in its error."""

    name = SHORT["image with a handler"]

    def __init__(self, said: dict[str, str]) -> None:
        self.said = said

    async def generate_content_async(
        self, request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        text = self.said.get(request.agent)
        if text is None:
            raise ValueError(" ".join(SHORT.values()))
        if stream:
            yield LlmResponse(Content.model(text), partial=True)
        yield LlmResponse(Content.model(text), finish_reason=text, note=text)


def named() -> SequentialAgent:
    """An agent a payload, with that as its name, instruction and key. No ADK runs such names."""
    agents = [LlmAgent(name=text, instruction=text, output_key=text) for text in SHORT.values()]
    return SequentialAgent(name="named", sub_agents=agents)


def saying(count: int) -> tuple[SequentialAgent, Echo]:
    """Agents whose replies, keys and descriptions are the first payloads, a last one that fails; and their model."""
    said = {f"Agent {number}": text for number, text in enumerate(list(SHORT.values())[:count], 1)}
    agents = [
        LlmAgent(name=name, description=text, instruction="Say it.", output_key=text) for name, text in said.items()
    ]
    failing = LlmAgent(name="Failing", instruction="Fail.")
    return SequentialAgent(name="saying", sub_agents=[*agents, failing]), Echo(said)
