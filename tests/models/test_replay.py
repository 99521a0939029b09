import asyncio
import gc
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from adknb import IncludeContents, LlmAgent, LoopAgent, Runner, SequentialAgent
from adknb.core.content import Content, FunctionCall, Part
from adknb.core.errors import CassetteMissError, ModelError, SpecError
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.usage import Usage
from adknb.models.cassette_line import to_line
from adknb.models.replay import RecordMode, ReplayModel, recording, replayed
from adknb.models.request_key import request_key
from adknb.models.resolve import resolve_model
from adknb.models.scripted import ScriptedModel
from tests.models.asking import ask, request, text


class Asked:
    """A model that numbers its replies, from 1; `say` makes the text."""

    def __init__(
        self, name: str = "any", say: Callable[[int, LlmRequest], str] = lambda number, _: f"reply {number}"
    ) -> None:
        self.name = name
        self.count = 0
        self._say = say

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        self.count += 1
        words = self._say(self.count, request)
        if stream:
            yield LlmResponse(Content.model(words[:3]), partial=True)
        yield LlmResponse(Content.model(words), Usage(10, self.count), finish_reason="STOP", note="live")


def about(topic: str, agent: str = "DraftAgent", ordinal: int = 0, repeat: int = 0) -> LlmRequest:
    return replace(request(agent, [Content.user(topic)], ordinal=ordinal), repeat=repeat)


async def said(model: Model, sent: LlmRequest) -> str:
    (response,) = await ask(model, sent)
    return text(response)


async def record(path: Path, *topics: str, name: str = "any") -> None:
    with ReplayModel(path, model=Asked(name), mode="new") as model:
        for topic in topics:
            await said(model, replace(about(topic), model=name))


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
        "from tests.models.test_replay import Asked, ReplayModel, about, said\n"
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


async def test_of_several_recorded_models_one_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("t.jsonl")
    await record(path, "sky", name="gemini-2.5-flash")
    await record(path, "sea", name="smol")
    with pytest.raises(ModelError) as caught:
        ReplayModel(path)
    assert str(caught.value) == (
        "t.jsonl holds replies of several models. Say whose to replay: 'replay:t.jsonl#gemini-2.5-flash' or "
        "'replay:t.jsonl#smol'"
    )
    with pytest.raises(ModelError) as caught:
        ReplayModel(path, name="smoll")
    assert str(caught.value) == "t.jsonl holds no replies of 'smoll'. Did you mean 'smol'?"
    model = resolve_model("replay:t.jsonl#smol")
    assert model.name == "smol"
    assert await said(model, replace(about("sea"), model="smol")) == "reply 1"
    with pytest.raises(CassetteMissError):
        await said(model, replace(about("sky"), model="smol"))


async def test_two_files_of_one_name_are_told_apart_by_their_hash(tmp_path: Path) -> None:
    class Hashed(Asked):
        identity = ""

    path = tmp_path / "t.jsonl"
    for identity in ("gguf:1", "gguf:2"):
        model = Hashed("smol")
        model.identity = identity
        with ReplayModel(path, model=model, mode="new") as recorder:
            assert await said(recorder, replace(about("sky"), model="smol")) == "reply 1"
            assert model.count == 1
    with pytest.raises(ModelError, match=r"'replay:t\.jsonl#gguf:1' or 'replay:t\.jsonl#gguf:2'$"):
        ReplayModel(path, name="smol")
    with ReplayModel(path, name="gguf:2") as chosen:
        assert (chosen.name, chosen.identity) == ("smol", "gguf:2")
        assert await said(chosen, replace(about("sky"), model="smol")) == "reply 1"


