"""The magics as commands: their lines, help and examples."""

from __future__ import annotations

from textwrap import fill
from typing import Any, Final

from adknb.core.errors import near_names
from adknb.notebook import compare_line, workflow_line
from adknb.notebook.agent_line import DESCRIBING, ELSEWHERE, NAME
from adknb.notebook.command import TRACEBACK, WIDTH, Argument, Command, Option, UsageError
from adknb.notebook.turn_line import PIPELINE as PIPELINE_NAME, TURN
from adknb.notebook.verbs import GROUPS, VERBS
from adknb.notebook.verbs.go import RUN


def _by_the_magic(*_: Any) -> None:
    """What these commands do is in `magics.py`, which knows the cell."""


_PLACE: Final = (
    Option(
        "--pipeline", "the pipeline that the agent belongs to; without it the one in use", "NAME", completes="pipelines"
    ),
    Option("--at", "its place in the pipeline, from 1", "NUMBER"),
    Option("--after", "the agent that it follows", "NAME", completes="agents"),
    TRACEBACK,
)

AGENT: Final = Command(
    "%%agent",
    "Write an agent: the cell's body is its prompt, as it is typed. Run again, it replaces the agent in its place.",
    _by_the_magic,
    (NAME,),
    (*_PLACE[:1], *DESCRIBING, *_PLACE[1:]),
    (
        "%%agent TriageAgent --pipeline ticket --key triage\nClassify the customer's message. Reply with JSON only.",
        "%%agent DraftAgent --key draft --include none --before-agent require_triage\nTriage result: {triage}",
    ),
    body="the prompt",
    elsewhere=ELSEWHERE,
)

AGENT_LINE: Final = Command(
    "%agent",
    "Change the options of an agent that is there (its prompt stays), or write one whose prompt is in a file.",
    _by_the_magic,
    AGENT.arguments,
    AGENT.options,
    ("%agent DraftAgent --key draft --include none", "%agent DraftAgent --key draft --prompt-file draft.md"),
    elsewhere={**ELSEWHERE, "instruction": "The instruction is the body of %%agent, or the text of --prompt-file."},
)

AGENTS: Final = Command(
    "%%agents",
    "Write a whole pipeline in one cell: a %agent line and its prompt for each agent, in order.",
    _by_the_magic,
    (Argument("pipeline", "the pipeline's name", completes="pipelines"),),
    (TRACEBACK,),
    (
        "%%agents ticket\n%agent TriageAgent --key triage\nClassify the message.\n"
        "%agent DraftAgent --key draft\nTriage: {triage}",
        "%%agents one\n%agent OnlyAgent --prompt-file only.md",
    ),
    body="%agent blocks",
)

_MESSAGE: Final = "The message is the cell's body; %pipeline takes it from a variable: %pipeline NAME --input VARIABLE."

PIPELINE: Final = Command(
    "%%pipeline",
    "Run a pipeline on the message in the cell's body, in a fresh session unless one is named.",
    _by_the_magic,
    (PIPELINE_NAME,),
    TURN,
    (
        "%%pipeline ticket --user user-42 --state user:tier=gold\nI was charged twice for September.",
        "%%pipeline ticket --session chat --clear triage draft\nAny update?",
    ),
    body="the user's message",
    elsewhere={"new_message": _MESSAGE, "message": _MESSAGE, "input": _MESSAGE},
)

PIPELINE_LINE: Final = Command(
    "%pipeline",
    "Run a pipeline without a cell body: from a step of its last run, or on a message in a variable.",
    _by_the_magic,
    (PIPELINE_NAME,),
    (Option("--input", "the variable that holds the message", "VARIABLE", completes="variables"), *TURN),
    ("%pipeline ticket --from DraftAgent", "%pipeline ticket --input message --out run"),
)

STEP: Final = Command(
    "%%step",
    "Try another prompt for one step, from the state before it; the agent and the session stay as they are.",
    _by_the_magic,
    (Argument("name", "the step: DraftAgent, or DraftAgent#2 for its second execution", completes="steps"),),
    (
        RUN,
        Option("--model", "another model for this try", "MODEL", completes="models"),
        Option("--strategy", "another context strategy for this try", "NAME", completes="strategies"),
        TRACEBACK,
    ),
    (
        "%%step DraftAgent\nTriage: {triage}\nAnswer in one sentence.",
        "%%step DraftAgent --strategy none\nTriage: {triage}",
    ),
    body="the prompt to try",
)

