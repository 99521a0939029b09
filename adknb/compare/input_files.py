"""Where inputs are read from: a CSV, TSV, JSONL or JSON file, and a DataFrame."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from adknb.compare.input_fields import parsed
from adknb.core.errors import SpecError, near_names
from adknb.core.escape import visible

if TYPE_CHECKING:
    import pandas as pd

ENDINGS: Final = (".csv", ".tsv", ".jsonl", ".json")
"""Of the files that hold inputs."""


@dataclass(frozen=True, slots=True)
class Source:
    """What stands in one place: `items`, each with words for where it is, and the `columns` where it is a table."""

    name: str
    items: list[tuple[str, Any]]
    columns: list[object] | None = None

    @property
    def noun(self) -> str:
        """What its names are: of columns, or of the fields of its objects."""
        return "field" if self.columns is None else "column"


def names_a_file(text: str) -> bool:
    """Whether `text` is the path of a file that could hold inputs, not a message."""
    return text[-6:].lower().endswith(ENDINGS) and os.path.isfile(_at_home(text))


def read_file(path: Path) -> Source:
    """What a file holds. Raises `SpecError` when it cannot be read, with the line."""
    name = visible(str(path))
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise SpecError(f"{name}: inputs are read from files that end in {', '.join(ENDINGS)}, not in {ending!r}")
    text = _text(Path(_at_home(str(path))), name)
    if ending == ".jsonl":
        return Source(name, _json_lines(text, name))
    if ending == ".json":
        value = parsed(text, name, "a list of messages or of objects with a field message")
        listed = value if isinstance(value, list) else [value]
        return Source(name, [(f"{name}, item {number}", item) for number, item in enumerate(listed, 1)])
    return _separated(text, name, "\t" if ending == ".tsv" else ",")


def is_frame(value: object) -> TypeGuard[pd.DataFrame]:
    """Whether `value` is a DataFrame of pandas, which then has been imported."""
    if "pandas" not in sys.modules:
        return False
    import pandas as pd

    return isinstance(value, pd.DataFrame)


def frame_source(frame: pd.DataFrame) -> Source:
    """The rows of a DataFrame, from 1 whatever its index is."""
    rows = zip(*(frame.iloc[:, place].tolist() for place in range(frame.shape[1])), strict=True)
    return _table("the DataFrame", list(frame.columns), [list(row) for row in rows])


def _table(name: str, columns: list[object], rows: list[list[Any]]) -> Source:
    items = [(f"{name}, row {number}", dict(zip(columns, row, strict=True))) for number, row in enumerate(rows, 1)]
    return Source(name, items, columns)


def _separated(text: str, name: str, separator: str) -> Source:
    """A table as text. All cells are text as it stands: `NA` too. Rows count from 1 below the header."""
    import pandas as pd

    try:
        table = pd.read_csv(
            io.StringIO(text.lstrip("\r\n"), newline=""),
            sep=separator,
            header=None,  # pandas would rename the second of two columns of one name
            dtype=object,  # str as Arrow holds it refuses lone surrogates
            na_filter=False,
            skip_blank_lines=False,  # they count, so that rows have the numbers that a spreadsheet shows
            encoding_errors="surrogatepass",
        )
    except pd.errors.EmptyDataError:
        raise SpecError(f"{name}: the file is empty; its first line names the columns, such as message") from None
    except pd.errors.ParserError as error:
        raise SpecError(
            f"{name}: {visible(str(error)).strip()} (line 1 is the header). Put texts that hold the separator, a quote or a "
            'line break in double quotes, and write " in them as "".'
        ) from None
    header, *rows = table.to_numpy().tolist()
    source = _table(name, header, rows)
    filled = [item for item, row in zip(source.items, rows, strict=True) if any(row)]
    return Source(name, filled, source.columns)


def _json_lines(text: str, name: str) -> list[tuple[str, Any]]:
    """A value a line. Only a line feed ends one: texts may hold U+2028 and others that `splitlines` takes for ends."""
    items = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip(" \t\r"):
            place = f"{name}, line {number}"
            items.append((place, parsed(line, place, 'an object a line: {"message": "…"}')))
    return items


def _text(path: Path, name: str) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        near = near_names(path.name, _neighbours(path.parent))
        raise SpecError(f"{name}: there is no such file.{near}") from None
    except (OSError, ValueError) as error:  # ValueError: a character that no path can have
        raise SpecError(f"{name}: it cannot be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        return data.decode("utf-8-sig", "surrogatepass")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise SpecError(f"{name}, line {line}: the text is not UTF-8. Save the file as UTF-8.") from None


def _neighbours(folder: Path) -> list[str]:
    """The names of the files in a folder that could have been meant."""
    try:
        return [each.name for each in folder.iterdir() if each.suffix.lower() in ENDINGS]
    except OSError:
        return []


def _at_home(path: str) -> str:
    return os.path.expanduser(path) if path.startswith("~/") else path
