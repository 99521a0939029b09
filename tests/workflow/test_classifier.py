"""Which error is of which kind: types and HTTP codes before text, the error before those behind it."""

import json
import socket
import ssl
import urllib.error
from typing import Any

import httpx
import pytest
from pydantic import TypeAdapter, ValidationError

from adknb.core.errors import (
    AgentError,
    CassetteMissError,
    ContextLengthError,
    LlmCallsLimitExceededError,
    MissingArtifactError,
    MissingKeyError,
    ModelConnectionError,
    ModelError,
    ModelTimeoutError,
    OutputSchemaError,
    ReplyMissingError,
    SpecError,
    TransferError,
)
from adknb.workflow.actions import ErrorAction
from adknb.workflow.classifier import (
    DEFAULT_RULES,
    ClassificationRule,
    ErrorCategory,
    ErrorClassifier,
    ErrorSeverity,
)
from adknb.workflow.errors import AdapterError, BudgetExceededError, CircuitOpenError, PayloadError, QueueFullError

TIMEOUT = ("timeout", "high", "retry")
RATE_LIMIT = ("rate_limit", "medium", "retry")
VALIDATION = ("validation", "critical", "fail")
NETWORK = ("network", "high", "retry")
MODEL = ("model", "high", "retry")
NO_REPLY = UNKNOWN_MODEL = ("model", "high", "fail")
LIMIT = ("rate_limit", "critical", "fail")
UNKNOWN = ("tool", "high", "fail")


def answered(status: int, text: str = "refused") -> ModelError:
    error = ModelError(text)
    error.status = status
    return error


def invalid() -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(int).validate_python("a timeout")
    return caught.value


def not_json() -> json.JSONDecodeError:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("timed out")
    return caught.value


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        # HTTP codes, whatever the text says
        (answered(429, "invalid"), RATE_LIMIT),
        (answered(408), TIMEOUT),
        (answered(504, "rate limit"), TIMEOUT),
        (answered(500, "invalid argument"), MODEL),
        (answered(502), MODEL),
        (answered(503, "timeout"), MODEL),
        (answered(529), MODEL),
        (answered(400, "connection refused"), VALIDATION),
        (answered(401), VALIDATION),
        (answered(404), VALIDATION),
        (answered(422, "rate limit"), VALIDATION),
        (answered(501, "says nothing"), UNKNOWN_MODEL),
        # types, whatever the text says
        (TimeoutError("invalid"), TIMEOUT),
        (ModelTimeoutError("was silent"), TIMEOUT),
        (httpx.ReadTimeout("invalid"), TIMEOUT),
        (ConnectionResetError("invalid"), NETWORK),
        (BrokenPipeError(), NETWORK),
        (ModelConnectionError("cannot be reached"), NETWORK),
        (socket.gaierror(-2, "Name or service not known"), NETWORK),
        (ssl.SSLError("handshake"), NETWORK),
        (urllib.error.URLError("no route"), NETWORK),
        (httpx.ConnectError("timed out"), NETWORK),
        (SpecError("timed out"), VALIDATION),
        (ContextLengthError("the request has 9 tokens"), VALIDATION),
        (PayloadError("a set"), VALIDATION),
        (AdapterError("rate limit"), VALIDATION),
        (invalid(), VALIDATION),
        (not_json(), VALIDATION),
        (OutputSchemaError("invalid"), MODEL),
        (TransferError("to nobody"), MODEL),
        (CassetteMissError("no reply to “timeout”"), NO_REPLY),
        (ReplyMissingError("rate limit"), NO_REPLY),
        (MissingKeyError("timeout", "timeout"), VALIDATION),
        (MissingArtifactError("timeout"), VALIDATION),
        (LlmCallsLimitExceededError("timeout"), LIMIT),
        (QueueFullError("full"), RATE_LIMIT),
        (BudgetExceededError("timeout", 1, 0, 1), LIMIT),
        (CircuitOpenError("timeout", 3.0), ("network", "high", "fail")),
        # text
        (RuntimeError("Deadline Exceeded"), TIMEOUT),
        (RuntimeError("the request timed out"), TIMEOUT),
        (RuntimeError("TIMEOUT"), TIMEOUT),
        (RuntimeError("Rate limit reached"), RATE_LIMIT),
        (RuntimeError("429 Too Many Requests"), RATE_LIMIT),
        (ValueError("Invalid literal"), VALIDATION),
        (RuntimeError("validation failed"), VALIDATION),
        (RuntimeError("Bad Request"), VALIDATION),
        (RuntimeError("connection refused"), NETWORK),
        (RuntimeError("a network error"), NETWORK),
        (ModelError("it says: rate limit"), RATE_LIMIT),
        # what no rule knows
        (ModelError("no key"), UNKNOWN_MODEL),
        (KeyError("x"), UNKNOWN),
        (AgentError("tool raised"), UNKNOWN),
        (Exception(), UNKNOWN),
        # causes
        (caused(AgentError("tool look_up raised"), ConnectionRefusedError()), NETWORK),
        (caused(AgentError("tool look_up: invalid"), TimeoutError()), TIMEOUT),
        (caused(answered(400), TimeoutError()), VALIDATION),
        (caused(RuntimeError("rate limit"), RuntimeError("timeout")), RATE_LIMIT),
        (caused(RuntimeError("oops"), RuntimeError("timeout")), TIMEOUT),
        (caused(AgentError("oops"), ModelError("oops")), UNKNOWN_MODEL),
        (ExceptionGroup("several", [KeyError("a"), answered(429)]), RATE_LIMIT),
    ],
)
def test_the_default_rules(error: Exception, expected: tuple[str, str, str]) -> None:
    found = ErrorClassifier().classify(error)
    assert (found.category, found.severity, found.action) == expected
    assert found.is_retriable is (expected[2] == "retry")
    known = isinstance(error, (CassetteMissError, ReplyMissingError)) or expected not in (UNKNOWN, UNKNOWN_MODEL)
    assert (found.rule is not None) is known


