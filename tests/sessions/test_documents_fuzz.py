"""Documents to which anything was done: a session that everything can show, or an error that says what is wrong."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies

from adknb import adopt, export_session, import_session
from adknb.core.errors import RunStateError, SessionFormatError
from tests.sessions import hostile

DOCUMENTS = [make() for make in hostile.DOCUMENTS]
TABLES = ("steps", "tokens", "events", "state", "state_history", "pending")


def import_and_show(data: Any) -> bool:
    """Whether the document is taken; what is taken must be fit to be shown, exported and adopted."""
    given = copy.deepcopy(data)
    try:
        session = import_session(data)
    except (SessionFormatError, RunStateError):
        return False
    finally:
        assert repr(data) == repr(given)
    for shown in (session, *session.turns):
        assert shown.to_html()
        assert str(shown)
    for run in session.turns:
        for table in TABLES:
            assert getattr(run, table) is not None
    import_session(json.loads(json.dumps(export_session(session))))
    if not session.turns:
        assert adopt(session, hostile.pipeline()).to_html()
    return True


@settings(max_examples=150)
@given(strategies.sampled_from(DOCUMENTS), strategies.randoms(use_true_random=False))
def test_mutated_documents(document: dict[str, Any], random: Random) -> None:
    import_and_show(hostile.mutated(document, random))


@settings(max_examples=60)
@given(
    strategies.recursive(
        strategies.none()
        | strategies.booleans()
        | strategies.integers()
        | strategies.floats()
        | strategies.text(max_size=8),
        lambda inner: (
            strategies.lists(inner, max_size=3)
            | strategies.dictionaries(
                strategies.sampled_from(
                    ["format", "events", "appName", "userId", "id", "state", "evalCases", "content", "parts"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
def test_any_json(value: Any) -> None:
    assert not import_and_show(value) or isinstance(value, dict)


@pytest.mark.soak
def test_a_hundred_thousand_mutated_documents() -> None:
    taken = sum(import_and_show(hostile.mutated(DOCUMENTS[seed % 3], Random(seed))) for seed in range(100_000))
    assert taken > 20_000
