"""Pipelines in files: the words of the cells, there and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from adknb import AdknbError, SpecError
from adknb.notebook import files
from adknb.notebook.bench import Bench
from adknb.notebook.chosen_files import lies_outside, model_lies_outside
from adknb.notebook.pipelines import CALLBACKS, AgentCell, AgentOptions, Pipeline
from tests.notebook.notebook import Notebook

names = st.from_regex(r"[^\W\d]\w{0,8}", fullmatch=True)
one_line = st.text(st.characters(exclude_characters="\n"), min_size=1)
config = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.floats(0, 2),
        "max_output_tokens": st.integers(1, 10**6),
        "stop_sequences": st.lists(st.text(), max_size=2),
    },
)
options = st.builds(
    AgentOptions,
    key=st.none() | one_line,
    include=st.sampled_from(["default", "none"]),
    description=st.none() | one_line,
    model=st.none() | one_line.filter(lambda name: not model_lies_outside(name)),
    tools=st.lists(names, max_size=3).map(tuple),
    schema=st.none() | names,
    callbacks=st.dictionaries(
        st.sampled_from(CALLBACKS), st.lists(names, min_size=1, max_size=2).map(tuple), max_size=3
    ),
    config=config,
    prompt_file=st.none() | one_line.filter(lambda name: not lies_outside(name)),
)
lines = st.text() | st.sampled_from(["%agent X", "%%agents p", "\\%agent X", "\\\\%%agents p", "%agent", "", " ", "\r"])
prompts = st.lists(lines, max_size=6).map("\n".join)
agent_names = one_line.filter(lambda name: not name.startswith("-"))
agents = st.builds(AgentCell, name=agent_names, prompt=prompts, options=options)
pipelines = st.builds(
    Pipeline, name=one_line, agents=st.lists(agents, max_size=4, unique_by=lambda agent: agent.name).map(tuple)
)


def as_sent(pipeline: Pipeline) -> Pipeline:
    """A prompt beside a prompt file is never sent, and is not saved."""
    return replace(
        pipeline,
        agents=tuple(
            agent if agent.options.prompt_file is None else replace(agent, prompt="") for agent in pipeline.agents
        ),
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(pipelines, min_size=1, max_size=3))
def test_any_pipelines_come_back_the_same(tmp_path: Path, written: list[Pipeline]) -> None:
    path = tmp_path / "saved.adk"
    files.save(written, str(path))
    assert files.load(str(path)) == [as_sent(pipeline) for pipeline in written]


def test_the_file_is_readable(tmp_path: Path) -> None:
    triage = AgentCell("TriageAgent", 'Classify.\n{"category": "a|b"}', AgentOptions(key="triage"))
    guarded = AgentOptions(
        include="none",
        description="writes it",
        callbacks={"before_agent": ("guard", "log")},
        config={"temperature": 0.5},
    )
    draft = AgentCell("DraftAgent", "Triage: {triage}", guarded)
    path = files.save([Pipeline("ticket", (triage, draft)), Pipeline("other", (triage,))], str(tmp_path / "t.adk"))
    assert path.read_text() == (
        "%%agents ticket\n"
        "%agent TriageAgent --key triage\n"
        "Classify.\n"
        '{"category": "a|b"}\n'
        "%agent DraftAgent --include none --description 'writes it' --before-agent guard,log "
        "--config '{\"temperature\": 0.5}'\n"
        "Triage: {triage}\n"
        "\n"
        "%%agents other\n"
        "%agent TriageAgent --key triage\n"
        "Classify.\n"
        '{"category": "a|b"}\n'
    )


def test_a_saved_pipeline_is_a_cell(notebook: Notebook, tmp_path: Path) -> None:
    notebook.three_agents()
    path = tmp_path / "p.adk"
    message = notebook.run(f"%adk save {path} p").value
    assert message.text == f"Saved p in {path}."
    before = notebook.bench.pipelines["p"]
    notebook.run("%adk remove p")
    notebook.run(path.read_text(), "pasted")
    assert [replace(agent, cell=None) for agent in notebook.bench.pipelines["p"].agents] == [
        replace(agent, cell=None) for agent in before.agents
    ]


def test_loading_is_one_change_and_keeps_versions_and_cells(notebook: Notebook, tmp_path: Path) -> None:
    notebook.three_agents()
    notebook.run(f"%adk copy p q\n%adk save {tmp_path / 'both'}")
    notebook.run("%%agent B --key b\nEdited.", "B")
    before = dict(notebook.bench.pipelines)
    assert notebook.run(f"%adk load {tmp_path / 'both'}").value.text == f"Loaded p, q from {tmp_path / 'both'}."
    agent = notebook.bench.pipelines["p"]["B"]
    assert (agent.prompt, agent.cell, [version.prompt for version in agent.versions]) == (
        "Agent B reads {a}.", "B", ["Agent B reads {a}.", "Edited."],
    )  # fmt: skip
    notebook.run("%adk undo")
    assert notebook.bench.pipelines == before
    notebook.run("%%agent Renamed --key b\nStill one cell.", "B")
    assert notebook.bench.pipelines["p"].names() == ["A", "Renamed", "C"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\n", "{path}, line 1: a pipeline begins with %%agents NAME, not with 'hello'"),
        ("%%agents p\nhello\n", "{path}, line 2: the first agent begins with %agent NAME, not with 'hello'"),
        ("%%agents p q\n", "{path}, line 1: write %%agents NAME, not %%agents p q"),
        ("%%agents 'p\n", "{path}, line 1: write %%agents NAME, not %%agents 'p"),
        (
            "%%agents p\n%agent A --kex a\nx\n",
            "{path}, line 2: %agent: there is no option '--kex'. Did you mean '--key'?",
        ),
        (
            "%%agents p\n%agent A\nx\n%agent A\ny\n",
            "{path}, line 4: pipeline 'p' has two agents named 'A'. Rename one.",
        ),
        (
            "%%agents p\n%agent A --prompt-file x\nprompt\n",
            "{path}: agent 'A' has a prompt and a --prompt-file. Leave one of them out.",
        ),
        (
            "%%agents p\n%agent A --config 3\nx\n",
            "{path}, line 2: --config takes a JSON object, quoted: --config '{{\"top_p\": 0.9}}', not 3",
        ),
        (
            "%%agents p\n%agent A --config '{\"temprature\": 1}'\nx\n",
            "{path}, line 2: GenerateContentConfig: there is no field 'temprature'. Did you mean 'temperature'?",
        ),
        ("", "{path} holds no pipeline; one begins with %%agents NAME"),
    ],
)
def test_mistakes_in_a_file_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "file.adk"
    path.write_text(text)
    with pytest.raises(AdknbError) as raised:
        files.load(str(path))
    assert str(raised.value) == message.format(path=path)


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as raised:
        files.load(str(tmp_path / "absent"))
    assert str(raised.value) == f"cannot read {tmp_path / 'absent'}: No such file or directory"
    (tmp_path / "latin").write_bytes(b"%%agents p\n%agent A\n\xff\n")
    with pytest.raises(SpecError) as raised:
        files.load(str(tmp_path / "latin"))
    assert (
        str(raised.value) == f"cannot read {tmp_path / 'latin'}: it is not UTF-8 text (invalid start byte at byte 20)"
    )
    with pytest.raises(SpecError) as raised:
        files.save([Pipeline("p")], str(tmp_path))
    assert str(raised.value) == f"cannot write {tmp_path}: Is a directory"


def test_nothing_is_written_when_one_agent_cannot_be(tmp_path: Path) -> None:
    broken = Pipeline("p", (AgentCell("A", "x", AgentOptions(description="two\nlines")),))
    with pytest.raises(SpecError) as raised:
        files.save([broken], str(tmp_path / "x"))
    assert str(raised.value) == "agent 'A': an option has a line break, and its line in the file cannot. Take it out."
    assert not (tmp_path / "x").exists()


def test_a_name_that_would_be_an_option(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as raised:
        files.save([Pipeline("p", (AgentCell("--key", "x"),))], str(tmp_path / "x"))
    assert str(raised.value) == "agent '--key': in a file a name that begins with - reads as an option. Rename it."


def test_a_file_with_a_mistake_changes_nothing(tmp_path: Path) -> None:
    bench = Bench()
    (tmp_path / "x").write_text("%%agents p\n%agent A\nfine\n%agent B --key ''\nx\n")
    with pytest.raises(SpecError) as raised:
        bench.put_pipelines(files.load(str(tmp_path / "x")), "load")
    assert str(raised.value) == "LlmAgent 'B': output_key: output_key is empty; name a key, or leave it out"
    assert (bench.pipelines, bench.last_change) == ({}, "")


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_can_have(name: str) -> None:
    with pytest.raises(SpecError, match=r"^cannot read a.b: no file can have this name \("):
        files.load(name)
    with pytest.raises(SpecError, match=r"^cannot write a.b: no file can have this name \("):
        files.save([Pipeline("p")], name)
    agent = AgentCell("A", "", AgentOptions(prompt_file=name))
    with pytest.raises(SpecError, match=r"^agent 'A': cannot read --prompt-file a.b: no file can have this name \("):
        agent.text()
