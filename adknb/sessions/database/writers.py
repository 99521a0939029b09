"""Who writes: named in every row of the log, so that a conflict can say between whom it was."""

from __future__ import annotations

import os
import platform
import secrets
from pathlib import PurePath


def writer_name() -> str:
    """This process for a reader (`process 4711 on laptop, notebook tickets.ipynb`), and four hex digits: a process can
    have several services."""
    notebook = os.environ.get("JPY_SESSION_NAME")  # set by Jupyter Server for each kernel
    place = f", notebook {PurePath(notebook).name}" if notebook else ""
    return f"process {os.getpid()} on {platform.node() or 'an unnamed host'}{place} ({secrets.token_hex(2)})"
