"""A workflow's plan drawn as SVG: a row of boxes for each group, from the first to the last, and lines from group to group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from adknb.core.escape import one_line
from adknb.notebook.charts import DIM, INK, PAPER
from adknb.notebook.workflow_picture import document, text
from adknb.workflow.plan import Edge, Plan, PlannedStep

ACROSS: Final = 4
"""Boxes in a row; a group of more goes on in the next row."""
STEPS: Final = 60
"""Boxes that are drawn, the first ones."""
BOX: Final = 214
TALL: Final = 52
"""Pixels of a box's width and height."""
APART: Final = 12
BETWEEN: Final = 34
"""Pixels between two boxes of a row, and between two groups."""
MARGIN: Final = 10
NAME: Final = 24
KEYS: Final = 34
"""Characters of a step's name and of its keys."""
NUMBER: Final = 66
"""Pixels for the words beside a group."""
FRAME: Final = 8
"""Pixels between the boxes of a group and the frame around them."""
LANE: Final = 9
"""Pixels to the right for each line that passes other groups."""


class _Frame(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float


class _Place(NamedTuple):
    """Where a step's box is, its group, and the group's frame: the box itself where the group has no other."""

    x: float
    y: float
    group: int
    frame: _Frame


def plan_svg(plan: Plan) -> str:
    """The picture as an SVG document that needs nothing else. What each box reads and writes stands in it."""
    drawn = plan.steps[:STEPS]
    places: dict[str, _Place] = {}
    pieces: list[str] = []
    y = float(MARGIN)
    for number, group in enumerate(plan.groups):
        members = group[: max(STEPS - len(places), 0)]
        if not members:
            break
        rows, columns = (len(members) - 1) // ACROSS + 1, min(len(members), ACROSS)
        together = len(members) > 1
        around = FRAME if together else 0
        width, height = columns * (BOX + APART) - APART, rows * (TALL + APART) - APART
        frame = _Frame(NUMBER - around, y, NUMBER + width + around, y + height + 2 * around)
        if together:
            pieces.append(_outline(frame))
        pieces.append(text(MARGIN, y + around + TALL / 2, "at once" if together else f"{number + 1}.", DIM))
        for place, step in enumerate(members):
            row, column = divmod(place, ACROSS)
            x = NUMBER + column * (BOX + APART)
            places[step.name] = _Place(x, y + around + row * (TALL + APART), number, frame)
        y = frame.bottom + BETWEEN
    right = max((place.frame.right for place in places.values()), default=float(NUMBER))
    lines, lanes = _edges(plan, places, right)
    boxes = [_box(step, places[step.name]) for step in drawn]
    left_out = len(plan.steps) - len(drawn)
    if left_out:
        pieces.append(text(NUMBER, y - BETWEEN / 2, f"… {left_out:,} more …", DIM))
    bottom = y if left_out else y - BETWEEN
    return document([*pieces, *lines, *boxes], int(right + MARGIN + lanes * LANE), int(max(bottom, 0) + MARGIN))


def _box(step: PlannedStep, place: _Place) -> str:
    x, y = place.x, place.y
    said = [f"reads {', '.join(step.reads)}" if step.reads else "reads nothing", f"writes {', '.join(step.writes)}"]
    lines = [text(x + 8, y + 27 + 14 * number, one_line(each, KEYS), DIM) for number, each in enumerate(said)]
    box = f'<rect x="{x:.1f}" y="{y:.1f}" width="{BOX}" height="{TALL}" rx="4" fill="{PAPER}" stroke="{DIM}"/>'
    return box + text(x + 8, y + 12, one_line(step.name, NAME), INK, weight="bold") + "".join(lines)


def _outline(frame: _Frame) -> str:
    left, top, right, bottom = frame
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" rx="6" fill="none" '
        f'stroke="{DIM}" stroke-dasharray="4 3"/>'
    )


def _edges(plan: Plan, places: Mapping[str, _Place], right: float) -> tuple[list[str], int]:
    """A line for each two groups of which one waits for the other, since a group begins as a whole; and how many of them go
    past other groups, each on a lane of its own."""
    pairs = dict.fromkeys(
        (places[edge.source].group, places[edge.target].group) for edge in plan.edges if edge.target in places
    )
    frames = {place.group: place.frame for place in places.values()}
    lines, lanes = [], 0
    for one, other in pairs:
        source, target = frames[one], frames[other]
        if other == one + 1:
            x = NUMBER + BOX / 2
            path = f"M{x:.1f},{source.bottom:.1f} V{target.top - 5:.1f}"
            head = _arrow(x, target.top, 0, -6)
        else:
            lanes += 1
            lane, begin = right + lanes * LANE, (source.top + source.bottom) / 2 + 4
            end = (target.top + target.bottom) / 2 - 4
            path = f"M{source.right:.1f},{begin:.1f} H{lane:.1f} V{end:.1f} H{target.right + 5:.1f}"
            head = _arrow(target.right, end, 6, 0)
        lines.append(f'<path d="{path}" fill="none" stroke="{DIM}" stroke-linejoin="round"/>{head}')
    return lines, lanes


def _arrow(x: float, y: float, back_x: float, back_y: float) -> str:
    """The tip of a line that comes from (x + back_x, y + back_y)."""
    side_x, side_y = -back_y / 2, back_x / 2
    points = [(x, y), (x + back_x + side_x, y + back_y + side_y), (x + back_x - side_x, y + back_y - side_y)]
    return f'<polygon points="{" ".join(f"{px:.1f},{py:.1f}" for px, py in points)}" fill="{DIM}"/>'


def waits(edges: tuple[Edge, ...]) -> str:
    """`research (payload), facts (article)`: for whom a step waits, and why."""
    keys: dict[str, list[str]] = {}
    for edge in edges:
        keys.setdefault(edge.source, []).append(edge.key)
    return ", ".join(f"{source} ({', '.join(each)})" for source, each in keys.items())
