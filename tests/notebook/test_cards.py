"""Cards in both forms: exact words, complete by themselves, and nothing of a hostile text acts."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings, strategies as st

from adknb import LlmAgent, MissingKeyError, Runner, RunStateError, ScriptedModel, SequentialAgent, Session, Usage
from adknb.core.errors import SessionStoreError
from adknb.core.run import Run
from adknb.notebook.cards.error_card import error_html, error_text
from adknb.notebook.cards.html import WHOLE
from adknb.notebook.cards.prompt_card import PromptView
from adknb.notebook.cards.session_card import session_html, session_text
from tests.factories import TRIAGE, ticket_run


class Reading(HTMLParser):
    """What a browser would make of a card: its elements, their attributes, its text without style sheets."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag not in ("br",):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


TAGS = {
    "b", "div", "style", "span", "table", "thead", "tbody", "tr", "th", "td", "h4", "details", "summary", "br", "ul", "li"
}  # fmt: skip
ATTRIBUTES = {"class", "dir", "scope", "data-label", "style", "aria-hidden", "colspan", "tabindex"}


def stale_run() -> Run:
    """The second turn of a session, in which DraftAgent reads the first one's triage."""
    session = Session("s1", state={"user:tier": "gold"})
    ticket_run(session)
    return ticket_run(session, "turn-2", triage_writes=False, usage=Usage(100, 20))


def failed_run() -> Run:
    agents = (LlmAgent(name="TriageAgent", output_key="triage"), LlmAgent(name="DraftAgent", instruction="{triagee}"))
    runner = Runner(SequentialAgent(name="ticket", sub_agents=agents), model=ScriptedModel({"TriageAgent": [TRIAGE]}))
    with pytest.raises(MissingKeyError) as caught:
        runner.run("Charged twice.")
    run = caught.value.run
    assert run is not None
    return run


# the run


def test_a_run_as_text() -> None:
    head, steps, answer, state = str(ticket_run()).split("\n\n")
    assert head == (
        "ticket: completed · 2 steps · 12 ms · 55 tokens in, 36 out (o200k_base) · rules java · run run-turn-1\n"
        "message: Charged twice."
    )
    assert [re.split("  +", line) for line in steps.splitlines()] == [
        ["Step", "Status", "Time", "Tokens in", "Tokens out", "Wrote → read by", "Note"],
        ["TriageAgent", "completed", "2.0 ms", "7", "21", "triage → DraftAgent; temp:ok",
         "scripted: ignores your prompt"],
        ["DraftAgent", "completed", "4.2 ms", "48", "15", "draft",
         "sends triage twice (20 tokens); scripted: ignores your prompt"],
    ]  # fmt: skip
    assert answer == (
        "Final answer, by DraftAgent\n  We are looking into the second charge and will write to you by Friday."
    )
    assert [re.split("  +", line) for line in state.splitlines()] == [
        ["Key", "Value", "Written by", "Read by", "Fresh", "Tokens"],
        ["user:tier", "gold", "preset", "preset", "1"],
        ["triage", '{"category": "billing", "urgency": 2, "summary":…', "TriageAgent", "DraftAgent", "fresh", "21"],
        ["temp:ok", "true", "TriageAgent", "discarded after the turn", "1"],
        ["draft", "We are looking into the second charge and will wr…", "DraftAgent", "fresh", "15"],
    ]


def test_a_stale_read_is_flagged_in_both_forms() -> None:
    run = stale_run()
    warning = "DraftAgent read 'triage' as TriageAgent left it in turn 1: nothing had written it in this turn."
    assert f"! {warning}\n" in str(run)
    assert "         15  draft            stale read: triage: turn 1; scripted: ignores your prompt" in str(run)
    shown = Reading(run.to_html()).text
    assert warning in shown
    assert "stale read: triage: turn 1" in shown
    assert "TriageAgent (turn 1)DraftAgentstale: turn 121" in shown


def test_the_numbers_name_their_source() -> None:
    assert "148 tokens in, 35 out (reported, o200k_base) · rules java · turn 2" in str(stale_run())


def test_replies_written_for_a_lesson_are_called_so_row_by_row() -> None:
    assert Reading(ticket_run().to_html()).text.count("scripted: ignores your prompt") == 2


