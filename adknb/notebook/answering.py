"""Who answers on the bench: a model's name made a model, at another address or with its replies kept in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adknb.core.protocols import Model
from adknb.models.replay import RecordMode, ReplayModel, recording
from adknb.models.resolve import resolve_model

Resolve = Callable[[Any], Model]
_SERVED = ("openai/", "gemini-")


@dataclass(frozen=True, slots=True)
class Recording:
    """`--record FILE --record-mode MODE`: where replies are kept."""

    file: str
    mode: RecordMode = "once"


class Answering:
    """Finds models as the settings say. A file that is recorded into stays open, once for each model."""

    def __init__(self) -> None:
        self._open: dict[tuple[Recording, Any], ReplayModel] = {}

    def resolver(self, base_url: str | None, record: Recording | None) -> Resolve:
        """From what `model=` says to the model that answers. Raises `ModelError` for one that there is not."""

        def resolve(value: Any) -> Model:
            is_served = isinstance(value, str) and value.startswith(_SERVED)
            return resolve_model(value, base_url=base_url if is_served else None)

        if record is None:
            return resolve

        def resolve_recorded(value: Any) -> Model:
            key = (record, (value, base_url) if isinstance(value, str) else id(value))
            if key not in self._open:
                self._open[key] = recording(lambda: resolve(value), record.file, record.mode)
            return self._open[key]

        return resolve_recorded

    def close(self) -> None:
        """Let the files go; replies that were recorded anew stand alone in them."""
        for model in self._open.values():
            model.close()
        self._open.clear()
