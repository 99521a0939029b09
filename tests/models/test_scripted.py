import asyncio
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adknb.core.content import Content, FunctionCall, Part
from adknb.core.errors import ReplyMissingError, SpecError
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.usage import Usage
from adknb.models.scripted import ScriptedModel
from tests.models.asking import answer, ask, request, text

CALL = Part.from_function_call("lookup", {"id": 7})


def test_it_is_a_model() -> None:
    model = ScriptedModel({}, name="gemini-2.5-flash")
    assert isinstance(model, Model)
    assert model.name == "gemini-2.5-flash"


async def test_each_agent_gets_its_own_replies_in_order() -> None:
    model = ScriptedModel({"TriageAgent": ["a", "b"], "DraftAgent": ["c", "d"]})
    asked = [("DraftAgent", 0), ("TriageAgent", 0), ("TriageAgent", 1), ("DraftAgent", 1)]
    assert [text(await answer(model, agent, ordinal)) for agent, ordinal in asked] == ["c", "a", "b", "d"]


async def test_a_request_made_again_gets_its_reply_again() -> None:
    model = ScriptedModel({"DraftAgent": ["a", "b"]})
    assert [text(await answer(model, ordinal=ordinal)) for ordinal in (1, 1, 0, 1)] == ["b", "b", "a", "b"]


@pytest.mark.parametrize(
    ("reply", "content"),
    [
        ("Grüße", Content("model", (Part(text="Grüße"),))),
        ("", Content("model", (Part(text=""),))),
        ({"note": "Grüße", "urgency": 2}, Content("model", (Part(text='{"note": "Grüße", "urgency": 2}'),))),
        (CALL, Content("model", (CALL,))),
        ([Part(text="hm", thought=True), CALL], Content("model", (Part(text="hm", thought=True), CALL))),
        ([], Content("model", ())),
        (
            [{"text": "x"}, {"function_call": {"name": "f", "args": {}}}],
            Content("model", (Part(text="x"), Part(function_call=FunctionCall("f", {})))),
        ),
        (Content("user", ()), Content("user", ())),
    ],
)
async def test_a_reply_becomes_a_content(reply: object, content: Content) -> None:
    response = await answer(ScriptedModel({"DraftAgent": [reply]}))
    assert response == LlmResponse(content, note="scripted: ignores your prompt")


async def test_a_whole_response_keeps_what_it_says() -> None:
    given_response = LlmResponse(
        Content.model("x"), Usage(10, 2), finish_reason="STOP", error_code="1", error_message="m"
    )
    response = await answer(ScriptedModel([given_response]))
    assert response == LlmResponse(
        Content.model("x"), Usage(10, 2), False, "STOP", "1", "m", "scripted: ignores your prompt"
    )
    noted = await answer(ScriptedModel([LlmResponse(note="recorded")]))
    assert noted == LlmResponse(note="recorded")


async def test_an_answer_can_be_changed_without_changing_the_script() -> None:
    model = ScriptedModel({"DraftAgent": ["x"]})
    response = await answer(model)
    response.content = None
    assert text(await answer(model)) == "x"


async def test_an_exception_is_raised_and_the_next_reply_follows() -> None:
    failure = ConnectionError("reset by peer")
    model = ScriptedModel({"DraftAgent": [failure, TimeoutError, "fine"]})
    with pytest.raises(ConnectionError) as caught:
        await answer(model, ordinal=0)
    assert caught.value is failure
    with pytest.raises(TimeoutError):
        await answer(model, ordinal=1)
    assert text(await answer(model, ordinal=2)) == "fine"


async def test_a_function_sees_the_request() -> None:
    async def shout(sent: LlmRequest) -> str:
        await asyncio.sleep(0)
        return f"{sent.agent}: {sent.contents[-1].text.upper()}"

    model = ScriptedModel({"TriageAgent": shout, "DraftAgent": lambda sent: {"contents": len(sent.contents)}})
    assert await answer(model, "TriageAgent") == LlmResponse(
        Content.model("TriageAgent: WHY IS THE SKY BLUE?"), note="scripted: a function answers"
    )
    assert text(await answer(model)) == '{"contents": 1}'


