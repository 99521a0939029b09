"""A comparison that is shown while it goes on: in a front end one output, in a terminal one line, in a pipe the end alone."""

from __future__ import annotations

import asyncio
import io
import re
from argparse import Namespace
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any

import pytest

from adknb import Comparison, Content, LlmRequest, LlmResponse
from adknb.compare.progress import Progress
from adknb.notebook import comparing
from adknb.notebook.bench import Bench
from adknb.notebook.cards.progress_card import progress_html
from adknb.notebook.magic_lines import COMPARE
from adknb.tokens.counter import default_counter
from tests.notebook.test_cards import Reading


class Shown:
    """Stands in for IPython's display: keeps what every drawing was of."""

    def __init__(self) -> None:
        self.outputs = 0
        self.drawings: list[Any] = []

    def display(self, result: Any, display_id: bool = False, raw: bool = False) -> Any:
        self.outputs += 1
        self.update(result, raw)
        return self

    def update(self, result: Any, raw: bool = False) -> None:
        assert raw is isinstance(result, dict)
        self.drawings.append(result["text/plain"] if raw else result)


class Waiting:
    """Answers at once, but for the message `second`: only when the progress shows that the first trial is done."""

    name = "waiting"

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        if request.contents[0].parts[0].text == "second":
            for _ in range(1_000):
                if any(str(drawing).startswith("1 of 2 trials") for drawing in self._shown.drawings):
                    break
                await asyncio.sleep(0.01)
            else:
                raise AssertionError("the progress never showed the first trial")
        yield LlmResponse(Content.model("fine"))


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    shown = Shown()
    monkeypatch.setattr(comparing, "display", shown.display)
    return shown


def options(line: str) -> Namespace:
    return COMPARE.parse(line)


def compared(shown: Shown, shell: Any) -> Comparison:
    """Two trials, one after the other; the second waits for the progress where the shell is a front end's."""
    bench = Bench()
    bench.put_agent("p", "A", "Say.")
    bench.use(model=Waiting(shown) if hasattr(shell, "kernel") else "echo")
    return comparing.Comparing(bench, shell).run(options("p --variants none --concurrency 1"), "first\n---\nsecond")


def test_a_front_end_has_one_output_that_always_shows_what_is_known(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    default_counter().count(
        ""
    )  # loading takes so long that the first trial would not come right after the first drawing
    monkeypatch.setattr(comparing, "REDRAW_SECONDS", 0.5)
    comparison = compared(shown, SimpleNamespace(kernel=None))
    assert [row["error"] for row in comparison.rows] == ["", ""]
    assert shown.outputs == 1
    assert (shown.drawings[0], shown.drawings[-1]) == ("0 of 2 trials", comparison)
    assert not any(isinstance(drawing, Comparison) for drawing in shown.drawings[:-1])


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_has_a_line_and_then_the_end(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(stderr, "isatty", lambda: is_terminal)
    monkeypatch.setattr("sys.stderr", stderr)
    comparison = compared(shown, SimpleNamespace())
    assert shown.drawings == [comparison]
    if is_terminal:
        assert re.fullmatch(r"\r0 of 2 trials(\r\d of 2 trials · [^\r]+)*\r +\r", stderr.getvalue())
    else:
        assert stderr.getvalue() == ""


def test_a_dry_comparison_has_no_progress(shown: Shown) -> None:
    bench = Bench()
    bench.put_agent("p", "A", "Say.")
    bench.use(model="echo")
    bench.run("p", "hi")
    comparison = comparing.Comparing(bench, SimpleNamespace(kernel=None)).run(options("p --kind dry"), "")
    assert (shown.outputs, shown.drawings) == (1, [comparison])


def test_the_bar_says_what_the_line_says() -> None:
    html = progress_html(Progress(80, done=23, failed=1, kept=23))
    assert " ".join(Reading(html).text.split()) == "23 of 80 trials · 23 kept from before · 1 failed"
    assert '<progress max="80" value="23" aria-hidden="true"></progress>' in html
