"""In what the recorders of the ADKs differ beside the ADKs themselves: their tools, and how they write values down."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from adknb.core.content import Part
from adknb.core.errors import AdknbError
from adknb.core.requests import LlmRequest
from adknb.core.run import Session
from adknb.core.tools import FunctionTool
from adknb.rules.go_values import go_json
from adknb.rules.js_values import js_number, js_text
from adknb.rules.values import java_text
from adknb.runtime.artifacts import InMemoryArtifactService
from adknb.runtime.callbacks import ToolContext

CALL_ID = re.compile("adk-[0-9a-f-]{32,36}")


class NoArtifacts(InMemoryArtifactService):
    """A runner without an artifact service, as recorders of cases that save none have it."""

    def __init__(self, adk_type: str, message: str) -> None:
        super().__init__()
        self._error = (adk_type, message)

    async def load_artifact(self, session: Session, filename: str, version: int | None = None) -> Part | None:
        raise AdknbError(self._error[1]).as_adk(*self._error)


@dataclass(frozen=True)
class Dialect:
    """One recorder. `tools` are those that are not as Java's; `cut` shortens an error's message, `number` and `text` are
    values as a trace file holds them; `loop_limit` is what a case's `max_iterations` of null means. `no_artifacts` is the error
    without an artifact service, `exhausted` the type of the scripted model's, `system` a request's system instruction."""

    number: Callable[[float], Any]
    text: Callable[[str], str]
    cut: Callable[[str], str]
    temp_keys: str | None = None
    tools: Mapping[str, FunctionTool] = field(default_factory=dict)
    empty_part: Mapping[str, Any] = field(default_factory=dict)
    loop_limit: int | None = None
    artifacts_only_when_saved: bool = True
    no_artifacts: tuple[str, str] = ("Error", "Artifact service is not initialized.")
    exhausted: str = "RuntimeException"
    system: Callable[[LlmRequest], Any] = lambda request: request.system_instruction


def units(text: str) -> str:
    """At most 300 UTF-16 units."""
    return text.encode("utf-16-le", "surrogatepass")[:600].decode("utf-16-le", "surrogatepass")


def finite_or_text(value: float) -> Any:
    """A number that is not finite is text."""
    return java_text(value) if isinstance(value, float) and not math.isfinite(value) else value


def double(value: float) -> Any:
    """The double as `JSON.stringify` writes it, read back: a whole one has no point, an infinite one is null."""
    text = js_number(value)
    return json.loads(text) if not text.endswith(("NaN", "Infinity")) else None


def parts(request: LlmRequest) -> Any:
    """The system instruction as one text, or as the list of its parts: an empty separator starts another."""
    texts = [""] if request.system else []
    for segment in request.system:
        if segment.origin == "separator" and not segment.text:
            texts.append("")
        else:
            texts[-1] += segment.text
    return texts if len(texts) > 1 else texts[0] if texts else None


def read_state(key: str, tool_context: ToolContext) -> dict[str, Any]:
    """Read a value from session state by key."""
    return {"value": as_js_string(tool_context.state.get(key))}


def as_js_string(value: Any) -> str:
    """`String(value ?? '')`."""
    if isinstance(value, list):
        return ",".join(map(as_js_string, value))
    return "" if value is None else "[object Object]" if isinstance(value, Mapping) else js_text(value)


def echo(text: str) -> dict[str, Any]:
    """Echo the text."""
    return given(echo=text)


def finish(text: str, tool_context: ToolContext) -> dict[str, Any]:
    """Finish with a result."""
    tool_context.actions.skip_summarization = True
    return given(result=text)


def fail(text: str) -> dict[str, Any]:
    """Fail."""
    raise ValueError(f"tool failed: {'undefined' if text is None else text}")


def typed(*, n: int, x: float = 1.5, flag: bool = False, items: list[str], opts: dict[str, Any]) -> dict[str, Any]:
    """Typed arguments."""
    return {**given(n=n), "x": x, "flag": flag, **given(items=items, opts=opts)}


async def save_note(name: str, text: str, tool_context: ToolContext) -> dict[str, Any]:
    """Save a note."""
    await tool_context.save_artifact(name, Part.from_text(text))
    return {"ok": True}


def given(**values: Any) -> dict[str, Any]:
    """Without what is `undefined`, which no JSON shows."""
    return {name: value for name, value in values.items() if value is not None}


JAVA = Dialect(
    number=finite_or_text,
    text=lambda text: text.encode("utf-8", "replace").decode("utf-8"),  # a lone surrogate is ? in Java's UTF-8
    cut=units,
    temp_keys="keep",
    loop_limit=0,
    artifacts_only_when_saved=False,
)
JS = Dialect(
    number=double,
    text=str,
    cut=lambda text: text[:300],
    tools={f.__name__: FunctionTool(f) for f in (read_state, echo, finish, fail, typed, save_note)},
    empty_part={"text": ""},
)
GO = Dialect(
    number=lambda value: json.loads(go_json(value)),  # a whole one has no point
    text=lambda text: re.sub("[\ud800-\udfff]", "\ufffd", text),
    cut=lambda text: text[:300],
    empty_part={"text": ""},
    no_artifacts=(
        "*fmt.wrapError",
        "failed to append instructions: failed to inject session state into instruction: artifact service is not initialized",
    ),
    exhausted="*errors.errorString",
    system=parts,
)
DIALECTS = {"java": JAVA, "js": JS, "go": GO, "go_fixed": GO}
