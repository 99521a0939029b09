"""The texts that ADK Go itself puts into requests and answers, as the recorded traces show them, byte for byte."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from adknb.rules.go_values import go_html, go_order

GO_CONTINUE: Final = (
    "Continue processing previous requests as instructed. Exit or provide a summary if no more outputs are needed."
)
"""`contents_processor.go`, `ContentsRequestProcessor`; trace `loop-default`."""

GO_SCHEMA_NOTE: Final = (
    "IMPORTANT: You have access to other tools, but you must provide your final response using the set_model_response "
    "tool with the required structured format. After using any other tools needed to complete the task, always call "
    "set_model_response with your final answer in the specified schema format."
)
"""`outputschema_processor.go`; trace `g-schema-tools-text-gemini-2.5-flash`."""

GO_SET_MODEL_RESPONSE: Final = (
    "Set your final response using the required output schema. Use this tool to provide your final structured answer "
    "instead of outputting text directly."
)
"""`outputschema_processor.go`, `setModelResponseTool.Description`."""

GO_LONG_RUNNING: Final = (
    "NOTE: This is a long-running operation. Do not call this tool again if it has already returned some intermediate or "
    "pending status."
)
"""`functiontool/function.go`, `Declaration`; trace `f-declarations-none`."""

GO_TRANSFER: Final = (
    "Transfer the question to another agent.\nThis tool hands off control to another agent when it's more suitable to "
    "answer the user's question according to the agent's description."
)
"""`agent_transfer.go`, `TransferToAgentTool.Description`; trace `f-transfer`."""


def go_transfer(targets: Sequence[tuple[str, str]], parent: str | None) -> str:
    """What an agent is told about its transfer targets (name, description). `parent` is named when it may go back.

    Source: `agent_transfer.go`, `agentTransferInstructionTemplate`, an HTML template; traces `f-transfer*`.
    """
    listed = "".join(
        f"\nAgent name: {go_html(name)}\nAgent description: {go_html(description)}\n\n" for name, description in targets
    )
    names = ", ".join(f"`{go_html(name)}`" for name in sorted((name for name, _ in targets), key=go_order))
    text = (
        f"\nYou have a list of other agents to transfer to:\n\n{listed}\n"
        "If you are the best to answer the question according to your description,\nyou can answer it.\n\n"
        "If another agent is better for answering the question according to its\n"
        "description, call `transfer_to_agent` function to transfer the question to that\n"
        "agent. When transferring, do not generate any text other than the function\ncall.\n\n"
        f"**NOTE**: the only available agents for `transfer_to_agent` function are\n{names}.\n"
    )
    if parent is None:
        return text
    return (
        f"{text}\nIf neither you nor the other agents are best for the question, transfer to your parent agent "
        f"{go_html(parent)}.\n"
    )


def go_unknown_tool(name: str, known: Collection[str]) -> str:
    """`base_flow.go`, `newToolNotFoundError`; trace `unknown-tool`. Go lists the tools in any order, this in that of bytes."""
    return (
        f"tool '{name}' not found.\nAvailable tools: {', '.join(sorted(known, key=go_order))}\n\nPossible causes:\n"
        "  1. LLM hallucinated the function name - review agent instruction clarity\n"
        "  2. Tool not registered - verify agent.tools list\n  3. Name mismatch - check for typos\n\nSuggested fixes:\n"
        "  - Review agent instruction to ensure tool usage is clear\n  - Verify tool is included in agent.tools list\n"
        "  - Check for typos in function name"
    )
