"""Files that sessions are written to and read from: inside the notebook's folder, and none is overwritten by mistake."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adknb.core.errors import SpecError
from adknb.core.run import Session
from adknb.notebook.pipelines import why_not
from adknb.sessions.adk_database import SQLITE_FILE, open_adk_sessions
from adknb.sessions.documents import import_session
from adknb.sessions.json_fields import parsed


def inside(path: str) -> Path:
    """The file of this name. Raises `SpecError` for one outside the notebook's folder, links followed."""
    folder = Path.cwd().resolve()
    try:
        target = (folder / Path(path).expanduser()).resolve()
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a ring, or no home to expand
        raise SpecError(f"{path}: {error if isinstance(error, RuntimeError) else why_not(error)}") from error
    if not target.is_relative_to(folder):
        raise SpecError(
            f"{path} is outside the notebook's folder ({folder}). Sessions are written and read inside it: name a file there."
        )
    return target


def write_session(document: Mapping[str, Any], path: str, force: bool) -> Path:
    """Write the document as JSON. Raises `SpecError` where a file is already, unless `force` says to take its place."""
    target = inside(path)
    try:
        with target.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
            json.dump(document, file, separators=(",", ":"))
            file.write("\n")
    except FileExistsError:
        raise SpecError(f"{path} exists already. Take another name, or say --force to write over it.") from None
    except (OSError, ValueError) as error:
        raise SpecError(f"cannot write {path}: {why_not(error)}") from error
    return target


def read_session(path: str, name: str | None = None) -> tuple[Session, str | None]:
    """The session of a file, and the name that it is to have: adknb's own or one that ADK's web page saved, under `name`;
    or the one of this id in a database of google-adk's.

    Raises `SpecError` when the file cannot be read, or has several sessions and `name` does not say which,
    `SessionFormatError` when it holds no session.
    """
    target = inside(path)
    try:
        text = target.read_bytes()
    except (OSError, ValueError) as error:
        raise SpecError(f"cannot read {path}: {why_not(error)}") from error
    if text.startswith(SQLITE_FILE):
        return _stored_session(target, path, name), None
    return import_session(parsed(text, target.name)), name


def _stored_session(target: Path, path: str, name: str | None) -> Session:
    stored = open_adk_sessions(target)
    names = list(dict.fromkeys(row.id for row in stored.rows))
    if name is None and len(names) != 1:
        some = ", ".join(repr(each) for each in names[:6]) + (", …" if len(names) > 6 else "")
        raise SpecError(
            f"{path} is google-adk's database with {len(names)} sessions{': ' + some if names else ''}. Say which: %adk sessions "
            f"NAME --import {path}"
        )
    return stored.session(name or names[0])
