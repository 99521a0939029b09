"""A Jupyter server of the tests' own: JupyterLab and Notebook 7 on the loopback interface, without news and updates."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

REPOSITORY: Final = Path(__file__).parents[2]
START_SECONDS: Final = 60

_QUIET: Final = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}
"""Also: every cell is drawn, out of sight too, so that a test sees them all."""


class Server:
    """The running server. `folder` holds its notebooks, `url` ends in a slash."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "notebooks"
        self.folder.mkdir(parents=True)
        settings = home / "config" / "labconfig" / "default_setting_overrides.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps(_QUIET), encoding="utf-8")
        self._runtime = home / "runtime"
        self._log = (home / "server.log").open("w", encoding="utf-8")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *self._options()],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, env=self._environment(home), cwd=self.folder,
        )  # fmt: skip
        self.url = self._started()

    def write(self, name: str, cells: Sequence[str]) -> None:
        """Put a notebook of these code cells into the folder. It names its kernel, so that nobody is asked for one."""
        described = {
            "cells": [
                {"cell_type": "code", "id": f"cell-{number}", "source": source, "metadata": {}, "outputs": [],
                 "execution_count": None}
                for number, source in enumerate(cells)
            ],
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }  # fmt: skip
        (self.folder / name).write_text(json.dumps(described), encoding="utf-8")

    def shut_kernels_down(self) -> None:
        """End every kernel and session, so that the next notebook starts a fresh one."""
        for session in self._ask("api/sessions"):
            self._ask(f"api/sessions/{session['id']}", "DELETE")

    def stop(self) -> None:
        self.shut_kernels_down()
        self._end()

    def _options(self) -> list[str]:
        return [
            "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={_free_port()}",
            "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True", "--ServerApp.terminals_enabled=False",
            "--LabApp.extension_manager=readonly", "--LabApp.expose_app_in_browser=True",
            "--JupyterNotebookApp.expose_app_in_browser=True",
        ]  # fmt: skip

    def _environment(self, home: Path) -> dict[str, str]:
        """Nothing of the user's own Jupyter, and this package for the kernels."""
        paths = [str(REPOSITORY), os.environ.get("PYTHONPATH", "")]
        return os.environ | {
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(self._runtime),
            "IPYTHONDIR": str(home / "ipython"),
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }

    def _started(self) -> str:
        """The address, once the server answers there; it may have taken another port than the one it was given."""
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            with suppress(OSError):  # its file is there before it listens
                for file in self._runtime.glob("jpserver-*.json"):
                    self.url = str(json.loads(file.read_text(encoding="utf-8"))["url"])
                    self._ask("api")
                    return self.url
            time.sleep(0.1)
        self._end()
        raise RuntimeError(f"the Jupyter server did not start; its log: {self._log.name}")

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _ask(self, path: str, method: str = "GET") -> Any:
        with urlopen(Request(self.url + path, method=method), timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
