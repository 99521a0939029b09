"""The texts that ADK JavaScript itself puts into requests, as the recorded traces show them, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

SCHEMA_NOTE: Final = (
    'To output the final result, you must call the "set_model_response" function with the appropriate values. '
    "Do not output anything else."
)
"""`agents/processors/instructions_llm_request_processor.js`; trace `f-schema-and-tools`."""

SET_MODEL_RESPONSE: Final = {
    "name": "set_model_response",
    "description": (
        "Call this tool to submit your final response conforming to the output schema. Use this tool only when you have "
        "collected all the information and are ready to return the final answer."
    ),
}
"""`runOneStepAsync` in `agents/llm_agent.js`."""

LONG_RUNNING_NOTE: Final = (
    "\n\nNOTE: This is a long-running operation. Do not call this tool again if it has already returned some "
    "intermediate or pending status."
)
"""`tools/long_running_tool.js`, after the description; trace `f-declarations`."""

TRANSFER_DECLARATION: Final[dict[str, Any]] = {
    "name": "transfer_to_agent",
    "description": (
        "Transfer the question to another agent. This tool hands off control to another agent when it is more suitable to "
        "answer the user question according to the agent description."
    ),
    "parameters": {
        "type": "OBJECT",
        "properties": {"agentName": {"type": "STRING", "description": "the agent name to transfer to."}},
        "required": ["agentName"],
    },
}
"""`agents/processors/agent_transfer_llm_request_processor.js`; trace `f-transfer`."""

INVALID_NAME: Final = (
    'Found invalid agent name: "{name}". Agent name must be a valid identifier. It should start with a letter (a-z, A-Z) '
    "or an underscore (_), and can only contain letters, digits (0-9), underscores, and hyphens."
)
RESERVED_NAME: Final = "Agent name cannot be 'user'. 'user' is reserved for end-user's input."
"""`validateAgentName` in `agents/base_agent.js`."""


def transfer(targets: Sequence[tuple[str, str]], parent: str | None) -> str:
    """What an agent is told about its transfer targets (name, description). `parent` is named when it may go back.

    Source: `buildTargetAgentsInstructions`; traces `f-transfer*`.
    """
    listed = "\n".join(f"\nAgent name: {name}\nAgent description: {description}\n" for name, description in targets)
    text = (
        f"\nYou have a list of other agents to transfer to:\n\n{listed}\n\n"
        "If you are the best to answer the question according to your description, you\ncan answer it.\n\n"
        "If another agent is better for answering the question according to its\n"
        "description, call `transfer_to_agent` function to transfer the\n"
        "question to that agent. When transferring, do not generate any text other than\nthe function call.\n"
    )
    if parent is None:
        return text
    return (
        f"{text}\nYour parent agent is {parent}. If neither the other agents nor\n"
        "you are best for answering the question according to the descriptions, transfer\nto your parent agent.\n"
    )


def not_text(received: str) -> str:
    """How zod says that the target's name is no text; trace `f-transfer`."""
    return (
        '[\n  {\n    "expected": "string",\n    "code": "invalid_type",\n    "path": [\n      "agentName"\n    ],\n'
        f'    "message": "Invalid input: expected string, received {received}"\n  }}\n]'
    )