async def test_one_function_answers_for_all_agents() -> None:
    model = ScriptedModel(lambda sent: sent.agent)
    assert [text(await answer(model, agent)) for agent in ("A", "B", "A")] == ["A", "B", "A"]


async def test_a_plain_list_serves_one_agent() -> None:
    model = ScriptedModel(["1", "2"])
    assert [text(await answer(model, "A", ordinal)) for ordinal in (0, 1)] == ["1", "2"]
    with pytest.raises(ReplyMissingError) as caught:
        await answer(model, "B")
    assert str(caught.value) == (
        "'B' has no scripted replies: the plain list serves one agent, and 'A' asked first. "
        "Write one list each: ScriptedModel({'A': […], 'B': […]})."
    )


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        (["a", "b"], "asks for reply 3 of this session, but only 2 are scripted."),
        (["a"], "asks for reply 2 of this session, but only 1 is scripted."),
        ([], "asks for reply 1 of this session, but none is scripted."),
    ],
)
async def test_a_script_that_is_used_up_says_how_many_there_were(replies: list[str], message: str) -> None:
    model = ScriptedModel({"DraftAgent": replies})
    with pytest.raises(ReplyMissingError) as caught:
        await answer(model, ordinal=len(replies))
    assert str(caught.value) == f"'DraftAgent' {message} Add replies to its list, or start a fresh session."
    assert caught.value.agent == "DraftAgent"


async def test_an_agent_without_a_script_is_told_the_near_names() -> None:
    with pytest.raises(ReplyMissingError) as caught:
        await answer(ScriptedModel({"DraftAgnt": ["x"]}))
    assert str(caught.value) == (
        "'DraftAgent' has no scripted replies. Did you mean 'DraftAgnt'? "
        "Give it some: ScriptedModel({'DraftAgent': ['…']})."
    )


async def test_tasks_that_ask_at_once_each_get_their_own_reply() -> None:
    model = ScriptedModel({"DraftAgent": [str(number) for number in range(100)]})
    answers = await asyncio.gather(*(answer(model, ordinal=ordinal) for ordinal in range(100)))
    assert [int(text(response)) for response in answers] == list(range(100))


async def test_streaming_gives_the_reply_whole() -> None:
    responses = await ask(ScriptedModel(["a b c"]), request(), stream=True)
    assert [(text(response), response.partial) for response in responses] == [("a b c", False)]


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        ({"A": "text"}, "replies for 'A': a list of replies or a function is needed, not 'text'"),
        ({"A": ["x", 7]}, "replies for 'A': reply 2 is 7; write a text, a dict,"),
        ({"A": [None]}, "replies for 'A': reply 1 is None; write a text, a dict,"),
        ({"A": [[7]]}, "replies for 'A': reply 1: 7 is no part; write a Part or a dict"),
        ({"A": [[{"txt": "x"}]]}, "replies for 'A': reply 1: a part has no field 'txt'"),
        ({"A": [{"x": {1}}]}, "replies for 'A': reply 1: Object of type set is not JSON serializable"),
        ("text", "replies: a list of replies or a function is needed, not 'text'"),
        (7, "replies: a list of replies or a function is needed, not 7"),
    ],
)
def test_what_is_no_reply_is_refused_when_the_model_is_made(replies: Any, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        ScriptedModel(replies)
    assert str(caught.value).startswith(f"ScriptedModel: {message}")


async def test_what_a_function_returns_is_checked_too() -> None:
    with pytest.raises(SpecError) as caught:
        await answer(ScriptedModel(lambda sent: 7))
    assert str(caught.value).startswith("ScriptedModel: reply to 'DraftAgent' is 7;")


@given(st.dictionaries(st.text(min_size=1), st.lists(st.text()), max_size=4), st.randoms(use_true_random=False))
def test_any_interleaving_of_agents_gives_each_its_list(script: dict[str, list[str]], random: Any) -> None:
    order = [agent for agent, replies in script.items() for _ in replies]
    random.shuffle(order)
    got: dict[str, list[str]] = {agent: [] for agent in script}
    model = ScriptedModel(script)

    async def play() -> None:
        for agent in order:
            got[agent].append(text(await answer(model, agent, len(got[agent]))))

    asyncio.run(play())
    assert got == script
