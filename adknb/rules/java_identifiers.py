"""Which names ADK Java takes for identifiers.

Source: `InstructionUtils.isValidIdentifier`, which asks `Character.isJavaIdentifierStart(char)` and
`isJavaIdentifierPart(char)`. The answers below were recorded from JDK 17 (Unicode 13), because those of
Python's `unicodedata` change with its version.
"""

from bisect import bisect_right
from itertools import accumulate
from typing import Final


def java_is_identifier(text: str) -> bool:
    """Whether ADK Java takes the text for an identifier: ASCII or not, keywords included, never empty.

    Java asks unit by unit of UTF-16, so that no character outside the basic plane belongs to a name.
    """
    return bool(text) and _within(_START, text[0]) and all(map(java_is_identifier_part, text))


def java_is_identifier_part(unit: str) -> bool:
    """`Character.isJavaIdentifierPart` of one UTF-16 unit."""
    return _within(_PART, unit)


def _within(boundaries: list[int], character: str) -> bool:
    return bisect_right(boundaries, ord(character)) % 2 == 1


def _boundaries(steps: str) -> list[int]:
    """The code units where the answer changes, from no at first, given as hexadecimal steps from one to the next."""
    return list(accumulate(int(step, 16) for step in steps.split()))


# Every start is a part too.
_START: Final = _boundaries(
    """
    24 1 1c 1a 4 1 1 1a 27 4 4 1 a 1 4 1 5 17 1 1f 1 1ca 4 c e 5 7 1 1 1 81 5 1 2 2 4 1 1 6 1 1 3 1 1 1 14 1
    53 1 8b 8 a6 1 26 2 1 6 29 6 1 40 1b 4 4 18 1 14 2b 23 2 1 63 1 1 f 2 7 2 a 3 2 1 10 1 1 1e 1d 59 b 1 18
    21 9 2 4 1 3 18 4 1 9 1 3 1 17 19 7 b 35 15 1 12 3c 36 3 1 12 1 7 a f 10 4 8 2 2 2 16 1 7 1 1 3 4 3 1 10
    1 d 2 1 3 e 4 7 2 8 6 4 2 2 16 1 7 1 2 1 2 1 2 1f 4 1 1 13 3 10 9 1 3 1 16 1 7 1 2 1 5 3 1 12 1 f 2 f 1
    7 1 b 8 2 2 2 16 1 7 1 2 1 5 3 1 1e 2 1 3 f 1 11 1 1 6 3 3 1 4 3 2 1 1 1 2 3 2 3 3 3 c 16 1 28 1 b 8 1 3
    1 17 1 10 3 1 1a 3 5 2 1e 1 4 8 1 3 1 17 1 a 1 5 3 1 20 1 1 2 f 2 11 9 1 3 1 29 2 1 10 1 5 3 8 3 18 6 5
    12 3 18 1 9 1 1 2 7 3a 30 1 2 b 8 3a 2 1 1 1 5 1 18 1 1 1 a 1 2 9 1 2 5 1 1 15 4 20 1 3f 8 1 24 1b 5 73
    2b 14 1 10 6 4 4 3 1 3 2 7 3 4 d c 1 11 26 1 1 5 1 2 2b 1 14d 1 4 2 7 1 1 1 4 2 29 1 4 2 21 1 4 2 7 1 1
    1 4 2 f 1 39 1 4 2 43 25 10 10 56 2 6 3 26c 2 11 1 1a 5 4b 3 b 7 d 1 4 e 12 e 12 e d 1 3 f 34 23 1 3 2
    43 59 7 5 2 22 1 1 5 46 a 1f 31 1e 2 5 b 2c 4 1a 36 17 9 35 52 1 5d 2f 11 7 37 1e d 2 a 2c 1a 24 29 3 a
    24 2 9 7 2b 2 3 29 4 1 6 1 2 3 1 5 c0 40 116 2 6 2 26 2 6 2 8 1 1 1 1 1 1 1 1f 2 35 1 7 1 1 3 3 1 7 3 4
    2 6 4 d 5 3 1 7 42 2 13 1 1c 1 d 1 10 d 3 20 42 1 4 1 2 a 1 1 3 5 6 1 1 1 1 1 1 4 1 b 2 4 5 5 4 1 11 29
    a77 2f 1 2f 1 85 6 4 3 2 c 26 1 1 5 1 2 38 7 1 10 17 9 7 1 7 1 7 1 7 1 7 1 7 1 7 1 7 50 1 1d5 3 19 9 7 5
    2 5 4 56 6 3 1 5a 1 4 5 2b 1 5e 11 20 30 10 200 19c0 40 51fd 3 48d 43 2e 2 10d 3 10 a 2 14 2f 10 1f 2 50
    27 9 2 67 2 35 2 9 2a d 1 3 1 4 1 17 15 1 7 34 e 32 3e 6 3 1 1 2 b 1c a 17 19 1d 7 2f 1c 1 10 5 1 a a 5
    1 29 17 3 1 8 14 17 3 1 3 32 1 1 3 2 2 5 2 1 1 1 18 3 2 b 7 3 c 6 2 6 2 6 9 7 1 7 1 2b 1 e 6 73 1d 2ba4
    c 17 4 31 2104 16e 2 6a 26 7 c 5 5 1 1 a 1 d 1 5 1 1 1 2 1 2 1 6c 21 16b 12 40 2 36 28 d 36 2 18 3 19 1
    6 5 1 87 7 1 1c 1a 4 1 1 1a b 59 3 6 2 6 2 6 2 3 3 2 3 2
    """
)

