"""The explorer in JupyterLab and in Notebook 7: looked into, edited, run, cancelled; by keys; light, dark, narrow; saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.browser.checks import acted, coloured_without_words, inaccessible, low_contrast, sideways
from tests.browser.conftest import NARROW, Opener
from tests.browser.explored import CELLS, EXPLORE, OpenExplorer
from tests.browser.film import Film
from tests.browser.hostile_explorer import SHORT as PAYLOADS
from tests.browser.opened import OpenNotebook
from tests.browser.server import Server
from tests.browser.test_hostile import begins, converted, web_page
from tests.browser.test_ticket import PICTURE_WIDTH
from tests.browser.ticket import DRAFT, RUN, SLOW_DRAFT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LONG: Final = "We are looking into it and will write to you by Friday."
SHORT: Final = "Triage result: {triage}\nDraft a reply of one sentence."
ALL: Final = ("TriageAgent: completed", "DraftAgent: completed", "PolicyCheckAgent: completed")
TABS: Final = ("Prompt", "Reply", "State", "Events", "Tokens", "Raw", "Runs")
LIVE: Final = ".adknb-explorer"
WRITTEN: Final = "from adknb import bench; print(bench.pipelines['ticket']['DraftAgent'].prompt)"
COMPARED: Final = """\
%load_ext adknb
from tests.notebook.comparisons import ten
compared = ten()"""


def explore(open_notebook: Opener, name: str, cells: list[str] = CELLS, **how: Any) -> OpenExplorer:
    notebook = open_notebook(name, cells, **how)
    notebook.run_all()
    return OpenExplorer(notebook, next(cell for cell in cells if cell.startswith(EXPLORE)))


def holds(notebook: OpenNotebook) -> None:
    assert acted(notebook.page) == []
    assert sideways(notebook.page) == []
    assert notebook.noise == []


def test_look_edit_run_from_here_compare_accept_undo(open_notebook: Opener, pictures: Path | None) -> None:
    explorer = explore(open_notebook, "edit.ipynb")
    film = Film(pictures, explorer.root)
    assert explorer.steps == list(ALL)
    assert explorer.selected == "PolicyCheckAgent"
    if pictures is not None:
        explorer.page.set_viewport_size({"width": PICTURE_WIDTH, "height": 2600})
    explorer.select("DraftAgent")
    explorer.see(explorer.pane, "Prompt of DraftAgent 110 tokens", "state triage · 23 · sent twice")
    film.take()
    explorer.open("Reply", "Reply of DraftAgent completed", LONG)
    explorer.open("State", "State around DraftAgent 1 of 3 keys changed", f"draft new {LONG}")
    explorer.open("Events", "4 events", f"3 DraftAgent this step reply {LONG} draft")
    explorer.open("Tokens", "DraftAgent · 110 in (counted with o200k_base), 13 out · triage is sent twice (23)")
    explorer.open("Raw", '"model": "answers", "system_instruction": "You write replies for the support team.')
    explorer.open("Runs", "Runs of this pipeline", "shown completed I was charged twice for September. APPROVE")
    explorer.open("Prompt", "Prompt of DraftAgent")
    explorer.menu("Strategy").select_option("none")
    explorer.see(explorer.pane, "NONE, worked out without asking a model: saves 7 of 110 tokens (6 %), leaving 103.")
    explorer.menu("Strategy").select_option("as sent")

    explorer.write("Draft from {triage}, {nobody} and {user:tier?}")
    explorer.see(explorer.findings, "error: line 1: Nobody writes 'nobody'.")
    assert explorer.marks == [
        ["{triage}", "adknb-m-placeholder"], ["{nobody}", "adknb-m-unknown"], ["{user:tier?}", "adknb-m-optional"],
    ]  # fmt: skip
    film.take()
    explorer.write(SHORT)
    explorer.findings.get_by_text("Nobody writes").wait_for(state="detached")
    explorer.see(explorer.pane, "Your edit, not run and not written yet", "−at most 120 words. Do not promise refunds")

    before = explorer.run
    explorer.button("run_from_here").click()
    explorer.see(explorer.said, "Run from DraftAgent: run ")
    after = explorer.run
    assert after != before
    assert explorer.selected == "DraftAgent"
    assert explorer.against == before
    explorer.open("Reply", "We are on it.")
    film.take()
    explorer.open("Runs", f"Runs {before} and {after} 2 of 3 steps differ", f"{after} shown completed {before}")
    film.take()
    film.save("explorer.webp")

    explorer.button("accept_edit").click()
    explorer.see(explorer.said, f"%%agent DraftAgent --key draft --pipeline ticket {SHORT}")
    assert explorer.notebook.run_new(WRITTEN) == SHORT
    explorer.button("undo").click()
    explorer.see(explorer.said, "Undone: ticket: DraftAgent edited.")
    explorer.button("undo").click()
    explorer.see(explorer.said, f"Undone: run {after} of ticket.")
    assert explorer.run == before
    holds(explorer.notebook)


def test_rewind_step_run_to_the_end_and_anew(open_notebook: Opener) -> None:
    explorer = explore(open_notebook, "step.ipynb")
    explorer.select("DraftAgent")
    assert explorer.button("step").is_disabled()
    explorer.button("rewind").click()
    explorer.see_steps("TriageAgent: completed", "DraftAgent: not run yet", "PolicyCheckAgent: not run yet")
    explorer.see(explorer.said, "Rewound to before DraftAgent: run ")
    explorer.button("step").click()
    explorer.see_steps("TriageAgent: completed", "DraftAgent: completed", "PolicyCheckAgent: not run yet")
    explorer.button("run_to_end").click()
    explorer.see_steps(*ALL)
    explorer.button("start").click()
    explorer.see(explorer.said, "Write the user's message first.")
    explorer.message.fill("My router is offline.")
    explorer.button("start").click()
    explorer.see(explorer.said, "Run: run ")
    explorer.open("Runs", "shown completed My router is offline. APPROVE")
    assert "completed" in explorer.notebook.run_new("%%pipeline ticket\nAnother one.")
    explorer.see(explorer.pane, "shown completed Another one. APPROVE")
    holds(explorer.notebook)


def test_a_live_run_fills_in_and_is_cancelled(open_notebook: Opener) -> None:
    explorer = explore(open_notebook, "live.ipynb")
    notebook = explorer.notebook
    notebook.edit(DRAFT, SLOW_DRAFT)
    notebook.run(SLOW_DRAFT)
    going_on = ("TriageAgent: completed", "DraftAgent: running", "PolicyCheckAgent: not run yet")
    stopped = ("TriageAgent: completed", "DraftAgent: interrupted", "PolicyCheckAgent: not run yet")

    notebook.start(RUN)  # in a cell
    explorer.see_steps(*going_on)
    explorer.open("Reply", "Reply of DraftAgent running", "So far We are looking")
    explorer.see(explorer.root, "A run is going on …")
    explorer.select("TriageAgent")
    explorer.see(explorer.pane, "Reply of TriageAgent completed")
    explorer.button("cancel").click()
    notebook.wait_until_idle()
    explorer.see_steps(*stopped)
    assert "ticket\ninterrupted\n2 steps" in notebook.output(RUN)

    explorer.message.fill("Again.")
    explorer.button("start").click()  # in the explorer
    explorer.see_steps(*going_on)
    assert "the bench is running something already" in notebook.run_new("%%pipeline ticket\nMeanwhile.")
    assert notebook.run_new("1 + 1") == "2"
    explorer.button("cancel").click()
    explorer.see_steps(*stopped)
    explorer.see(explorer.said, "Cancelled.")

    notebook.run_new("import time")
    notebook.edit("import time", "import time; time.sleep(60)")
    notebook.start("import time; time.sleep(60)")
    explorer.select("TriageAgent")
    explorer.button("rewind").click()
    explorer.see(explorer.said, "Rewound to before TriageAgent: run ")
    notebook.interrupt()
    assert notebook.foreign == []


def test_by_keys_alone(open_notebook: Opener) -> None:
    explorer = explore(open_notebook, "keys.ipynb")
    press = explorer.page.keyboard.press
    cells = explorer.notebook.sources
    explorer.step("PolicyCheckAgent").focus()
    press("ArrowLeft")
    explorer.see_selected("DraftAgent")
    assert explorer.focused() == "DraftAgent"
    press("Home")
    explorer.see_selected("TriageAgent")
    press("End")
    explorer.see_selected("PolicyCheckAgent")
    press("ArrowRight")
    press("ArrowLeft")
    explorer.see_selected("DraftAgent")

    order = []
    while explorer.focused():
        order.append(explorer.focused())
        press("Tab")
    assert order == [
        "DraftAgent", "Keys (?)", "Run from here", "Rewind", "Undo", "Run", "Against", "Strategy", *TABS,
        "Prompt of DraftAgent", "The user's message", "Run anew",
    ]  # fmt: skip
    explorer.step("DraftAgent").focus()
    for number, words in {"2": "Reply of DraftAgent", "5": "Tokens of this run", "1": "Prompt of DraftAgent"}.items():
        press(number)
        explorer.see(explorer.pane, words)
        explorer.step("DraftAgent").focus()
    press("?")
    assert "run from here" in explorer.root.locator(".adknb-keys").inner_text()
    press("?")
    assert not explorer.root.locator(".adknb-keys").is_visible()
    for key in "ddxxabm":  # JupyterLab's command mode would cut, insert and convert cells
        press(key)
    assert explorer.notebook.sources == cells

    press("e")
    assert explorer.focused() == "Prompt of DraftAgent"
    press("ControlOrMeta+a")
    explorer.page.keyboard.type("Draft one sentence. sr?")
    press("Escape")
    assert explorer.focused() == "DraftAgent"
    press("r")
    explorer.see(explorer.said, "Run from DraftAgent: run ")
    explorer.step("DraftAgent").focus()
    press("t")
    explorer.see(explorer.said, "Try of DraftAgent: run ")
    press("w")
    explorer.see(explorer.said, "Rewound to before DraftAgent: run ")
    press("s")
    explorer.see(explorer.said, "Step: run ")
    press("g")
    explorer.see(explorer.said, "Run to its end: run ")
    press("Home")
    explorer.see_selected("TriageAgent")
    press("ArrowRight")
    explorer.see_selected("DraftAgent")
    press("a")
    explorer.see(explorer.said, "%%agent DraftAgent --key draft --pipeline ticket Draft one sentence. sr?")
    press("u")
    explorer.see(explorer.said, "Undone: ticket: DraftAgent edited.")
    assert explorer.notebook.sources == cells
    assert explorer.notebook.noise == []


def test_it_reads_well_in_light_and_dark(open_notebook: Opener) -> None:
    explorer = explore(open_notebook, "themes.ipynb")
    explorer.select("DraftAgent")
    explorer.write("Draft from {triage} and {nobody}")
    explorer.see(explorer.findings, "error: line 1: Nobody writes 'nobody'.")
    explorer.root.get_by_text("Keys (?)").click()
    for theme in ("Dark", "Light"):
        explorer.notebook.use_theme(theme)
        for tab, words in {
            "Runs": "Runs of",
            "Tokens": "Tokens of",
            "State": "State around",
            "Prompt": "Your edit",
        }.items():
            explorer.open(tab, words)
            assert inaccessible(explorer.page, LIVE) == []
            assert coloured_without_words(explorer.page) == []
    explorer.button("run_from_here").click()
    explorer.see(explorer.said, "MissingKeyError · agent DraftAgent · key nobody")
    assert inaccessible(explorer.page, LIVE) == []
    holds(explorer.notebook)


def test_a_narrow_window(open_notebook: Opener) -> None:
    narrow = explore(open_notebook, "narrow.ipynb", app="doc", width=NARROW)
    for tab in TABS:
        narrow.open(tab)
        assert sideways(narrow.page) == []
    box = narrow.root.bounding_box()
    assert box is not None
    assert box["width"] > NARROW / 2
    assert low_contrast(narrow.page, LIVE) == []
    holds(narrow.notebook)


def test_notebook_7(open_notebook: Opener) -> None:
    explorer = explore(open_notebook, "classic.ipynb", app="notebook")
    explorer.select("DraftAgent")
    explorer.write(SHORT)
    explorer.button("run_from_here").click()
    explorer.see(explorer.said, "Run from DraftAgent: run ")
    explorer.open("Reply", "We are on it.")
    assert low_contrast(explorer.page, LIVE) == []
    holds(explorer.notebook)


def test_the_compare_view(open_notebook: Opener) -> None:
    explorer = explore(open_notebook, "compared.ipynb", [COMPARED, f"{EXPLORE} compared"])
    rows = explorer.root.locator("[data-step]")
    assert rows.count() == 10
    explorer.see(explorer.root, "2 of 10 inputs changed category.", "Select an input")
    rows.first.focus()
    explorer.page.keyboard.press("ArrowDown")
    first, second = (row.get_attribute("data-step") for row in rows.all()[:2])
    assert explorer.focused() == second
    explorer.see(explorer.root, f"Input {second}")
    rows.first.click()
    explorer.see(explorer.root, f"Input {first}")
    explorer.root.get_by_text("Flips only").click()
    explorer.page.wait_for_function(
        "root => root.querySelectorAll('[data-step]').length === 2", arg=explorer.root.element_handle()
    )
    explorer.menu("Sort by").select_option("as given")
    for theme in ("Dark", "Light"):
        explorer.notebook.use_theme(theme)
        assert inaccessible(explorer.page, LIVE) == []
        assert coloured_without_words(explorer.page) == []
    holds(explorer.notebook)


GONE: Final = ("Loading widget", "Error displaying widget", "Error creating widget", "Click to show javascript error")


def twin_shows(page: Page) -> None:
    """Assert that the static twin is there in full and in view, and nothing says that a widget is missing."""
    twin = page.locator(".adknb-twin")
    assert twin.count() == 1
    page.evaluate("() => document.querySelectorAll('.adknb-twin details').forEach(each => { each.open = true })")
    shown = " ".join(twin.inner_text().split())
    for words in (
        "Explorer of ticket completed run ", "Prompt of DraftAgent 110 tokens", "state triage · 23 · sent twice",
        "State around PolicyCheckAgent 1 of 4 keys changed", f"3 DraftAgent reply {LONG} draft 4 PolicyCheckAgent this step",
        "Tokens of this run 3 requests", '"system_instruction": "You write replies',
    ):  # fmt: skip
        assert words in shown, words
    body = page.locator("body").inner_text()
    assert [words for words in GONE if words in body] == []


def test_a_saved_notebook_holds_the_twin(open_notebook: Opener, server: Server, browser: Browser) -> None:
    """Reopened without a kernel, with another one, and as nbconvert's page; while the explorer lives the twin is hidden."""
    explorer = explore(open_notebook, "saved.ipynb")
    explorer.select("DraftAgent")
    assert not explorer.page.locator(".adknb-twin").is_visible()
    explorer.notebook.command("docmanager:save")
    server.shut_kernels_down()
    for kernel in (False, True):
        again = open_notebook("saved.ipynb", kernel=kernel)
        again.page.get_by_text("Loading widget").wait_for(state="hidden")  # JupyterLab's own, beside the twin
        twin_shows(again.page)
        again.cell(EXPLORE)
        assert low_contrast(again.page, ".adknb-twin") == []
        assert coloured_without_words(again.page) == []
        assert sideways(again.page) == []
        assert acted(again.page) == []
        assert again.foreign == []
    server.write("empty.ipynb", ["1"])
    empty = web_page(browser, converted(server.folder / "empty.ipynb"))
    page = web_page(browser, converted(server.folder / "saved.ipynb"))
    twin_shows(page.page)
    assert page.noise == empty.noise


