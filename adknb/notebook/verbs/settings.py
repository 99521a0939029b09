"""Settings: what pipelines run with."""

from __future__ import annotations

from argparse import Namespace
from typing import Any, Final

from adknb.core.errors import NotSupported
from adknb.notebook.bench import Bench
from adknb.notebook.command import Command, Option
from adknb.notebook.results import Message

LATER: Final = {
    "db": "sessions in a database come with a later version; sessions live in this kernel's memory now",
    "record": "recorded replies come with a later version; script replies with ScriptedModel, or use --model local",
}


def use(bench: Bench, options: Namespace) -> Message:
    for name, what in LATER.items():
        if getattr(options, name) is not None:
            raise NotSupported(f"--{name}: {what}.")
    changed: dict[str, Any] = {
        name: getattr(options, name) for name in ("rules", "strategy", "user") if getattr(options, name) is not None
    }
    if options.model is not None:
        changed["model"] = named_model(bench, options.model)
    if changed:
        bench.use(**changed)
    settings = bench.settings
    model = settings.model if isinstance(settings.model, str) or settings.model is None else settings.model.name
    return Message(
        f"model {model or 'not set'} · rules {settings.rules} · strategy {settings.strategy} · user {settings.user}",
        () if settings.model is not None else ("Give a model: %adk use --model local, or the name of a variable.",),
    )


def named_model(bench: Bench, name: str) -> Any:
    """A variable of the notebook that holds a model, else the model's name as it is."""
    value = bench.namespace.get(name)
    return value if hasattr(value, "generate_content_async") else name


COMMANDS: Final = (
    Command(
        "%adk use",
        "Set what pipelines run with in this notebook; without options show it.",
        use,
        (),
        (
            Option("--model", "a model's name (local, echo, …) or a variable that holds one", "MODEL", completes="models"),
            Option("--rules", "whose rules: java", "NAME", completes="rules"),
            Option("--strategy", "which history requests carry: as_written, default, none", "NAME", completes="strategies"),
            Option("--user", "the user id of new sessions", "ID"),
            Option("--db", "sessions in a database (later)", "URL"),
            Option("--record", "keep every reply in a file (later)", "FILE", completes="files"),
        ),
        ("%adk use", "%adk use --model local --strategy none"),
    ),
)
