"""The widgets' common parts: what the module of JavaScript draws, and plain widgets as the explorer has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from adknb.notebook.cards.style import style
from adknb.notebook.explorer.static import css


class Part(anywidget.AnyWidget):
    """A part that the module draws: `kind` is `strip`, `grid` or `editor`. `html` is escaped already; `data` is set as text."""

    _esm = files(__package__).joinpath("explorer.js").read_text(encoding="utf-8")
    _css = style().removeprefix("<style>").removesuffix("</style>") + css()
    kind = traitlets.Unicode().tag(sync=True)
    html = traitlets.Unicode().tag(sync=True)
    data = traitlets.Dict().tag(sync=True)
    beat = traitlets.Int().tag(sync=True)
    """Counts what the kernel has answered, so that the browser knows when it waits."""


def plain_button(words: str, hint: str, name: str, work: Callable[[Any], object], layout: Any = None) -> Any:
    """A button of the class `name`, by which the module finds it."""
    button = widgets.Button(
        description=words, tooltip=hint, layout=layout or widgets.Layout(width="auto", flex="0 0 auto")
    )
    button.add_class(name)
    button.on_click(work)
    return button


def view_of(box: Any) -> dict[str, Any]:
    """A widget's place in an output."""
    return {"version_major": 2, "version_minor": 0, "model_id": box.model_id}


def choose(menu: Any, options: list[tuple[str, Any]], value: Any) -> None:
    """Give a menu its options and its value, without a step in between that the user did not choose."""
    if list(menu.options) != options:
        menu.options = options
    menu.value = value


def with_children(box: Any) -> Iterator[Any]:
    for child in getattr(box, "children", ()):
        yield from with_children(child)
    yield box


def answer_anywhere(comm: Any) -> None:
    """Let the front end's words on this comm go to the subshell that it names for them, from now on.

    ipykernel 7.4 takes them to the shell that spoke last on the comm, which is the main one while and after a cell draws: there
    they would wait for the cell's end, Cancel too.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = _as_named


def _as_named(data: object, named: str | None) -> str | None:
    """The subshell that the front end named, whoever spoke last."""
    return named
