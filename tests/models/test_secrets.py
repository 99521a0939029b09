"""What a key, a header, a password or a provider that repeats them leaves in errors: nothing."""

import asyncio
import base64
import logging
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adknb.core.errors import ModelError
from adknb.core.protocols import Model
from adknb.models.endpoint import Endpoint
from adknb.models.gemini import GeminiModel
from adknb.models.openai import OpenAIModel
from tests.models.asking import ask, request
from tests.models.servers import Reply, serving

pytest.importorskip("openai", reason="the extra `openai` is not installed")
pytest.importorskip("google.genai", reason="the extra `gemini` is not installed")

KEY, HEADER, PASSWORD = "planted-key-4711", "planted-header-4712", "planted pass:4713"
BASIC = base64.b64encode(f"anna:{PASSWORD}".encode()).decode()
SECRETS = (KEY, HEADER, PASSWORD, "planted%20pass%3A4713", BASIC)
ECHO = f"key {KEY}, headers Bearer {KEY} {HEADER} Basic {BASIC}, at http://anna:planted%20pass%3A4713@host, {PASSWORD}"


def openai_model(url: str) -> Model:
    return OpenAIModel("small", base_url=f"{url}/v1", headers={"x-team": HEADER}, timeout=0.3, max_retries=1)


def gemini_model(url: str) -> Model:
    return GeminiModel("gemini-x", base_url=url, headers={"x-team": HEADER}, timeout=0.3, max_retries=1)


BROKEN = {
    "choices": [{"delta": {"content": "x"}}],
    "candidates": [{"content": {"role": "model", "parts": [{"text": "x"}]}}],
}
REPLIES = {
    "refused": Reply({"error": {"message": ECHO, "code": 401}}, 401),
    "failed": Reply(f"<html>{ECHO}</html>", 500, {"retry-after": "0.01"}, kind="text/html"),
    "too long": Reply({"error": {"message": f"context length exceeded {ECHO}"}}, 400),
    "silent": Reply(hang=True),
    "unreadable": Reply(f"{{{ECHO}"),
    "no choices": Reply({"choices": [ECHO], "candidates": 7, "error": ECHO}),
    "cut": Reply(events=[BROKEN], cut=True),
    "ended": Reply(events=[BROKEN]),
    "stopped": Reply(events=[BROKEN, {"error": {"message": ECHO, "code": 500}}]),
    "no event": Reply(events=[ECHO]),
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES.keys())
@pytest.mark.parametrize("model_at", [openai_model, gemini_model], ids=["openai", "gemini"])
def test_nothing_planted_is_told(
    model_at: Callable[[str], Model],
    reply: Reply,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    caplog.set_level(logging.INFO)
    with serving(reply) as api:
        model = model_at(api.url.replace("127.0.0.1", "anna:planted%20pass%3A4713@127.0.0.1"))
        with pytest.raises(ModelError) as caught:
            asyncio.run(ask(model, request(), stream=reply.events is not None))
    headers = api.received[0].headers
    assert (headers["x-team"], headers["authorization"]) == (HEADER, f"Basic {BASIC}")  # they were sent
    out, err = capfd.readouterr()
    told = [repr(model), out, err, caplog.text, *everything_in(caught.value)]
    assert [secret for secret in SECRETS if any(secret in text for text in told)] == []
    assert "127.0.0.1" in str(caught.value)


def everything_in(error: BaseException | None) -> list[str]:
    """The texts of an error, its traceback with the values of our own variables, and all that is chained to it."""
    texts: list[str] = []
    while error is not None:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        ours = traceback.StackSummary.from_list(
            [frame for frame in shown.stack if "/adknb/" in frame.filename.replace("\\", "/")]
        )
        texts += [str(error), repr(error), repr(error.args), repr(vars(error)), *ours.format()]
        texts += [f"{frame.locals}" for frame in shown.stack if "/adknb/" in frame.filename.replace("\\", "/")]
        error = error.__cause__ or error.__context__
    return texts


@pytest.mark.parametrize("make", [
    lambda: OpenAIModel("small", base_url=f"anna:{PASSWORD}@host/v1"),
    lambda: OpenAIModel("small", base_url=f"http://anna:{PASSWORD}@[host/v1"),
    lambda: OpenAIModel("small", base_url=f"http://host/v1?key={KEY}"),
    lambda: GeminiModel("gemini-x", base_url=f"http://host?key={KEY}"),
    lambda: OpenAIModel("small", base_url="http://host/v1", headers={"x": f"{HEADER}\u2028"}),
    lambda: OpenAIModel("small", base_url="http://host/v1", api_key=f"{KEY}…"),
    lambda: GeminiModel("gemini-x", api_key=f"{KEY}\n{KEY}"),
])  # fmt: skip
def test_what_cannot_be_used_is_refused_without_being_shown(make: Callable[..., Any]) -> None:
    with pytest.raises(ModelError) as caught:
        make()
    told = f"{caught.value} {caught.value!r} {caught.value.args}"
    assert [secret for secret in SECRETS if secret in told] == []
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


@given(st.from_regex(r"[!-~]{4,40}", fullmatch=True), st.text(), st.text())
def test_a_key_is_hidden_wherever_it_stands(key: str, before: str, after: str) -> None:
    assert key not in Endpoint("http://localhost", key, {}).hide(f"{before}{key}{after}{key}")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Incorrect API key provided: sk-proj-abc*****xyz.", "Incorrect API key provided: •••"),
        ("token AIzaSyA1234567 is bad", "token ••• is bad"),
        ("the ask-me-anything model", "the ask-me-anything model"),
    ],
)
def test_what_looks_like_a_key_is_hidden_too(said: str, shown: str) -> None:
    assert Endpoint("http://localhost", None, {}).hide(said) == shown


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://localhost:1/v1", True), ("http://a.localhost", True), ("http://127.0.0.9", True), ("http://[::1]:80", True),
        ("http://localhost.example.com", False), ("http://192.168.0.1", False), ("https://api.openai.com", False),
    ],
)  # fmt: skip
def test_what_is_on_this_machine(url: str, loopback: bool) -> None:
    assert Endpoint(url, None, {}).is_loopback is loopback


def test_a_password_in_the_url_goes_as_a_header_and_a_given_header_is_kept() -> None:
    endpoint = Endpoint("http://anna:planted%20pass%3A4713@host:81/v1", None, {"x-team": "t"})
    assert (endpoint.url, endpoint.host) == ("http://host:81/v1", "host")
    assert endpoint.headers == {"x-team": "t", "Authorization": f"Basic {BASIC}"}
    assert repr(endpoint) == "Endpoint('http://host:81/v1')"
