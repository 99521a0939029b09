"""What a session's document says is never the name of a file that is opened: neither a text of it nor an artifact's name."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adknb import AdknbError, Runner, adopt, export_session, import_session
from tests.sessions import hostile

MARK = "chosen-by-content"
_opened: list[str] = []
_is_on = False


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if _is_on and event.split(".")[0] in ("open", "os", "shutil", "sqlite3", "subprocess", "socket", "import", "glob"):
        _opened.extend(f"{event} {argument!r}" for argument in arguments if MARK in repr(argument))


sys.addaudithook(_listen)


@contextmanager
def listening() -> Iterator[list[str]]:
    """Everything that is opened, listed, loaded or connected to with the mark in its name."""
    global _is_on
    _opened.clear()
    _is_on = True
    try:
        yield _opened
    finally:
        _is_on = False


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    """Names of files that are there, as a document may spell them."""
    for ending in ("", ".gguf", ".csv", ".jsonl"):
        (tmp_path / f"{MARK}{ending}").write_text("{}")
    place = f"{tmp_path}/{MARK}"
    return [
        place,
        f"../../../../../..{place}",
        f"replay:{place}.jsonl",
        f"local:{place}.gguf",
        f"file://{place}",
        f"{place}.csv",
    ]


def texts(value: Any, places: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every place of a document that holds a text."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, str):
            places.append((value, key))
        texts(item, places)
    return places


def use(document: dict[str, Any]) -> bool:
    """Import it and do with it what a notebook does; whether it was taken."""
    try:
        session = import_session(document)
    except AdknbError:
        return False
    session.to_html()
    for run in session.turns:
        run.to_html()
        try:
            Runner(run.root).run("again", state={"topic": "x"})
        except AdknbError:
            continue
    if not session.turns:
        adopt(session, hostile.pipeline()).to_html()
    export_session(session)
    return True


def test_the_listener_hears() -> None:
    with listening() as opened, pytest.raises(FileNotFoundError):
        Path(f"/tmp/{MARK}/none").read_bytes()
    assert opened[0].startswith("open ")


@pytest.mark.parametrize("make", [hostile.adk_document, hostile.eval_document])
def test_no_text_of_adks_documents_opens_a_file(make: Any, paths: list[str]) -> None:
    document = make()
    taken = 0
    with listening() as opened:
        for place in range(len(texts(document, []))):
            changed = copy.deepcopy(document)
            holder, key = texts(changed, [])[place]
            holder[key] = paths[place % len(paths)]
            taken += use(changed)
    assert opened == []
    assert taken > 10


def test_no_text_of_an_agent_opens_a_file(paths: list[str]) -> None:
    """The agents of a document are run, too: a model that is named by a file is a name only."""
    document = hostile.own_document()
    taken = 0
    with listening() as opened:
        for name, blob in list(document["blobs"].items()):
            if '"kind"' not in blob:
                continue
            for path in paths:
                for before in ('"Left of {topic}"', '"kind":"llm"'):
                    changed = copy.deepcopy(document)
                    after = f'"{path}"' if before.startswith('"Left') else f'"kind":"llm","model":"{path}"'
                    changed["blobs"][name] = blob.replace(before, after)
                    taken += use(hostile.renamed(changed))
    assert opened == []
    assert taken == 2 * len(paths)


def test_artifacts_have_no_files() -> None:
    document = hostile.adk_document()
    document["events"][4]["actions"]["artifactDelta"] = {f"../../{MARK}": 0, f"user:/tmp/{MARK}": 3}
    with listening() as opened:
        session = import_session(document)
        adopt(session, hostile.pipeline())
    assert session.events[4].actions.artifact_delta == {f"../../{MARK}": 0, f"user:/tmp/{MARK}": 3}
    assert opened == []
