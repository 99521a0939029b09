"""What an error carries beside its text, in the ways of those who raise them."""

import urllib.error
from email.message import Message
from typing import Any, cast

import httpx
import openai
import pytest
from google.genai import errors as genai

from adknb.core.errors import ModelError
from adknb.workflow.causes import asked_wait, causes, http_status

REQUEST = httpx.Request("POST", "https://models.example")


def response(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(
        status, headers={name.replace("_", "-"): value for name, value in headers.items()}, request=REQUEST
    )


def of_model(status: int | None, retry_after: float | None = None) -> ModelError:
    error = ModelError("refused")
    error.status, error.retry_after = status, retry_after
    return error


def with_attributes(**attributes: Any) -> Exception:
    error = Exception("odd")
    for name, value in attributes.items():
        setattr(error, name, value)
    return error


class Shy(Exception):
    @property
    def response(self) -> object:
        raise RuntimeError("there is none yet")


@pytest.mark.parametrize(
    ("error", "status", "wait"),
    [
        (of_model(429, 2.5), 429, 2.5),
        (of_model(None), None, None),
        (openai.RateLimitError("slow down", response=cast(Any, response(429, Retry_After="7")), body=None), 429, 7.0),
        (httpx.HTTPStatusError("no", request=REQUEST, response=response(503, retry_after="0.5")), 503, 0.5),
        (httpx.ConnectError("refused", request=REQUEST), None, None),
        (genai.APIError(502, {"error": {"message": "bad gateway"}}), 502, None),
        (urllib.error.HTTPError("https://x.example", 404, "Not Found", Message(), None), 404, None),
        (with_attributes(code=7), None, None),
        (with_attributes(code="404"), None, None),
        (with_attributes(status=True), None, None),
        (with_attributes(status=600), None, None),
        (with_attributes(retry_after=True), None, None),
        (with_attributes(retry_after=-1), None, None),
        (with_attributes(retry_after="3"), None, None),
        (with_attributes(headers={"Retry-After": "3"}), None, 3.0),
        (with_attributes(headers={"Retry-After": "nan"}), None, 0.0),
        (Shy(), None, None),
        (KeyError("x"), None, None),
    ],
)
def test_status_and_wait(error: Exception, status: int | None, wait: float | None) -> None:
    assert (http_status(error), asked_wait(error)) == (status, wait)
    if isinstance(error, urllib.error.HTTPError):
        error.close()


def test_the_wait_may_stand_in_an_error_behind() -> None:
    outer = RuntimeError("the tool failed")
    outer.__cause__ = of_model(429, 4.0)
    assert (http_status(outer), asked_wait(outer)) == (None, 4.0)


def test_errors_come_outermost_first_each_once() -> None:
    first, second, third, member = KeyError("1"), ValueError("2"), OSError("3"), TypeError("in a group")
    group = ExceptionGroup("several", [member, second])
    first.__cause__, second.__cause__, group.__cause__, third.__cause__ = group, third, third, first
    assert list(causes(first)) == [first, group, member, second, third]


def test_an_error_that_was_only_under_way_is_no_cause() -> None:
    error = KeyError("other")
    error.__context__ = TimeoutError()
    assert list(causes(error)) == [error]
