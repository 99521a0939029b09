"""A request's tokens by channel."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from adknb.core.content import Content, FunctionCall, FunctionResponse, Part
from adknb.core.events import Event
from adknb.core.requests import LlmRequest, Segment
from adknb.core.usage import Usage
from adknb.tokens.channels import Cutter, canonical_json, channels, part_text, pieces, sent_twice, shares
from adknb.tokens.counter import default_counter
from tests.factories import DRAFT, TRIAGE, event

counter = default_counter()
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=[]), max_size=30),
    st.sampled_from(["👩\u200d🚀", "龘", "𒍅", "\ud83d", "\ude00", " ", "\n\n", ""]),
)


@given(st.lists(TEXTS, max_size=8))
def test_segments_share_the_whole_texts_tokens(texts: list[str]) -> None:
    segments = [Segment(text, "instruction") for text in texts]
    each = shares(segments, counter)
    assert len(each) == len(segments)
    assert sum(each) == counter.count("".join(texts))
    assert all(tokens == 0 for tokens, text in zip(each, texts, strict=True) if not text)


def test_a_token_belongs_to_the_segment_in_which_it_starts() -> None:
    segments = [Segment("Tier: ", "instruction"), Segment("gold", "state", "user:tier"), Segment("!", "instruction")]
    assert shares([Segment("Tier: gold!", "instruction")], counter) == [4]
    assert shares(segments, counter) == [3, 0, 1]  # " gold" starts at the blank


def full_request() -> LlmRequest:
    """Every channel at once, under agent B in its second turn."""
    earlier = event("user", "Hello.", turn="turn-0")
    message = event("user", "Charged twice.")
    other = Event("A", Content("user", (Part("For context:"), Part(f"[A] said: {TRIAGE}"))))
    call = Event("B", Content("model", (Part(function_call=FunctionCall("lookup", {"b": 1, "a": "é"}, "c1")),)))
    answer = Event("B", Content("user", (Part(function_response=FunctionResponse("lookup", {"ok": True}, "c1")),)))
    own = event("B", DRAFT)
    sources: list[Event | None] = [earlier, message, other, call, answer, own, None]
    contents = [source.content for source in sources if source and source.content] + [Content.user("Go on.")]
    return LlmRequest(
        "B",
        "m",
        [Segment("Answer: ", "instruction"), Segment(TRIAGE, "state", "triage"), Segment("\n\n", "separator"),
         Segment("You are B.", "identity"), Segment("note", "artifact", "a.txt")],
        contents,
        sources,
        {"lookup": {"name": "lookup", "description": "Looks up."}},
        {"temperature": 0.0, "response_schema": {"type": "OBJECT", "properties": {}}},
    )  # fmt: skip


def test_pieces_say_origin_channel_and_role() -> None:
    request = full_request()
    earlier = request.sources[0]
    assert earlier is not None
    found = pieces(request, counter, {earlier.id})
    assert [(piece.role, piece.content, piece.origin, piece.channel) for piece in found] == [
        ("system", None, "instruction", "instruction"),
        ("system", None, "state", "injected_state"),
        ("system", None, "separator", "instruction"),
        ("system", None, "identity", "instruction"),
        ("system", None, "artifact", "injected_state"),
        ("user", 0, "user message", "history"),
        ("user", 1, "user message", "user_message"),
        ("user", 2, "other agent", "history"),
        ("user", 2, "other agent", "history"),
        ("model", 3, "tool call", "history"),
        ("user", 4, "tool response", "history"),
        ("model", 5, "own reply", "history"),
        ("user", 6, "added", "history"),
        ("tools", None, "tools", "tools"),
        ("schema", None, "schema", "schema"),
    ]
    assert "".join(piece.text for piece in found if piece.role == "system") == request.system_instruction
    assert found[9].text == '{"function_call":{"args":{"a":"é","b":1},"name":"lookup"}}'
    assert found[-1].text == '{"properties":{},"type":"OBJECT"}'


@st.composite
def requests_of_one_session(draw: st.DrawFn) -> list[LlmRequest]:
    """Requests of two agents that share contents, system texts and sources in any order, and contents without a source."""
    whole = full_request()
    pairs = [*zip(whole.contents, whole.sources, strict=True), (whole.contents[0], None)]
    made = []
    for agent in draw(st.lists(st.sampled_from("AB"), max_size=5)):
        chosen = draw(st.lists(st.sampled_from(pairs), max_size=8))
        system = draw(st.sampled_from([[], whole.system, whole.system[:2]]))
        contents, sources = [content for content, _ in chosen], [source for _, source in chosen]
        made.append(replace(whole, agent=agent, system=[*system], contents=contents, sources=sources))
    return made


@given(requests_of_one_session())
def test_one_cutter_cuts_each_request_as_if_it_were_alone(requests: list[LlmRequest]) -> None:
    cutter = Cutter(counter)
    assert [cutter.pieces(request) for request in requests] == [pieces(request, counter) for request in requests]


def test_requests_of_one_cutter_share_their_pieces() -> None:
    request = full_request()
    longer = replace(request, contents=[*request.contents, Content.user("More.")])
    cutter = Cutter(counter)
    first, second = cutter.pieces(request), cutter.pieces(longer)
    shared = len(request.system) + sum(len(content.parts) for content in request.contents)
    assert shared == 13
    assert all(mine is theirs for mine, theirs in zip(first[:shared], second, strict=False))


def test_a_content_that_is_gone_lends_its_id_to_no_other() -> None:
    cutter = Cutter(counter)
    for number in range(100):
        request = LlmRequest("A", "m", contents=[Content.user(f"text {number}")])
        assert [piece.text for piece in cutter.pieces(request)] == [f"text {number}"]


def test_channels_are_the_pieces_sums() -> None:
    request = full_request()
    earlier = request.sources[0]
    assert earlier is not None
    sums = channels(pieces(request, counter, {earlier.id}), "o200k_base")
    assert sums.instruction == 3 + 0 + 4
    assert sums.injected_state == 20 + 0
    assert sums.user_message == 4
    assert sums.history == 2 + 3 + 25 + 23 + 15 + 10 + 3
    assert (sums.tools, sums.schema) == (10, 9)
    assert (sums.overhead, sums.total, sums.reported) == (None, sums.counted, False)
    assert sums.counted_by == "o200k_base"


@pytest.mark.parametrize(("reported", "overhead"), [(1000, 1000 - 131), (100, 100 - 131)])
def test_reported_usage_wins_and_the_rest_is_overhead(reported: int, overhead: int) -> None:
    request = full_request()
    earlier = request.sources[0]
    assert earlier is not None
    sums = channels(pieces(request, counter, {earlier.id}), "o200k_base", Usage(reported, 5))
    assert (sums.counted, sums.overhead, sums.total, sums.reported) == (131, overhead, reported, True)


def twice(writer: Event, sources: list[Event], value: str = TRIAGE) -> dict[str, int]:
    contents = [source.content for source in sources if source.content]
    system = [Segment("Triage: ", "instruction"), Segment(value, "state", "triage")]
    request = LlmRequest("B", "m", system, contents, [*sources])
    return sent_twice(pieces(request, counter), {"triage": writer}.get)


def test_a_value_is_sent_twice_when_its_writing_event_is_in_the_request() -> None:
    writer = event("A", TRIAGE, {"triage": TRIAGE})
    other = event("C", "unrelated")
    assert twice(writer, [writer, other]) == {"triage": 20}
    assert twice(writer, [other]) == {}


def test_an_empty_value_costs_nothing_so_it_is_not_sent_twice() -> None:
    writer = event("A", "", {"triage": ""})
    assert twice(writer, [writer], "") == {}


def test_a_value_that_came_with_the_users_message_is_not_sent_twice() -> None:
    writer = event("user", "Hello.", {"triage": TRIAGE})
    assert twice(writer, [writer]) == {}


def test_only_the_last_writer_counts() -> None:
    first, last = event("A", "old", {"triage": "old"}), event("A", TRIAGE, {"triage": TRIAGE})
    assert twice(last, [first]) == {}


def test_canonical_json_is_sorted_compact_and_keeps_its_characters() -> None:
    assert canonical_json({"b": [1, None, True], "a": "é\n"}) == '{"a":"é\\n","b":[1,null,true]}'


def test_parts_are_told_apart_by_identity_and_not_by_what_python_calls_equal() -> None:
    texts = ["1", "1.0", "true"]
    parts = [Part(function_call=FunctionCall("f", {"n": value})) for value in (1, 1.0, True)]
    assert parts[0] == parts[1] == parts[2]
    for _ in range(2):
        assert [part_text(part) for part in parts] == [
            f'{{"function_call":{{"args":{{"n":{text}}},"name":"f"}}}}' for text in texts
        ]


def test_a_request_without_anything_has_no_pieces() -> None:
    assert pieces(LlmRequest("A", "m"), counter) == []


def test_a_callback_may_leave_more_contents_than_sources() -> None:
    request = replace(full_request(), sources=[])
    assert {piece.origin for piece in pieces(request, counter) if piece.content is not None} == {"added"}