_NEVER_WAITS: Final = (
    "A comparison never waits for a person: each variant goes on with what a long-running tool returned at once. To answer, run "
    "%%pipeline NAME --resumable."
)

COMPARE: Final = Command(
    "%%compare",
    "Run a pipeline on several inputs under several variants: what each costs, and which answers change.",
    _by_the_magic,
    (compare_line.PIPELINE,),
    compare_line.OPTIONS,
    (
        "%%compare ticket --variants default none --repeat 3\nI was charged twice for September.\n---\n"
        "My router has been offline since Monday.",
        "%%compare ticket --variants as_written DraftAgent@1 none+off=require_triage --kind paired\n"
        "I was charged twice.\n+++\nAny update?",
    ),
    body="the inputs, with a line --- between two",
    elsewhere={"resumable": _NEVER_WAITS},
)

COMPARE_LINE: Final = Command(
    "%compare",
    "Compare variants without a cell body: on inputs in a file or variable, or dry on the runs that were made.",
    _by_the_magic,
    COMPARE.arguments,
    COMPARE.options,
    ("%compare ticket --inputs tickets.csv --out comparison", "comparison = %compare ticket --kind dry"),
    elsewhere=COMPARE.elsewhere,
)

WORKFLOW: Final = Command(
    "%%workflow",
    "Run a workflow on the input in the cell's body: each step with its policies, and a timeline of what they did.",
    _by_the_magic,
    (workflow_line.WORKFLOW,),
    workflow_line.RUNNING,
    (
        "%%workflow ticket --budget 5000 --timeout 60 --retry 3 --checkpoint\nI was charged twice for September.",
        "%%workflow ticket --cache answers.db\n%step DraftAgent --timeout 30 --on-error continue\nMy router is offline.",
    ),
    body="the input, below %step lines for steps with policies of their own (%step --help)",
)

WORKFLOW_LINE: Final = Command(
    "%workflow",
    "Run a workflow without a cell body: on a variable's value, or on from the checkpoint of a run.",
    _by_the_magic,
    WORKFLOW.arguments,
    (Option("--input", "the variable that holds the input", "VARIABLE", completes="variables"), *workflow_line.RUNNING),
    ("%workflow ticket --resume last", "result = %workflow ticket --input message --budget 5000"),
)

STEP_LINE: Final = Command(
    "%step",
    "In a %%workflow cell, above the input: the policies of one step.",
    _by_the_magic,
    (Argument("name", "the step: the agent's name", completes="agents"),),
    workflow_line.STEP_OPTIONS,
    ("%step DraftAgent --timeout 30 --retry 3 --on-error continue", "%step CheckAgent --condition has_claims"),
)

MAGICS: Final = {
    command.invocation: command
    for command in (
        AGENT, AGENT_LINE, AGENTS, PIPELINE, PIPELINE_LINE, STEP, COMPARE, COMPARE_LINE, WORKFLOW, WORKFLOW_LINE, STEP_LINE,
    )
}  # fmt: skip
"""Every magic but `%adk`, by its name."""

LATER_VERBS: Final = {
    "export": "%adk export comes with a later version. Now: %adk save FILE, or %adk contract and its to_python().",
}


class _Adk:
    """`%adk` itself: the list of verbs."""

    def find(self, verb: str) -> Command:
        """Raises `UsageError` with the near names."""
        if verb not in VERBS:
            raise UsageError(f"%adk: there is no verb {verb!r}.{near_names(verb, VERBS)} %adk alone lists them.")
        return VERBS[verb]

    def help(self) -> str:
        lines = ["%adk VERB …", "", "The bench's verbs; every one returns an object: df = %adk state"]
        for group, commands in GROUPS.items():
            lines += ["", group]
            for command in commands:
                head = f"  {command.verb:10}  "
                lines.append(fill(command.summary, WIDTH, initial_indent=head, subsequent_indent=" " * len(head)))
        lines += ["", "%adk help VERB has a verb's options.", "", "Examples:", "  %adk steps", "  df = %adk state"]
        return "\n".join(lines)


ADK: Final = _Adk()
