import asyncio
import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from adknb.core.content import Content
from adknb.core.errors import CassetteMissError, ModelError, SpecError
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.usage import Usage
from adknb.models.cassette_line import to_line
from adknb.models.replay import RecordMode, ReplayModel
from adknb.models.request_key import request_key
from adknb.models.scripted import ScriptedModel
from tests.models.asking import ask, request, text
from tests.models.recorded import Asked, about, record, said


async def test_what_was_recorded_is_replayed_without_the_model(tmp_path: Path) -> None:
    path = tmp_path / "tickets.jsonl"
    with ReplayModel(path, model=Asked("gemini-2.5-flash"), mode="once") as recorder:
        live = [await ask(recorder, about(topic)) for topic in ("sky", "sea")]
    assert [reply.note for (reply,) in live] == ["live", "live"]
    with ReplayModel(path) as model:
        assert isinstance(model, Model)
        assert model.name == "gemini-2.5-flash"
        assert model.identity == "gemini-2.5-flash"
        (reply,) = await ask(model, about("sea"))
    assert reply == LlmResponse(
        Content.model("reply 2"), Usage(10, 2), finish_reason="STOP",
        note="replayed from tickets.jsonl (recorded from gemini-2.5-flash)",
    )  # fmt: skip
    assert repr(model) == "ReplayModel('tickets.jsonl', mode='none', name='gemini-2.5-flash')"


