"""The magics. Each is one small function; the work is in `bench` and below."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand

from adknb.compare.comparison import Comparison
from adknb.core.errors import NotSupported
from adknb.core.run import Run
from adknb.notebook import files
from adknb.notebook.agent_line import agent_options
from adknb.notebook.bench import Bench
from adknb.notebook.cells import RunningCell
from adknb.notebook.choices import choices
from adknb.notebook.command import Command, UsageError
from adknb.notebook.comparing import Comparing
from adknb.notebook.failures import shown_errors
from adknb.notebook.ghosts import ghost_remarks, gone_remarks
from adknb.notebook.live import LiveRun
from adknb.notebook.magic_lines import (
    ADK,
    AGENT,
    AGENT_LINE,
    AGENTS,
    COMPARE,
    COMPARE_LINE,
    LATER_VERBS,
    PIPELINE,
    PIPELINE_LINE,
    STEP,
    STEP_LINE,
    WORKFLOW,
    WORKFLOW_LINE,
)
from adknb.notebook.outline import given_keys
from adknb.notebook.pipelines import AgentOptions, Pipeline
from adknb.notebook.results import AgentCard, HelpText, PipelineCard, VerbList
from adknb.notebook.turn_line import check_from, check_out, line_message, number, turn_request
from adknb.notebook.verbs import GROUPS, VERBS, workflow
from adknb.notebook.workflow_running import Running
from adknb.workflow.result import WorkflowResult


def _magic(command: Command) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A magic of this command: its help is the docstring, its line is parsed, its errors are shown as cards."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def magic(self: AdkMagics, line: str, cell: str | None = None) -> Any:
            words = line.split()
            if "--help" in words or "-h" in words:
                return self.shown(HelpText(command.help()))
            with shown_errors("--traceback" in words, self.in_front_end):
                options = command.parse(line)
                if cell is None:
                    return self.taken(command.invocation, line, function(self, options))
                return self.shown(function(self, options, self.cell.body(command.invocation, cell)))

        magic.__doc__ = command.help()
        return _registered(command.invocation)(magic)

    return decorate


def _registered(invocation: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A cell or line magic of this name. IPython leaves `{…}` and `$…` in its line alone."""
    kind: Any = cell_magic if invocation.startswith("%%") else line_magic
    untouched: Any = no_var_expand

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        magic: Callable[..., Any] = untouched(kind(invocation.lstrip("%"))(function))
        return magic

    return decorate


