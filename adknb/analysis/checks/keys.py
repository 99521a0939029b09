"""Keys: read before they are written, written by nobody, written twice, out of every placeholder's reach."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import pairwise

from adknb.analysis.checks.braces import mended, readable_key
from adknb.analysis.findings import Finding, Severity, Subject
from adknb.analysis.order import may_be_skipped, order
from adknb.analysis.uses import Read, Write
from adknb.core.state import APP_PREFIX, TEMP_PREFIX, USER_PREFIX
from adknb.rules.base import Placeholder
from adknb.runtime.tree import LlmNode


def findings(subject: Subject) -> Iterator[Finding]:
    for read in _first_reads(subject):
        yield from _of_read(subject, read)
    for write in subject.uses.writes:
        if not readable_key(subject.rules, write.key):
            yield _unreadable(subject, write)
    for key in dict.fromkeys(write.key for write in subject.uses.writes):
        writers = subject.uses.writers(key)
        for earlier, later in pairwise(writers):
            yield from _overwritten(subject, earlier, later)


def _first_reads(subject: Subject) -> list[Read]:
    """Each agent's first read of a key, a required one before an optional one: it alone decides."""
    first: dict[tuple[LlmNode, str], Read] = {}
    for read in subject.uses.reads:
        known = first.setdefault((read.node, read.key), read)
        if known.optional and not read.optional:
            first[read.node, read.key] = read
    return list(first.values())


def _of_read(subject: Subject, read: Read) -> Iterator[Finding]:
    writers = subject.uses.writers(read.key)
    orders = {order(write.node, read.node) for write in writers}
    if "before" in orders:
        certain = [
            write for write in writers
            if order(write.node, read.node) == "before" and not may_be_skipped(write.node, read.node)
        ]  # fmt: skip
        if read.optional and certain:
            yield _needlessly_optional(read, certain[-1])
    elif read.key in subject.given:
        if read.key.startswith(TEMP_PREFIX):
            yield _temp_given(read)
    elif subject.uses.may_write(read.key) or "unknown" in orders:
        return
    elif not writers:
        yield from _nobody_writes(subject, read)
    elif "at once" in orders:
        yield _at_once(subject, read, writers)
    elif not read.optional or "next iteration" not in orders:
        yield _written_later(subject, read, writers, "next iteration" in orders)


def _needlessly_optional(read: Read, write: Write) -> Finding:
    return Finding(
        "optional-with-producer", "warning", read.node.name, read.place,
        f"{write.node.name} writes {read.key!r} earlier in every turn, yet {read.place.text} is optional: should the "
        "value be missing, the model finds an empty place and goes on.",
        f"Make it required, so that the run stops instead: {{{read.key}}}",
    )  # fmt: skip


def _temp_given(read: Read) -> Finding:
    return Finding(
        "temp-earlier-turn", "warning", read.node.name, read.place,
        f"{read.key!r} is there in the session's first turn only: temp: keys are discarded when a turn ends.",
        "Write it in an earlier step of each turn, or use a key without temp:.",
    )  # fmt: skip


def _nobody_writes(subject: Subject, read: Read) -> Iterator[Finding]:
    written = dict.fromkeys([*(write.key for write in subject.uses.writes), *sorted(subject.given)])
    close = get_close_matches(read.key, written, n=1, cutoff=0.6)
    guess = f"Did you mean {{{close[0]}}}? " if close else ""
    if read.optional:
        if close:
            yield Finding(
                "nobody-writes", "warning", read.node.name, read.place,
                f"Nobody writes {read.key!r}, so {read.place.text} is always empty.", guess.strip(),
            )  # fmt: skip
        return
    others = [function.title for function in subject.uses.functions if function.may_write]
    severity: Severity = "error"
    unless = ""
    if read.key.startswith((APP_PREFIX, USER_PREFIX)):
        severity, unless = "warning", " unless it was set outside the pipeline"
    elif others:
        severity, unless = "warning", f" unless {' or '.join(others)} does, whose code does not name it"
    fix = f"{guess}Write it in an earlier step, give it as state, or make it optional: {{{read.key}?}}."
    if ":" not in read.key:
        fix += f" If it is meant as text, use other brackets: <{read.key}>."
    yield Finding(
        "nobody-writes", severity, read.node.name, read.place,
        f"Nobody writes {read.key!r}{unless}. {_stops(subject, read)}", fix,
    )  # fmt: skip