async def test_none_never_asks(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    await record(path, "sky")
    asked = Asked()
    with ReplayModel(path, model=asked) as model:
        assert await said(model, about("sky")) == "reply 1"
        with pytest.raises(CassetteMissError):
            await said(model, about("sea"))
    assert asked.count == 0
    assert sorted(os.listdir(tmp_path)) == ["t.jsonl", "t.jsonl.lock"]


async def test_once_asks_until_the_file_is_there(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    asked = Asked()
    with ReplayModel(path, model=asked, mode="once") as model:
        assert [await said(model, about(topic)) for topic in ("sky", "sea", "sky")] == ["reply 1", "reply 2", "reply 1"]
    with ReplayModel(path, model=asked, mode="once") as model:
        assert await said(model, about("sea")) == "reply 2"
        with pytest.raises(CassetteMissError):
            await said(model, about("sun"))
    assert asked.count == 2


async def test_once_takes_an_empty_file_for_none(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.touch()
    with ReplayModel(path, model=Asked(), mode="once") as model:
        assert await said(model, about("sky")) == "reply 1"
    assert len(path.read_bytes().splitlines()) == 1


async def test_new_asks_for_what_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    await record(path, "sky")
    asked = Asked(say=lambda number, _: f"new {number}")
    with ReplayModel(path, model=asked, mode="new") as model:
        sent = [about("sea"), about("sky"), about("sea"), about("sky", ordinal=1), about("sky", repeat=1)]
        assert [await said(model, one) for one in sent] == ["new 1", "reply 1", "new 1", "new 2", "new 3"]
    with ReplayModel(path) as model:
        assert [await said(model, one) for one in sent] == ["new 1", "reply 1", "new 1", "new 2", "new 3"]


async def test_all_asks_for_everything_and_keeps_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    await record(path, "sky", "sea", "sun")
    before = path.read_text()
    with ReplayModel(path, model=Asked(say=lambda number, _: f"anew {number}"), mode="all") as model:
        assert [await said(model, about(topic)) for topic in ("sea", "sky", "sea")] == ["anew 1", "anew 2", "anew 3"]
        assert len(path.read_bytes().splitlines()) == 6  # while it runs nothing is overwritten
    after = [json.loads(line)["reply"]["content"]["parts"][0]["text"] for line in path.read_bytes().splitlines()]
    assert after == ["anew 2", "anew 3", "reply 3"]
    with ReplayModel(path, model=Asked(say=lambda number, _: f"reply {number}"), mode="all") as model:
        for topic in ("sky", "sea", "sun"):
            await said(model, about(topic))
    assert path.read_text() == before


async def test_superseded_lines_go_when_the_model_is_no_longer_used(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    await record(path, "sky")
    model = ReplayModel(path, model=Asked(say=lambda number, _: "anew"), mode="all")
    await said(model, about("sky"))
    assert len(path.read_bytes().splitlines()) == 2
    del model
    gc.collect()
    assert len(path.read_bytes().splitlines()) == 1


def test_superseded_lines_go_at_the_end_of_the_process(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from adknb import ReplayModel\n"
        "from tests.models.recorded import Asked, about, said\n"
        "model = ReplayModel(sys.argv[1], model=Asked(), mode='all')\n"
        "for _ in range(3): asyncio.run(said(model, about('sky')))\n"
        "print(len(open(sys.argv[1]).readlines()))\n"
    )
    root = Path(__file__).parents[2]
    path = tmp_path / "t.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], env={**os.environ, "PYTHONPATH": str(root)}, cwd=root,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("3\n", "")
    assert len(path.read_bytes().splitlines()) == 1


async def test_a_closed_model_can_be_used_on(tmp_path: Path) -> None:
    model = ReplayModel(tmp_path / "t.jsonl", model=Asked(), mode="new")
    model.close()
    assert await said(model, about("sky")) == "reply 1"
    model.close()
    assert await said(model, about("sky")) == "reply 1"
    model.close()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=12))
@settings(max_examples=30)
def test_recorded_again_a_file_is_the_same_byte_for_byte(asked: list[tuple[str, int, int]]) -> None:
    async def run(folder: Path, mode: RecordMode) -> bytes:
        script = ScriptedModel(lambda sent: f"{sent.ordinal} {sent.repeat}", name="any")
        with ReplayModel(folder / "t.jsonl", model=script, mode=mode) as model:
            for topic, ordinal, repeat in asked:
                await said(model, about(topic, ordinal=ordinal, repeat=repeat))
        return (folder / "t.jsonl").read_bytes()

    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        first = asyncio.run(run(Path(one), "once"))
        assert asyncio.run(run(Path(one), "all")) == first
        assert asyncio.run(run(Path(one), "new")) == first
        assert asyncio.run(run(Path(other), "all")) == first


async def test_the_pieces_of_a_streamed_answer_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with ReplayModel(path, model=Asked(), mode="once") as model:
        live = await ask(model, about("sky"), stream=True)
        again = await ask(model, about("sky"), stream=True)
    assert [(text(reply), reply.partial) for reply in live] == [("rep", True), ("reply 1", False)]
    assert [(text(reply), reply.partial) for reply in again] == [("reply 1", False)]
    assert len(path.read_bytes().splitlines()) == 1


async def test_an_answer_that_is_left_in_its_middle_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with ReplayModel(path, model=Asked(), mode="once") as model:
        answer = model.generate_content_async(about("sky"), stream=True)
        assert (await anext(answer)).partial
        await answer.aclose()
        assert not path.exists()
        assert await said(model, about("sky")) == "reply 2"


async def test_an_error_is_not_recorded_and_an_answer_with_an_error_code_is(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    blocked = LlmResponse(error_code="SAFETY", error_message="blocked")
    script = ScriptedModel([ModelError("the key sk-123 is wrong"), blocked])
    with ReplayModel(path, model=script, mode="once") as model:
        with pytest.raises(ModelError, match="sk-123"):
            await said(model, about("sky"))
        assert not path.exists()
        await ask(model, about("sky", ordinal=1))
    with ReplayModel(path) as model:
        (reply,) = await ask(model, about("sky", ordinal=1))
    assert (reply.content, reply.error_code, reply.error_message) == (None, "SAFETY", "blocked")


async def test_a_request_recorded_at_another_count_of_the_session_is_answered(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with ReplayModel(path, model=Asked(), mode="new") as model:
        for ordinal in (1, 4):
            await said(model, about("sky", ordinal=ordinal))
    with ReplayModel(path) as model:
        got = [await said(model, about("sky", ordinal=ordinal)) for ordinal in (0, 1, 2, 4, 9)]
    assert got == ["reply 1", "reply 1", "reply 1", "reply 2", "reply 2"]


async def test_sessions_at_once_get_what_one_after_the_other_gets(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    asked = Asked()
    with ReplayModel(path, model=asked, mode="new") as model:
        first = await asyncio.gather(*(said(model, about("sky", ordinal=n % 3)) for n in range(9)))
        again = await asyncio.gather(*(said(model, about("sky", ordinal=n % 3)) for n in range(9)))
    assert first == again
    assert len(set(first)) == 3
    assert len(path.read_bytes().splitlines()) == 3


async def test_what_another_process_recorded_meanwhile_stands(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    sent = about("sky")
    other = to_line(request_key(sent), "any", "any", sent, LlmResponse(Content.model("theirs")))

    def answer(number: int, _: LlmRequest) -> str:
        path.write_bytes(other)
        return "ours"

    with ReplayModel(path, model=Asked(say=answer), mode="new") as model:
        (reply,) = await ask(model, sent)
    assert (text(reply), reply.note) == ("theirs", "replayed from t.jsonl (recorded from any)")
    assert path.read_bytes() == other


def test_a_torn_last_line_is_left_out_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    asyncio.run(record(path, "sky", "sea"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    with pytest.warns(UserWarning, match=r"^t\.jsonl: its last line is not complete; it is left out\.$"):
        model = ReplayModel(path)
    assert asyncio.run(said(model, about("sky"))) == "reply 1"
    with pytest.raises(CassetteMissError):
        asyncio.run(said(model, about("sea")))
    assert path.read_bytes() == whole[:-9]
    with pytest.warns(
        UserWarning, match=r"^t\.jsonl: line 2, the last, was cut off while it was written; it is removed"
    ):
        recorder = ReplayModel(path, model=Asked(say=lambda *_: "reply 2"), mode="new")
    assert path.read_bytes() == whole.splitlines(keepends=True)[0]
    assert asyncio.run(said(recorder, about("sea"))) == "reply 2"
    assert len(path.read_bytes().splitlines()) == 2


@pytest.mark.parametrize("mode", ["none", "once", "new", "all"])
def test_without_file_and_model_there_is_nobody_to_ask(tmp_path: Path, mode: RecordMode) -> None:
    path = tmp_path / "t.jsonl"
    for found in (f"there is no file '{path}'", "t.jsonl holds no replies"):
        with pytest.raises(ModelError) as caught:
            ReplayModel(path, mode=mode)
        assert str(caught.value) == (
            f"{found}. To record into it, give the model to ask: ReplayModel('t.jsonl', model=…, mode='once')"
        )
        path.touch()


def test_wrong_words_are_refused(tmp_path: Path) -> None:
    wrong: Any = "onse"
    with pytest.raises(SpecError) as caught:
        ReplayModel(tmp_path / "t.jsonl", model=Asked(), mode=wrong)
    assert str(caught.value) == "there is no record mode 'onse'. Did you mean 'once' or 'none' or 'new'?"
    with pytest.raises(SpecError) as caught:
        ReplayModel(tmp_path / "t.jsonl", model=Asked(), mode="new", name="x")
    assert str(caught.value) == "name= chooses among recorded models; with model= it is that model's own name"


async def test_secrets_around_a_call_are_not_in_the_file_or_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    model = Asked()
    vars(model).update(
        api_key="sk-planted", base_url="https://user:sk-planted@host/v1", headers={"Authorization": "sk-planted"}
    )
    config: dict[str, Any] = {
        "temperature": 0.0, "http_options": {"headers": {"x": "sk-planted"}}, "api_key": "sk-planted",
        "extra_headers": {"x": "sk-planted"}, "headers": {"x": "sk-planted"}, "base_url": "https://u:sk-planted@host",
    }  # fmt: skip
    path = tmp_path / "t.jsonl"
    with ReplayModel(path, model=model, mode="once") as recorder:
        await ask(recorder, request(**config))
    assert b"sk-planted" not in path.read_bytes()
    assert json.loads(path.read_bytes())["request"]["config"] == {"temperature": 0.0}
    with ReplayModel(path, model=model) as player:
        assert await said(player, request(temperature=0.0)) == "reply 1"
        with pytest.raises(CassetteMissError) as caught:
            await ask(player, request(**{**config, "temperature": 1.0}))
    assert "sk-planted" not in str(caught.value)
    assert "sk-planted" not in repr(player)
