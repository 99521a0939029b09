"""The texts that the ADKs themselves put into requests, as the recorded traces show them, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

JAVA_NAME_PATTERN: Final = "^_?[a-zA-Z0-9]*([. _-][a-zA-Z0-9]+)*$"

JAVA_SCHEMA_NOTE: Final = (
    "IMPORTANT: You have access to other tools, but you must provide your final response using the set_model_response "
    "tool with the required structured format. After using any other tools needed to complete the task, always call "
    "set_model_response with your final answer in the specified schema format."
)
"""`OutputSchema.java`; trace `g-schema-tools-set-gemini-2.5-flash`."""

JAVA_SET_MODEL_RESPONSE: Final = {
    "name": "set_model_response",
    "description": (
        "Set your final response using the required output schema. After using any other tools needed to complete the "
        "task, always call set_model_response with your final answer in the specified schema format."
    ),
}
"""`SetModelResponseTool.java`."""

JAVA_TRANSFER_DECLARATION: Final[dict[str, Any]] = {
    "name": "transfer_to_agent",
    "description": (
        "Transfer the question to another agent.\n\n"
        "  This tool hands off control to another agent when it's more suitable to\n"
        "  answer the user's question according to the agent's description.\n\n"
        "  Args:\n    agent_name: the agent name to transfer to.\n  "
    ),
    "parameters": {"type": "OBJECT", "properties": {"agent_name": {"type": "STRING"}}, "required": ["agent_name"]},
    "response": {"type": "NULL"},
}
"""`AgentTransfer.java`; trace `f-transfer`."""


def java_transfer(targets: Sequence[tuple[str, str | None]], parent: str | None) -> str:
    """What an agent is told about its transfer targets (name, description). `parent` is named when it may go back.

    Source: `AgentTransfer.java`; traces `f-transfer*`. An unset description reads `null`; the names of the last
    sentence are sorted with their backquotes.
    """
    listed = "".join(
        f"\nAgent name: {name}\nAgent description: {'null' if description is None else description}\n\n"
        for name, description in targets
    )
    names = ", ".join(sorted((f"`{name}`" for name, _ in targets), key=utf16))
    text = (
        f"\nYou have a list of other agents to transfer to:\n\n{listed}\n"
        "If you are the best to answer the question according to your description, you\ncan answer it.\n\n"
        "If another agent is better for answering the question according to its\n"
        "description, call `transfer_to_agent` function to transfer the\nquestion to that agent. When transferring, "
        "do not generate any text other than\nthe function call.\n\n"
        f"**NOTE**: the only available agents for `transfer_to_agent` function are {names}.\n"
    )
    if parent is None:
        return text
    return f"{text}\nIf neither you nor the other agents are best for the question, transfer to your parent agent {parent}.\n"


def utf16(text: str) -> bytes:
    """Sort key of Java's `String.compareTo`."""
    return text.encode("utf-16-be", "surrogatepass")
