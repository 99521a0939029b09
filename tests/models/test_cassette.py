import errno
import json
import os
import re
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given, strategies as st

from adknb.core.content import Blob, CodeExecutionResult, Content, ExecutableCode, FunctionCall, FunctionResponse, Part
from adknb.core.errors import ModelError
from adknb.core.requests import LlmResponse
from adknb.core.usage import Usage
from adknb.models.cassette import Cassette
from adknb.models.cassette_line import line_start, reply_of, to_line
from adknb.models.request_key import request_key
from tests.models.asking import request

texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(st.text(max_size=5), values, max_size=3)
names = st.text(max_size=8)
parts = st.one_of(
    st.builds(Part, text=st.text(max_size=30), thought=st.booleans()),
    st.builds(
        Part,
        function_call=st.builds(FunctionCall, names, objects),
        thought_signature=st.none() | st.binary(min_size=1, max_size=9),
    ),
    st.builds(Part, function_response=st.builds(FunctionResponse, names, objects)),
    st.builds(Part, executable_code=st.builds(ExecutableCode, names)),
    st.builds(Part, code_execution_result=st.builds(CodeExecutionResult, names)),
    st.builds(Part, inline_data=st.builds(Blob, names, st.binary(max_size=9))),
)
contents = st.builds(Content, st.sampled_from(["user", "model", None]), st.lists(parts, max_size=3).map(tuple))
counts = st.integers(0, 10**6)
replies = st.builds(
    LlmResponse,
    st.none() | contents,
    st.none() | st.builds(Usage, counts, counts, counts, counts),
    finish_reason=st.none() | names,
    error_code=st.none() | names,
    error_message=st.none() | names,
)


CUT_OFF = (
    "t.jsonl: line 2, the last, was cut off while it was written; it is removed, and its reply is recorded anew when it "
    "is asked for."
)


def line(number: int, reply: str = "yes", ordinal: int = 0, agent: str = "DraftAgent") -> bytes:
    sent = request(agent, [Content.user(f"question {number}")], ordinal=ordinal)
    return to_line(request_key(sent), "any", "any", sent, LlmResponse(Content.model(reply)))


def found(cassette: Cassette, number: int, ordinal: int = 0, exact: bool = True) -> str | None:
    key = request_key(request("DraftAgent", [Content.user(f"question {number}")]))
    reply = cassette.find(key, 0, ordinal, exact=exact)
    return None if reply is None or reply.content is None else reply.content.text


@given(replies, st.lists(contents, max_size=3), texts, st.none() | texts, names, names, counts, st.integers(0, 9))
def test_a_line_gives_the_reply_back(
    reply: LlmResponse,
    asked: list[Content],
    agent: str,
    system: str | None,
    name: str,
    identity: str,
    ordinal: int,
    repeat: int,
) -> None:
    sent = request(agent, asked, system, ordinal)
    sent.repeat = repeat
    key = request_key(sent)
    written = to_line(key, name, identity, sent, reply)
    start = line_start(written)
    assert start is not None
    assert (start.key, start.name, start.identity, start.ordinal, start.repeat) == (
        key,
        name,
        identity,
        ordinal,
        repeat,
    )
    assert reply_of(written, start) == reply
    assert to_line(key, name, identity, sent, reply_of(written, start)) == written
    assert written.endswith(b"}\n")
    assert written.count(b"\n") == 1
    data = json.loads(written)
    assert list(data) == sorted(data)
    assert next(iter(data)) == "key"


def test_a_line_as_it_stands_in_the_file() -> None:
    sent = request("DraftAgent", system="Be brief.", ordinal=1, temperature=0.5)
    call = Part(function_call=FunctionCall("f", {"b": 1, "a": 2}, "adk-77"))
    reply = LlmResponse(
        Content("model", (Part(text="Grüße\u202e\x9b"), call)), Usage(10, 2), finish_reason="STOP", note="live"
    )
    assert to_line("0" * 64, "smol", "gguf:12", sent, reply).decode() == (
        '{"key": "'
        + "0" * 64
        + '", "model": "smol", "model_identity": "gguf:12", "ordinal": 1, "reply": {"content": {"parts": '
        '[{"text": "Grüße\\u202e\\u009b"}, {"function_call": {"args": {"b": 1, "a": 2}, "name": "f"}}], "role": "model"}, '
        '"finish_reason": "STOP", "usage": {"cached_tokens": 0, "input_tokens": 10, "output_tokens": 2, "reasoning_tokens": 0}}, '
        '"request": {"agent": "DraftAgent", "config": {"temperature": 0.5}, "contents": [{"parts": '
        '[{"text": "Why is the sky blue?"}], "role": "user"}], "system_instruction": "Be brief.", "tools": []}}\n'
    )


