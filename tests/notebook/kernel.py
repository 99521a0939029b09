"""A real kernel in a process of its own, driven as a front end does."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

TIMEOUT = 60.0
"""Seconds after which a kernel counts as dead."""
_OURS = (  # ipykernel's own words, of its own doing
    "Kernel is running over TCP without encryption",
    "KeyboardInterrupt caught in kernel.",
)

Message = dict[str, Any]


class Kernel:
    """Starts a kernel with adknb loaded. What it says on stderr is kept."""

    def __init__(self) -> None:
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115  # lives as long as the kernel; closed by `close`
        self._manager: Any = KernelManager(kernel_name="python3")
        spec = self._manager.kernel_spec
        assert spec is not None
        spec.argv[0] = sys.executable
        root = str(Path(__file__).parents[2])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "default", "IPYTHONDIR": tempfile.mkdtemp()}
        self._manager.start_kernel(env=environment, stderr=self._log, stdout=self._log)
        self._connect()

    def _connect(self) -> None:
        self.client: Any = self._manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=TIMEOUT)
        assert not self.errors(self.run("%load_ext adknb"))

    def send(self, code: str, cell: str | None = None) -> str:
        """Ask for a cell to be run; returns the request's id."""
        content = {
            "code": code, "silent": False, "store_history": False, "user_expressions": {}, "allow_stdin": False,
            "stop_on_error": False,
        }  # fmt: skip
        message = self.client.session.msg("execute_request", content, metadata={"cellId": cell} if cell else {})
        self.client.shell_channel.send(message)
        identity: str = message["header"]["msg_id"]
        return identity

    def follow(
        self, request: str, until: Callable[[Message], bool] | None = None, timeout: float = TIMEOUT
    ) -> list[Message]:
        """The request's messages until one of them satisfies `until`, else until the kernel is idle again.

        `queue.Empty` after `timeout` seconds.
        """
        messages: list[Message] = []
        end = time.monotonic() + timeout
        while True:
            message = self.client.get_iopub_msg(timeout=max(0.01, end - time.monotonic()))
            if message["parent_header"].get("msg_id") != request:
                continue
            messages.append(message)
            if until is not None and until(message):
                return messages
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return messages

    def run(self, code: str, cell: str | None = None) -> list[Message]:
        return self.follow(self.send(code, cell))

    def text(self, code: str, cell: str | None = None) -> str:
        """What the cell shows, as text."""
        return shown(self.run(code, cell))

    def complete(self, code: str, position: int | None = None) -> tuple[list[str], int, int]:
        """The completions at the position (the end), and the stretch that they replace."""
        reply = self.client.complete(code, len(code) if position is None else position, reply=True, timeout=TIMEOUT)
        content = reply["content"]
        return content["matches"], content["cursor_start"], content["cursor_end"]

    def interrupt(self) -> None:
        self._manager.interrupt_kernel()

    def restart(self) -> None:
        """Restart as the front end's button does, in the middle of whatever runs."""
        self.client.stop_channels()
        self._manager.restart_kernel(now=True)
        self._connect()

    @staticmethod
    def errors(messages: list[Message]) -> list[str]:
        return [message["content"]["ename"] for message in messages if message["msg_type"] == "error"]

    def log(self) -> list[str]:
        """What the kernel's process wrote on stderr, but for ipykernel's own words."""
        self._log.seek(0)
        return [line for line in self._log.read().splitlines() if line and not any(own in line for own in _OURS)]

    def close(self) -> None:
        self.client.stop_channels()
        self._manager.shutdown_kernel(now=True)
        self._manager.cleanup_resources()
        self._manager.context.destroy()
        self._log.close()


def shown(messages: list[Message]) -> str:
    parts = []
    for message in messages:
        content = message["content"]
        if message["msg_type"] == "stream":
            parts.append(content["text"])
        elif message["msg_type"] in ("display_data", "update_display_data", "execute_result"):
            parts.append(content["data"]["text/plain"] + "\n")
        elif message["msg_type"] == "error":
            parts.append(f"{content['ename']}: {content['evalue']}\n")
    return "".join(parts)