@magics_class
class AdkMagics(Magics):
    """The bench's magics in one IPython shell."""

    def __init__(self, shell: Any, bench: Bench, cell: RunningCell) -> None:
        super().__init__(shell)
        self.bench = bench
        self.cell = cell
        self.comparing = Comparing(bench, shell)
        self.workflows = Running(bench, shell)

    @property
    def in_front_end(self) -> bool:
        return hasattr(self.shell, "kernel")

    def shown(self, result: Any) -> Any:
        """The result, for IPython to display; where no cell is running (a script) it is printed too."""
        if result is not None and not (self.cell.active or self.in_front_end):
            show = getattr(result, "_repr_mimebundle_", None)
            print(show()["text/plain"] if show is not None else result)
        return result

    def taken(self, invocation: str, line: str, result: Any) -> Any:
        """The result of a line magic. A run or comparison is displayed already, so it is returned only to who takes it."""
        if not isinstance(result, (Run, Comparison, WorkflowResult)):
            return self.shown(result)
        return None if self.cell.displays(invocation, line) else result

    @_magic(AGENT)
    def agent_cell(self, options: Namespace, body: str) -> AgentCard:
        if options.prompt_file is not None and body.strip():
            raise UsageError(
                f"agent {options.name!r} has a prompt and a --prompt-file. Leave one out: %agent {options.name} --prompt-file "
                f"{options.prompt_file} takes the file's."
            )
        if options.prompt_file is None and not body.strip():
            raise UsageError(f"agent {options.name!r}: the prompt is missing. Write it below %%agent {options.name}.")
        cell = self.cell.id_as("%%agent")
        pipeline = options.pipeline or self.bench.home_of(cell) or self._pipeline_in_use
        return self._write_agent(pipeline, options, body, agent_options(options), cell)

    @_magic(AGENT_LINE)
    def agent_line(self, options: Namespace) -> AgentCard:
        pipeline = options.pipeline or self._pipeline_in_use
        known = self.bench.pipelines.get(pipeline, Pipeline(pipeline)).find(options.name)
        if known is not None:
            prompt = known.prompt if options.prompt_file is None else ""
            return self._write_agent(pipeline, options, prompt, agent_options(options, known.options), known.cell)
        if options.prompt_file is None:
            raise UsageError(
                f"there is no agent {options.name!r} in {pipeline!r} yet. Write its prompt below %%agent {options.name}, or "
                f"name a file: %agent {options.name} --prompt-file FILE"
            )
        return self._write_agent(pipeline, options, "", agent_options(options), self.cell.id_as("%agent"))

    @_magic(AGENTS)
    def agents_cell(self, options: Namespace, body: str) -> PipelineCard:
        cell = self.cell.id_as("%%agents")
        pipeline = files.agents_from_text(options.pipeline, body, cell, "this cell")
        if not pipeline.agents:
            raise UsageError(
                f"pipeline {pipeline.name!r}: the agents are missing. Write for each %agent NAME, its prompt below."
            )
        before = self.bench.pipelines
        self.bench.put_pipelines([pipeline], f"{pipeline.name}: written", cell)
        return PipelineCard(
            self.bench.pipelines[pipeline.name], self.bench.settings.rules, self._remarks(before), self.bench.namespace,
            given_keys(self.bench.records, pipeline.name), self.bench.settings.resumable,
        )  # fmt: skip

    @_magic(PIPELINE)
    def pipeline_cell(self, options: Namespace, body: str) -> None:
        self._run(options, body)  # displayed already, and a cell magic's value cannot be taken

    @_magic(PIPELINE_LINE)
    def pipeline_line(self, options: Namespace) -> Run:
        needs_message = getattr(options, "from") is None or options.input is not None
        return self._run(options, line_message(options.input, self.bench.namespace) if needs_message else "")

    @_magic(STEP)
    def step_cell(self, options: Namespace, body: str) -> None:
        chosen = choices(options, self.bench.namespace, "models")
        with LiveRun(self.bench, self.shell) as live:
            live.show(self.bench.try_step(options.name, body, options.run, **chosen))

    @_magic(COMPARE)
    def compare_cell(self, options: Namespace, body: str) -> None:
        check_out(options.out, self.bench.pipelines)
        self.comparing.run(options, body)  # displayed already, and a cell magic's value cannot be taken

    @_magic(COMPARE_LINE)
    def compare_line(self, options: Namespace) -> Comparison:
        check_out(options.out, self.bench.pipelines)
        return self.comparing.run(options, "")

    @_magic(WORKFLOW)
    def workflow_cell(self, options: Namespace, body: str) -> None:
        check_out(options.out, self.bench.pipelines)
        self.workflows.cell(options, body, STEP_LINE)  # displayed already, and a cell magic's value cannot be taken

    @_magic(WORKFLOW_LINE)
    def workflow_line(self, options: Namespace) -> WorkflowResult:
        check_out(options.out, self.bench.pipelines)
        return self.workflows.line(options)

    @_magic(STEP_LINE)
    def step_line(self, options: Namespace) -> None:
        raise UsageError(f"%step {options.name} belongs into a %%workflow cell, above the input")

    @_registered("%adk")
    def adk(self, line: str) -> Any:
        verb, _, rest = line.strip().partition(" ")
        if not verb:
            return self.shown(
                VerbList({group: tuple((c.verb, c.summary) for c in commands) for group, commands in GROUPS.items()})
            )
        words = rest.split()
        with shown_errors("--traceback" in words, self.in_front_end):
            if verb in ("help", "--help", "-h"):
                return self.shown(HelpText(ADK.find(words[0]).help() if words else ADK.help()))
            if verb in LATER_VERBS:
                raise NotSupported(LATER_VERBS[verb])
            command = ADK.find(verb)
            if "--help" in words or "-h" in words:
                return self.shown(HelpText(command.help()))
            options = command.parse(rest)
            if verb == "workflow" and workflow.is_resume(options):
                found = self.workflows.resume(workflow.chosen(self.bench, options), workflow.run_named(options))
                return self.taken("%adk", line, found)
            if verb not in ("step", "continue", "rewind", "answer"):
                return self.shown(command.run(self.bench, options))
            with LiveRun(self.bench, self.shell) as live:
                run: Run = command.run(self.bench, options)
                live.show(run)
            return self.taken("%adk", line, run)

    adk.__doc__ = ADK.help()

    # how it works

    @property
    def _pipeline_in_use(self) -> str:
        return self.bench.current or "pipeline"

    def _write_agent(
        self, pipeline: str, options: Namespace, prompt: str, described: AgentOptions, cell: str | None
    ) -> AgentCard:
        bench, before = self.bench, self.bench.pipelines
        at = number("--at", options.at)
        agent = bench.put_agent(pipeline, options.name, prompt, described, cell=cell, at=at, after=options.after)
        remarks = self._remarks(before) + ghost_remarks(bench.pipelines[pipeline], agent)
        return AgentCard(
            bench.pipelines[pipeline], agent, bench.settings.rules, remarks, bench.namespace,
            given_keys(bench.records, pipeline), bench.settings.resumable,
        )  # fmt: skip

    def _remarks(self, before: Mapping[str, Pipeline]) -> tuple[str, ...]:
        """What the last change took away: agents that the cell wrote before, and the user's variables of the same name."""
        return gone_remarks(before, self.bench.pipelines) + tuple(
            f"the variable {name!r} (a {type(value).__name__}) is hidden: the name now stands for what the bench has"
            for name, value in self.bench.hidden.items()
        )

    def _run(self, options: Namespace, body: str) -> Run:
        bench, before = self.bench, self.bench.last
        check_out(options.out, bench.pipelines)
        chosen = choices(options, bench.namespace, "models")
        step = getattr(options, "from")
        try:
            with LiveRun(bench, self.shell) as live:
                if step is None:
                    request = turn_request(options, body, self.cell.next_turn(), bench.namespace)
                    run = bench.run(options.pipeline, request, **chosen)
                else:
                    record = bench.record(options.run, options.pipeline, trials=False)
                    check_from(options, body, record)
                    run = bench.run_from(step, record.run.id, **chosen)
                live.show(run)
        finally:
            if options.out is not None and bench.last is not before:
                bench.namespace[options.out] = bench.last
        return run


def register(shell: Any, bench: Bench) -> None:
    """Give the shell the magics, their completion, and the events that say which cell runs."""
    from adknb.notebook.complete import matcher

    cell = RunningCell()
    bench.namespace = shell.user_ns
    bench.refresh()
    shell.events.register("pre_run_cell", cell.enter)
    shell.events.register("pre_run_cell", lambda info: bench.refresh())
    shell.events.register("post_run_cell", cell.leave)
    shell.register_magics(AdkMagics(shell, bench, cell))
    shell.Completer.custom_matchers.append(matcher(bench, VERBS))
