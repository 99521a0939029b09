"""An explorer that is open below a cell, used as one uses it: the mouse, the keys, what stands there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.browser.opened import SECOND, OpenNotebook
from tests.browser.ticket import DRAFT, POLICY, RUN, TRIAGE

if TYPE_CHECKING:
    from playwright.sync_api import Locator

WAIT: Final = 20 * SECOND
SETUP: Final = """\
%load_ext adknb
import asyncio
from adknb import Content, LlmResponse

class Answers:
    name = "answers"

    async def generate_content_async(self, request, stream=False):
        text = request.system_instruction
        if request.agent == "TriageAgent":
            said = '{"category": "billing", "urgency": 2, "summary": "Charged twice for September."}'
        elif request.agent == "DraftAgent":
            said = "We are on it." if "one sentence" in text else "We are looking into it and will write to you by Friday."
        else:
            said = "APPROVE"
        if "slowly" in text:
            yield LlmResponse(Content.model("We are looking"), partial=True)
            await asyncio.sleep(60)
        yield LlmResponse(Content.model(said))

answers = Answers()
%adk use --model answers --stream on"""
EXPLORE: Final = "%adk explore"
CELLS: Final = [SETUP, TRIAGE, DRAFT, POLICY, RUN, EXPLORE]


class OpenExplorer:
    """The live explorer below the first cell that begins so."""

    def __init__(self, notebook: OpenNotebook, beginning: str = EXPLORE) -> None:
        self.notebook = notebook
        self.page = notebook.page
        self.root = notebook.cell(beginning).locator(".adknb-explorer")
        self.root.locator("[data-step]").first.wait_for()

    # what stands there

    @property
    def steps(self) -> list[str]:
        """Each step of the strip with its status: `DraftAgent: completed`."""
        found: list[str] = self.root.locator(".adknb-strip [data-step]").evaluate_all(
            "all => all.map(each => `${each.dataset.step}: ${each.dataset.status}`)"
        )
        return found

    @property
    def selected(self) -> str | None:
        return self.root.locator('.adknb-strip [aria-selected="true"]').get_attribute("data-step")

    @property
    def run(self) -> str:
        """The id of the run shown."""
        return self.menu("Run").input_value().partition(" ")[0]

    @property
    def against(self) -> str:
        """The id of the run that it is compared with."""
        return self.menu("Against").input_value().partition(" ")[0]

    def focused(self) -> str:
        """What has the keyboard: a step's name, a button's words, a menu's or text's label."""
        found: str = self.page.evaluate("""() => {
          const here = document.activeElement;
          if (!here.closest(".adknb-explorer")) return "";
          return here.dataset.step ?? (here.getAttribute("aria-label") || here.labels?.[0]?.innerText
            || here.getAttribute("placeholder") || here.innerText);
        }""")
        return found

    @property
    def marks(self) -> list[list[str]]:
        """The editor's placeholders, each with its kind."""
        found: list[list[str]] = self.root.locator(".adknb-editor mark").evaluate_all(
            "all => all.map(each => [each.textContent, each.className])"
        )
        return found

    @property
    def said(self) -> Locator:
        """What the explorer says of what it did last, and its errors."""
        return self.root.locator(".widget-html").nth(0)

    @property
    def pane(self) -> Locator:
        """The open tab's content."""
        return self.root.locator(".widget-html").nth(1)

    @property
    def editor(self) -> Locator:
        return self.root.locator(".adknb-editor textarea")

    @property
    def findings(self) -> Locator:
        return self.root.locator(".adknb-findings")

    @property
    def message(self) -> Locator:
        """Where the user's message for a new run is written."""
        return self.root.locator(".adknb-new-message textarea")

    def step(self, name: str) -> Locator:
        return self.root.locator(f'.adknb-strip [data-step="{name}"]')

    def button(self, name: str) -> Locator:
        """The button of an operation, or `back`, `on`, `start`, `discard`."""
        return self.root.locator(f".adknb-do-{name}")

    def menu(self, name: str) -> Locator:
        return self.root.get_by_label(name, exact=True)

    # what is done

    def see(self, place: Locator, *words: str) -> None:
        """Wait until these words stand in this place; spaces and line ends are the same."""
        from playwright.sync_api import expect

        for each in words:
            expect(place).to_contain_text(each, use_inner_text=True, timeout=WAIT)

    def see_steps(self, *steps: str) -> None:
        """Wait until the strip has these steps with these statuses."""
        self.page.wait_for_function(
            "([root, steps]) => [...root.querySelectorAll('.adknb-strip [data-step]')]"
            ".map(each => `${each.dataset.step}: ${each.dataset.status}`).join() === steps",
            arg=[self.root.element_handle(), ",".join(steps)], timeout=WAIT,
        )  # fmt: skip

    def see_selected(self, name: str) -> None:
        self.root.locator(f'.adknb-strip [data-step="{name}"][aria-selected="true"]').wait_for()

    def select(self, name: str) -> None:
        self.step(name).click()
        self.see_selected(name)

    def open(self, tab: str, *words: str) -> None:
        """Open a tab and wait for these words in it."""
        self.root.locator(".widget-toggle-buttons button", has_text=tab).click()
        self.see(self.pane, *words)

    def write(self, prompt: str) -> None:
        """Replace the prompt in the editor, as one does by hand: select it all, type."""
        self.editor.click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(prompt)
