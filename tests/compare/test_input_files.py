"""Inputs of a comparison from files, and the same from a DataFrame."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from adknb import SpecError
from adknb.compare.inputs import Input, as_inputs

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file into the working directory, to the byte; its path is its name."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, content: str | bytes) -> Path:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        return Path(name)

    return write


def error_of(value: Any, **options: Any) -> str:
    with pytest.raises(SpecError) as caught:
        as_inputs(value, **options)
    return str(caught.value)


# CSV and TSV

TABLE = (
    "message,state:user:tier,state,expected,expected:TriageAgent,name\r\n"
    'NA,gold,"{""n"": 1, ""user:tier"": ""free""}",refund,billing,first\r\n'
    '"Two lines:\r\n1,5 ""GB"" \u2028",,,null,,\r\n'
)
READ = (
    Input(("NA",), {"n": 1, "user:tier": "gold"}, {"": "refund", "TriageAgent": "billing"}, "first"),
    Input(('Two lines:\r\n1,5 "GB" \u2028',), {}, "null", "2"),
)


def test_a_csv_file(write: Write) -> None:
    path = write("tickets.csv", TABLE)
    assert as_inputs(path) == READ
    assert as_inputs("tickets.csv") == READ
    assert as_inputs(write("Marked.CSV", b"\xef\xbb\xbf" + TABLE.encode())) == READ


def test_a_tsv_file(write: Write) -> None:
    assert as_inputs(write("t.tsv", "message\tstate:n\na, b\t01\n")) == (Input(("a, b",), {"n": "01"}, name="1"),)


def test_conversations_of_a_csv_file(write: Write) -> None:
    assert as_inputs(write("t.csv", 'messages\n"[""a"", ""b""]"\n')) == (Input(("a", "b"), name="1"),)


def test_short_rows_and_empty_rows(write: Write) -> None:
    """A spreadsheet leaves empty rows; they count, so that a row has the number that it shows."""
    path = write("t.csv", "\nmessage,state:a,expected\nx\n\n,,\ny,1,\n")
    assert as_inputs(path) == (Input(("x",), name="1"), Input(("y",), {"a": "1"}, name="2"))
    path = write("t.csv", "message,expected\nx,\n\n,,\n,z\n".replace(",,\n", ",\n"))
    assert error_of(path) == "t.csv, row 4, column 'message': it is empty. Every input needs a message."


def test_a_path_under_the_home_folder(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write("t.csv", TABLE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert as_inputs("~/t.csv") == as_inputs(Path("~/t.csv")) == READ


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "t.csv: the file is empty; its first line names the columns, such as message"),
        (b"\xef\xbb\xbf\n", "t.csv: the file is empty; its first line names the columns, such as message"),
        ("message\n", "t.csv: there is no input. Inputs are a message"),
        ("text;message\na;b\n", "t.csv: no column is called 'message' or 'messages'. Did you mean 'text;message'? The columns"),
        ("message,message\na,b\n", "t.csv: two columns are called 'message'. Rename one of them."),
        (
            "message\na\nb,c\n",
            "t.csv: Error tokenizing data. C error: Expected 1 fields in line 3, saw 2 (line 1 is the header). Put texts that",
        ),
        ('message\n"a\n', "t.csv: Error tokenizing data. C error: EOF inside string starting at row 1 (line 1 is the header)."),
        (b"message\na\nGr\xfc\xdfe\n", "t.csv, line 3: the text is not UTF-8. Save the file as UTF-8."),
        (b"\xef\xbb\xbfmessage\nGr\xfc\xdfe\n", "t.csv, line 2: the text is not UTF-8. Save the file as UTF-8."),
        ("message\r\nfine\r\n   \r\n", "t.csv, row 2, column 'message': it is empty. Every input needs a message."),
        ("message,state\na,gold\n", "t.csv, row 1, column 'state': not JSON (Expecting value: line 1 column 1 (char 0)). Wanted"),
        ('message,state\na,"[1]"\n', "t.csv, row 1, column 'state': state is an object such as {\"user:tier\": \"gold\"}, not [1]"),
        ("message,state\na," + "[" * 100_000, "t.csv, row 1, column 'state': not JSON (maximum recursion depth exceeded"),
        ('message,state\na,"{""n"": NaN}"\n', "t.csv, row 1: state: key 'n': nan is not a JSON number."),
    ],
)  # fmt: skip
def test_what_no_csv_file_of_inputs_is(write: Write, content: str | bytes, said: str) -> None:
    assert error_of(write("t.csv", content)).startswith(said)


# JSONL and JSON


def test_a_jsonl_file(write: Write) -> None:
    path = write(
        "t.jsonl",
        '{"message": "a\u2028b\u0085c", "state": {"n": 1}, "expected": {"TriageAgent": "billing"}, "name": "x"}\r\n'
        "\n"
        '{"messages": ["c", "d"], "state:user:tier": "gold", "expected": null}\n'
        '"e"\n["f", "g"]',
    )
    assert as_inputs(path, state={"n": 0}) == (
        Input(("a\u2028b\x85c",), {"n": 1}, {"TriageAgent": "billing"}, "x"),
        Input(("c", "d"), {"n": 0, "user:tier": "gold"}, None, "2"),
        Input(("e",), {"n": 0}, None, "3"),
        Input(("f", "g"), {"n": 0}, None, "4"),
    )


def test_a_json_file(write: Write) -> None:
    assert as_inputs(write("t.json", '\ufeff["a", ["b", "c"], {"message": "d"}]')) == (
        Input(("a",), name="1"),
        Input(("b", "c"), name="2"),
        Input(("d",), name="3"),
    )
    assert as_inputs(write("t.json", '{"message": "d", "id": 7}')) == (Input(("d",), name="7"),)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.jsonl", "", "t.jsonl: there is no input. Inputs are"),
        ("t.jsonl", '{"message": "a"}\n{"message": \n', "t.jsonl, line 2: not JSON (Expecting value: line 1 column 13 (char 12)). W"),
        ("t.jsonl", '{"message": "a"}\n\n{"mesage": "b"}\n', "t.jsonl, line 3: no field is called 'message'. Did you mean 'mesage'?"),
        ("t.jsonl", '{"message": "a"}\n7\n', "t.jsonl, line 2: no input is made of a value of type int."),
        ("t.jsonl", '{"message": "a"}\n{"message": ""}\n', "t.jsonl, line 2, field 'message': it is empty."),
        ("t.jsonl", '{"message": "a", "name": "x"}\n\n{"message": "b", "name": "x"}', "t.jsonl, line 1 and t.jsonl, line 3 have the same name, 'x'."),
        ("t.jsonl", "[" * 100_000, "t.jsonl, line 1: not JSON (maximum recursion depth exceeded"),
        ("t.jsonl", '{"message": "a", "state": {"n": ' + "9" * 5000 + "}}", "t.jsonl, line 1: not JSON (Exceeds the limit"),
        ("t.jsonl", b'{"message": "a"}\n\xff', "t.jsonl, line 2: the text is not UTF-8."),
        ("t.json", "", "t.json: not JSON (Expecting value: line 1 column 1 (char 0)). Wanted is a list"),
        ("t.json", "[]", "t.json: there is no input."),
        ("t.json", "[1]", "t.json, item 1: no input is made of a value of type int."),
        ("t.json", '{"inputs": []}', "t.json: no field is called 'message' or 'messages'. The fields are: 'inputs'."),
        ("t.txt", "a", "t.txt: inputs are read from files that end in .csv, .tsv, .jsonl, .json, not in '.txt'"),
    ],
)  # fmt: skip
def test_what_no_json_file_of_inputs_is(write: Write, name: str, content: str | bytes, said: str) -> None:
    assert error_of(write(name, content)).startswith(said)


# paths


def test_a_file_that_is_not_there(write: Write) -> None:
    write("tickets.csv", TABLE)
    write("tickets.txt", TABLE)
    assert error_of(Path("tikets.csv")) == "tikets.csv: there is no such file. Did you mean 'tickets.csv'?"
    assert error_of(Path("nowhere/t.csv")) == f"{Path('nowhere/t.csv')}: there is no such file."


def test_a_folder_and_a_path_that_none_can_be(write: Write, tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    assert error_of(Path("t.csv")).startswith("t.csv: it cannot be read: ")
    assert error_of(Path("a\0.csv")).startswith("a\\x00.csv: it cannot be read: ")


@pytest.mark.parametrize(
    "text",
    [
        "See tickets.csv",
        "no\0file.json",
        "~nobody\0/x.csv",
        "\ud800.csv",
        "x" * 100_000 + ".jsonl",
        "a\nb.csv",
        "t.csv.",
        "d.csv",
    ],
)
def test_a_text_that_names_no_file_is_a_message(write: Write, tmp_path: Path, text: str) -> None:
    write("t.csv", TABLE)
    (tmp_path / "d.csv").mkdir()
    assert as_inputs(text) == (Input((text,), name="1"),)


def test_a_text_in_a_list_is_always_a_message(write: Write) -> None:
    write("t.csv", TABLE)
    assert as_inputs(["t.csv"]) == (Input(("t.csv",), name="1"),)


# there and back

# stretches of any characters and of hostile ones: a lone surrogate or U+2028 hardly comes up among all characters
HOSTILE = st.text(st.sampled_from('\ud800\udfff\0\u2028\ufeff\r\n,"\t a'), max_size=6)
ANY_TEXT = st.lists(st.text(max_size=8) | HOSTILE, max_size=3).map("".join)
CELLS = ANY_TEXT | st.sampled_from(["NA", "nan", "null", "", "1.0", "True", '"', ",", "\r", "\r\n", "a\n\nb", "\ufeff"])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "message": CELLS.filter(str.strip),
            "state:user:tier": CELLS,
            "expected": CELLS,
            "expected:TriageAgent": CELLS,
            "name": CELLS,
        }
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda row: row["name"] if row["name"].strip() else object(),
)
SHARED_FOLDER = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # each example writes its files anew


def read(row: dict[str, str], place: int) -> Input:
    """What a row of texts says."""
    answer, triage = row["expected"] if row["expected"].strip() else "", row["expected:TriageAgent"]
    steps = {name: text for name, text in (("", answer), ("TriageAgent", triage)) if text}
    state = {"user:tier": row["state:user:tier"]} if row["state:user:tier"] else {}
    name = row["name"] if row["name"].strip() else str(place)
    return Input((row["message"],), state, steps if triage else answer or None, name)


def named_once(rows: list[dict[str, str]]) -> bool:
    names = [row["name"] if row["name"].strip() else str(place) for place, row in enumerate(rows, 1)]
    return len(set(names)) == len(names)


@SHARED_FOLDER
@given(ROWS.filter(named_once))
def test_a_frame_and_its_files_give_the_same(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    frame = pd.DataFrame(rows, dtype="object")
    wanted = tuple(read(row, place) for place, row in enumerate(rows, 1))
    assert as_inputs(frame) == wanted
    # Python's writer leaves a lone carriage return without quotes, which then ends a row
    lone = any("\r" in cell for row in rows for cell in row.values())
    for name, separator in (("t.csv", ","), ("t.tsv", "\t")):
        text = frame.to_csv(sep=separator, quoting=csv.QUOTE_ALL if lone else csv.QUOTE_MINIMAL, lineterminator="\n")
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        assert as_inputs(tmp_path / name) == wanted
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (tmp_path / "t.jsonl").write_bytes(lines.encode("utf-8", "surrogatepass"))
    assert as_inputs(tmp_path / "t.jsonl") == wanted


@SHARED_FOLDER
@given(st.binary(max_size=60) | ANY_TEXT.map(lambda text: text.encode("utf-8", "surrogatepass")), st.sampled_from([".csv", ".tsv", ".jsonl", ".json"]), st.booleans())  # fmt: skip
def test_any_file_gives_inputs_or_a_spec_error(tmp_path: Path, content: bytes, ending: str, with_header: bool) -> None:
    path = tmp_path / f"t{ending}"
    path.write_bytes((b"message,state\n" if with_header else b"") + content)
    try:
        found = as_inputs(path)
    except SpecError:
        return
    assert len({each.name for each in found}) == len(found) > 0


@pytest.mark.parametrize("text", ["a\ud800b", "\udfff", "\ud83d\ude00", "a\0b", "\0", "a\u2028b", "\ufeffa", "\x1a"])
def test_a_hostile_cell(write: Write, text: str) -> None:
    wanted = (Input((text,), {"k": text}, text, "n"),)
    assert as_inputs(write("t.csv", f"message,state:k,expected,name\n{text},{text},{text},n\n")) == wanted
    assert as_inputs(write("t.csv", f'message,state:k,expected,name\n"{text}","{text}","{text}",n\n')) == wanted
    line = json.dumps({"message": text, "state:k": text, "expected": text, "name": "n"}, ensure_ascii=False)
    assert as_inputs(write("t.jsonl", line)) == wanted


def test_a_very_long_cell(write: Write) -> None:
    long = 'é"\u2028,\n\0' * 500_000
    quoted = long.replace('"', '""')
    assert as_inputs(write("t.csv", f'message\n"{quoted}"\n')) == (Input((long,), name="1"),)
