"""A session as one document: with its runs there and back, whose it is, and what is no session."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adknb import AdknbError, Session, export_session, import_session
from adknb.core.errors import RunStateError, SessionFormatError
from adknb.sessions.documents import document_kind
from tests.runtime.stored_cases import all_cases, played
from tests.sessions import hostile
from tests.sessions.document_store import run_data, stored_event


def there_and_back(session: Session) -> Session:
    return import_session(json.loads(json.dumps(export_session(session))))


def test_every_run_of_a_session_comes_back() -> None:
    session = hostile.session()
    found = there_and_back(session)
    assert [run_data(run) for run in found.turns] == [run_data(run) for run in session.turns]
    assert [run.parent is not None for run in found.turns] == [True, False]
    assert [stored_event(event) for event in found.events] == [stored_event(event) for event in session.events]
    assert [event.id for event in found.history] == [event.id for event in session.history]
    assert (found.id, found.app_name, found.user_id, found.state) == (session.id, "adknb", "user", session.state)
    assert (found.scopes.app, found.chain[1].previous is found.chain[0]) == ({"right": "r"}, True)
    assert str(found) == str(session)
    assert found.turns[1].tokens.equals(session.turns[1].tokens)


def test_recorded_cases_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = 0
    for case in all_cases()[::14]:
        for run in played(case, monkeypatch)[-1:]:
            assert [run_data(each) for each in there_and_back(run.session).turns] == [
                run_data(each) for each in run.session.turns
            ]
            counted += 1
    assert counted == 59


def test_temp_keys_stay_behind() -> None:
    session = Session("s", state={"temp:x": 1, "k": 2})
    assert there_and_back(session).state == {"k": 2}


def test_whose_document_it_is() -> None:
    own, adk, evaluated = (make() for make in hostile.DOCUMENTS)
    assert [document_kind(each) for each in (own, adk, evaluated, evaluated["evalCases"][0])] == [
        "adknb session", "ADK session", "ADK eval set", "ADK eval case"
    ]  # fmt: skip
    nothings: list[Any] = [[], {}, {"format": "x"}, "session", None, {"events": []}]
    for nothing in nothings:
        with pytest.raises(SessionFormatError, match="the document is no session: neither adknb's own"):
            document_kind(nothing)


def test_a_conversation_of_adk() -> None:
    session = import_session(hostile.adk_document())
    assert [event.author for event in session.events] == ["user", "Left", "Right", *["Writer"] * 5]
    assert session.events[2].content is not None
    assert session.events[2].content.parts[0].thought_signature == b"\xff\xef"
    assert session.scopes.user == {"tier": "gold"}


def test_an_eval_set_of_adk() -> None:
    document = hostile.eval_document()
    session = import_session(document)
    assert [(event.author, event.text) for event in session.events] == [
        ("user", "one"),
        ("Left", "l"),
        ("Writer", "w1"),
    ]
    assert (session.id, session.user_id, session.state) == ("case-1", "u", {"topic": "x"})
    document["evalCases"].append({**document["evalCases"][0], "evalId": "case-2"})
    with pytest.raises(RunStateError, match=r"an eval set of 2 cases; say which: case=….*'case-1'"):
        import_session(document)
    assert import_session(document, "case-2").id == "case-2"
    document["evalCases"][0] = {"evalId": "case-1", "conversationScenario": {"startingPrompt": "hi"}}
    with pytest.raises(SessionFormatError, match="a scenario for a simulated user"):
        import_session(document, "case-1")


def test_an_older_eval_case_of_adk() -> None:
    turn = {
        "user_content": {"role": "user", "parts": [{"text": "one"}]},
        "final_response": {"role": "model", "parts": [{"text": "done"}]},
        "intermediate_data": {
            "tool_uses": [{"name": "t", "args": {}, "id": "c"}],
            "tool_responses": [{"name": "t", "response": {"r": 1}, "id": "c"}],
            "intermediate_responses": [["A", [{"text": "a"}]]],
        },
    }
    session = import_session({"eval_id": "case", "conversation": [turn]})
    assert [(event.author, event.text) for event in session.events] == [
        ("user", "one"), ("agent", ""), ("agent", ""), ("A", "a"), ("A", "done")
    ]  # fmt: skip


OWN: list[tuple[list[Any], Any, str]] = [
    (["version"], 2, "the document has the version 2; this adknb reads version 1"),
    (["version"], True, "version must be a whole number from 0 on, not true"),
    (
        ["id"],
        "../../etc/passwd",
        r"id: '../../etc/passwd' is no id: it has a control character, or climbs out of a folder",
    ),
    (["id"], "x" * 501, "id: an id has 1 to 500 characters, not 501"),
    (["events", 0, "id"], "a\nb", r"events\[0\].id: 'a\\nb' is no id"),
    (["events"], {}, "events must be a list, not an object"),
    (["events", 1], 5, r"events\[1\] must be an object, not 5"),
    (["events", 0, "state_delta"], {"a": [10**4001]}, "a number of more than 4,000 digits"),
    (["events", 0, "timestamp"], 1e300, r"events\[0\].timestamp must be a moment in seconds since 1970, not 1e\+300"),
    (
        ["events", 0, "content", "parts", 0, "text"],
        ["x"],
        r"events\[0\].content.parts\[0\].text must be text, not a list",
    ),
    (["events", 0, "content", "parts", 0, "txt"], "x", r"events\[0\]: an event has no field 'part.txt'"),
    (["history", 0], "gone", "history names 'gone', which is not in the document"),
    (["turns", 0, "run"], "gone", "turns\\[0\\].run names 'gone', which is not in the document"),
    (["parts", 0], ["run", 1], r"parts\[0\] must be \[run, part, number, JSON\], not a list"),
    (["blobs"], None, "blobs must be an object of texts, not null"),
    (["user_id"], None, "the document has no field 'user_id'"),
]


@pytest.mark.parametrize(("place", "value", "message"), OWN)
def test_what_is_wrong_is_named(place: list[Any], value: Any, message: str) -> None:
    document: Any = hostile.own_document()
    holder = document
    for name in place[:-1]:
        holder = holder[name]
    holder[place[-1]] = value
    with pytest.raises(SessionFormatError, match=message):
        import_session(document)


def test_ids_are_taken_once() -> None:
    document = hostile.own_document()
    document["events"].append(document["events"][0])
    with pytest.raises(SessionFormatError, match=r"two events have the id '[0-9a-f]{32}'"):
        import_session(document)


def test_a_changed_blob_is_noticed() -> None:
    document = hostile.own_document()
    name = next(iter(document["blobs"]))
    document["blobs"][name] += " "
    with pytest.raises(SessionFormatError, match=f"blobs: the one named '{name}' is not what its name says"):
        import_session(document)


def test_deep_and_huge_documents(tmp_path: Any) -> None:
    from adknb import read_adk_json

    file = tmp_path / "session.json"
    for text, message in [
        ("[" * 100_000, "session.json is nested too deep to be read"),
        ('{"appName": 1' + "0" * 5000 + "}", "session.json is no JSON"),
        ("\x00", "session.json is no JSON"),
        (
            '{"appName": "a", "userId": "u", "id": "s", "state": ' + '{"a":' * 400 + "1" + "}" * 401,
            "is nested deeper than 200 levels",
        ),
    ]:
        file.write_text(text)
        with pytest.raises(AdknbError, match=message):
            read_adk_json(file)
    with pytest.raises(AdknbError, match=r"cannot read .*: No such file"):
        read_adk_json(tmp_path / "none.json")
