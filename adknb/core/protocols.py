"""The seams: what a model, a session store, a token counter, a context strategy and an artifact store must do."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from adknb.core.content import Content, Part
from adknb.core.events import Event
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.run import Session
from adknb.core.specs import BaseAgent, IncludeContents, LlmAgent


@runtime_checkable
class Model(Protocol):
    """Answers requests. `name` is the model's own name, on which some ADK rules depend (`gemini-2.5-flash`)."""

    @property
    def name(self) -> str: ...

    def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        """Yield the answer: partial responses first when `stream` is true, the whole one last.

        The request is shared: do not change it. Raise `ModelError` for what the user can mend.
        """
        ...


class SessionService(Protocol):
    """Keeps sessions. An event is in the session, and durable as far as the store is, when `append_event` returns."""

    async def create_session(
        self, *, app_name: str, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None
    ) -> Session: ...

    async def get_session(self, *, app_name: str, user_id: str, session_id: str) -> Session | None: ...

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> list[Session]: ...

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None: ...

    async def append_event(self, session: Session, event: Event) -> Event: ...


@runtime_checkable
class KeepsTurns(Protocol):
    """A session service that keeps runs and turns beside the events, so that they are there in the next process."""

    async def save(self, session: Session) -> None:
        """Make durable what changed in the session beside its events: its turns, their runs, the shared values that it took
        back. Does nothing when nothing changed."""
        ...


class Note(NamedTuple):
    """JSON that is kept beside the sessions: `kind` says whose it is, `name` and `number` tell the notes of a kind apart."""

    kind: str
    name: str
    number: int
    data: Any


@runtime_checkable
class KeepsNotes(Protocol):
    """A session service that keeps notes, together with events where both must be there or neither."""

    async def append_events(self, session: Session, events: Sequence[Event], notes: Sequence[Note] = ()) -> None:
        """Append the events, in order, and put the notes (in place of those of the same name and number): all or nothing."""
        ...

    async def put_notes(self, notes: Sequence[Note]) -> None: ...

    async def get_notes(self, kind: str, name: str | None = None) -> list[Note]:
        """The notes of a kind, of one name when it is given, by name and number."""
        ...

    async def delete_notes(self, kind: str, name: str, first: int = 0) -> None:
        """Forget the notes of this name, from the number `first` on."""
        ...


class ArtifactService(Protocol):
    """Keeps artifacts, each in versions that count from 0. Names beginning `user:` are the user's, not the session's."""

    async def save_artifact(self, session: Session, filename: str, artifact: Part) -> int: ...

    async def load_artifact(self, session: Session, filename: str, version: int | None = None) -> Part | None: ...

    async def list_artifacts(self, session: Session) -> list[str]: ...


class TokenCounter(Protocol):
    """Counts tokens of a text. `name` stands beside every count."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...

    def starts(self, text: str) -> Sequence[int]:
        """The character at which each token of the text starts, in order (what a segment's share is cut from)."""
        ...


class History(Protocol):
    """What a context strategy chooses from: an agent about to be asked, and the events that it could see."""

    @property
    def agent(self) -> LlmAgent: ...

    @property
    def branch(self) -> str | None: ...

    @property
    def events(self) -> Sequence[Event]: ...

    def included(self, include: IncludeContents) -> list[tuple[Content, Event | None]]:
        """The contents that the rules give under DEFAULT or NONE, each with the event that it came from."""
        ...

    def of(self, events: Sequence[Event]) -> History:
        """The same agent's history with these events alone, in this order: for a strategy that leaves some out."""
        ...


class ContextStrategy(Protocol):
    """Decides which history a request carries. Write your own for what ADK's two settings cannot say."""

    @property
    def name(self) -> str: ...

    def contents(self, history: History) -> list[tuple[Content, Event | None]]: ...


class InvocationContext(Protocol):
    """What a custom agent's `_run_async_impl` receives (ADK's `InvocationContext`, the part that we have)."""

    @property
    def agent(self) -> BaseAgent: ...

    @property
    def session(self) -> Session: ...

    @property
    def invocation_id(self) -> str: ...

    @property
    def branch(self) -> str | None: ...

    @property
    def user_content(self) -> Content: ...

    def run_agent(self, agent: BaseAgent) -> AsyncGenerator[Event]: ...
