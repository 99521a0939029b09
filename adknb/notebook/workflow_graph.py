"""A workflow's plan drawn as SVG: a row of boxes for each group, from the first to the last, and lines for who waits for whom."""

from __future__ import annotations

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
ASIDE: Final = 26
"""Pixels to the right for lines that pass other groups."""


class _Place(NamedTuple):
    """Where a step's box is, and the frame of its group: the box itself where the group has no other."""

    x: float
    y: float
    group: int
    frame: tuple[float, float, float, float]
    """Left, top, right, bottom."""


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
        frame = (NUMBER - around, y, NUMBER + width + around, y + height + 2 * around)
        if together:
            pieces.append(_frame(*frame))
        pieces.append(text(MARGIN, y + around + TALL / 2, "at once" if together else f"{number + 1}.", DIM))
        for place, step in enumerate(members):
            row, column = divmod(place, ACROSS)
            x = NUMBER + column * (BOX + APART)
            places[step.name] = _Place(x, y + around + row * (TALL + APART), number, frame)
        y = frame[3] + BETWEEN
    right = max((place.frame[2] for place in places.values()), default=float(NUMBER))
    pairs = [(edge.source, edge.target) for edge in plan.edges if edge.target in places]
    lines = dict.fromkeys(_edge(places[one], places[other], right) for one, other in pairs)
    boxes = [_box(step, places[step.name]) for step in drawn]
    left_out = len(plan.steps) - len(drawn)
    if left_out:
        pieces.append(text(NUMBER, y - BETWEEN / 2, f"… {left_out:,} more …", DIM))
    bottom = y if left_out else y - BETWEEN
    return document([*pieces, *lines, *boxes], int(right + ASIDE), int(max(bottom, 0) + MARGIN))


def _box(step: PlannedStep, place: _Place) -> str:
    x, y = place.x, place.y
    said = [f"reads {', '.join(step.reads)}" if step.reads else "reads nothing", f"writes {', '.join(step.writes)}"]
    lines = [text(x + 8, y + 27 + 14 * number, one_line(each, KEYS), DIM) for number, each in enumerate(said)]
    box = f'<rect x="{x:.1f}" y="{y:.1f}" width="{BOX}" height="{TALL}" rx="4" fill="{PAPER}" stroke="{DIM}"/>'
    return box + text(x + 8, y + 12, one_line(step.name, NAME), INK, weight="bold") + "".join(lines)


def _frame(left: float, top: float, right: float, bottom: float) -> str:
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" rx="6" fill="none" '
        f'stroke="{DIM}" stroke-dasharray="4 3"/>'
    )


def _edge(source: _Place, target: _Place, right: float) -> str:
    """A line from the frame of the source's group to the target; past other groups it goes round them on the right."""
    x, y = target.x + BOX / 2, target.y
    if target.group == source.group + 1:
        left = source.frame[0] + BOX / 2
        begin = min(max(x, left), source.frame[2] - BOX / 2)
        path = f"M{begin:.1f},{source.frame[3]:.1f} L{x:.1f},{y - 5:.1f}"
        return f'<path d="{path}" fill="none" stroke="{DIM}"/>{_arrow(x, y, 0, -6)}'
    x, y, aside = target.x + BOX, y + TALL / 2, right + ASIDE
    begin, above = source.frame[2], source.y + TALL / 2
    path = f"M{begin:.1f},{above:.1f} C{aside:.1f},{above:.1f} {aside:.1f},{y:.1f} {x + 5:.1f},{y:.1f}"
    return f'<path d="{path}" fill="none" stroke="{DIM}"/>{_arrow(x, y, 6, 0)}'


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