async def test_a_model_that_a_callback_asks_for_instead_counts(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    asked = Asked()
    with ReplayModel(path, model=asked, mode="new") as model:
        assert await said(model, about("sky")) == "reply 1"
        assert await said(model, replace(about("sky"), model="bigger")) == "reply 2"
    with ReplayModel(path) as model:
        assert model.name == "any"
        assert await said(model, replace(about("sky"), model="bigger")) == "reply 2"


class TestResolving:
    async def test_agents_that_name_one_file_share_its_index(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        await record(Path("t#1.jsonl"), "sky")
        model = resolve_model("replay:t#1.jsonl")
        assert isinstance(model, ReplayModel)
        assert resolve_model(f"replay:{tmp_path}/t#1.jsonl") is model
        assert resolve_model("replay:t#1.jsonl#any") is not model
        os.utime("t#1.jsonl", ns=(1, 1))
        assert resolve_model("replay:t#1.jsonl") is not model

    @pytest.mark.parametrize("name", ["replay", "replay:", "replay:#any"])
    def test_a_file_is_needed(self, name: str) -> None:
        with pytest.raises(ModelError) as caught:
            resolve_model(name)
        assert str(caught.value) == "'replay' needs the file with the replies: 'replay:PATH'"

    def test_a_file_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match=f"^there is no file '{tmp_path}/gone.jsonl'"):
            replayed(f"replay:{tmp_path}/gone.jsonl#any")


class TestRecording:
    async def test_a_model_or_a_function_that_makes_it(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        with recording(Asked, path) as model:
            assert (model.mode, await said(model, about("sky"))) == ("once", "reply 1")
        asked = Asked()
        with recording(asked, path, "new") as model:
            assert (model.mode, await said(model, about("sea"))) == ("new", "reply 1")

    async def test_where_the_model_is_not_to_be_had_the_file_answers(self, tmp_path: Path) -> None:
        def no_key() -> Model:
            raise ModelError("GEMINI_API_KEY is not set")

        path = tmp_path / "t.jsonl"
        with pytest.raises(ModelError, match=r"^GEMINI_API_KEY is not set$"):
            recording(no_key, path)
        await record(path, "sky", name="gemini-2.5-flash")
        with recording(no_key, path) as model:
            assert model.name == "gemini-2.5-flash"
            assert await said(model, replace(about("sky"), model=model.name)) == "reply 1"
        with pytest.raises(ModelError, match=r"^GEMINI_API_KEY is not set$"):
            recording(no_key, path, "new")


class TestMiss:
    async def message(self, path: Path, sent: LlmRequest) -> str:
        with ReplayModel(path) as model, pytest.raises(CassetteMissError) as caught:
            await said(model, sent)
        assert caught.value.agent == sent.agent
        return str(caught.value)

    async def test_it_shows_the_nearest_request_and_where_it_differs(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        with ReplayModel(path, model=Asked(), mode="new") as model:
            for agent, ordinal, words in [
                ("TriageAgent", 0, "Reply in two sentences at most, and promise nothing to them."),
                ("DraftAgent", 0, "Reply in two lines."),
                ("DraftAgent", 1, "Reply in two sentences at most, and promise nothing to them."),
                ("DraftAgent", 0, "Reply in two sentences at most,\tand promise\n\x1b nothing to anyone at all, ever."),
            ]:
                await said(model, request(agent, system=words, ordinal=ordinal))
        sent = request(
            "DraftAgent", system="Reply in two sentences at most, and promise nothing to anyone at all, ever."
        )
        assert await self.message(path, sent) == (
            "DraftAgent: t.jsonl holds no reply of any to this (request 1 of the agent). The nearest is DraftAgent's request 1 "
            "on line 4; it first differs in the system instruction, at character 31:\n"
            '  asked:    …"in two sentences at most, and promise nothing to anyone at all, ever."\n'
            '  recorded: …"in two sentences at most,\\tand promise\\n\\u001b nothing to anyone at all, ever"…\n'
            "Put it back as it was, or record what is new: mode 'new' asks the model for what is missing, 'all' for everything."
        )

    @pytest.mark.parametrize(
        ("sent", "difference"),
        [
            (request(contents=[Content.user("Why?"), Content.model("So.")]), 'content 2 (model), at character 0:\n  asked:    "So."\n  recorded: (no such part)'),
            (request(contents=[]), 'content 1 (user), at character 0:\n  asked:    (no such part)\n  recorded: "Why?"'),
            (request(contents=[Content.model("Why?")]), 'content 1 (model), at character 0:\n  asked:    "Why?"\n  recorded: (no such part)'),
            (request(contents=[Content.user("Why not?")]), 'content 1 (user), at character 3:\n  asked:    "Why not?"\n  recorded: "Why?"'),
            (
                request(contents=[Content("user", (Part(text="Why?"), Part(function_call=FunctionCall("f", {}))))]),
                'content 1 (user), part 1, at character 0:\n  asked:    "Why?"\n  recorded: (no such part)',
            ),
            (request(contents=[Content.user("Why?")], seed=3), 'the config\'s seed, at character 0:\n  asked:    "3"\n  recorded: (no such part)'),
            (replace(request(contents=[Content.user("Why?")]), tools={"f": {"name": "f"}}), 'tool 1, at character 0:\n  asked:    "{\\"name\\": \\"f\\"}"\n  recorded: (no such part)'),
        ],
    )  # fmt: skip
    async def test_it_names_the_part(self, tmp_path: Path, sent: LlmRequest, difference: str) -> None:
        path = tmp_path / "t.jsonl"
        await record(path, "Why?")
        assert f"it first differs in {difference}\n" in await self.message(path, sent)

    async def test_a_repeat_needs_its_own_reply(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        await record(path, "sky")
        assert (await self.message(path, about("sky", repeat=2))).splitlines()[0] == (
            "DraftAgent: t.jsonl holds no reply of any to this (request 1 of the agent, repeat 3). The same request is there as "
            "DraftAgent's request 1, repeat 1 on line 1; each repeat needs a reply of its own."
        )

    async def test_a_request_edited_by_hand_is_seen(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        await record(path, "sky")
        path.write_text(path.read_text().replace('"text": "sky"', '"text": "sea"'))
        assert (
            "The same request is there as DraftAgent's request 1 on line 1, under another key: that line was edited by hand."
            in await self.message(path, about("sea"))
        )

    async def test_another_file_of_the_same_model_name_is_named(self, tmp_path: Path) -> None:
        class Hashed(Asked):
            identity = "gguf:2"

        path = tmp_path / "t.jsonl"
        await record(path, "sky")
        with ReplayModel(path, model=Hashed()) as model, pytest.raises(CassetteMissError) as caught:
            await said(model, about("sky"))
        assert (
            'it first differs in the model\'s file, at character 0:\n  asked:    "gguf:2"\n  recorded: (no such part)\n'
            in str(caught.value)
        )

    async def test_lines_that_cannot_be_read_are_not_near(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        await record(path, "sky", "sea")
        first, second = path.read_text().splitlines(keepends=True)
        for damaged in (
            first.replace('"contents": [', '"contents": '),
            first.replace('"tools": []', '"tools": 7'),
            first.replace('"tools"', '"fools"'),
        ):
            path.write_text(damaged + second)
            assert "on line 2; it first differs" in await self.message(path, about("sky!"))

    async def test_only_so_many_are_compared(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "t.jsonl"
        await record(path, "sky at dusk", "sky at dawn")
        assert "on line 2;" in await self.message(path, about("sky at dawns"))
        monkeypatch.setattr("adknb.models.nearest._BYTES", 1)
        assert "on line 1;" in await self.message(path, about("sky at dawns"))

    async def test_a_file_that_is_gone_says_so(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        await record(path, "sky")
        with ReplayModel(path) as model:
            path.unlink()
            with pytest.raises(CassetteMissError, match=r"\(request 1 of the agent\)\. Nothing is recorded there\.\n"):
                await said(model, about("sky"))


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


def pipeline() -> SequentialAgent:
    def lookup(order: int, city: str) -> dict[str, str]:
        """Finds an order."""
        return {"found": f"{order} in {city}"}

    finder = LlmAgent(name="Finder", instruction="Find it.", tools=[lookup], output_key="found")
    writer = LlmAgent(name="Writer", instruction="Write about {found}.", output_key="text")
    return SequentialAgent(
        name="root", sub_agents=[finder, LoopAgent(name="loop", sub_agents=[writer], max_iterations=2)]
    )


def test_a_pipeline_replays_as_it_ran_tools_and_all(tmp_path: Path) -> None:
    """The narrated call keeps the order of its arguments, and the ids of calls, new in each run, are in the way of nothing."""
    script = ScriptedModel(
        {
            "Finder": [Part.from_function_call("lookup", {"order": 7, "city": "Köln"}), "It is in Köln."],
            "Writer": ["one", "two"],
        },
        name="gemini-2.5-flash",
    )
    path = tmp_path / "t.jsonl"
    live = Runner(pipeline(), model=recording(script, path)).run("Where is order 7?")
    again = Runner(pipeline(), model=f"replay:{path}").run("Where is order 7?")
    sent = [[request.sent for step in run.step_runs for request in step.requests] for run in (live, again)]
    assert [request_key(one) for one in sent[0]] == [request_key(one) for one in sent[1]]
    assert '{"order":7,"city":"Köln"}' in str([part.text for part in sent[1][2].contents[1].parts])
    assert [event.text for event in again.turn_events] == [event.text for event in live.turn_events]
    assert again.output == live.output == "two"
    assert len(path.read_bytes().splitlines()) == 4
    recorded = path.read_text()
    assert not any(event.id in recorded for event in live.turn_events)
    assert not any(call.id in recorded for event in live.turn_events for call in event.function_calls if call.id)


def test_a_step_run_again_gets_its_reply_again(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    agent = LlmAgent(name="Writer", instruction="Write.", include_contents=IncludeContents.NONE)
    runner = Runner(agent, model=recording(Asked(), path))
    assert [runner.run("Go.").output for _ in range(2)] == ["reply 1", "reply 1"]
    first = runner.run("Go.")
    assert runner.run("Go.", session=first.session).output == "reply 2"
    assert [runner.run("Go.").output for _ in range(2)] == ["reply 1", "reply 1"]