_PART: Final = _boundaries(
    """
    0 9 5 e 8 1 b a 7 1a 4 1 1 1a 4 21 2 4 4 1 2 1 7 1 4 1 5 17 1 1f 1 1ca 4 c e 5 7 1 1 1 11 75 1 2 2 4 1 1
    6 1 1 3 1 1 1 14 1 53 1 8b 1 5 2 a6 1 26 2 1 6 29 6 1 1 2d 1 1 1 2 1 2 1 1 8 1b 4 4 d 6 5 1 4 b 1 1 3 4a
    4 66 1 9 1 a 1 13 2 1 f 3c 2 65 e 36 4 1 2 31 12 1c 4 b 35 15 1 12 b 91 2 a 1 13 1 8 2 2 2 16 1 7 1 1 3
    4 2 9 2 2 2 4 8 1 4 2 1 5 2 e 7 2 1 1 2 3 1 6 4 2 2 16 1 7 1 2 1 2 1 2 2 1 1 5 4 2 2 3 3 1 7 4 1 1 7 10
    b 3 1 9 1 3 1 16 1 7 1 2 1 5 2 a 1 3 1 3 2 1 f 4 2 a 1 1 7 7 1 3 1 8 2 2 2 16 1 7 1 2 1 5 2 9 2 2 2 3 7
    3 4 2 1 5 2 a 1 1 10 2 1 6 3 3 1 4 3 2 1 1 1 2 3 2 3 3 3 c 4 5 3 3 1 4 2 1 6 1 e a 9 1 6 d 1 3 1 17 1 10
    3 8 1 3 1 4 7 2 1 3 5 4 2 a 10 4 1 8 1 3 1 17 1 a 1 5 2 9 1 3 1 4 7 2 7 1 1 4 2 a 1 2 d d 1 3 1 33 1 3 1
    5 5 4 7 5 2 a a 6 1 3 1 12 3 18 1 9 1 1 2 7 3 1 4 6 1 1 1 8 6 a 2 2 d 3a 4 10 1 a 27 2 1 1 1 5 1 18 1 1
    1 17 2 5 1 1 1 6 2 a 2 4 20 1 17 2 6 a b 1 1 1 1 1 4 a 1 24 4 14 1 12 1 24 9 1 39 4a 6 4e 2 26 1 1 5 1 2
    2b 1 14d 1 4 2 7 1 1 1 4 2 29 1 4 2 21 1 4 2 7 1 1 1 4 2 f 1 39 1 4 2 43 2 3 20 10 10 56 2 6 3 26c 2 11
    1 1a 5 4b 3 b 7 d 1 7 b 15 b 14 c d 1 3 1 2 c 54 3 1 3 3 2 a 21 4 1 a 6 59 7 2b 5 46 a 1f 1 c 4 c a 28 2
    5 b 2c 4 1a 6 a 26 1c 4 3f 1 1d 2 b 6 a d 1 8 e 1 2 3f 4c 4 a 11 9 c 74 c 38 8 a 3 31 2 9 7 2b 2 3 10 3
    1 27 5 fa 1 11b 2 6 2 26 2 6 2 8 1 1 1 1 1 1 1 1f 2 35 1 7 1 1 3 3 1 7 3 4 2 6 4 d 5 3 1 7 e 5 1a 5 10 2
    13 1 b 5 1 a 1 1 d 1 10 d 3 20 10 d 4 1 3 c 11 1 4 1 2 a 1 1 3 5 6 1 1 1 1 1 1 4 1 b 2 4 5 5 4 1 11 29
    a77 2f 1 2f 1 85 6 9 c 26 1 1 5 1 2 38 7 1 f 18 9 7 1 7 1 7 1 7 1 7 1 7 1 7 1 7 1 20 2f 1 1d5 3 19 f 1 5
    2 5 4 56 2 2 2 3 1 5a 1 4 5 2b 1 5e 11 20 30 10 200 19c0 40 51fd 3 48d 43 2e 2 10d 3 1c 14 30 4 a 1 73
    25 9 2 67 2 35 2 9 2a 33 4 1 b 1 7 34 c 46 a a 6 18 3 1 1 31 2 24 c 1d 3 41 e b 6 1f 1 37 9 e 2 a 6 17 3
    49 18 3 2 10 2 5 a 6 2 6 2 6 9 7 1 7 1 2b 1 e 6 7b 1 2 2 a 6 2ba4 c 17 4 31 2104 16e 2 6a 26 7 c 5 5 c 1
    d 1 5 1 1 1 2 1 2 1 6c 21 16b 12 40 2 36 28 d 3 10 10 10 3 2 18 3 19 1 6 5 1 87 2 1 4 1 b a 7 1a 4 1 1
    1a b 59 3 6 2 6 2 6 2 3 3 2 3 2 12 3
    """
)
