"""The magics. Each is one small function; the work is in `bench` and below."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import wraps
from typing import Any

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand

from adknb.core.errors import NotSupported
from adknb.core.run import Run
from adknb.notebook import files
from adknb.notebook.agent_line import agent_options
from adknb.notebook.bench import Bench
from adknb.notebook.cells import RunningCell
from adknb.notebook.command import Command, UsageError
from adknb.notebook.failures import shown_errors
from adknb.notebook.ghosts import ghost_remarks
from adknb.notebook.live import LiveRun
from adknb.notebook.magic_lines import ADK, AGENT, AGENT_LINE, AGENTS, COMPARE, LATER_VERBS, PIPELINE, PIPELINE_LINE, STEP
from adknb.notebook.results import AgentCard, HelpText, PipelineCard, VerbList
from adknb.notebook.turn_line import line_message, number, turn_request
from adknb.notebook.verbs import GROUPS, VERBS
from adknb.notebook.verbs.settings import named_model


def _magic(command: Command) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A magic of this command: its help is the docstring, its line is parsed, its errors are shown as cards."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def magic(self: AdkMagics, line: str, cell: str | None = None) -> Any:
            if line.strip() in ("--help", "-h"):
                return self.shown(HelpText(command.help()))
            with shown_errors("--traceback" in line.split()):
                body = None if cell is None else self.cell.body(command.invocation, cell)
                return self.shown(function(self, command.parse(line), body))

        magic.__doc__ = command.help()
        return magic

    return decorate


@magics_class
class AdkMagics(Magics):
    """The bench's magics in one IPython shell."""

    def __init__(self, shell: Any, bench: Bench, cell: RunningCell) -> None:
        super().__init__(shell)
        self.bench = bench
        self.cell = cell

    def shown(self, result: Any) -> Any:
        """The result, for IPython to display; where no cell is running (a script) it is printed instead."""
        if result is None or self.cell.active:
            return result
        show = getattr(result, "_repr_mimebundle_", None)
        print(show()["text/plain"] if show is not None else result)
        return None

    @no_var_expand
    @cell_magic("agent")
    @_magic(AGENT)
    def agent_cell(self, options: Namespace, body: str) -> AgentCard:
        return self._write_agent(options, body)

    @no_var_expand
    @line_magic("agent")
    @_magic(AGENT_LINE)
    def agent_line(self, options: Namespace, body: None) -> AgentCard:
        """Another option for an agent that is there (its prompt stays), or an agent whose prompt is in a file."""
        pipeline = self._pipeline_of(options)
        known = self.bench.pipelines.get(pipeline)
        agent = next((found for found in known.agents if found.name == options.name), None) if known else None
        if agent is None and options.prompt_file is None:
            raise UsageError(
                f"%agent {options.name}: there is no such agent in {pipeline!r} yet. Write its prompt below %%agent "
                f"{options.name}, or name a file: --prompt-file FILE"
            )
        return self._write_agent(options, agent.prompt if agent is not None else "")

    @no_var_expand
    @cell_magic("agents")
    @_magic(AGENTS)
    def agents_cell(self, options: Namespace, body: str) -> PipelineCard:
        self.bench.put_pipeline(files.agents_from_text(options.pipeline, body, self.cell.id, "this cell"))
        return PipelineCard(
            self.bench.pipelines[options.pipeline], self.bench.settings.rules, self._remarks(), self.bench.namespace
        )

    @no_var_expand
    @cell_magic("pipeline")
    @_magic(PIPELINE)
    def pipeline_cell(self, options: Namespace, body: str) -> None:
        self._run(options, body)

    @no_var_expand
    @line_magic("pipeline")
    @_magic(PIPELINE_LINE)
    def pipeline_line(self, options: Namespace, body: None) -> None:
        needs_message = getattr(options, "from") is None or options.input is not None
        self._run(options, line_message(options.input, self.bench.namespace) if needs_message else "")

    @no_var_expand
    @cell_magic("step")
    @_magic(STEP)
    def step_cell(self, options: Namespace, body: str) -> None:
        with LiveRun(self.bench, self.shell) as live:
            model = named_model(self.bench, options.model) if options.model is not None else None
            live.show(
                self.bench.try_step(options.name, body, options.run, model=model, strategy=options.strategy)
            )

    @no_var_expand
    @cell_magic("compare")
    @_magic(COMPARE)
    def compare_cell(self, options: Namespace, body: str) -> None:
        raise NotSupported("%%compare comes with a later version. Now: %adk compare puts a run's prompts side by side, dry.")

    @no_var_expand
    @line_magic("adk")
    def adk(self, line: str) -> Any:
        verb, _, rest = line.strip().partition(" ")
        if not verb:
            return self.shown(
                VerbList({group: tuple((c.verb, c.summary) for c in commands) for group, commands in GROUPS.items()})
            )
        words = rest.split()
        with shown_errors("--traceback" in words):
            if verb in ("help", "--help", "-h"):
                return self.shown(HelpText(ADK.find(words[0]).help() if words else ADK.help()))
            if verb in LATER_VERBS:
                raise NotSupported(LATER_VERBS[verb])
            command = ADK.find(verb)
            if "--help" in words or "-h" in words:
                return self.shown(HelpText(command.help()))
            options = command.parse(rest.replace("--traceback", ""))
            if verb not in ("step", "continue", "rewind"):
                return self.shown(command.run(self.bench, options))
            with LiveRun(self.bench, self.shell) as live:
                run: Run = command.run(self.bench, options)
                live.show(run)
                return None

    adk.__doc__ = ADK.help()

    # how it works

    def _pipeline_of(self, options: Namespace) -> str:
        return options.pipeline or self.bench.current or "pipeline"

    def _write_agent(self, options: Namespace, prompt: str) -> AgentCard:
        agent = self.bench.put_agent(
            self._pipeline_of(options), options.name, prompt, agent_options(options), cell=self.cell.id,
            at=number("--at", options.at), after=options.after,
        )  # fmt: skip
        pipeline = self.bench.pipelines[self._pipeline_of(options)]
        remarks = self._remarks() + ghost_remarks(pipeline, agent)
        return AgentCard(pipeline, agent, self.bench.settings.rules, remarks, self.bench.namespace)

    def _remarks(self) -> tuple[str, ...]:
        """What the last change hid: the bench's names win over variables."""
        return tuple(
            f"the variable {name!r} (a {type(value).__name__}) is hidden: the name now stands for what the bench has"
            for name, value in self.bench.hidden.items()
        )

    def _run(self, options: Namespace, body: str) -> None:
        bench = self.bench
        request = turn_request(options, body, self.cell.id, bench.namespace)
        model = named_model(bench, options.model) if options.model is not None else None
        chosen = {"model": model, "strategy": options.strategy, "rules": options.rules}
        step = getattr(options, "from")
        with LiveRun(bench, self.shell) as live:
            if step is None:
                run = bench.run(options.pipeline, request, **chosen)
            else:
                record = bench.record(options.run, options.pipeline)
                if body.strip() and body != record.run.message.text:
                    raise UsageError(
                        f"--from {step} goes on from run {record.run.id}, whose message is another. Leave the cell's body "
                        "out (%pipeline), or run the whole pipeline with the new message."
                    )
                run = bench.run_from(step, record.run.id, **chosen)
            if options.out is not None:
                if not options.out.isidentifier():
                    raise UsageError(f"--out takes a variable's name, not {options.out!r}")
                bench.namespace[options.out] = run
            live.show(run)


def register(shell: Any, bench: Bench) -> None:
    """Give the shell the magics, their completion, and the events that say which cell runs."""
    from adknb.notebook.complete import matcher

    cell = RunningCell()
    bench.namespace = shell.user_ns
    shell.events.register("pre_run_cell", cell.enter)
    shell.events.register("post_run_cell", cell.leave)
    shell.register_magics(AdkMagics(shell, bench, cell))
    shell.Completer.custom_matchers.append(matcher(bench, VERBS))
