"""The replies recorded for the lesson are those that are written in `news_replies`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adknb import Content, LlmRequest, ReplayModel
from adknb.cassettes import cassette
from adknb.examples.news_replies import news_replies

pytestmark = pytest.mark.anyio
LINES = [json.loads(line) for line in cassette("news").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("line", LINES, ids=[f"{n}: {line['request']['agent']}" for n, line in enumerate(LINES)])
async def test_a_recorded_reply_is_as_written(line: dict[str, Any]) -> None:
    request = line["request"]
    contents = [Content.from_dict(content) for content in request["contents"]]
    asked = LlmRequest(request["agent"], "any", contents=contents)
    asked.system_instruction = request["system_instruction"]
    (reply,) = [reply async for reply in news_replies().generate_content_async(asked)]
    assert reply.content == Content.from_dict(line["reply"]["content"])


def test_one_model_answers() -> None:
    assert ReplayModel(cassette("news")).name == "written-for-the-lesson"