def rule(**asked: Any) -> ClassificationRule:
    return ClassificationRule(ErrorCategory.TOOL, ErrorSeverity.LOW, ErrorAction.SKIP, **asked)


def is_mine(error: Exception, *rules: ClassificationRule) -> bool:
    return ErrorClassifier([*rules, *DEFAULT_RULES]).classify(error).action is ErrorAction.SKIP


def test_own_rules_go_before_the_default_ones() -> None:
    assert is_mine(TimeoutError("quiz"), rule(types=(TimeoutError,)))
    assert is_mine(answered(429), rule(status=[429]))
    assert is_mine(RuntimeError("rate limit"), rule(pattern="LIMIT"))


def test_text_comes_after_types_wherever_its_rule_stands() -> None:
    assert not is_mine(TimeoutError("quiz"), rule(pattern="quiz"))
    assert is_mine(RuntimeError("quiz"), rule(pattern="quiz"))


def test_a_rule_asks_for_all_that_it_names() -> None:
    both = rule(types=(ModelError,), status=[503], pattern="overloaded")
    assert is_mine(answered(503, "the model is Overloaded"), both)
    assert not is_mine(answered(503, "no"), both)
    assert not is_mine(answered(502, "overloaded"), both)
    error = RuntimeError("overloaded")
    error.status = 503  # type: ignore[attr-defined]
    assert not is_mine(error, both)


def test_types_by_name_count_for_subclasses() -> None:
    assert is_mine(httpx.ReadTimeout(""), rule(types=("httpx.TransportError",)))
    assert not is_mine(httpx.ReadTimeout(""), rule(types=("TransportError",)))


def test_a_rule_that_asks_for_nothing_is_refused() -> None:
    with pytest.raises(SpecError, match="needs types, status or a pattern"):
        rule()
    with pytest.raises(ValueError, match="'weather' is not a valid ErrorCategory"):
        ClassificationRule("weather", ErrorSeverity.LOW, ErrorAction.SKIP, pattern="x")  # type: ignore[arg-type]


def test_words_are_taken_for_what_they_mean() -> None:
    plain = ClassificationRule("tool", "low", "skip", pattern="x")  # type: ignore[arg-type]
    assert plain == rule(pattern="x")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_as_it_travels_with_the_data() -> None:
    classification = ErrorClassifier().classify(answered(503))
    error = classification.pipeline_error(answered(503, "over\x1b[2Jloaded\n" + "x" * 3000), "research")
    assert (error.code, error.step, error.retriable) == ("ModelError", "research", True)
    assert (error.category, error.severity) == ("model", "high")
    assert error.message.startswith(r"over\x1b[2Jloaded xxx")
    assert len(error.message) == 2000
    assert type(error.category) is str
    assert classification.pipeline_error(KeyError(), "a").message == "KeyError"
    assert classification.pipeline_error(Mute(), "a").message == "Mute"
    assert ErrorClassifier().classify(Mute()).category is ErrorCategory.TOOL