def test_the_reply_of_the_ordinal_else_the_last_before_else_the_first_after(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(line(1, "five", 5) + line(1, "two", 2) + line(1, "three", 3) + line(2, "other", 4))
    cassette = Cassette(path)
    assert [found(cassette, 1, ordinal, exact=False) for ordinal in range(8)] == [
        "two", "two", "two", "three", "three", "five", "five", "five",
    ]  # fmt: skip
    assert [found(cassette, 1, ordinal) for ordinal in range(6)] == [None, None, "two", "three", None, "five"]
    assert found(cassette, 3, exact=False) is None
    cassette.close()


def test_the_last_line_of_a_place_counts_and_takes_the_firsts_position(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(line(1, "a") + line(2, "b") + line(1, "c") + line(3, "d") + line(1, "e"))
    path.chmod(0o640)
    cassette = Cassette(path)
    assert [found(cassette, number) for number in (1, 2, 3)] == ["e", "b", "d"]
    cassette.tidy()
    assert path.read_bytes() == line(1, "e") + line(2, "b") + line(3, "d")
    assert path.stat().st_mode & 0o777 == 0o640
    assert [found(cassette, number) for number in (1, 2, 3)] == ["e", "b", "d"]
    assert sorted(os.listdir(tmp_path)) == ["t.jsonl", "t.jsonl.lock"]
    cassette.close()


def test_a_file_that_someone_reads_on_windows_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> Path:
        raise PermissionError(13, "in use")

    path = tmp_path / "t.jsonl"
    path.write_bytes(line(1, "a") + line(1, "b"))
    monkeypatch.setattr(Path, "replace", refuse)
    cassette = Cassette(path)
    cassette.tidy()
    assert path.read_bytes() == line(1, "a") + line(1, "b")
    assert found(cassette, 1) == "b"
    assert sorted(os.listdir(tmp_path)) == ["t.jsonl", "t.jsonl.lock"]
    cassette.close()


def test_a_place_that_is_taken_is_kept_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    cassette = Cassette(path)
    assert cassette.keep(line(1, "a"), replace=False) is None
    assert cassette.keep(line(1, "b"), replace=False) == LlmResponse(Content.model("a"))
    assert cassette.keep(line(1, "a"), replace=True) is None
    assert path.read_bytes() == line(1, "a")
    assert cassette.keep(line(1, "b"), replace=True) is None
    assert path.read_bytes() == line(1, "a") + line(1, "b")
    cassette.close()


def test_what_others_do_to_the_file_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    cassette = Cassette(path)
    assert found(cassette, 1) is None
    path.write_bytes(line(1, "a"))
    assert found(cassette, 1) == "a"
    with path.open("ab") as file:  # appended
        file.write(line(2, "b"))
    assert (found(cassette, 1), found(cassette, 2)) == ("a", "b")
    other = tmp_path / "other"
    other.write_bytes(line(2, "c"))
    other.replace(path)  # replaced
    assert (found(cassette, 1), found(cassette, 2)) == (None, "c")
    path.write_bytes(line(3, "much longer than before") + line(2, "d") + line(1, "e"))  # edited in place
    assert [found(cassette, number) for number in (1, 2, 3)] == ["e", "d", "much longer than before"]
    path.write_bytes(line(3, "much longer than") + line(2, "d, before") + line(1, "e"))  # … at the same size
    assert [found(cassette, number) for number in (1, 2, 3)] == ["e", "d, before", "much longer than"]
    path.unlink()
    assert found(cassette, 1) is None
    assert len(cassette) == 0


def test_the_models_are_known_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    sent = request()
    reply = LlmResponse(Content.model("x"))
    path.write_bytes(b"".join(to_line(str(n) * 64, name, identity, sent, reply) for n, (name, identity) in enumerate(
        [("smol", "gguf:1"), ('g"é', 'g"é'), ("smol", "gguf:1"), ("smol", "gguf:2")]
    )))  # fmt: skip
    cassette = Cassette(path)
    assert list(cassette.models.items()) == [("gguf:1", "smol"), ('g"é', 'g"é'), ("gguf:2", "smol")]
    cassette.close()


def test_other_spacing_line_ends_and_empty_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    compact = json.dumps(json.loads(line(1, "a")), separators=(",", ":")).encode()
    path.write_bytes(compact + b"\r\n\r\n" + line(2, "b") + b"\n" + line(3, "c").rstrip())
    cassette = Cassette(path)
    assert [found(cassette, number) for number in (1, 2, 3)] == ["a", "b", "c"]
    cassette.keep(line(4, "d"), replace=False)
    assert [found(cassette, number) for number in (1, 2, 3, 4)] == ["a", "b", "c", "d"]
    assert path.read_bytes().endswith(line(3, "c") + line(4, "d"))
    cassette.close()


@pytest.mark.parametrize(
    "bad",
    [
        b"<<<<<<< HEAD\n",
        b'{"key": "1"}\n',
        line(2)[:-9] + b"\n",
        line(2).replace(b'"ordinal": 0', b'"ordinal": -1'),
        line(2).replace(b'"model": "any"', b'"model": "\\q"'),
        line(2).replace(b'"model": "any"', b'"model": "\xff"'),
        line(2)[1:],
    ],
)
def test_a_line_in_the_middle_that_is_none_is_an_error_with_its_number(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(line(1) + bad + line(3))
    with pytest.raises(ModelError) as caught:
        Cassette(path)
    assert str(caught.value) == (
        "t.jsonl, line 2: it is no recorded reply. Delete the line and record its request anew (mode 'new'), or take the "
        "file from version control."
    )
    path.write_bytes(line(1))
    cassette = Cassette(path)
    with path.open("ab") as file:
        file.write(line(3) + bad + line(4))
    with pytest.raises(ModelError, match=r"^t\.jsonl, line 3: it is no recorded reply"):
        found(cassette, 1)
    cassette.close()


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        ((b'{"parts"', b'{parts"'), "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 14 (char 13)"),
        ((b'"text": "yes"', b'"tezt": "yes"'), "ValueError: a part has no field 'tezt'"),
        ((b'{"content": {"parts": [{"text": "yes"}], "role": "model"}}', b'{"contend": {}}'), "TypeError: LlmResponse.__init__() got an unexpected keyword argument 'contend'"),
        ((b'{"content": {"parts": [{"text": "yes"}], "role": "model"}}', b'{"usage": 7}'), "TypeError: adknb.core.usage.Usage() argument after ** must be a mapping, not int"),
        ((b'"parts": [{"text": "yes"}]', b'"parts": [7]'), "TypeError: object of type 'int' has no len()"),
    ],
)  # fmt: skip
def test_a_reply_that_cannot_be_read_is_an_error_with_its_line(
    tmp_path: Path, damage: tuple[bytes, bytes], what: str
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(line(1) + line(2).replace(*damage, 1) + line(3))
    cassette = Cassette(path)
    assert found(cassette, 3) == "yes"
    with pytest.raises(ModelError) as caught:
        found(cassette, 2)
    assert str(caught.value).startswith(f"t.jsonl, line 2: its reply cannot be read ({what}")
    cassette.close()


def test_cut_anywhere_in_its_last_line_a_file_loses_that_reply_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    whole = line(1, "first") + line(2, 'größer \\ "} {')
    before = len(line(1, "first"))
    for size in range(before, len(whole) + 1):
        path.write_bytes(whole[:size])
        cassette = Cassette(path)
        complete = size >= len(whole) - 1  # the line end alone is missing
        assert cassette.torn is (before < size < len(whole) - 1)
        assert found(cassette, 1) == "first"
        assert found(cassette, 2) == ('größer \\ "} {' if complete else None)
        if cassette.torn:
            with pytest.warns(UserWarning, match=f"^{re.escape(CUT_OFF)}$"):
                cassette.keep(line(3, "third"), replace=False)
        else:
            cassette.keep(line(3, "third"), replace=False)
        assert path.read_bytes() == (whole if complete else line(1, "first")) + line(3, "third")
        cassette.close()


@pytest.mark.parametrize(
    "foreign", [b"a note of mine, without a line end", b"{", b'{"key"', b'{"keys": 1}', b"\x00" * 9]
)
def test_nothing_is_cut_off_a_file_that_is_no_cassette(tmp_path: Path, foreign: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(foreign)
    if b'{"key": "'.startswith(foreign):
        cassette = Cassette(path)
        assert cassette.torn
        cassette.close()
    else:
        with pytest.raises(ModelError, match=r"^notes\.txt, line 1: it is no recorded reply\."):
            Cassette(path)
    assert path.read_bytes() == foreign


def test_a_folder_is_no_cassette(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        Cassette(tmp_path)
    assert str(caught.value) == f"{tmp_path.name} cannot be read: Is a directory"


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    cassette = Cassette(tmp_path / "new" / "t.jsonl")
    cassette.claim()
    assert os.listdir(tmp_path / "new") == ["t.jsonl.lock"]
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError) as caught:
        Cassette(tmp_path / "file" / "t.jsonl")
    assert str(caught.value) == "t.jsonl cannot be read: Not a directory"


def test_a_disk_that_is_full_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, mode: str = "r", buffering: int = -1) -> IO[bytes]:
        if mode == "ab":
            raise OSError(errno.ENOSPC, "No space left on device")
        return open(path, mode, buffering)

    cassette = Cassette(tmp_path / "t.jsonl")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ModelError) as caught:
        cassette.keep(line(1), replace=False)
    assert str(caught.value) == "t.jsonl cannot be written: No space left on device"


def test_a_lock_that_is_not_given_back_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from filelock import FileLock

    monkeypatch.setattr("adknb.models.cassette._LOCK_SECONDS", 0.01)
    cassette = Cassette(tmp_path / "t.jsonl")
    with FileLock(tmp_path / "t.jsonl.lock"), pytest.raises(ModelError) as caught:
        cassette.claim()
    assert str(caught.value) == (
        "t.jsonl: another process holds t.jsonl.lock for more than 0.01 s; end it, or record into another file"
    )