NAMED: Final = """\
%load_ext adknb
from tests.browser.film import Film
from tests.browser.hostile_explorer import named, saying
named = named()
saying, model = saying(20)
%adk use --model model --stream on"""


def test_hostile_texts(open_notebook: Opener, server: Server) -> None:
    """As names of agents; as keys, replies, values and errors of a run; typed as a prompt and as a message."""
    notebook = open_notebook("hostile.ipynb", [NAMED, f"{EXPLORE} named", f"{EXPLORE} saying"])
    notebook.run_all()
    named = OpenExplorer(notebook, f"{EXPLORE} named")
    assert len(named.steps) == len(PAYLOADS)
    boxes = named.root.locator(".adknb-strip [data-step]")
    for payload, box in zip(PAYLOADS.values(), boxes.all_inner_texts(), strict=True):
        assert begins(payload[:20], box)
    for name in ("script", "overlay", "attribute in double quotes", "latex"):
        number = list(PAYLOADS).index(name)
        boxes.nth(number).click()
        boxes.nth(number).and_(named.root.locator("[aria-selected=true]")).wait_for()
        named.see(named.root.locator(".adknb-label").last, f"Prompt of {PAYLOADS[name]}, as it is written")
        assert named.editor.input_value() == PAYLOADS[name]
        assert acted(notebook.page) == []

    saying = OpenExplorer(notebook, f"{EXPLORE} saying")
    for name in ("script after the end of what surrounds it", "overlay", "bidi", "nul in a tag", "surrogates"):
        saying.message.fill(PAYLOADS[name])
        saying.write(PAYLOADS[name])
        saying.see(saying.pane, "Your edit")
    saying.message.fill(PAYLOADS["image with a handler"])
    saying.button("start").click()
    saying.see(saying.said, PAYLOADS["script"])
    for step in ("Agent 1", "Agent 20", "Failing"):
        saying.select(step)
        for tab in TABS:
            saying.open(tab)
            assert acted(notebook.page) == []
    holds(notebook)
    notebook.command("docmanager:save")
    server.shut_kernels_down()
    again = open_notebook("hostile.ipynb", kernel=False)
    assert acted(again.page) == []
    assert sideways(again.page) == []
    assert again.foreign == []
