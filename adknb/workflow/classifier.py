"""What kind of error it is, how grave, and what is worth doing about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from adknb.core.errors import (
    CassetteMissError,
    ContextLengthError,
    LlmCallsLimitExceededError,
    MissingArtifactError,
    MissingKeyError,
    ModelConnectionError,
    ModelError,
    ModelTimeoutError,
    NotSupported,
    OutputSchemaError,
    ReplyMissingError,
    SpecError,
    StateValueError,
    TransferError,
    UnknownCallError,
)
from adknb.core.escape import one_line
from adknb.workflow.actions import ErrorAction
from adknb.workflow.causes import causes, http_status
from adknb.workflow.data import PipelineError
from adknb.workflow.errors import (
    AdapterError,
    BudgetExceededError,
    CircuitOpenError,
    PayloadError,
    QueueFullError,
    SchemaVersionError,
)

_LONGEST_MESSAGE: Final = 2_000


class ErrorCategory(StrEnum):
    """What failed. `tool` is also a function of the user's: a tool, a callback, a step that is a function."""

    NETWORK = "network"
    RATE_LIMIT = "rate_limit"
    VALIDATION = "validation"
    TIMEOUT = "timeout"
    MODEL = "model"
    TOOL = "tool"


class ErrorSeverity(StrEnum):
    """How grave it is: fatal, severe, to be got over with less, to be ignored."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class ClassificationRule:
    """A rule for errors that meet all that it asks for.

    `types` are exception classes, or their full names where the module need not be installed (`"httpx.TimeoutException"`);
    subclasses count. `status` are HTTP codes. `pattern` is searched in the error's text, letter case aside.
    """

    category: ErrorCategory
    severity: ErrorSeverity
    action: ErrorAction
    types: tuple[type[BaseException] | str, ...] = ()
    status: Iterable[int] = ()
    pattern: str | re.Pattern[str] | None = None

    def __post_init__(self) -> None:
        status = frozenset(self.status)
        if not (self.types or status or self.pattern):
            raise SpecError("a classification rule needs types, status or a pattern; else it would fit every error")
        object.__setattr__(self, "status", status)
        object.__setattr__(self, "category", ErrorCategory(self.category))
        object.__setattr__(self, "severity", ErrorSeverity(self.severity))
        object.__setattr__(self, "action", ErrorAction(self.action))
        if isinstance(self.pattern, str):
            object.__setattr__(self, "pattern", re.compile(self.pattern, re.IGNORECASE))

    @property
    def is_textual(self) -> bool:
        """It looks at the text alone."""
        return not (self.types or self.status)

    def fits(self, error: BaseException) -> bool:
        """Whether this one error, not those behind it, meets all that the rule asks for."""
        if self.types and not any(_is_a(error, kind) for kind in self.types):
            return False
        if self.status and http_status(error) not in frozenset(self.status):
            return False
        return self.pattern is None or re.search(self.pattern, _text(error)) is not None


def _rule(
    category: ErrorCategory,
    severity: ErrorSeverity,
    action: ErrorAction,
    *types: type[BaseException] | str,
    status: Iterable[int] = (),
    pattern: str | None = None,
) -> ClassificationRule:
    return ClassificationRule(category, severity, action, types, status, pattern)


_TIMEOUT: Final = (ErrorCategory.TIMEOUT, ErrorSeverity.HIGH, ErrorAction.RETRY)
_RATE_LIMIT: Final = (ErrorCategory.RATE_LIMIT, ErrorSeverity.MEDIUM, ErrorAction.RETRY)
_VALIDATION: Final = (ErrorCategory.VALIDATION, ErrorSeverity.CRITICAL, ErrorAction.FAIL)
_NETWORK: Final = (ErrorCategory.NETWORK, ErrorSeverity.HIGH, ErrorAction.RETRY)
_MODEL: Final = (ErrorCategory.MODEL, ErrorSeverity.HIGH, ErrorAction.RETRY)

DEFAULT_RULES: Final = (
    _rule(
        ErrorCategory.RATE_LIMIT,
        ErrorSeverity.CRITICAL,
        ErrorAction.FAIL,
        BudgetExceededError,
        LlmCallsLimitExceededError,
    ),
    _rule(ErrorCategory.NETWORK, ErrorSeverity.HIGH, ErrorAction.FAIL, CircuitOpenError),
    _rule(*_RATE_LIMIT, QueueFullError),
    _rule(*_RATE_LIMIT, status=[429]),
    _rule(*_TIMEOUT, status=[408, 504]),
    _rule(*_MODEL, status=[500, 502, 503, 529]),
    _rule(*_VALIDATION, status=range(400, 500)),
    _rule(
        *_TIMEOUT,
        TimeoutError,
        ModelTimeoutError,
        "httpx.TimeoutException",
        "httpx2.TimeoutException",
        "requests.exceptions.Timeout",
        "sqlalchemy.exc.TimeoutError",
    ),
    _rule(
        *_NETWORK,
        ConnectionError,
        ModelConnectionError,
        "socket.gaierror",
        "ssl.SSLError",
        "urllib.error.URLError",
        "http.client.HTTPException",
        "httpx.TransportError",
        "httpx2.TransportError",
        "requests.exceptions.ConnectionError",
        "aiohttp.client_exceptions.ClientConnectionError",
    ),
    _rule(*_MODEL, OutputSchemaError, TransferError, UnknownCallError),
    _rule(ErrorCategory.MODEL, ErrorSeverity.HIGH, ErrorAction.FAIL, ReplyMissingError, CassetteMissError),
    _rule(
        *_VALIDATION,
        SpecError,
        NotSupported,
        ContextLengthError,
        StateValueError,
        MissingKeyError,
        MissingArtifactError,
        AdapterError,
        PayloadError,
        SchemaVersionError,
        UnicodeError,
        "pydantic_core._pydantic_core.ValidationError",
        "json.decoder.JSONDecodeError",
    ),
    # the four of the seed's kind, for errors that say it in words alone
    _rule(*_TIMEOUT, pattern=r"time(?:d )?[ -]?out|deadline exceeded"),
    _rule(*_RATE_LIMIT, pattern=r"rate[ _-]?limit|too many requests|quota exceeded|resource[ _]exhausted"),
    _rule(*_VALIDATION, pattern=r"invalid|validation|bad request"),
    _rule(*_NETWORK, pattern=r"connection (?:refused|reset|aborted|closed)|network (?:error|is unreachable)"),
)
"""Our own refusals, codes, types, then words. What none of them fits is `model` for a ModelError, else `tool`: high, `fail`."""


@dataclass(frozen=True, slots=True)
class Classification:
    """What a classifier says of an error; `rule` is the one that fitted, None where none did."""

    category: ErrorCategory
    severity: ErrorSeverity
    action: ErrorAction
    rule: ClassificationRule | None = None

    @property
    def is_retriable(self) -> bool:
        """The same call may succeed later."""
        return self.action is ErrorAction.RETRY

    def pipeline_error(self, error: BaseException, step: str) -> PipelineError:
        """The error as it travels with the data. Its message is cut after 2,000 characters."""
        message = one_line(_text(error), _LONGEST_MESSAGE)
        return PipelineError(
            type(error).__name__, message, step, self.is_retriable, self.category.value, self.severity.value
        )


class ErrorClassifier:
    """Classifies errors by rules.

    Rules with types or status codes are tried first, those for text alone after them, each in their order. The error itself is
    looked at before those that it was raised from (`__cause__`). Own rules go before the default ones:

    >>> mine = ClassificationRule(ErrorCategory.TOOL, ErrorSeverity.LOW, ErrorAction.SKIP, types=(LookupError,))
    >>> classifier = ErrorClassifier([mine, *DEFAULT_RULES])
    >>> classifier.classify(KeyError("source")).action.value
    'skip'
    >>> classifier.classify(TimeoutError("invalid response so far")).category.value
    'timeout'
    """

    def __init__(self, rules: Iterable[ClassificationRule] = DEFAULT_RULES) -> None:
        self.rules: Final = tuple(rules)
        self._passes: Final = [[rule for rule in self.rules if rule.is_textual is textual] for textual in (False, True)]

    def classify(self, error: BaseException) -> Classification:
        chain = list(causes(error))
        for rules in self._passes:
            for each in chain:
                for rule in rules:
                    if rule.fits(each):
                        return Classification(rule.category, rule.severity, rule.action, rule)
        of_model = any(isinstance(each, ModelError) for each in chain)
        category = ErrorCategory.MODEL if of_model else ErrorCategory.TOOL
        return Classification(category, ErrorSeverity.HIGH, ErrorAction.FAIL)


DEFAULT_CLASSIFIER: Final = ErrorClassifier()


def _is_a(error: BaseException, kind: type[BaseException] | str) -> bool:
    if isinstance(kind, str):
        return any(f"{each.__module__}.{each.__qualname__}" == kind for each in type(error).__mro__)
    return isinstance(error, kind)


def _text(error: BaseException) -> str:
    """The error's words; its class name where it has none, or fails to say them."""
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__
