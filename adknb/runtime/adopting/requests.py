"""A stored conversation's requests, built again from the events and the state that there were."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adknb.core.content import Part
from adknb.core.errors import AdknbError, MissingArtifactError, MissingKeyError, ModelError
from adknb.core.events import Event
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse, Segment
from adknb.core.run import Session
from adknb.core.state import TEMP_PREFIX, scope
from adknb.rules.base import Placeholder
from adknb.runtime.context import InvocationContext
from adknb.runtime.engine import BuildRequest
from adknb.runtime.tree import LlmNode


@dataclass(frozen=True, slots=True)
class StoredModel:
    """Stands for the model that a stored conversation was held with: its name is known, and it cannot be asked."""

    name: str

    def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        raise ModelError(
            f"{self.name!r} names the model of a stored conversation; to ask one, run the pipeline with Runner(root, model=…)"
        )


def stored_model(value: Any) -> Model:
    """The stand-in for whatever model an agent names. No model is loaded, no key looked for."""
    if isinstance(value, Model) and not isinstance(value, type):
        return value
    return StoredModel(str(getattr(value, "model", None) or value))


@dataclass(slots=True, eq=False)
class StoredArtifacts:
    """The artifacts that a session's events name. Their content is not in the session: a text that says so stands for it."""

    names: set[str] = field(default_factory=set)
    inserted: list[str] = field(default_factory=list)

    async def save_artifact(self, session: Session, filename: str, artifact: Part) -> int:
        raise AdknbError("a conversation that is read again saves no artifact")

    async def load_artifact(self, session: Session, filename: str, version: int | None = None) -> Part | None:
        if filename not in self.names:
            return None
        self.inserted.append(filename)
        return Part(text=gap(f"artifact {filename}"))

    async def list_artifacts(self, session: Session) -> list[str]:
        return sorted(self.names)


def gap(what: str) -> str:
    """What stands in a prompt for a value that was there and that nobody stored."""
    return f"⟨{what}: not stored⟩"


async def rebuilt(
    context: InvocationContext,
    node: LlmNode,
    build: BuildRequest,
    artifacts: StoredArtifacts | None,
    written: Mapping[str, Sequence[int]],
    place: int,
) -> tuple[LlmRequest, list[str]]:
    """The request that the agent would send on the context's session, and what is to be said of it.

    The context's session is this request's own: values that are missing are put into its state as gaps. What cannot be
    built at all becomes a request whose one text says why. `written` has the places in the session's events at which each key
    was written, `place` is where the request stands among them.
    """
    notes = list(_uncertain(node, context.session.state, written, place))
    before = len(artifacts.inserted) if artifacts is not None else 0
    missing: set[str] = set()
    while True:
        try:
            request = await build(context, node)
            break
        except MissingKeyError as error:
            if error.key in missing:
                return _not_built(node, error), [f"a request could not be built again: {error}"]
            missing.add(error.key)
            context.session.state[error.key] = gap(error.key)
            if not error.key.startswith(TEMP_PREFIX):
                notes.append(f"{error.key} was in the state, since the agent was asked; its value then is not stored")
        except MissingArtifactError as error:
            absent = {each.name for each in _placeholders(node) if each.artifact}
            if artifacts is None or absent <= artifacts.names:
                return _not_built(node, error), [f"a request could not be built again: {error}"]
            artifacts.names |= absent
        except Exception as error:  # an instruction function is the user's code, and was written for a live run
            return _not_built(node, error), [f"a request could not be built again: {type(error).__name__}: {error}"]
    if artifacts is not None:
        notes.extend(
            f"artifact {name} is not in the session: its text is not known" for name in artifacts.inserted[before:]
        )
    return request, notes


def doubts(node: LlmNode, has_plugins: bool) -> list[str]:
    """What the events of an agent cannot tell, whatever they are: said once for each step."""
    agent, said = node.agent, []
    for field_name, what in (
        ("before_model_callback", "may have changed its requests, which are shown as they were before it"),
        ("after_model_callback", "may have changed its replies, which are shown as they were stored"),
    ):
        functions = getattr(agent, field_name)
        if functions:
            names = ", ".join(_name(function) for function in functions)
            said.append(f"{field_name} ({names}) {what}")
    dynamic = [name for name in ("instruction", "global_instruction") if not isinstance(getattr(agent, name), str)]
    said.extend(f"its {name} is a function: called now, on the state of then" for name in dynamic)
    toolsets = [
        _name(tool) for tool in getattr(getattr(agent, "original", None), "tools", ()) if hasattr(tool, "get_tools")
    ]
    if toolsets:
        said.append(
            f"its toolset {', '.join(toolsets)} was not asked for its tools, which are not among the declarations"
        )
    if has_plugins:
        said.append("plugins of the app may have changed its requests; they were not asked")
    return said


def beside(node: LlmNode, events: Sequence[Event], seen: int, index: int) -> list[str]:
    """What other agents wrote while this request was on its way, and which it may have been built with."""
    keys = {placeholder.name for placeholder in _placeholders(node)}
    return [
        f"{event.author} wrote {key} at the same time; the request is shown with the value before that"
        for event in events[seen:index]
        for key in event.actions.state_delta
        if key in keys
    ]


def _uncertain(
    node: LlmNode, state: Mapping[str, Any], written: Mapping[str, Sequence[int]], place: int
) -> Iterable[str]:
    """The inserted values that may have been others when the request was made."""
    for key in dict.fromkeys(each.name for each in _placeholders(node) if not each.artifact):
        places = written.get(key, ())
        if key.startswith(TEMP_PREFIX):
            if key not in state:
                yield f"{key} lives for one turn and is not stored: what stood there is not known"
        elif any(each < place for each in places):
            continue
        elif places and key not in state:
            yield f"{key} is first written later: what it was before, if anything, is not stored"
        elif key in state and scope(key) in ("app", "user"):
            yield f"{key} is shown as it was stored last: other sessions write it too, and its value then is not known"


def _placeholders(node: LlmNode) -> Iterable[Placeholder]:
    for template in (node.template, node.root.global_template if isinstance(node.root, LlmNode) else None):
        for piece in template or ():
            if isinstance(piece, Placeholder):
                yield piece


def _not_built(node: LlmNode, error: Exception) -> LlmRequest:
    return LlmRequest(node.name, node.model_name, [Segment(gap(f"request ({error})"), "instruction")])


def _name(function: object) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def initial_state(state: Mapping[str, Any], events: Iterable[Event]) -> dict[str, Any]:
    """What the session was created with, as far as it is known: the values that no event wrote."""
    written = {key for event in events for key in event.actions.state_delta}
    return {key: value for key, value in state.items() if key not in written and not key.startswith(TEMP_PREFIX)}