def test_both_forms_say_the_same() -> None:
    run = stale_run()
    shown = Reading(run.to_html()).text
    for word in ["TriageAgent", "completed", "2.0 ms", "100", "48", "Final answer, by DraftAgent", "user:tier"]:
        assert word in shown
        assert word in str(run)


def test_a_failed_run_keeps_what_was_done_and_says_why() -> None:
    run = failed_run()
    error = run.error
    assert error is not None
    for shown in (str(run), Reading(run.to_html()).text):
        assert "MissingKeyError · agent DraftAgent · key triagee" in shown
        assert str(error) in shown
        assert "ADK says IllegalArgumentException: Context variable not found: `triagee`." in shown
        assert "Last answer, by TriageAgent" in shown


def test_the_bundle_has_both_forms() -> None:
    run = ticket_run()
    assert run._repr_mimebundle_() == {"text/html": run.to_html(), "text/plain": str(run)}


def test_a_run_that_did_nothing_yet() -> None:
    run = ticket_run()
    run.step_runs, run.turn_events, run.status = [], [], "paused"
    assert str(run).startswith("ticket: paused · 0 steps · 12 ms · 0 tokens in, 0 out · rules java · run run-turn-1\n")
    assert Reading(run.to_html()).open == []


def test_many_steps_leave_out_the_middle() -> None:
    run = ticket_run()
    run.step_runs = run.step_runs * 60
    assert "… 60 more rows …" in Reading(run.to_html()).text
    assert len(run.to_html()) < 80_000


# the prompt


def test_a_prompt_as_text() -> None:
    assert str(PromptView(ticket_run(), "DraftAgent")) == (
        """\
Prompt of DraftAgent · 48 tokens counted with o200k_base · request 1 of 1 · model scripted · run run-turn-1
channels: instruction 3, injected state 20, user message 4, history 21
! 'triage' is sent twice: inserted by its key (20 tokens), and again as history (event 2, by TriageAgent).

--- System instruction · 23 tokens
⟦instruction · 3⟧ Answer: ⟦state triage · 20 · sent twice⟧ """
        f"""{TRIAGE}

--- content 0 · role user · event 1, by user · 4 tokens
⟦user message · 4⟧ Charged twice.

--- content 1 · role model · event 2, by TriageAgent · 21 tokens · also inserted as triage
⟦other agent · 21⟧ {TRIAGE}"""
    )


def test_a_prompt_as_html_labels_every_coloured_stretch() -> None:
    html = PromptView(stale_run(), "DraftAgent").to_html()
    segments = html.split('<span class="adknb-segment ')[1:]
    assert [segment.split('"')[0] for segment in segments] == [
        "adknb-o-instruction", "adknb-o-stale", "adknb-o-user", "adknb-o-history"
    ]  # fmt: skip
    assert all('"><span class="adknb-tag"><b>' in segment for segment in segments)
    shown = Reading(html).text
    assert "state triage · 20 · stale: turn 1" in shown
    assert "instruction 3injected state 20user message 4history 21" in shown
    assert "'triage' is stale: TriageAgent wrote it in turn 1." in shown


def test_reported_tokens_are_told_from_counted_ones() -> None:
    shown = str(PromptView(stale_run(), "TriageAgent"))
    assert "100 tokens reported by the model, 7 counted with o200k_base" in shown
    assert "channels: instruction 3, user message 4, overhead 93" in shown


def test_a_prompt_view_gives_its_table() -> None:
    run = ticket_run()
    assert PromptView(run, "DraftAgent").to_frame().equals(run.prompt("DraftAgent"))


def test_a_prompt_that_there_is_not() -> None:
    with pytest.raises(RunStateError, match=r"has no step 'Draft'\. Did you mean 'DraftAgent'"):
        str(PromptView(ticket_run(), "Draft"))


# session, error


def test_a_session_as_text_and_html() -> None:
    session = stale_run().session
    lines = session_text(session).splitlines()
    assert lines[0] == "Session s1 · 2 turns · 6 events · user user · app adknb"
    assert re.split("  +", lines[2]) == [
        "Turn", "Message", "Answer", "Status", "Steps", "Time", "Tokens in", "Tokens out", "Note"
    ]  # fmt: skip
    assert re.split("  +", lines[4].strip()) == [
        "2", "Charged twice.", "We are looking into the second charge a…", "completed", "2", "12 ms", "148", "35",
        "triage: turn 1",
    ]  # fmt: skip
    assert session._repr_mimebundle_() == {"text/html": session_html(session), "text/plain": session_text(session)}
    shown = Reading(session_html(session)).text
    assert "Session s1" in shown
    assert "triage: turn 1" in shown


