"""Settings: what pipelines run with."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Final

from adknb.models.endpoint import Endpoint
from adknb.notebook.bench import Bench
from adknb.notebook.choices import ANSWERING, choices
from adknb.notebook.command import Command, Option
from adknb.notebook.results import Message
from adknb.runtime.strategies import as_strategy


def use(bench: Bench, options: Namespace) -> Message:
    changed = choices(options, bench.namespace)
    if options.user is not None:
        changed["user"] = options.user
    if options.stream is not None:
        changed["stream"] = options.stream == "on"
    if changed:
        bench.use(**changed)
    settings = bench.settings
    model = settings.model if isinstance(settings.model, str) or settings.model is None else settings.model.name
    strategy = as_strategy(settings.strategy).name
    facts = [f"model {model or 'not set'}", f"rules {settings.rules}", f"strategy {strategy}", f"user {settings.user}"]
    if settings.base_url is not None:
        facts.append(f"at {Endpoint(settings.base_url, None, {}).url}")
    if settings.record is not None:
        facts.append(f"replies in {Path(settings.record.file).name} (record mode {settings.record.mode})")
    if settings.stream:
        facts.append("streamed")
    return Message(
        " · ".join(facts),
        () if settings.model is not None else ("Give a model: %adk use --model local, or the name of a variable.",),
    )


COMMANDS: Final = (
    Command(
        "%adk use",
        "Set what pipelines run with in this notebook; without options show it.",
        use,
        (),
        (
            Option(
                "--model", "a model's name (local, echo, …) or a variable that holds one", "MODEL", completes="models"
            ),
            Option("--rules", "whose rules: java, go, go_fixed, js or python", "NAME", completes="rules"),
            Option(
                "--strategy",
                "which history requests carry: as_written, default, none, state_only",
                "NAME",
                completes="strategies",
            ),
            Option("--user", "the user id of new sessions", "ID"),
            Option("--db", "sessions in a database (later)", "URL"),
            *ANSWERING,
            Option("--stream", "whether to ask for replies in pieces, shown as they come", choices=("on", "off")),
        ),
        ("%adk use", "%adk use --model local --strategy none"),
    ),
)
