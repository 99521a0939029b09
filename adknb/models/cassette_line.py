"""One line of a cassette: a request and its reply as JSON, and how it is read back.

The names that the format has itself stand in alphabetical order; arguments, responses and schemas keep their own, since the
next request shows it to a model.
"""

from __future__ import annotations

import json
import re
import struct
from binascii import unhexlify
from functools import lru_cache
from typing import Any, Final, NamedTuple

from adknb.core.content import Content
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.usage import Usage
from adknb.models.request_key import as_json, content_data, request_data, to_json

LINE_BEGIN: Final = b'{"key": "'
"""The bytes with which a line begins."""

_TEXT: Final = rb'"((?:[^"\\]|\\.)*)"'
_START: Final = re.compile(
    rb'\{\s*"key":\s*"([0-9a-f]{64})",\s*"model":\s*' + _TEXT + rb',\s*(?:"model_identity":\s*' + _TEXT + rb",\s*)?"
    rb'"ordinal":\s*(\d{1,9}),\s*(?:"repeat":\s*(\d{1,9}),\s*)?"reply":\s*(?=\{)'
)
_UNSEEN: Final = re.compile(
    "[\x7f-\xa0\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, default=as_json)
_DECODER: Final = json.JSONDecoder()


class LineStart(NamedTuple):
    """What is known of a line without reading its reply and request. `reply` is where the reply begins in the line."""

    key: str
    name: str
    identity: str
    ordinal: int
    repeat: int
    reply: int

    @property
    def place(self) -> bytes:
        return place_of(self.key, self.repeat, self.ordinal)


def place_of(key: str, repeat: int, ordinal: int) -> bytes:
    """Where a reply belongs, in 40 bytes: a file of recorded replies is indexed by it."""
    return unhexlify(key) + struct.pack(">II", repeat, ordinal)


def to_line(key: str, name: str, identity: str, request: LlmRequest, reply: LlmResponse) -> bytes:
    """The line, with its end, for a reply of the model of this name and identity (see `model_identity`).

    What cannot be seen in a text, or would act on a terminal, is written as `\\uXXXX`.
    """
    data: dict[str, Any] = {"key": key, "model": name}
    if identity != name:
        data["model_identity"] = identity
    data["ordinal"] = request.ordinal
    if request.repeat:
        data["repeat"] = request.repeat
    data["reply"] = _reply_data(reply)
    data["request"] = request_data(request)
    return (_UNSEEN.sub(_spelled, to_json(data, request.agent, _ENCODER)) + "\n").encode()


def line_start(line: bytes) -> LineStart | None:
    """How the line begins, or None when it is no line of a cassette."""
    match = _START.match(line)
    if match is None:
        return None
    key, model, identity, ordinal, repeat = match.groups()
    try:
        name = _text_of(model)
        return LineStart(
            key.decode("ascii"), name, name if identity is None else _text_of(identity),
            int(ordinal), int(repeat or 0), match.end(),
        )  # fmt: skip
    except ValueError:
        return None


def reply_of(line: bytes, start: LineStart) -> LlmResponse:
    """The reply in a line. Raises what Python raises for JSON that is none: `ValueError`, `TypeError`, `KeyError` …"""
    data, _ = _DECODER.raw_decode(line[start.reply :].decode())
    if "content" in data:
        data["content"] = Content.from_dict(data["content"])
    if "usage" in data:
        data["usage"] = Usage.from_dict(data["usage"])
    return LlmResponse(**data)


def agent_mark(agent: str) -> bytes:
    """The bytes that the lines of an agent's requests hold; nothing that stands inside a JSON text equals them."""
    return b'"request": {"agent": ' + _UNSEEN.sub(_spelled, _ENCODER.encode(agent)).encode()


def _reply_data(reply: LlmResponse) -> dict[str, Any]:
    data = {
        "content": content_data(reply.content) if reply.content is not None else None,
        "error_code": reply.error_code,
        "error_message": reply.error_message,
        "finish_reason": reply.finish_reason,
        "usage": dict(sorted(reply.usage.to_dict().items())) if reply.usage is not None else None,
    }
    return {name: value for name, value in data.items() if value is not None}


@lru_cache(maxsize=64)
def _text_of(quoted: bytes) -> str:
    """The text that stands between two quotes in JSON."""
    return str(json.loads(b'"' + quoted + b'"')) if b"\\" in quoted else quoted.decode()


def _spelled(match: re.Match[str]) -> str:
    return json.dumps(match.group())[1:-1]
