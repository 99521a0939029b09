"""A user's own agent of google-adk, named in a notebook."""

from __future__ import annotations

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")

from tests.notebook.conftest import notebook
from tests.notebook.notebook import Notebook

__all__ = ["notebook"]

OWN = """
import warnings
from google.adk.agents import LlmAgent, SequentialAgent  # noqa: E402
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    mine = SequentialAgent(name="mine", sub_agents=[
        LlmAgent(name="A", instruction="Agent A.", output_key="a"),
        LlmAgent(name="B", instruction="Agent B reads {a}."),
    ])
"""


@pytest.fixture
def own(notebook: Notebook) -> Notebook:
    notebook.run(OWN)
    return notebook


def test_pipeline_step_and_from(own: Notebook) -> None:
    own.run("%%pipeline mine\nhello")
    assert own.last.rules == "python"
    assert [(step.name, step.output) for step in own.last.step_runs] == [("A", "A says 1"), ("B", "B says 1")]
    assert "Agent B reads A says 1." in own.prompt("B")
    own.run("%%pipeline mine --pause\nhello")
    own.run("%adk step")
    own.run("%adk continue")
    assert [step.name for step in own.last.step_runs] == ["A", "B"]
    own.run("%pipeline mine --from B")
    assert [(step.name, step.replayed) for step in own.last.step_runs] == [("A", True), ("B", False)]


def test_compare(own: Notebook) -> None:
    shown = own.run("%%compare mine --variants default none\nhello").text
    assert "mine: DEFAULT against NONE" in shown


def test_explore_and_completion(own: Notebook) -> None:
    own.run("%adk explore mine")
    from adknb.notebook.complete import _known

    assert "mine" in _known(own.bench, "pipelines")
    assert "mine" in own.fail("%%pipeline mino\nhello")


def test_trying_another_prompt(own: Notebook) -> None:
    own.run("%%pipeline mine\nhello")
    own.run("%%step B\nAnother prompt with {a}.")
    assert "Another prompt with A says 1." in own.prompt("B")
    assert own.names["mine"].sub_agents[1].instruction == "Agent B reads {a}."
