import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adknb.core.errors import ModelError, SpecError
from adknb.models import resolve
from adknb.models.echo import EchoModel
from adknb.models.resolve import register_model, resolve_model
from adknb.models.scripted import ScriptedModel

MODEL = ScriptedModel({})


def test_a_model_object_is_taken_as_it_is() -> None:
    assert resolve_model(MODEL) is MODEL


def test_echo() -> None:
    model = resolve_model("echo")
    assert isinstance(model, EchoModel)
    assert model.name == "echo"


@pytest.mark.parametrize("value", [7, None, ScriptedModel, object()])
def test_what_is_no_model_is_refused(value: Any) -> None:
    with pytest.raises(ModelError) as caught:
        resolve_model(value)
    assert str(caught.value) == (
        f"{value!r} is no model. Give a name such as 'local', or an object that has a `name` and an async generator "
        "`generate_content_async(request, stream)`."
    )


def test_scripted_asks_for_its_replies() -> None:
    with pytest.raises(ModelError) as caught:
        resolve_model("scripted")
    assert str(caught.value) == (
        "'scripted' needs its replies, so give the model as an object: model=ScriptedModel({'DraftAgent': ['…']})"
    )


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("claude", " There are: 'echo', 'gemini', 'local', 'mine', 'openai', 'replay', 'scripted'."),
        ("ecko", " Did you mean 'echo'?"),
        ("", " There are: 'echo', 'gemini', 'local', 'mine', 'openai', 'replay', 'scripted'."),
    ],
)
def test_an_unknown_name_says_what_works(name: str, near: str) -> None:
    with pytest.raises(ModelError) as caught:
        resolve_model(name, registry={"mine": lambda name: MODEL})
    assert str(caught.value) == (
        f"there is no model {name!r}.{near} What works: 'echo', 'local', 'local:PATH.gguf', 'replay:PATH', "
        "'openai/NAME', 'gemini-…', "
        "names that begin with 'mine', or a model object, for example Runner(root, model=ScriptedModel({…})). "
        "For names of your own: register_model."
    )


def test_the_longest_prefix_that_fits_makes_the_model() -> None:
    made: list[tuple[str, str]] = []

    def factory(prefix: str) -> resolve.ModelFactory:
        def make(name: str) -> ScriptedModel:
            made.append((prefix, name))
            return MODEL

        return make

    registry = {prefix: factory(prefix) for prefix in ("openai", "openai/o", "gemini", "gemini-3")}
    names = ["openai/gpt", "openai/o/x", "gemini-2.5-flash", "gemini-3-pro", "gemini", "openai:y"]
    assert [resolve_model(name, registry=registry) for name in names] == [MODEL] * 6
    assert made == [
        ("openai", "openai/gpt"),
        ("openai/o", "openai/o/x"),
        ("gemini", "gemini-2.5-flash"),
        ("gemini-3", "gemini-3-pro"),
        ("gemini", "gemini"),
        ("openai", "openai:y"),
    ]
    with pytest.raises(ModelError):
        resolve_model("geminius", registry=registry)


def test_models_behind_an_api(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai", reason="the extra `openai` is not installed")
    pytest.importorskip("google.genai", reason="the extra `gemini` is not installed")
    for variable in ("OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, "k")
    shown = [
        resolve_model("openai/gpt-5"),
        resolve_model("openai/openai/gpt-5", base_url="https://gateway.example/v1"),
        resolve_model("gemini-2.5-flash"),
        resolve_model("gemini-2.5-flash", base_url="https://gateway.example"),
    ]
    assert [repr(model) for model in shown] == [
        "OpenAIModel('gpt-5', base_url='https://api.openai.com/v1')",
        "OpenAIModel('openai/gpt-5', base_url='https://gateway.example/v1')",
        "GeminiModel('gemini-2.5-flash', base_url='https://generativelanguage.googleapis.com')",
        "GeminiModel('gemini-2.5-flash', base_url='https://gateway.example')",
    ]


@pytest.mark.parametrize("name", ["openai", "openai:gpt-5"])
def test_openai_wants_a_name_behind_a_slash(name: str) -> None:
    with pytest.raises(ModelError, match=rf"^there is no model '{name}'; write openai/NAME"):
        resolve_model(name)


@pytest.mark.parametrize("value", ["echo", "local", MODEL])
def test_a_base_url_is_for_models_behind_an_api(value: object) -> None:
    with pytest.raises(ModelError, match=r"^a base URL goes with 'openai/NAME' or 'gemini-…', not with "):
        resolve_model(value, base_url="http://localhost:8000/v1")


def test_a_registered_prefix_serves_until_it_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve, "_registered", {})
    register_model("house", lambda name: EchoModel(name))
    assert resolve_model("house/7b").name == "house/7b"
    register_model("house", lambda name: MODEL)
    assert resolve_model("house/7b") is MODEL


@pytest.mark.parametrize("prefix", ["echo", "local", "scripted", ""])
def test_adknbs_own_names_cannot_be_registered(prefix: str) -> None:
    with pytest.raises(SpecError):
        register_model(prefix, lambda name: MODEL)


def test_a_wrong_path_is_told(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    with pytest.raises(ModelError) as caught:
        resolve_model(f"local:{tmp_path}/no.gguf")
    assert str(caught.value) == f"there is no file '{tmp_path}/no.gguf'. Name a GGUF file: model=\"local:PATH.gguf\""


def test_importing_the_room_loads_no_model() -> None:
    code = "import sys, adknb.models; print([name for name in sys.modules if name.startswith('adknb.models.')])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_the_models_load_nothing_heavy() -> None:
    code = (
        "import sys; from adknb import EchoModel, GeminiModel, LocalModel, OpenAIModel, ReplayModel, ScriptedModel\n"
        "print(sorted({'xllamacpp', 'pandas', 'numpy', 'IPython', 'tenacity'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"
