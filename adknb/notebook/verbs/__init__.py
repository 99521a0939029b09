"""The verbs of `%adk`, a file for each group. A verb is a `Command` whose function takes the bench and the options."""

from __future__ import annotations

from adknb.notebook.command import Command
from adknb.notebook.verbs import check, edit, go, look, settings

GROUPS: dict[str, tuple[Command, ...]] = {
    "go": go.COMMANDS,
    "look": look.COMMANDS,
    "check": check.COMMANDS,
    "edit": edit.COMMANDS,
    "set": settings.COMMANDS,
}

VERBS: dict[str, Command] = {command.verb: command for commands in GROUPS.values() for command in commands}
