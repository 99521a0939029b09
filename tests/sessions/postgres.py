"""A PostgreSQL server for tests: one that is thrown away, which a test may kill and start again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

VARIABLE = "ADKNB_TEST_POSTGRES"
"""The URL of a running server, for tests that do not kill theirs; without it one is started."""


class PostgresServer:
    """A cluster in a folder, on a free port of 127.0.0.1.

    It does not wait for the disk, unless `fsync` says so: a test kills the server and not the machine, which has what the
    server wrote to it.
    """

    def __init__(self, programs: Path, folder: Path, fsync: bool = False) -> None:
        self._programs = programs
        self._folder = folder
        self._fsync = "on" if fsync else "off"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"postgresql://postgres@127.0.0.1:{self._port}/postgres"
        self._run("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
        self.start()

    def start(self) -> None:
        options = (
            f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._folder} "
            f"-c fsync={self._fsync}"
        )
        log = str(self._folder / "log")
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-m", "fast", "-w", "stop")

    def kill(self) -> None:
        """At once and without a word: what it did not write yet is lost (as `pg_ctl -m immediate`, but without its delay)."""
        lock = self._folder / "data" / "postmaster.pid"
        os.kill(int(lock.read_text().split("\n")[0]), signal.SIGQUIT)
        while lock.exists():
            time.sleep(0.005)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(command, cwd=self._folder, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def postgres_server(fsync: bool = False) -> Iterator[PostgresServer]:
    """A server of one's own. Skips where there is no PostgreSQL."""
    pytest.importorskip("asyncpg", reason="asyncpg is not installed (extra postgres)")
    programs = _programs()
    with tempfile.TemporaryDirectory(prefix="adknb-pg-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        server = PostgresServer(programs, folder, fsync)
        try:
            yield server
        finally:
            server.kill()


def _programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    if on_path is None:
        pytest.skip("there is no PostgreSQL server on this machine (initdb not found)")
    return Path(on_path).parent
