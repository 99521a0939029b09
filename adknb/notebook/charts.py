"""A comparison drawn: where the tokens of each step go, and how they add up. Vega-Lite's words, with every text as data.

Charts are plain specifications, which vl-convert turns into SVG without Altair: importing that takes seconds where
Jupyter is installed, and only `.chart` needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from json import dumps, loads
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from adknb.compare.comparison import Comparison
from adknb.compare.dry import shown
from adknb.compare.records import COUNTED_CHANNELS
from adknb.core.escape import one_line
from adknb.notebook.growth import growth
from adknb.tables.lab import token_rows

if TYPE_CHECKING:
    import altair as alt

Spec: TypeAlias = dict[str, Any]

WIDTH: Final = 400
"""Pixels from the names to the right end. A page may draw the whole larger or smaller."""
STEPS: Final = 12
"""Steps of which bars are drawn, those with the most tokens."""
PLACES: Final = 40
"""Places at which the growth is drawn."""
VARIANTS: Final = 6
NAME: Final = 22
"""Characters of a name beside a chart."""
ROOM: Final = 1.12
"""How much longer the axis is than the longest bar: its sum stands behind it."""
BAR: Final = 17
PLACE: Final = 24
"""Pixels of a line's height."""
CHARACTER: Final = 6.2
"""Pixels of a character in a bar."""

PAPER, INK, DIM, LINE = "#ffffff", "#1f2328", "#57606a", "#d8dee4"
DARK: Final = {PAPER: "#15191f", INK: "#e6edf3", DIM: "#a5afba", LINE: "#3d444d"}
"""What stands in their place on a dark page."""
# each holds 4.5 against white, so that white words stand on it, and 3 against the dark paper
CHANNEL_COLOURS: Final = dict(
    zip(COUNTED_CHANNELS, ("#6b7280", "#0b6bd6", "#16803f", "#8a6d00", "#b0531f", "#8250df"), strict=True)
)
VARIANT_COLOURS: Final = ("#0b6bd6", "#c2410c", "#16803f", "#8250df", "#c22f85", "#6b7280")
SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES: Final = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 4])


def tokens_spec(comparison: Comparison) -> Spec:
    """Horizontal bars, one a step and variant: the mean counted input tokens of the step, stacked by channel."""
    rows = {(row["variant"], row["step"]): row for row in token_rows(comparison)}
    variants = dict(zip(comparison.names, labels(map(shown, comparison.names)), strict=True))
    drawn = list(variants)[:VARIANTS]
    names = [variants[variant] for variant in drawn]
    steps = drawn_steps(comparison)
    most = max((row["counted"] for row in rows.values()), default=0.0) or 1.0
    width = WIDTH - _left(names)
    texts: list[Spec] = []
    segments: list[Spec] = []
    place = 0
    for step in steps:
        texts.append({"row": place, "text": one_line(step, 2 * NAME), "is": "step", "at": 0})
        place += 1
        for variant, name in zip(drawn, names, strict=True):
            row, end = rows[variant, step], 0.0
            for channel in COUNTED_CHANNELS:
                if row[channel]:
                    segments.append(_segment(place, channel, end, row[channel], width / (most * ROOM)))
                    end += row[channel]
            texts.append({"row": place, "text": name, "is": "variant", "at": 0})
            texts.append({"row": place, "text": f"{end:,.0f}", "is": "total", "at": end})
            place += 1
    used = [channel for channel in COUNTED_CHANNELS if any(each["channel"] == _words(channel) for each in segments)]
    x = _x(most * ROOM, "mean input tokens each time the step runs, counted")
    y = _rows(place)
    colour = {
        "field": "channel", "type": "nominal", "legend": _legend(4),
        "scale": {"domain": [_words(channel) for channel in used], "range": [CHANNEL_COLOURS[channel] for channel in used]},
    }  # fmt: skip
    bars = {
        "data": {"values": segments}, "mark": {"type": "bar", "stroke": PAPER, "strokeWidth": 1, "height": BAR - 3},
        "encoding": {"x": {**x, "field": "start"}, "x2": {"field": "end"}, "y": y, "color": colour},
    }  # fmt: skip
    inside = _texts(
        [each for each in segments if each["text"]],
        y,
        "white",
        {"x": {**x, "field": "middle"}},
        size=10,
        align="center",
    )
    words = [
        _texts(_of("step", texts), y, INK, {"x": {"value": -_left(names)}}, weight="bold"),
        _texts(_of("variant", texts), y, INK, {"x": {"value": 0}}, align="right", offset=-6),
        _texts(_of("total", texts), y, INK, {"x": {**x, "field": "at"}}, offset=4),
    ]
    return _chart("Where the tokens go", [bars, inside, *words], width, max(place, 1) * BAR)


def drawn_steps(comparison: Comparison) -> list[str]:
    """The steps that have bars, in the order in which they ran."""
    most: dict[str, float] = {}
    for row in token_rows(comparison):
        most[row["step"]] = max(most.get(row["step"], 0.0), row["counted"])
    largest = sorted(most, key=lambda step: -most[step])[:STEPS]
    return [step for step in comparison.steps if step in largest]


