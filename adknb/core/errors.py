"""The errors that a user meets. Each says what, where and the way out; ADK's own words stand beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from adknb.core.run import Run


class AdknbError(Exception):
    """Root of every error that adknb raises on purpose.

    `adk_type` and `adk_message` are what the real ADK of the run's rule set would have raised, byte for byte
    (`adk_message` is None where its exception has no message); both are None where ADK knows no such error.
    `run` is the failed Run, with every event so far, when the error ended one. `agent` names the failing agent.
    """

    adk_type: str | None = None
    adk_message: str | None = None
    run: Run | None = None
    agent: str | None = None

    def __str__(self) -> str:
        text = str(self.args[0]) if self.args else ""
        return text if self.agent is None or repr(self.agent) in text else f"agent {self.agent!r}: {text}"

    def of_agent(self, agent: str) -> Self:
        """This error, naming the agent whose step it ended."""
        self.agent = agent
        return self

    def as_adk(self, adk_type: str, adk_message: str | None) -> AdknbError:
        """This error, said also as the real ADK says it."""
        self.adk_type, self.adk_message = adk_type, adk_message
        return self


class SpecError(AdknbError, ValueError):
    """An agent, tool or pipeline is described wrongly."""


class NotSupported(AdknbError):
    """There is neither a recorded trace nor a rule for this, so it is not guessed."""


class AgentNameError(SpecError):
    """An agent's name is not allowed, or two agents share one, under the run's rules."""


class MissingKeyError(AdknbError, KeyError):
    """A required placeholder names a state key (`key`) that nobody wrote."""

    def __init__(self, message: str, key: str) -> None:
        super().__init__(message)
        self.key = key


class MissingArtifactError(AdknbError):
    """A required placeholder names an artifact that nobody saved."""


class StateValueError(AdknbError, TypeError):
    """A state value is not JSON, or is a null where the ADK has none."""


class TransferError(AdknbError):
    """A model asked to transfer to an agent that does not exist."""


class UnknownCallError(AdknbError):
    """A function response answers a call that is not in the session."""


class LlmCallsLimitExceededError(AdknbError):
    """A run asked the models more often than `RunConfig.max_llm_calls` allows."""


class ModelError(AdknbError):
    """A model could not be found, loaded or asked.

    `status` is the HTTP status that it answered, `retry_after` the seconds that it asked to wait; None where it said none.
    """

    status: int | None = None
    retry_after: float | None = None


class ModelTimeoutError(ModelError):
    """A model's answer, or the rest of it, did not come in time."""


class ModelConnectionError(ModelError):
    """A model could not be reached, or its answer broke off."""


class ContextLengthError(ModelError):
    """A request is longer than its model takes: `tokens` as the model counted them, and its `limit`, where it said."""

    def __init__(self, message: str, tokens: int | None = None, limit: int | None = None) -> None:
        super().__init__(message)
        self.tokens = tokens
        self.limit = limit


class ReplyMissingError(ModelError):
    """A scripted model has no reply left for an agent."""


class CassetteMissError(ModelError):
    """A file of recorded replies holds none to a request; the message shows the nearest one and where they differ."""


class OutputSchemaError(AdknbError):
    """A reply met an output schema in a way that stops the real ADK."""


class RunStateError(AdknbError):
    """A run, session or step is not in the state that the request needs."""


class StaleSessionError(RunStateError):
    """Somebody else wrote to the session since it was read; nothing was stored. Read it again: `get_session`."""


class SessionStoreError(AdknbError):
    """A database of sessions cannot be read or written: missing, locked, full, read-only, damaged, or somebody else's."""


class SessionFormatError(AdknbError, ValueError):
    """A document holds no session: a field is missing, or is not what it must be. Nothing was taken from it."""


class PipelineChangedError(RunStateError):
    """A run cannot go on with the pipeline as it is now."""


class AgentError(AdknbError):
    """A callback, tool or custom agent of the user's raised; the original is the cause."""


def near_names(name: str, known: Iterable[str], aliases: Mapping[str, str] | None = None) -> str:
    """A sentence that offers the names close to `name`, or all of them when there are few.

    `aliases` maps other words that people write to the name that is offered for them.
    """
    offers = {**{each: each for each in known}, **(aliases or {})}
    names = sorted(set(offers.values()))
    if not names:
        return ""
    close = [name] if name in offers else get_close_matches(name, sorted(offers), n=3, cutoff=0.5)
    if close:
        return f" Did you mean {' or '.join(repr(match) for match in dict.fromkeys(offers[word] for word in close))}?"
    shown = ", ".join(repr(known_name) for known_name in names[:12])
    return f" There {'is' if len(names) == 1 else 'are'}: {shown}{', …' if len(names) > 12 else ''}."
