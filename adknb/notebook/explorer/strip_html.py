"""The strip as HTML: what the widget draws and the static twin holds."""

from __future__ import annotations

from typing import Final

from adknb.core.escape import escape, one_line
from adknb.notebook.cards.html import chip, span
from adknb.notebook.cards.run_card import STATUS_KINDS
from adknb.notebook.explorer.strip import NOT_RUN, Box, Node, Strip

SIGNS: Final = {
    "completed": "✓", "failed": "✗", "interrupted": "■", "paused": "‖", "waiting": "?", "skipped": "↷",
    "running": "…", NOT_RUN: "○",
}  # fmt: skip
NAME: Final = 60
KEYS: Final = 4


def strip_html(strip: Strip, live: bool) -> str:
    """The strip. `live` makes it a list box whose options the arrow keys go through; else it is a plain list."""
    role = 'role="listbox" aria-orientation="horizontal"' if live else 'role="list"'
    name = escape(one_line(strip.root.name, NAME))
    return (
        f'<div class="adknb-strip" {role} aria-label="Steps of {name}">{_node(strip.root, strip.selected, live)}</div>'
    )


def _node(node: Node, selected: str, live: bool) -> str:
    boxes = [_box(node, box, selected, live) for box in node.boxes]
    if node.left_out:
        boxes.insert(len(boxes) - 1, span(f"… {node.left_out:,} more …", "adknb-dim"))
    inner = [*boxes, *(_node(child, selected, live) for child in node.children)]
    if node.kind == "step" and not node.children:
        return "".join(inner)
    name = escape(one_line(node.name, NAME))
    label = {"sequence": "in sequence", "parallel": "at once", "loop": _rounds(node), "step": "with sub-agents"}[
        node.kind
    ]
    return (
        f'<div class="adknb-group adknb-{node.kind}" role="group" aria-label="{name}, {label}">'
        f'<span class="adknb-dim adknb-group-name">{name} · {label}</span>'
        f'<div class="adknb-members">{"".join(inner)}</div></div>'
    )


def _rounds(node: Node) -> str:
    return "again and again" if node.rounds is None else f"up to {node.rounds:,} rounds"


def _box(node: Node, box: Box, selected: str, live: bool) -> str:
    is_selected = box.name == selected
    name = escape(box.name)
    attributes = (
        f'role="option" aria-selected="{"true" if is_selected else "false"}" tabindex="{0 if is_selected else -1}"'
        if live
        else 'role="listitem"'
    )
    kind = STATUS_KINDS.get(box.status, "")
    lines = [
        f'<b class="adknb-title">{escape(one_line(box.name, NAME))}</b>',
        f'<span class="adknb-chip adknb-{kind or "none"}">{SIGNS.get(box.status, "")} {escape(box.status)}</span>',
    ]
    if box.tokens_in is not None:
        out = f" → {box.tokens_out:,}" if box.tokens_out is not None else ""
        lines.append(span(f"{box.tokens_in:,}{out} tokens", "adknb-dim"))
    if box.wrote:
        more = f" and {len(box.wrote) - KEYS} more" if len(box.wrote) > KEYS else ""
        lines.append(span(f"writes {', '.join(box.wrote[:KEYS])}{more}", "adknb-dim"))
    marks = [chip(f"stale: {box.stale}", "warn")] if box.stale else []
    marks += [chip("copied")] if box.copied else []
    marks += [chip("not as written now", "warn")] if node.changed else []
    return (
        f'<div class="adknb-step{" adknb-selected" if is_selected else ""}" data-step="{name}" '
        f'data-status="{escape(box.status)}" {attributes}>{"".join(lines)}{"".join(marks)}</div>'
    )