def growth_spec(comparison: Comparison) -> Spec:
    """A line a variant, down the steps and turns: the input tokens that a run has sent so far."""
    grown = growth(comparison)
    names, places = labels(map(shown, grown.variants))[:VARIANTS], grown.places[:PLACES]
    points: list[Spec] = [
        {"row": row, "tokens": total, "variant": name, "order": row}
        for name, totals in zip(names, grown.totals, strict=False)
        for row, total in enumerate(totals[:PLACES])
        if total is not None
    ]
    beside = [one_line(place, NAME) for place in places]
    most = max((point["tokens"] for point in points), default=0.0) or 1.0
    x = {**_x(most * 1.05, "input tokens sent so far, mean of a run"), "field": "tokens"}
    y = _rows(len(places))
    # colour and shape share one legend, because field and domain are the same
    colour, shape, dash = (
        Spec({"field": "variant", "type": "nominal", "legend": _legend(3), "scale": {"domain": names, "range": given}})
        for given in (list(way[: len(names)]) for way in (VARIANT_COLOURS, SHAPES, DASHES))
    )
    dash["legend"] = None
    lines = {
        "data": {"values": points}, "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash,
                     "order": {"field": "order", "type": "quantitative"}},
    }  # fmt: skip
    marks = {
        "data": {"values": points}, "mark": {"type": "point", "size": 55, "filled": True, "opacity": 1, "strokeWidth": 0},
        "encoding": {"x": x, "y": y, "color": colour, "shape": shape},
    }  # fmt: skip
    labelled = [{"row": row, "text": label} for row, label in enumerate(beside)]
    words = _texts(labelled, y, INK, {"x": {"value": 0}}, align="right", offset=-6)
    width = WIDTH - _left(beside)
    title = f"How they add up{', by turn and step' if grown.has_turns else ''}"
    return _chart(title, [lines, marks, words], width, max(len(places), 1) * PLACE)


def chart(comparison: Comparison) -> alt.VConcatChart:
    """Both charts, one above the other."""
    import altair as alt

    specs = [tokens_spec(comparison), growth_spec(comparison)]
    shared = {name: specs[0][name] for name in ("config", "background", "padding")}
    inner = [{name: value for name, value in spec.items() if name not in shared} for spec in specs]
    return alt.VConcatChart.from_dict({**shared, "vconcat": inner, "resolve": {"scale": {"color": "independent"}}})


def svg(spec: Spec) -> str:
    """The chart as an SVG document that needs nothing else, and follows a dark page where the front end tells of one."""
    return _svg(dumps(spec, sort_keys=True))


@lru_cache(maxsize=32)
def _svg(spec: str) -> str:
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(loads(spec))
    rules = "".join(
        f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}' for light, dark in DARK.items()
    )
    start = drawn.index(">") + 1
    return f"{drawn[:start]}<style>@media (prefers-color-scheme:dark){{{rules}}}</style>{drawn[start:]}"


def labels(names: Iterable[str]) -> list[str]:
    """The names, cut to `NAME` characters of one line; what would then be the same is numbered."""
    made: list[str] = []
    for name in names:
        label, number = one_line(name, NAME), 2
        while label in made:
            label, number = f"{one_line(name, NAME - 4)} ({number})", number + 1
        made.append(label)
    return made


def _segment(row: int, channel: str, start: float, tokens: float, scale: float) -> Spec:
    """A stretch of a bar, of `scale` pixels a token. Its channel stands in it where there is room, else the number, else
    nothing."""
    room = scale * tokens - 4
    said = (f"{_words(channel)} {tokens:,.0f}", f"{tokens:,.0f}", "")
    text = next(each for each in said if len(each) * CHARACTER <= room or not each)
    return {
        "row": row, "channel": _words(channel), "start": start, "end": start + tokens, "middle": start + tokens / 2,
        "text": text,
    }  # fmt: skip


def _of(kind: str, texts: Iterable[Spec]) -> list[Spec]:
    return [text for text in texts if text["is"] == kind]


def _texts(
    values: Sequence[Spec], y: Spec, colour: str, where: Spec, *, size: int = 11, align: str = "left", offset: int = 0,
    weight: str = "normal",
) -> Spec:  # fmt: skip
    mark = {
        "type": "text", "align": align, "baseline": "middle", "dx": offset, "fontSize": size, "fontWeight": weight,
        "fill": colour,
    }  # fmt: skip
    text = {"field": "text", "type": "nominal"}
    return {"data": {"values": list(values)}, "mark": mark, "encoding": {**where, "y": y, "text": text}}


def _x(end: float, title: str) -> Spec:
    return {
        "type": "quantitative", "title": title, "scale": {"domain": [0, end], "nice": False},
        "axis": {"tickCount": 4, "format": ",d", "titleFontWeight": "normal"},
    }  # fmt: skip


def _rows(count: int) -> Spec:
    return {"field": "row", "type": "ordinal", "axis": None, "scale": {"domain": list(range(count))}}


def _left(names: Sequence[str]) -> float:
    """How far names reach to the left of the lines and bars."""
    return 6 + 1.1 * CHARACTER * max((len(name) for name in names), default=0)


def _legend(columns: int) -> Spec:
    return {"orient": "bottom", "direction": "horizontal", "columns": columns, "title": None, "labelLimit": 200}


def _words(channel: str) -> str:
    return channel.replace("_", " ")


def _chart(title: str, layers: list[Spec], width: float, height: int) -> Spec:
    return {
        "title": {"text": title, "anchor": "start", "frame": "bounds", "fontSize": 13, "color": INK, "offset": 8},
        "width": width,
        "height": height,
        "layer": layers,
        "background": PAPER,
        "padding": 10,
        "config": {
            "font": "sans-serif",
            "view": {"stroke": None},
            "axis": {"labelColor": DIM, "titleColor": DIM, "gridColor": LINE, "domainColor": LINE, "tickColor": LINE,
                     "labelFontSize": 11, "titleFontSize": 11},
            "legend": {"labelColor": INK, "labelFontSize": 11, "symbolStrokeWidth": 0},
        },
    }  # fmt: skip
