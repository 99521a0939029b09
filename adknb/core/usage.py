"""What a model call cost in tokens, as the model itself reported it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts that a model reported for one call (ADK's `usage_metadata`).

    `input_tokens` includes `cached_tokens`; `output_tokens` includes `reasoning_tokens`.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    def to_dict(self) -> dict[str, int]:
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Usage:
        return Usage(**data)
