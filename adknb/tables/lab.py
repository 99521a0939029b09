"""A comparison as tables: its rows, and what they come to for each step, channel, key and input."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from adknb.compare.comparison import Comparison
from adknb.compare.findings import WHOLE
from adknb.compare.measured import is_done, is_done_row
from adknb.compare.records import COUNTED_CHANNELS, StepRecord, TrialRecord
from adknb.tables.frame import Kind, Row, frame

if TYPE_CHECKING:
    import pandas as pd

ROWS: Final[dict[str, Kind]] = {
    "variant": "text", "input": "text", "repeat": "count", "step": "text", "turn": "count", "status": "text",
    "error": "text", "requests": "count", "input_tokens": "count", "output_tokens": "count", "counted_by": "text",
    "cost": "amount", "ms": "number", "answer": "text", "equal": "maybe_flag", "similarity": "amount",
    "fields_equal": "amount", "category": "text", "flip": "text", "as_expected": "maybe_flag",
    "schema_valid": "maybe_flag", "guarded": "flag", "tools_called": "text", "leaked": "flag", "sent_twice": "count",
    **dict.fromkeys(COUNTED_CHANNELS, "count"), "model": "text", "temperature": "amount", "seed": "maybe", "note": "text",
}  # fmt: skip
SUMMARY: Final[dict[str, Kind]] = {
    "variant": "text", "step": "text", "n": "count", "input_tokens": "amount", "output_tokens": "amount", "cost": "amount",
    "ms": "amount", "saved": "amount", "saved_percent": "amount", "saved_from": "amount", "saved_to": "amount",
    "answers": "count", "equal": "count", "flips": "count", "as_expected": "amount", "schema_valid": "amount",
    "guarded": "count", "leaked": "count", "errors": "count", "concluded": "maybe_flag", "sentence": "text",
}  # fmt: skip
TOKENS: Final[dict[str, Kind]] = {
    "variant": "text", "step": "text", "runs": "count", **dict.fromkeys(COUNTED_CHANNELS, "number"), "counted": "number",
    "input_tokens": "number", "counted_by": "text", "cumulative": "number",
}  # fmt: skip
TWICE: Final[dict[str, Kind]] = {
    "variant": "text", "step": "text", "key": "text", "runs": "count", "tokens": "number", "percent": "number",
    "cost": "amount",
}  # fmt: skip
BY_INPUT: Final[dict[str, Kind]] = {
    "input": "text", "message": "text", "variant": "text", "input_tokens": "amount", "saved": "amount",
    "saved_percent": "amount", "flips": "text", "equal": "count", "answers": "count", "as_expected": "amount",
    "error": "text",
}  # fmt: skip


def rows(comparison: Comparison) -> pd.DataFrame:
    return frame(comparison.rows, {**ROWS, **_own(comparison)})


def encodable(comparison: Comparison) -> pd.DataFrame:
    """The rows with every text such that UTF-8 can hold it."""
    data = rows(comparison)
    for name, kind in ROWS.items():
        if kind == "text":
            data[name] = [text.encode("utf-8", "backslashreplace").decode("utf-8") for text in data[name]]
    return data


def flips(comparison: Comparison) -> pd.DataFrame:
    flipped = [row for row in comparison.rows if row["flip"]]
    return frame(flipped, {**ROWS, **_own(comparison)})


def summary(comparison: Comparison) -> pd.DataFrame:
    return frame(summary_rows(comparison), SUMMARY)


def tokens(comparison: Comparison) -> pd.DataFrame:
    return frame(token_rows(comparison), TOKENS)


def twice(comparison: Comparison) -> pd.DataFrame:
    return frame(twice_rows(comparison), TWICE)


def by_input(comparison: Comparison) -> pd.DataFrame:
    return frame(input_rows(comparison), BY_INPUT)


def summary_rows(comparison: Comparison) -> list[Row]:
    """Means, and `n`, are over the trials in which the step came to its end; those of the whole (`step` is empty) over whole
    trials. `saved` is over what both variants have."""
    listed: list[Row] = []
    first = comparison.names[0]
    for variant in comparison.names:
        for step in (*comparison.steps, WHOLE):
            own = [row for row in comparison.rows if row["variant"] == variant and step in (WHOLE, row["step"])]
            finding = comparison.finding(variant, step) if variant != first else None
            saved = finding.tokens if finding is not None else None
            listed.append({
                "variant": variant,
                "step": step,
                "n": len({name for name, _ in _trials(own)}),
                **{name: _mean_of_trials(own, name) for name in ("input_tokens", "output_tokens", "cost", "ms")},
                "saved": _less(saved.difference) if saved is not None else None,
                "saved_percent": _percent(_less(saved.difference), saved.before) if saved is not None else None,
                "saved_from": _less(saved.interval[1]) if saved is not None else None,
                "saved_to": _less(saved.interval[0]) if saved is not None else None,
                "answers": sum(row["equal"] is not None for row in own),
                "equal": sum(row["equal"] is True for row in own),
                "flips": sum(row["flip"] != "" for row in own),
                "as_expected": _share(own, "as_expected"),
                "schema_valid": _share(own, "schema_valid"),
                "guarded": sum(row["guarded"] for row in own),
                "leaked": sum(row["leaked"] for row in own),
                "errors": sum(row["error"] != "" for row in own),
                "concluded": saved.concluded if saved is not None else None,
                "sentence": finding.sentence if finding is not None else "",
            })  # fmt: skip
    return listed


def token_rows(comparison: Comparison) -> list[Row]:
    """Means each time the step runs, as counted; `input_tokens` as the rows have them.

    `cumulative` is what a trial has sent up to and with this step, its turns together: a mean over whole trials, so that it
    ends at the `input_tokens` of the whole in `summary_rows`, also where a step does not run in each.
    """
    listed: list[Row] = []
    for variant in comparison.names:
        whole = [record for record in comparison.records if record.variant == variant and not record.error]
        cumulative = 0.0
        for step in comparison.steps:
            records = _records(comparison, variant, step)
            asked = _mean(record.input_tokens for record in records)
            cumulative += _mean(_sent(record, step) for record in whole) or 0.0
            listed.append({
                "variant": variant,
                "step": step,
                "runs": len(records),
                **{name: _mean(record.channels.get(name, 0) for record in records) or 0.0 for name in COUNTED_CHANNELS},
                "counted": _mean(record.counted for record in records) or 0.0,
                "input_tokens": asked or 0.0,
                "counted_by": ", ".join(dict.fromkeys(record.counted_by for record in records if record.counted_by)),
                "cumulative": cumulative,
            })  # fmt: skip
    return listed


def twice_rows(comparison: Comparison) -> list[Row]:
    """Means over all runs of the step; `percent` is of its counted input, `cost` by its model's input price."""
    from adknb.core.usage import Usage
    from adknb.tokens.prices import price_of

    listed: list[Row] = []
    for variant in comparison.names:
        for step in comparison.steps:
            records = _records(comparison, variant, step)
            for key in dict.fromkeys(key for record in records for key in record.twice):
                sent = [record.twice.get(key, 0) for record in records]
                costs = [
                    price.of(Usage(tokens, 0))
                    for record, tokens in zip(records, sent, strict=True)
                    if (price := price_of(record.model)) is not None
                ]
                listed.append({
                    "variant": variant,
                    "step": step,
                    "key": key,
                    "runs": len(records),
                    "tokens": _mean(sent) or 0.0,
                    "percent": _percent(sum(sent), sum(record.counted for record in records)) or 0.0,
                    "cost": _mean(costs),
                })  # fmt: skip
    return listed


