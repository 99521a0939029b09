"""What a comparison leaves: its trials, the rows that they make, what follows from them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from adknb.compare.findings import Finding, Findings
from adknb.compare.inputs import Input
from adknb.compare.inspect import InputComparison
from adknb.compare.measured import Measured, Measuring, Row
from adknb.compare.records import TrialRecord
from adknb.compare.trial import Kind
from adknb.compare.variants import Variant
from adknb.core import views
from adknb.core.errors import AdknbError, RunStateError, near_names

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Comparison(views.Viewed):
    """Trials of one pipeline: every input under every variant, `repeats` times each.

    `records` stand in the order of variants, inputs and repeats; an interrupted comparison has fewer than it was to have
    (`missing`). The first variant is what the others are measured against. `seed` is that of the models and the statistics.
    """

    pipeline: str
    kind: Kind
    variants: tuple[Variant, ...]
    inputs: tuple[Input, ...]
    repeats: int
    records: tuple[TrialRecord, ...]
    measuring: Measuring
    seed: int | None = None

    @property
    def names(self) -> list[str]:
        """The variants' names."""
        return [variant.name for variant in self.variants]

    @property
    def missing(self) -> int:
        """Trials that were not done."""
        return len(self.variants) * len(self.inputs) * self.repeats - len(self.records)

    @property
    def steps(self) -> list[str]:
        """The names of the steps, in the order in which they first ran."""
        return list(dict.fromkeys(step.step for record in self.records for step in record.steps))

    @cached_property
    def measured(self) -> Measured:
        return Measured(self.records, self.inputs, self.measuring, self.kind != "dry")

    @property
    def rows(self) -> list[Row]:
        """One row a variant, input, repeat and step (see `to_frame`)."""
        return self.measured.rows

    @cached_property
    def findings(self) -> Findings:
        """What can be said of each step, and of the whole, under each variant but the first."""
        return Findings(self)

    @property
    def sentences(self) -> list[str]:
        """The findings in words, one sentence a variant and step, then the whole."""
        return [finding.sentence for finding in self.findings.listed]

    def finding(self, variant: str, step: str = "") -> Finding:
        """What can be said of a step under a variant; without a step, of the whole pipeline."""
        for found in self.findings.listed:
            if (found.variant, found.step) == (variant, step):
                return found
        others = self.names[1:]
        if variant not in others:
            raise RunStateError(
                f"no variant {variant!r} was compared with {self.names[0]!r}.{near_names(variant, others)}"
            )
        raise RunStateError(f"no step {step!r} was compared.{near_names(step, self.steps)}")

    def record(self, variant: str, input: str | int, repeat: int = 0) -> TrialRecord:
        """One trial. `input` is the input's name, or its place from 1; `repeat` counts from 0."""
        name = self.input(input).name
        for record in self.records:
            if (record.variant, record.input, record.repeat) == (variant, name, repeat):
                return record
        if variant not in self.names:
            raise RunStateError(f"there is no variant {variant!r}.{near_names(variant, self.names)}")
        raise RunStateError(f"input {name!r} has no repeat {repeat} under {variant!r}")

    def input(self, input: str | int) -> Input:
        """An input by its name, or its place from 1."""
        if isinstance(input, int) and 1 <= input <= len(self.inputs):
            return self.inputs[input - 1]
        for each in self.inputs:
            if each.name == str(input):
                return each
        raise RunStateError(
            f"there is no input {input!r}.{near_names(str(input), [each.name for each in self.inputs])}"
        )

    def inspect(self, input: str | int, repeat: int = 0) -> InputComparison:
        """One input in full: its answers and prompts under every variant, word by word against the first.

        `input` is the input's name, or its place from 1; `repeat` counts from 0.
        """
        asked = self.input(input)
        if repeat not in range(self.repeats):
            raise RunStateError(
                f"there is no repeat {repeat!r}: everything was asked {self.repeats} times, 0 is the first"
            )
        return InputComparison(self, asked, repeat)

    @property
    def chart(self) -> alt.VConcatChart:
        """Where the tokens go, and how they grow over the steps, as an Altair chart."""
        return views.chart(self)

    # tables

    def to_frame(self) -> pd.DataFrame:
        """One row a variant, input, repeat and step, then the measures; the user's own come last.

        Tokens are the model's report where `counted_by` says `reported`, else counted. `equal`, `similarity` (0 to 1),
        `fields_equal` (0 to 1, of answers that are JSON) and `flip` compare with the first variant's answer to the same
        input, repeat and step; `<NA>` where there is none. `ms` is milliseconds. A trial that failed has its `error` in its
        last row.
        """
        return views.table(self, "rows")

    @property
    def summary(self) -> pd.DataFrame:
        """One row a variant and step: means of tokens, cost and time, changed answers, and the sentence."""
        return views.table(self, "summary")

    @property
    def tokens(self) -> pd.DataFrame:
        """One row a variant and step: mean input tokens by channel."""
        return views.table(self, "tokens")

    @property
    def twice(self) -> pd.DataFrame:
        """One row a variant, step and key that is sent twice: mean tokens a run, and their share of the step's input."""
        return views.table(self, "twice")

    @property
    def flips(self) -> pd.DataFrame:
        """The rows whose category is another than the first variant's."""
        return views.table(self, "flips")

    @property
    def by_input(self) -> pd.DataFrame:
        """One row an input and variant: tokens, saving, flips, equal answers; the greatest saving first."""
        return views.table(self, "by_input")

    # files

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The rows as CSV, texts as they are; returned when no path is given."""
        text: str = self.to_frame().to_csv(index=False, lineterminator="\n")
        if path is None:
            return text
        Path(path).expanduser().write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
        return None

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """The rows as Parquet, lone surrogates as `\\udXXX`. Needs pyarrow (`pip install pyarrow`)."""
        if find_spec("pyarrow") is None:
            raise AdknbError("to_parquet needs pyarrow: pip install pyarrow. to_csv needs nothing.")
        views.table(self, "encodable").to_parquet(Path(path).expanduser(), index=False)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The whole as one HTML page that needs nothing else; written to `path` too, where one is given."""
        page = views.page(self, f"{self.pipeline}: {' | '.join(self.names)}")
        if path is not None:
            Path(path).expanduser().write_text(page, encoding="utf-8", errors="xmlcharrefreplace")
        return page
