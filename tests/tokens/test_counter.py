"""Offline counts, and where each token starts."""

import pytest
from hypothesis import given, strategies as st

from adknb.tokens.counter import BpeCounter, default_counter

counter = default_counter()


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", []),
        ("hi there", [0, 2]),
        ("<|endoftext|>", [0, 1, 2, 5, 7, 11, 12]),  # plain text, not the special token
        ("龘", [0, 0]),  # one character in two tokens
        ("a𒍅b", [0, 1, 1, 1, 1, 2]),
        ("a\ud800b", [0, 1, 2]),
        ("a\ud83d\ude00b", [0, 1, 3]),  # a pair of surrogates is two characters to Python
        ("a\x00b", [0, 1, 2]),
    ],
)
def test_starts(text: str, starts: list[int]) -> None:
    assert counter.starts(text) == starts
    assert counter.count(text) == len(starts)


def test_it_names_its_vocabulary() -> None:
    assert counter.name == "o200k_base"


@given(st.text(st.characters(exclude_categories=[])))
def test_starts_are_as_many_as_counted_in_order_and_inside(text: str) -> None:
    starts = counter.starts(text)
    assert len(starts) == counter.count(text)
    assert starts == sorted(starts)
    assert all(0 <= start < len(text) for start in starts)


def test_a_long_text_is_counted_in_slices_beyond_the_encoders_limits() -> None:
    text = "word " * 300_000
    assert counter.count(text) == 300_030
    starts = counter.starts(text)
    assert len(starts) == 300_030
    assert starts[:3] == [0, 4, 9]
    assert starts[-1] == 1_499_999


def test_a_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    own = BpeCounter()
    own.count("load the vocabulary")
    encoded: list[str] = []
    encoding = own._load()
    original = encoding.encode_ordinary

    def record(text: str) -> list[int]:
        encoded.append(text)
        tokens: list[int] = original(text)
        return tokens

    monkeypatch.setattr(encoding, "encode_ordinary", record)
    assert [own.count("hi there"), own.count("hi there"), own.count("hi")] == [2, 2, 1]
    assert encoded == ["hi there", "hi"]
