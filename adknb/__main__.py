"""`python -m adknb`: the demo, in a terminal."""

from __future__ import annotations

import argparse
import io
import signal
import sys
from collections.abc import Sequence

from adknb.core.errors import AdknbError
from adknb.core.escape import visible


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m adknb", description="A notebook bench for ADK pipelines.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    demo = commands.add_parser("demo", help="the ticket pipeline: steps, state, tokens, DEFAULT against NONE")
    demo.add_argument("message", nargs="*", help="what the customer writes (default: the lesson's message)")
    demo.add_argument(
        "--model",
        help="who answers: local, local:PATH.gguf, echo (default: replies written for the lesson)",
    )
    demo.set_defaults(run=_demo)
    options = parser.parse_args(arguments)
    if not hasattr(options, "run"):
        parser.print_help()
        return 0
    return int(options.run(options))


def _demo(options: argparse.Namespace) -> int:
    from adknb.demo import demo

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may lack a character of a model's reply
    try:
        print(demo(" ".join(options.message), options.model))
    except AdknbError as error:
        print(f"{type(error).__name__}: {visible(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `python -m adknb demo | head` ends without a traceback
    sys.exit(main())