def test_an_error_shows_its_cause_and_notes() -> None:
    error = ValueError("the model's file is gone")
    error.__cause__ = OSError("no such file")
    error.add_note("Step DraftAgent was skipped.")
    assert error_text(error) == (
        "ValueError\n  the model's file is gone\n  Caused by OSError: no such file\n  Step DraftAgent was skipped."
    )
    assert Reading(error_html(error)).text == (
        "ValueErrorthe model's file is goneCaused by OSError: no such fileStep DraftAgent was skipped."
    )


def test_what_a_store_s_error_repeats_of_its_cause_is_not_said_twice() -> None:
    error = SessionStoreError("tickets.db: another process has it locked (database is locked)")
    error.__cause__ = OSError("database is locked")
    assert error_text(error) == "SessionStoreError\n  tickets.db: another process has it locked (database is locked)"


# hostile text

HOSTILE = [
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1)) ![x](http://example.org/x.png)",
    "<iframe src=data:text/html,x></iframe>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "</div></td></table></details>",
    "$x^2$ \\(y\\) $$z$$",
    "{{ config }} {% raw %} ${x}",
    "&lt;script&gt; &#60;b&#62;",
    "\x1b[2J\x1b[31mred \x9b1m \x07 \x08 \x00",
    "\u202egnp.exe \u2066x \u200b \ufeff",
    "\ud800 alone, \udfff too",
    "\U000e0041\U000e0042 hidden",
    "z" + "\u0335\u0336\u0337" * 50,
    "line\r\nline\u2028line\x85line",
    "w" * 5_000,
]


def hostile_run(text: str) -> Run:
    """A run in which the text stands everywhere: message, replies, keys, values, description, tool."""
    agents = (
        LlmAgent(name="A", description=text, instruction="Say: {k?}", output_key=text),
        LlmAgent(name="B", instruction=text.replace("{", "(") + "{k?}", output_key="k"),
    )
    model = ScriptedModel({"A": [text], "B": [text]})
    runner = Runner(SequentialAgent(name="seq", sub_agents=agents), model=model)
    run = runner.run(text, state={"k": text, "map": {text: [text]}})
    run.notes.append(text)
    run.step_runs[0].notes.append(text)
    run.error = MissingKeyError(text, text)
    run.error.agent = text
    return run


@pytest.mark.parametrize("payload", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_text(payload: str) -> None:
    run = hostile_run(payload)
    error = run.error or ValueError()
    views = [run.to_html(), PromptView(run, "B").to_html(), session_html(run.session), error_html(error)]
    for html in views:
        reading = Reading(html)
        assert set(reading.tags) <= TAGS
        assert reading.attributes <= ATTRIBUTES
        assert reading.open == []
        assert reading.tags.count("style") == 1
        html.encode("utf-8")
    texts = [str(run), str(PromptView(run, "B")), session_text(run.session), error_text(error)]
    for text in [*texts, *(Reading(html).text for html in views)]:
        assert all(character == "\n" or character.isprintable() or character == " " for character in text)
        text.encode("utf-8")


@given(st.text(st.characters(exclude_categories=[]), max_size=40))
@settings(max_examples=40)
def test_any_text_is_text(text: str) -> None:
    reading = Reading(hostile_run(text or "empty").to_html())
    assert set(reading.tags) <= TAGS
    assert reading.attributes <= ATTRIBUTES
    assert reading.open == []


def test_ten_megabytes_do_not_reach_the_page() -> None:
    run = hostile_run("huge " * 2_000_000)
    assert len(run.to_html()) < 40 * WHOLE
    assert len(PromptView(run, "B").to_html()) < 40 * WHOLE
    assert "9,980,000 more characters" in run.to_html()
    assert len(str(run)) < 60_000


def test_mathjax_is_told_to_keep_off() -> None:
    assert ticket_run().to_html().startswith('<div class="adknb mathjax_ignore tex2jax_ignore">')


def test_cards_need_neither_ipython_nor_pandas() -> None:
    script = (
        "import sys\nimport adknb.notebook.cards, adknb.tables\n"
        "from tests.factories import ticket_run\nassert ticket_run().to_html()\nprint(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert {"IPython", "ipywidgets", "pandas", "numpy"}.isdisjoint(loaded)
