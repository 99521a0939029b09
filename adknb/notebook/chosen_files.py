"""Files that a pipeline's file or a database names: nobody typed their names here, so they lie in the notebook's folder or are
not opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from adknb.core.errors import SpecError
from adknb.notebook.pipelines import AgentOptions, Pipeline

_FILE_MODELS: Final = ("replay:", "local:")


def lies_outside(path: str) -> bool:
    """Whether the file is outside the notebook's folder, links followed; true for what is no path at all."""
    folder = Path.cwd().resolve()
    try:
        return not (folder / Path(path).expanduser()).resolve().is_relative_to(folder)
    except (OSError, ValueError, RuntimeError):  # RuntimeError: links in a ring, or no home to expand
        return True


def model_lies_outside(model: object) -> bool:
    """Whether a model's name is that of a file outside the notebook's folder."""
    return isinstance(model, str) and model.startswith(_FILE_MODELS) and lies_outside(model.partition(":")[2])


def chosen_outside(options: AgentOptions) -> Iterator[tuple[str, str]]:
    """The options that name such a file, each with what it says."""
    if options.prompt_file is not None and lies_outside(options.prompt_file):
        yield "--prompt-file", options.prompt_file
    if options.model is not None and model_lies_outside(options.model):
        yield "--model", options.model


def without_outside(options: AgentOptions) -> AgentOptions:
    """The options without those."""
    left_out = {option for option, _ in chosen_outside(options)}
    return replace(
        options,
        prompt_file=None if "--prompt-file" in left_out else options.prompt_file,
        model=None if "--model" in left_out else options.model,
    )


def check_pipelines(pipelines: Iterable[Pipeline], place: str) -> None:
    """Raise `SpecError` for the first agent of a loaded file that names a file outside the notebook's folder."""
    for pipeline in pipelines:
        for agent in pipeline.agents:
            for option, value in chosen_outside(agent.options):
                raise SpecError(
                    f"{place}: agent {agent.name!r} names a file outside the notebook's folder: {option} {value}. A file that is "
                    "loaded cannot choose that. Take the option out there, and say it in a cell of your own."
                )
