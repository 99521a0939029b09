"""Pipelines as text: the words of the cells, readable in a diff, and back."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from adknb.core.errors import SpecError
from adknb.notebook.agent_line import AGENT_LINE, agent_options, to_line
from adknb.notebook.chosen_files import check_pipelines
from adknb.notebook.command import UsageError
from adknb.notebook.pipelines import AgentCell, Pipeline, why_not

PIPELINE_START = "%%agents "
AGENT_START = "%agent "
_ESCAPED = re.compile(r"\\(?=\\*(?:%agent |%%agents ))")
_TO_ESCAPE = re.compile(r"\\*(?:%agent |%%agents )")


def to_text(pipeline: Pipeline) -> str:
    """The pipeline as one `%%agents` cell; `from_text` reads it back.

    A line of a prompt that would begin another agent gets a backslash, which reading takes away again. Raises `SpecError` for
    a line break in an option and for a name that begins with `-`.
    """
    blocks = [f"{PIPELINE_START}{shlex.quote(pipeline.name)}"]
    for agent in pipeline.agents:
        if agent.name.startswith("-"):
            raise SpecError(f"agent {agent.name!r}: in a file a name that begins with - reads as an option. Rename it.")
        line = to_line(agent)
        if "\n" in line:
            raise SpecError(
                f"agent {agent.name!r}: an option has a line break, and its line in the file cannot. Take it out."
            )
        if agent.options.prompt_file is not None:
            blocks.append(f"{AGENT_START}{line}")
            continue
        prompt = "\n".join(f"\\{text}" if _TO_ESCAPE.match(text) else text for text in agent.prompt.split("\n"))
        blocks.append(f"{AGENT_START}{line}\n{prompt}")
    return "\n".join(blocks) + "\n"


def from_text(text: str, place: str) -> list[Pipeline]:
    """The pipelines of a file. `place` names it in errors, with the line."""
    starts: list[tuple[int, str]] = []
    bodies: list[list[str]] = []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        if line.startswith(PIPELINE_START):
            starts.append((number, line[len(PIPELINE_START) :]))
            bodies.append([])
        elif bodies:
            bodies[-1].append(line)
        elif line.strip():
            raise UsageError(f"{place}, line {number}: a pipeline begins with %%agents NAME, not with {line[:60]!r}")
    pipelines = []
    for (number, line), body in zip(starts, bodies, strict=True):
        try:
            (pipeline,) = shlex.split(line)
        except ValueError:
            raise UsageError(f"{place}, line {number}: write %%agents NAME, not {PIPELINE_START}{line[:60]}") from None
        is_last = body is bodies[-1]
        pipelines.append(
            agents_from_text(pipeline, "\n".join(body if is_last else _without_gap(body)), None, place, number)
        )
    return pipelines


def agents_from_text(name: str, body: str, cell: str | None, place: str, first_line: int = 1) -> Pipeline:
    """The pipeline that the body of a `%%agents NAME` cell describes; the cell's own line is `first_line`."""
    agents: list[AgentCell] = []
    prompts: list[list[str]] = []
    for number, line in enumerate(body.split("\n"), first_line + 1):
        where = f"{place}, line {number}"
        if line.startswith(AGENT_START):
            try:
                options = AGENT_LINE.parse(line[len(AGENT_START) :])
                agent = AgentCell(options.name, "", agent_options(options), cell)
            except SpecError as error:
                raise SpecError(f"{where}: {error}") from None
            except UsageError as error:
                raise UsageError(f"{where}: {error}") from None
            if any(known.name == agent.name for known in agents):
                raise UsageError(f"{where}: pipeline {name!r} has two agents named {agent.name!r}. Rename one.")
            agents.append(agent)
            prompts.append([])
        elif prompts:
            prompts[-1].append(_ESCAPED.sub("", line, count=1) if _ESCAPED.match(line) else line)
        elif line.strip():
            raise UsageError(f"{where}: the first agent begins with %agent NAME, not with {line[:60]!r}")
    for agent, prompt in zip(agents, prompts, strict=True):
        if agent.options.prompt_file is not None and "".join(prompt).strip():
            raise UsageError(f"{place}: agent {agent.name!r} has a prompt and a --prompt-file. Leave one of them out.")
    return Pipeline(
        name,
        tuple(
            AgentCell(agent.name, "\n".join(prompt), agent.options, cell)
            for agent, prompt in zip(agents, prompts, strict=True)
        ),
    )


def save(pipelines: list[Pipeline], path: str) -> Path:
    """Write pipelines into a file; returns its path. Nothing is written unless all of them can be."""
    text = "\n".join(to_text(pipeline) for pipeline in pipelines)
    target = Path(path).expanduser()
    try:
        target.write_text(text, encoding="utf-8", errors="surrogatepass", newline="\n")
    except (OSError, ValueError) as error:  # ValueError: a character that no path can have
        raise SpecError(f"cannot write {path}: {why_not(error)}") from error
    return target


def load(path: str) -> list[Pipeline]:
    """The pipelines of a file. Raises `SpecError` when it cannot be read, holds none, or names files outside the folder."""
    try:
        text = Path(path).expanduser().read_bytes().decode("utf-8", errors="surrogatepass")
    except (OSError, ValueError) as error:
        raise SpecError(f"cannot read {path}: {why_not(error)}") from error
    pipelines = from_text(text, path)
    if not pipelines:
        raise SpecError(f"{path} holds no pipeline; one begins with %%agents NAME")
    check_pipelines(pipelines, path)
    return pipelines


def _without_gap(body: list[str]) -> list[str]:
    """Without the blank line that `save` puts between two pipelines."""
    return body[:-1] if body and not body[-1] else body
