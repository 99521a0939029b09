"""A pipeline whose tool waits for a person, in a comparison: it does not wait, and that is said."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import FunctionCall, LongRunningFunctionTool, Part, ScriptedModel
from tests.notebook.notebook import Notebook

NEVER = (
    "A comparison never waits for a person: each variant goes on with what a long-running tool returned at once. To answer, run "
    "%%pipeline NAME --resumable."
)
NOTE = "nobody answers approve in a comparison: what it returned at once is all that it says"


def approve(amount: int) -> dict[str, Any]:
    """Ask a person."""
    return {"status": "pending"}


@pytest.fixture
def refund(notebook: Notebook) -> Notebook:
    call = [Part(function_call=FunctionCall("approve", {"amount": 40}, "call-1"))]
    notebook.names["approve"] = LongRunningFunctionTool(approve)
    notebook.names["answers"] = ScriptedModel({"B": [call, "b"], "C": ["c"]})
    notebook.run("%adk use --model answers --resumable on")
    notebook.run("%%agent B --pipeline p --key b --tools approve\nB")
    notebook.run("%%agent C\nC {b?}")
    return notebook


@pytest.mark.parametrize("line", ["%%compare p --resumable\nhi", "%compare p --resumable"])
def test_it_takes_no_such_option(refund: Notebook, line: str) -> None:
    magic = line.split()[0]
    assert refund.fail(line) == f"UsageError: {magic}: there is no option '--resumable'. {NEVER}"


@pytest.mark.parametrize("kind", ["run", "paired"])
def test_steps_that_asked_somebody_say_that_nobody_answered(refund: Notebook, kind: str) -> None:
    output = refund.run(f"%%compare p --kind {kind} --out compared\nhi")
    compared = refund.names["compared"]
    steps = [
        (record.variant, step.step, step.status, step.answer) for record in compared.records for step in record.steps
    ]
    assert steps == [
        (variant, step, "completed", step.lower()) for variant in ("default", "none") for step in ("B", "C")
    ]
    assert [[NOTE in step.note for step in record.steps] for record in compared.records] == [[True, False]] * 2
    assert NOTE in " ".join(output.text.split())
