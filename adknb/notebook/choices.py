"""What a line may choose for its runs: the model and where it is asked, the rules, the strategy, the database."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any, Final

from adknb.notebook.answering import Recording
from adknb.notebook.command import Option, UsageError
from adknb.notebook.pipelines import named_model

ANSWERING: Final = (
    Option("--base-url", "where a model behind an API (openai/NAME, gemini-…) is asked", "URL"),
    Option("--record", "keep every reply in this file, and answer from it what it holds", "FILE", completes="files"),
    Option(
        "--record-mode",
        "once: record a new file, replay an old one (the default); new: record what is missing; all: everything anew; "
        "none: only replay",
        choices=("none", "once", "new", "all"),
    ),
)
"""Options about who answers, beside `--model`."""

DB_HELP: Final = "sqlite:///FILE.db, postgresql://…, or memory"


def choices(options: Namespace, namespace: Mapping[str, Any], own_model: str = "model") -> dict[str, Any]:
    """What the line names, as a Runner takes it; a variable's value where it is one.

    The model is given under the name `own_model`: `models` answers also for agents that name one themselves. Raises
    `UsageError` for a record mode without a file.
    """
    chosen = {name: getattr(options, name, None) for name in ("model", "rules", "strategy", "base_url", "db")}
    resumable = getattr(options, "resumable", None)
    if resumable:
        chosen["resumable"] = resumable != "off"
    model = chosen.pop("model")
    if model is not None:
        chosen[own_model] = named_model(namespace, model)
    strategy = namespace.get(chosen["strategy"] or "")
    if isinstance(strategy, Mapping) or hasattr(strategy, "contents"):
        chosen["strategy"] = strategy
    file, mode = getattr(options, "record", None), getattr(options, "record_mode", None)
    if file is not None:
        chosen["record"] = Recording(file, mode or "once")
    elif mode is not None:
        raise UsageError("--record-mode says how to record: name the file with --record FILE")
    return {name: value for name, value in chosen.items() if value is not None}
