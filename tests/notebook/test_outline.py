"""What cells come to before anything runs: reads, writes, braces, names that are not there."""

import pytest

from adknb import Runner, ScriptedModel
from adknb.notebook.outline import AgentOutline, KeyRead, Outline, given_keys
from adknb.notebook.pipelines import AgentCell, AgentOptions, Pipeline
from adknb.notebook.records import Record
from tests.notebook.pipelines import NAMES, run_of, ticket


def outline(prompt: str, options: AgentOptions | None = None, *, given: frozenset[str] = frozenset()) -> AgentOutline:
    """The outline of one agent behind the ticket pipeline's three."""
    cell = AgentCell("Last", prompt, options or AgentOptions())
    return Outline(Pipeline("ticket", (*ticket().agents, cell)), "java", NAMES, given).of("Last")


def test_who_writes_what_a_prompt_reads() -> None:
    draft = Outline(ticket(), "java", NAMES).of("DraftAgent")
    assert draft.reads == (KeyRead("triage", False, "TriageAgent"), KeyRead("user:tier", True, "set from outside"))
    assert draft.readers == ("CheckAgent",)
    assert draft.callback_keys == {"require_triage": ("draft",)}
    assert draft.place == 2


@pytest.mark.parametrize(
    ("prompt", "reads"),
    [
        ("No key.", ()),
        ("{triage?} and {triage}", (KeyRead("triage", False, "TriageAgent"),)),
        ("{tone}", (KeyRead("tone", False, None),)),
        ("{tone?}", (KeyRead("tone", True, None),)),
        ("{app:motto}", (KeyRead("app:motto", False, "set from outside"),)),
        ("{temp:x}", (KeyRead("temp:x", False, None),)),
        ("{last}", (KeyRead("last", False, "its own reply of the turn before"),)),
        ("{artifact.report}", ()),
    ],
)
def test_sources(prompt: str, reads: tuple[KeyRead, ...]) -> None:
    assert outline(prompt, AgentOptions(key="last")).reads == reads


def test_a_given_key_is_known_and_a_writer_before_it_wins() -> None:
    given = frozenset({"tone", "triage"})
    assert outline("{tone} {triage}", given=given).reads == (
        KeyRead("tone", False, "given at the start"), KeyRead("triage", False, "TriageAgent"),
    )  # fmt: skip


def test_a_later_writer_is_named_as_such() -> None:
    pipeline = ticket().ordered(["CheckAgent", "DraftAgent", "TriageAgent"])
    whole = Outline(pipeline, "java", NAMES)
    assert whole.of("CheckAgent").reads == (KeyRead("draft", False, "perhaps callback require_triage of DraftAgent"),)
    assert whole.of("DraftAgent").reads[0] == KeyRead("triage", False, "TriageAgent, which runs later")
    assert whole.of("TriageAgent").readers == ("DraftAgent in the next turn",)


@pytest.mark.parametrize(
    ("prompt", "braces"),
    [
        ('{"a": {"b": 1}}', ['{"a": {"b": 1}}']),
        ('Say {"tier": "{user:tier?}"} now', ['{"tier": "{user:tier?}"}']),
        ("{a b}\n{c d}", ["{a b}", "{c d}"]),
        ("{ {a b} } tail }", ["{ {a b} }"]),
        ("{ open {a b}", ["{a b}"]),
        ("{triage}", []),
        ("{not.a.key} {{doubled braces}}", []),
    ],
)
def test_braces_that_stay_in_the_prompt(prompt: str, braces: list[str]) -> None:
    assert [place.text for place in outline(prompt).braces] == braces


def test_names_that_the_notebook_does_not_define_are_findings_and_the_rest_is_analysed() -> None:
    options = AgentOptions(
        key="k", tools=("lookup",), schema="Reply", callbacks={"before_agent": ("require_triag", "require_triage")}
    )
    last = outline("{draft}", options)
    assert last.undefined == {"lookup", "Reply", "require_triag"}
    assert last.reads == (KeyRead("draft", False, "DraftAgent"),)
    assert [str(finding) for finding in last.findings if finding.code == "not-ready"] == [
        "Last: error not-ready: --tools names 'lookup', which the notebook does not define. There is: "
        "'require_triage'. Run the cell that defines it first.",
        "Last: error not-ready: --schema names 'Reply', which the notebook does not define. There is: "
        "'require_triage'. Run the cell that defines it first.",
        "Last: error not-ready: --before-agent names 'require_triag', which the notebook does not define. Did you mean "
        "'require_triage'? Run the cell that defines it first.",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (AgentOptions(prompt_file="missing.md"), "cannot read --prompt-file missing.md: No such file or directory"),
        (AgentOptions(model="gpt-0"), "there is no model 'gpt-0'."),
        (AgentOptions(key=""), "output_key is empty"),
        (AgentOptions(include="some"), "include_contents"),
        (AgentOptions(tools=("text",)), "a tool must be a function"),
    ],
)
def test_what_else_would_stop_a_run_is_a_finding(options: AgentOptions, message: str) -> None:
    pipeline = Pipeline("p", (AgentCell("A", "{k?}", options),))
    (finding,) = [
        found for found in Outline(pipeline, "java", {"text": "a text"}).findings if found.code == "not-ready"
    ]
    assert message in finding.message
    assert finding.severity == "error"


def test_names_that_the_rules_do_not_allow_are_findings() -> None:
    wrong = Pipeline("my pipeline!", (AgentCell("A", "", AgentOptions()),))
    (finding,) = Outline(wrong, "java", {}).findings
    assert (finding.code, finding.agent) == ("name", "my pipeline!")
    (finding,) = Outline(Pipeline("p", (AgentCell("user", ""),)), "java", {}).findings
    assert (finding.code, finding.agent) == ("name", "user")
    assert finding.message.startswith("an agent may not be named 'user'")


def test_findings_stand_errors_first() -> None:
    cell = AgentCell("Last", "{ {not.a.key} {tone}", AgentOptions(tools=("lookup",)))
    findings = Outline(Pipeline("p", (cell,)), "java", {}).findings
    assert [finding.severity for finding in findings] == sorted(finding.severity for finding in findings)
    assert {finding.code for finding in findings} == {"not-ready", "nobody-writes", "not-substituted"}


def test_an_empty_pipeline_has_an_empty_outline() -> None:
    whole = Outline(Pipeline("p"), "java", {})
    assert (whole.agents, whole.findings) == ([], [])


def test_given_keys_are_those_of_the_first_turn_and_of_every_message() -> None:
    runner = Runner(ticket().build(NAMES), model=ScriptedModel({name: ["{}"] * 2 for name in ticket().names()}))
    first = runner.run("Hi.", session="s", state={"user:tier": "gold"})
    second = runner.run("Hi.", session=first.session, state={"tone": "warm"})
    records = (Record(first, "ticket"), Record(second, "ticket"))
    assert given_keys(records, "ticket") == {"user:tier", "tone"}
    assert given_keys(records, "other") == frozenset()
    assert given_keys((*records, Record(run_of(ticket()), "ticket", trial=True)), "ticket") == {"user:tier", "tone"}
