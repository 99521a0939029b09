"""What no model may see is not in what it is sent, and is back in what it says."""

import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adknb.core.errors import SpecError
from adknb.workflow.middleware import StepReply, StepRequest, chain
from adknb.workflow.redaction import RedactionMiddleware
from tests.workflow.requests import Agent, request

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("write to ann@example.org, or to bob.b+x@mail.example.co.uk.", "write to [EMAIL_1], or to [EMAIL_2]."),
        ("ann@example.org wrote ann@example.org", "[EMAIL_1] wrote [EMAIL_1]"),
        ("my card 4111 1111 1111 1111 is lost", "my card [CARD_1] is lost"),
        ("call +49 (30) 1234-5678 now", "call [PHONE_1] now"),
        ("the key sk-abcdefghijklmnop1234 works", "the key [KEY_1] works"),
        ("AKIAIOSFODNN7EXAMPLE", "[KEY_1]"),
        ("charged twice for 2026, invoice 12345", "charged twice for 2026, invoice 12345"),
        ("an @mention and a@b", "an @mention and a@b"),
    ],
)
async def test_the_model_is_sent_marks_and_the_reply_says_it_again(text: str, sent: str) -> None:
    agent = Agent()
    reply = await chain([RedactionMiddleware()], agent)(request(text))
    assert agent.payloads == [sent]
    assert reply.payload == f"about {text}"


async def test_without_restore_the_reply_keeps_the_marks() -> None:
    agent = Agent()
    reply = await chain([RedactionMiddleware(restore=False)], agent)(request("ann@example.org"))
    assert reply == StepReply("about [EMAIL_1]", tokens=10)


async def test_json_is_redacted_throughout() -> None:
    payload = {"from": "ann@example.org", "cc": ["bob@example.org", 5, None], "ann@example.org": True}
    seen: list[Any] = []

    async def echo(request: StepRequest) -> StepReply:
        seen.append(request.data.payload)
        return StepReply({"again": request.data.payload, "other": ["[EMAIL_9]", "[EMAIL_2]"]})

    reply = await chain([RedactionMiddleware()], echo)(request(payload))
    assert seen == [{"from": "[EMAIL_1]", "cc": ["[EMAIL_2]", 5, None], "[EMAIL_1]": True}]
    assert reply.payload == {"again": payload, "other": ["[EMAIL_9]", "bob@example.org"]}


async def test_what_holds_nothing_is_sent_as_it_is() -> None:
    agent, asked = Agent(), request("bees", key="k")
    await chain([RedactionMiddleware()], agent)(asked)
    assert agent.asked == [asked]


async def test_own_patterns() -> None:
    agent = Agent()
    middleware = RedactionMiddleware({"NAME": re.compile("ann", re.IGNORECASE), "CASE_ID": r"#\d+"})
    await chain([middleware], agent)(request("Ann and ann in #12"))
    assert agent.payloads == ["[NAME_1] and [NAME_2] in [CASE_ID_1]"]
    for patterns in ({}, {"name": "x"}, {"A B": "x"}):
        with pytest.raises(SpecError, match="names in capitals"):
            RedactionMiddleware(patterns)


@given(
    st.lists(
        st.sampled_from(["ann@example.org", "b@c.de", "[EMAIL_1]", "4111 1111 1111 1111", " and ", "x"]), max_size=8
    )
)
async def test_whatever_is_taken_out_comes_back(pieces: list[str]) -> None:
    text = "|".join(pieces)
    agent = Agent()
    reply = await chain([RedactionMiddleware()], agent)(request(text))
    assert "@" not in agent.payloads[0]
    if "[EMAIL_1]" not in pieces or "@" not in text:
        assert reply.payload == f"about {text}"


LONG = [
    ("a" * 100_000, "a" * 100_000),
    ("a@" * 50_000, "a@" * 50_000),
    ("a." * 50_000, "a." * 50_000),
    ("sk-" * 30_000, "[KEY_1]-"),
    ("+" + "1" * 100_000, "+" + "1" * 100_000),
]


@pytest.mark.parametrize(("text", "sent"), LONG, ids=range(len(LONG)))
async def test_long_hostile_text_is_looked_through_once(text: str, sent: str) -> None:
    agent = Agent()
    await chain([RedactionMiddleware()], agent)(request(text))
    assert agent.payloads == [sent]


async def test_a_mark_that_stands_there_already_is_nobody_s() -> None:
    agent = Agent()
    reply = await chain([RedactionMiddleware()], agent)(request("[EMAIL_1] is not ann@example.org"))
    assert agent.payloads == ["[EMAIL_1] is not [EMAIL_2]"]
    assert reply.payload == "about [EMAIL_1] is not ann@example.org"