def input_rows(comparison: Comparison) -> list[Row]:
    """One row an input and variant but the first, the greatest saving first; means over repeats, sums over steps."""
    first, *others = comparison.names
    rows_of: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in comparison.rows:
        rows_of[row["variant"], row["input"]].append(row)
    tokens_of: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for record in comparison.records:
        if not record.error:
            tokens_of[record.variant, record.input].append(sum(step.input_tokens for step in record.steps))
    listed: list[Row] = []
    for asked in comparison.inputs:
        base = _mean(tokens_of[first, asked.name])
        for variant in others or [first]:
            own = rows_of[variant, asked.name]
            mine = _mean(tokens_of[variant, asked.name])
            saved = base - mine if base is not None and mine is not None else None
            listed.append({
                "input": asked.name,
                "message": asked.messages[0],
                "variant": variant,
                "input_tokens": mine,
                "saved": saved,
                "saved_percent": _percent(saved, base) if saved is not None else None,
                "flips": ", ".join(dict.fromkeys(f"{row['step']} {row['flip']}" for row in own if row["flip"])),
                "equal": sum(row["equal"] is True for row in own),
                "answers": sum(row["equal"] is not None for row in own),
                "as_expected": _share(own, "as_expected"),
                "error": "; ".join(dict.fromkeys(row["error"] for row in own if row["error"])),
            })  # fmt: skip
    return sorted(listed, key=lambda row: -(row["saved"] if row["saved"] is not None else float("-inf")))


def _own(comparison: Comparison) -> Mapping[str, Kind]:
    """The columns of the user's own measures, as their values are."""
    return {name: _kind([row[name] for row in comparison.rows]) for name in comparison.measuring.own}


def _kind(values: Sequence[Any]) -> Kind:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return "maybe_flag"
    if known and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known):
        return "amount"
    return "value"


def _records(comparison: Comparison, variant: str, step: str) -> list[StepRecord]:
    """The step's records under a variant, those that failed or were interrupted left out."""
    return [
        each
        for record in comparison.records
        if record.variant == variant
        for each in record.steps
        if each.step == step and is_done(each)
    ]


def _sent(record: TrialRecord, step: str) -> int:
    """The input tokens of a step over all turns of a trial."""
    return sum(each.input_tokens for each in record.steps if each.step == step)


def _trials(own: Iterable[Row]) -> list[tuple[str, int]]:
    """Input and repeat of each trial whose rows all came to their end."""
    trials: dict[tuple[str, int], bool] = {}
    for row in own:
        trial = (row["input"], row["repeat"])
        trials[trial] = trials.get(trial, True) and is_done_row(row)
    return [trial for trial, is_whole in trials.items() if is_whole]


def _mean_of_trials(own: Sequence[Row], name: str) -> float | None:
    """The mean over trials of a trial's sum; trials that did not come to their end, and absent values, left out."""
    whole = set(_trials(own))
    sums: dict[tuple[str, int], float] = {}
    for row in own:
        trial = (row["input"], row["repeat"])
        if trial in whole and row[name] is not None:
            sums[trial] = sums.get(trial, 0.0) + row[name]
    return _mean(sums.values())


def _share(own: Sequence[Row], name: str) -> float | None:
    """The share, from 0 to 1, of rows for which it holds, of those for which it is known."""
    return _mean(float(row[name]) for row in own if row[name] is not None)


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return sum(listed) / len(listed) if listed else None


def _less(value: float) -> float:
    """The value turned round, and 0 for 0: a saving of -0.0 looks like a loss."""
    return 0.0 - value


def _percent(part: float, whole: float | None) -> float | None:
    return 100 * part / whole if whole else None
