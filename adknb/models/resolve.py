"""From what `model=` says to the model that answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from adknb.core.errors import ModelError, SpecError, near_names
from adknb.core.protocols import Model
from adknb.models.echo import EchoModel
from adknb.models.gemini import GeminiModel
from adknb.models.local import LocalModel
from adknb.models.openai import OpenAIModel
from adknb.models.replay import replayed

ModelFactory = Callable[[str], Model]
"""Makes the model of a name; the whole name is given."""


def resolve_model(
    value: object, *, base_url: str | None = None, registry: Mapping[str, ModelFactory] | None = None
) -> Model:
    """The model that `value` stands for: a model object itself, or a name.

    adknb's own names are `echo`, `local`, `local:PATH.gguf`, `replay:PATH`, `openai/NAME` and `gemini-…`; the last two may
    be registered otherwise. Others come from `registry`, which maps a prefix to the factory of its names; without it,
    from `register_model`. `base_url` is the address at which `openai/NAME` or `gemini-…` is asked. Raises `ModelError`
    that says what works.
    """
    if base_url is not None:
        return _at(value, base_url)
    if isinstance(value, str):
        return _factory(value, _registered if registry is None else registry)(value)
    if isinstance(value, Model) and not isinstance(value, type):
        return value
    raise ModelError(
        f"{value!r} is no model. Give a name such as 'local', or an object that has a `name` and an async generator "
        "`generate_content_async(request, stream)`."
    )


def register_model(prefix: str, factory: ModelFactory) -> None:
    """Let `factory(name)` make the models whose name is `prefix`, or begins with it and `:`, `/` or `-`.

    The longest prefix that fits is taken. Registering one again replaces its factory. Raises `SpecError` for a name of
    adknb's own.
    """
    if prefix in _BUILT_IN:
        raise SpecError(f"{prefix!r} is adknb's own name for a model; choose another prefix")
    if not prefix:
        raise SpecError("the prefix is empty; write how the names of your models begin")
    _registered[prefix] = factory


def _factory(name: str, registry: Mapping[str, ModelFactory]) -> ModelFactory:
    if built_in := _BUILT_IN.get(name.partition(":")[0]):
        return built_in
    factories = {**_SERVED, **registry}
    fitting = [
        prefix for prefix in factories if name == prefix or name.startswith(tuple(prefix + end for end in ":/-"))
    ]
    if fitting:
        return factories[max(fitting, key=len)]
    works = [
        "'echo'",
        "'local'",
        "'local:PATH.gguf'",
        "'replay:PATH'",
        "'openai/NAME'",
        "'gemini-…'",
        *(f"names that begin with {prefix!r}" for prefix in registry),
    ]
    raise ModelError(
        f"there is no model {name!r}.{near_names(name, [*_BUILT_IN, *factories])} What works: {', '.join(works)}, or a "
        "model object, for example Runner(root, model=ScriptedModel({…})). For names of your own: register_model."
    )


def _at(value: object, base_url: str) -> Model:
    if isinstance(value, str) and value.startswith("openai/"):
        return _openai(value, base_url)
    if isinstance(value, str) and value.startswith("gemini-"):
        return _gemini(value, base_url)
    raise ModelError(f"a base URL goes with 'openai/NAME' or 'gemini-…', not with {value!r}")


def _scripted(name: str) -> Model:
    raise ModelError(
        f"{name!r} needs its replies, so give the model as an object: model=ScriptedModel({{'DraftAgent': ['…']}})"
    )


def _echo(name: str) -> Model:
    return EchoModel(name)


def _local(name: str) -> Model:
    return LocalModel(name.removeprefix("local").removeprefix(":") or None)


def _openai(name: str, base_url: str | None = None) -> Model:
    if not name.startswith("openai/"):
        raise ModelError(f"there is no model {name!r}; write openai/NAME, with the name that the server has for it")
    return OpenAIModel(name.removeprefix("openai/"), base_url=base_url)


def _gemini(name: str, base_url: str | None = None) -> Model:
    return GeminiModel(name, base_url=base_url)


_SERVED: Final[dict[str, ModelFactory]] = {"openai": _openai, "gemini": _gemini}
_BUILT_IN: Final[dict[str, ModelFactory]] = {"scripted": _scripted, "echo": _echo, "local": _local, "replay": replayed}
_registered: Final[dict[str, ModelFactory]] = {}
