"""The verbs of `%adk`, a file for each group. A verb is a `Command` whose function takes the bench and the options."""

from __future__ import annotations

from dataclasses import replace

from adknb.notebook.command import TRACEBACK, Command
from adknb.notebook.verbs import answers, check, edit, explore, go, look, sessions, settings, workflow

_COMMANDS = {
    "go": (*go.COMMANDS, answers.ANSWER),
    "look": (*look.COMMANDS, sessions.COMMAND, answers.PENDING, explore.COMMAND, workflow.COMMAND),
    "check": check.COMMANDS,
    "edit": edit.COMMANDS,
    "set": settings.COMMANDS,
}

GROUPS: dict[str, tuple[Command, ...]] = {
    group: tuple(replace(command, options=(*command.options, TRACEBACK)) for command in commands)
    for group, commands in _COMMANDS.items()
}

VERBS: dict[str, Command] = {command.verb: command for commands in GROUPS.values() for command in commands}