def _at_once(subject: Subject, read: Read, writers: list[Write]) -> Finding:
    outcome = "The place may stay empty." if read.optional else f"Where it is not: {_stops(subject, read)}"
    return Finding(
        "written-at-once", "warning", read.node.name, read.place,
        f"{_who_writes(writers)} {read.key!r} at the same time, in a ParallelAgent: whether the value is there when this "
        f"prompt is built is left to chance. {outcome}",
        f"Run {read.node.name} after the ParallelAgent.",
    )  # fmt: skip


def _written_later(subject: Subject, read: Read, writers: list[Write], in_loop: bool) -> Finding:
    first = "in the loop's first iteration" if in_loop else "in a session's first turn"
    then = "" if in_loop else " Later turns read the turn before's value."
    own = all(write.node is read.node for write in writers)
    who = f"{_who_writes(writers)} it only after " + ("that" if own else f"{read.node.name} has run")
    if read.key.startswith(TEMP_PREFIX):
        then = "" if in_loop else " Later turns find it gone: temp: keys are discarded when a turn ends."
    if not read.optional:
        return Finding(
            "written-later", "error", read.node.name, read.place,
            f"{read.key!r} is not there {first}: {who}. {_stops(subject, read)}{then}",
            f"Run the step that writes it before, give the key as state, or make it optional: {{{read.key}?}}",
        )  # fmt: skip
    return Finding(
        "written-later", "warning" if read.key.startswith(TEMP_PREFIX) else "info", read.node.name, read.place,
        f"{read.place.text} is empty {first}: {who}.{then}",
    )  # fmt: skip


def _who_writes(writers: list[Write]) -> str:
    names = list(dict.fromkeys(write.node.name for write in writers))
    return f"{names[0]} writes" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} write"


def _stops(subject: Subject, read: Read) -> str:
    """What ADK does about a required key that is not there."""
    error = subject.rules.missing(Placeholder(read.match, read.key, False), read.node.name, ())
    return f"ADK then stops before the model is asked: {error.adk_message}"


def _unreadable(subject: Subject, write: Write) -> Finding:
    better = mended(subject.rules, write.key)
    return Finding(
        "unreadable-output-key", "warning", write.node.name, None,
        f"No placeholder can read the output_key {write.key!r}: ADK leaves {{{write.key}}} in a prompt as text.",
        f"Name it {better!r}." if better else "Name it with letters, digits and underscores.",
    )  # fmt: skip


def _overwritten(subject: Subject, earlier: Write, later: Write) -> Iterator[Finding]:
    when = order(earlier.node, later.node)
    name, key = later.node.name, later.key
    if when == "at once":
        yield Finding(
            "overwritten", "warning", name, None,
            f"{earlier.node.name} writes {key!r} too, at the same time, in a ParallelAgent: the later of both "
            "replies stays.",
            "Give each its own output_key.",
        )  # fmt: skip
    if when != "before":
        return
    readers = subject.uses.readers(key)
    used_before = any(
        order(earlier.node, read.node) == "before" and order(later.node, read.node) != "before" for read in readers
    )
    refines = any(read.node is later.node for read in readers)
    has_tools = bool(later.node.agent.tools)
    if has_tools and subject.target is None:  # else what differs there is said by target.py
        tools = ", ".join(tool.name for tool in later.node.agent.function_tools)
        yield Finding(
            "overwritten", "warning", name, None,
            f"{key!r} holds the reply of {earlier.node.name} when {name} starts, which has tools ({tools}). ADK Go "
            "writes an empty text to an output_key with every tool call, so that a tool finds nothing there; ADK "
            "Java writes final replies only.",
            f"Give {name} its own output_key.",
        )  # fmt: skip
    elif not refines and not has_tools:
        yield Finding(
            "overwritten", "info" if used_before else "warning", name, None,
            f"The reply of {name} takes the place of {earlier.node.name}'s under {key!r}"
            + ("." if used_before else ", which no step between reads."),
            "Give each its own output_key, unless that is meant.",
        )  # fmt: skip
