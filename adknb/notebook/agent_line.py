"""The line of an agent's cell, `%%agent NAME …`: its options, read into `AgentOptions` and written back."""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import replace
from typing import Any

from adknb.core.specs import GenerateContentConfig
from adknb.notebook.command import Argument, Command, Option, UsageError
from adknb.notebook.pipelines import CALLBACKS, AgentCell, AgentOptions

_CALLBACK_HELP = {
    "before_agent": "functions of a CallbackContext; text or Content that one returns stands for the agent's answer",
    "after_agent": "functions of a CallbackContext, after the agent; what one returns is a further reply",
    "before_model": "functions of (CallbackContext, LlmRequest); what one returns stands for the model's reply",
    "after_model": "functions of (CallbackContext, LlmResponse); what one returns replaces the reply",
    "before_tool": "functions of (tool, args, ToolContext); a dict that one returns stands for the tool's result",
    "after_tool": "functions of (tool, args, ToolContext, result); a dict that one returns replaces the result",
}

_OWN = ("temperature", "max_output_tokens", "seed")
"""Fields of generate_content_config that have an option of their own."""

DESCRIBING = (
    Option(
        "--key", "the state key that receives the reply (output_key)", "KEY", completes="keys", aliases=("output_key",)
    ),
    Option(
        "--include",
        "which history its requests carry (include_contents)",
        choices=("default", "none"),
        aliases=("include_contents",),
    ),
    Option("--description", "what the agent is for; stands in its own prompt", "TEXT"),
    Option(
        "--model", "the model of this agent alone: a name, or a variable that holds one", "MODEL", completes="models"
    ),
    Option("--tools", "functions that the model may call, by name, joined by commas", "NAMES", completes="callbacks"),
    Option(
        "--schema",
        "the reply's schema (output_schema): a pydantic class or a dict, by name",
        "NAME",
        completes="schemas",
        aliases=("output_schema", "response_schema"),
    ),
    *(
        Option(
            f"--{kind.replace('_', '-')}",
            _CALLBACK_HELP[kind],
            "NAMES",
            completes="callbacks",
            aliases=(f"{kind}_callback",),
        )
        for kind in CALLBACKS
    ),
    Option("--temperature", "how freely the model answers, 0 for not at all", "NUMBER"),
    Option("--max-output-tokens", "where the model's reply is cut", "COUNT"),
    Option("--seed", "for models that take one", "NUMBER"),
    Option(
        "--config",
        "more of generate_content_config, as JSON",
        "JSON",
        aliases=("generate_content_config", *(name for name in GenerateContentConfig.model_fields if name not in _OWN)),
    ),
    Option("--prompt-file", "take the prompt from this file, read anew on each run", "FILE", completes="files"),
)
"""What an agent is, without its place."""

NAME = Argument("name", "the agent's name, as it stands in its prompt", completes="agents")

_IN_PYTHON = "Agents of cells have none. Write the agent in Python, and run its variable: %%pipeline VARIABLE."

ELSEWHERE = {
    "instruction": "The instruction is the cell's body, or the text of --prompt-file.",
    "name": "The name is the line's first word.",
    "sub_agents": "A pipeline's agents are the cells that name it with --pipeline, or one %%agents cell.",
    **dict.fromkeys(("global_instruction", "disallow_transfer_to_parent", "disallow_transfer_to_peers"), _IN_PYTHON),
}
"""Fields of ADK's that are no options of an agent's line."""

_NONE = AgentOptions()


def _not_run(*_: Any) -> None:
    """This command only reads a line inside a file or cell."""


AGENT_LINE = Command(
    "%agent", "One agent of a file or of a %%agents cell.", _not_run, (NAME,), DESCRIBING, elsewhere=ELSEWHERE
)


def agent_options(line: argparse.Namespace, known: AgentOptions = _NONE) -> AgentOptions:
    """The options of a parsed line; `known` are kept where the line says nothing else.

    Raises `UsageError` for a number or JSON that cannot be read.
    """
    config = dict(known.config)
    if line.config is not None:
        config |= _config(line.config)
    for name, convert in zip(_OWN, (float, int, int), strict=True):
        value = getattr(line, name)
        if value is not None:
            try:
                config[name] = convert(value)
            except ValueError:
                raise UsageError(f"--{name.replace('_', '-')} takes a number, not {value!r}") from None
    said = {
        name: getattr(line, name)
        for name in ("key", "include", "description", "model", "schema", "prompt_file")
        if getattr(line, name) is not None
    }
    callbacks = {kind: names for kind in CALLBACKS if (names := _names(getattr(line, kind)))}
    return replace(
        known,
        **said,
        tools=_names(line.tools) or known.tools,
        callbacks={**known.callbacks, **callbacks},
        config=config,
    )


def named_options(options: AgentOptions) -> dict[str, str]:
    """Every option that is set, by its name on the line, as the text that stands behind it."""
    named: dict[str, str | None] = {
        "--key": options.key,
        "--include": options.include if options.include != "default" else None,
        "--description": options.description,
        "--model": options.model,
        "--tools": ",".join(options.tools) or None,
        "--schema": options.schema,
        **{f"--{kind.replace('_', '-')}": ",".join(options.callbacks.get(kind, ())) or None for kind in CALLBACKS},
        "--config": json.dumps(dict(options.config), ensure_ascii=False) if options.config else None,
        "--prompt-file": options.prompt_file,
    }
    return {name: value for name, value in named.items() if value is not None}


def to_line(agent: AgentCell) -> str:
    """The agent's name and options, quoted so that `AGENT_LINE.parse` reads them back."""
    words = [agent.name]
    for name, value in named_options(agent.options).items():
        words += [name, value] if not value.startswith("-") else [f"{name}={value}"]
    return shlex.join(words)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip()) if text else ()


def _config(text: str) -> dict[str, Any]:
    """`--config`, checked here, where it was written."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--config takes a JSON object, quoted: --config '{{\"top_p\": 0.9}}'. {error}") from None
    if not isinstance(value, dict):
        raise UsageError(f"--config takes a JSON object, quoted: --config '{{\"top_p\": 0.9}}', not {text}")
    GenerateContentConfig(**value)
    return value
