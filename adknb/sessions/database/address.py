"""Where a database is: the URL that the user wrote, with the driver filled in."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from typing import Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from adknb.core.errors import SessionStoreError

_DRIVERS: Final = {
    "sqlite": "sqlite+pysqlite",
    "sqlite+pysqlite": "sqlite+pysqlite",
    "sqlite+aiosqlite": "sqlite+pysqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}


@dataclass(frozen=True, slots=True)
class Address:
    """`shown` names the database in messages, without a password. `path` is the SQLite file, None in memory and elsewhere."""

    url: URL
    shown: str
    path: str | None

    @property
    def is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @property
    def text(self) -> str:
        """The URL that names this database from every folder, with the password."""
        return self.url.set(drivername=self.url.get_backend_name()).render_as_string(hide_password=False)

    @property
    def is_in_memory(self) -> bool:
        return self.is_sqlite and self.path is None


def address(text: str) -> Address:
    """Raises `SessionStoreError` for what is no URL, or one of a database or driver that is not there."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError, TypeError):  # the text may hold a password, so it is not shown
        raise SessionStoreError(
            "that is not the URL of a database. Write 'sqlite:///tickets.db' (three slashes and the file's path), or "
            "'postgresql://user:password@host/database'."
        ) from None
    driver = _DRIVERS.get(url.drivername)
    if driver is None:
        raise SessionStoreError(
            f"{url.render_as_string(hide_password=True)}: sessions are kept in SQLite ('sqlite:///tickets.db') or "
            f"PostgreSQL ('postgresql://user@host/database'), not by the driver {url.drivername!r}."
        )
    url = url.set(drivername=driver)
    if url.get_backend_name() == "sqlite":
        return _sqlite(url)
    if importlib.util.find_spec("asyncpg") is None:
        raise SessionStoreError("PostgreSQL needs asyncpg, which is not installed: pip install 'adknb[postgres]'")
    if "sslmode" in url.query:  # libpq's word, which people copy; asyncpg's is `ssl`
        mode = url.query["sslmode"]
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
    shown = url.set(drivername="postgresql").render_as_string(hide_password=True)
    return Address(url, shown, None)


def _sqlite(url: URL) -> Address:
    name = url.database or ""
    if name.startswith("file:"):
        path = os.path.abspath(name[len("file:") :])
        return Address(url.set(database=f"file:{path}"), path, path)
    if url.query:
        raise SessionStoreError(
            f"{url.set(drivername='sqlite').render_as_string()}: SQLite takes options only in a URL of its own. Leave out what "
            "follows the question mark, or write 'sqlite:///file:PATH?OPTION=VALUE&uri=true', as with mode=ro."
        )
    if name in ("", ":memory:"):
        return Address(url, "the database in memory", None)
    path = os.path.abspath(os.path.expanduser(name))
    return Address(url.set(database=path), path, path)
