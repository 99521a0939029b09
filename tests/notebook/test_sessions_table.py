"""What a session waits for, in the table of sessions."""

from __future__ import annotations

import pytest

from adknb import Event, FunctionCall
from adknb.core.pending import PendingCall
from adknb.notebook.bench_documents import Identity
from adknb.notebook.sessions_table import KeptSession, session_rows


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"question": "ok?"}, "B: ok?"),
        ({"amount": 30}, 'B: refund({"amount":30})'),
        ({}, "B: refund({})"),
        ({"amount": 30, "to": "Ann"}, 'B: refund({"amount":30,"to":"Ann"})'),
    ],
)
def test_a_question_stands_alone_and_other_arguments_with_their_call(args: dict[str, object], says: str) -> None:
    waits = (PendingCall(FunctionCall("refund", args), Event("B")),)
    kept = KeptSession(Identity("a", "u", "s"), 1, 2, 3, None, "", "waiting", waits)
    (row,) = session_rows([kept], {}, ())
    assert row["waits_for"] == says
