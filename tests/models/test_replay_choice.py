"""Whose replies are replayed, and how a name or `--record` says so."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from adknb.core.errors import CassetteMissError, ModelError
from adknb.core.protocols import Model
from adknb.models.replay import ReplayModel, recording, replayed
from adknb.models.resolve import resolve_model
from tests.models.recorded import Asked, about, record, said


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
