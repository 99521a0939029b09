"""What a pipeline will do differently under another ADK, where that can be told before it runs.

Each check asks both rule sets the same and compares what they say. A finding names the rule, as `portability` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from adknb.analysis.checks.steps import model_name
from adknb.analysis.findings import Finding, Severity, Subject
from adknb.analysis.order import order
from adknb.analysis.uses import Place, Read, Write, placed, texts
from adknb.core.content import Content, FunctionCall, Part
from adknb.core.errors import AgentNameError, NotSupported, StateValueError
from adknb.core.escape import one_line
from adknb.core.events import USER, Event
from adknb.core.specs import IncludeContents, LlmAgent, LoopAgent
from adknb.core.state import TEMP_PREFIX
from adknb.rules.base import Placeholder, Rules
from adknb.runtime.tree import LlmNode

CODE: Final = "differs-under-"
_SHOWN: Final = 80
_SAMPLES: Final[Mapping[str, Any]] = {
    "STRING": "x",
    "INTEGER": 1,
    "NUMBER": 1.0,
    "BOOLEAN": True,
    "ARRAY": [],
    "OBJECT": {},
}


def findings(subject: Subject, target: Rules) -> Iterator[Finding]:
    for check in (
        _names,
        _placeholders,
        _values,
        _written,
        _read,
        _identities,
        _asked_by,
        _configs,
        _loops,
        _temp_keys,
    ):
        try:
            yield from list(check(subject, target))
        except NotSupported:  # a rule set that only runs cannot be asked before it runs
            continue


def _finding(
    target: Rules, rule: str, agent: str, place: Place | None, message: str, fix: str, severity: Severity = "warning"
) -> Finding:
    return Finding(f"{CODE}{target.name}", severity, agent, place, f"{message} (rule {rule})", fix)


def _names(subject: Subject, target: Rules) -> Iterator[Finding]:
    root = subject.uses.root.agent
    try:
        target.check_names(root)
    except AgentNameError as error:
        yield _finding(
            target, "check_names", error.agent or root.name, None, f"{target.name} does not take the names: {error}",
            "ASCII letters, digits and _, and each name once, fit every ADK.", "error",
        )  # fmt: skip


def _placeholders(subject: Subject, target: Rules) -> Iterator[Finding]:
    """Braces that only one of both substitutes, or as another key."""
    for node in subject.uses.llm_nodes:
        for _, text, template in texts(node):
            one, other = (
                {at: piece for piece, at in placed(text, parsed) if isinstance(piece, Placeholder)}
                for parsed in (template, target.parse(text))
            )
            for at in sorted({*one, *other}):
                here, there = one.get(at), other.get(at)
                if here == there:
                    continue
                match = next(piece.match for piece in (here, there) if piece is not None)
                yield _finding(
                    target, "parse", node.name, Place.at(text, at, match),
                    f"{one_line(match, _SHOWN)} {_reads_as(here)} under {subject.rules.name}, {_reads_as(there)} under "
                    f"{target.name}.",
                    "Name the key in ASCII letters, digits and _ alone, after app:, user: or temp: if need be.",
                )  # fmt: skip


def _reads_as(piece: Placeholder | None) -> str:
    if piece is None:
        return "stays as it is"
    kind = "artifact" if piece.artifact else "key"
    return f"is the {kind} {one_line(piece.name, _SHOWN)!r}{', optional' if piece.optional else ''}"


def _values(subject: Subject, target: Rules) -> Iterator[Finding]:
    """Values that are known before the run: their text in a prompt, and whether a state may hold them."""
    rules = subject.rules
    for key, value in subject.values.items():
        refusals = [_refusal(each, key, value) for each in (rules, target)]
        if refusals[0] is None and refusals[1] is not None:
            yield _finding(
                target, "check_state_value", subject.uses.root.name, None, f"{target.name} does not take {key!r}: {refusals[1]}",
                "Leave the key out, or give it another value.", "error",
            )  # fmt: skip
        if any(refusals):
            continue
        for read in _first_of_each(subject, key):
            yield from _as_text(subject, target, read, "text_of", value, value, "Write text to the state.")


def _refusal(rules: Rules, key: str, value: Any) -> str | None:
    try:
        rules.check_state_value(key, value)
    except StateValueError as error:
        return str(error)
    return None


def _as_text(
    subject: Subject, target: Rules, read: Read, rule: str, here: Any, there: Any, fix: str
) -> Iterator[Finding]:
    one, other = subject.rules.text_of(here), target.text_of(there)
    if one != other and subject.rules.parse(read.match) == target.parse(read.match):
        yield _finding(
            target, rule, read.node.name, read.place,
            f"{read.match} is {one_line(one, _SHOWN)} under {subject.rules.name}, {one_line(other, _SHOWN)} under "
            f"{target.name}.", fix,
        )  # fmt: skip


def _first_of_each(subject: Subject, key: str) -> list[Read]:
    """Every agent's first placeholder of a key."""
    first: dict[LlmNode, Read] = {}
    for read in subject.uses.readers(key):
        first.setdefault(read.node, read)
    return list(first.values())


def _written(subject: Subject, target: Rules) -> Iterator[Finding]:
    for write in subject.uses.writes:
        yield from _clobbered(subject, target, write)
        yield from _stored(subject, target, write)


def _clobbered(subject: Subject, target: Rules, write: Write) -> Iterator[Finding]:
    """Whether an event that calls a tool writes the output_key under one of both alone."""
    agent, key = write.node.agent, write.key
    if not agent.tools and not write.node.targets():
        return
    call = Event(agent.name, Content("model", (Part(function_call=FunctionCall("f", {})),)))
    if subject.rules.output(call, agent) is not None or target.output(call, agent) is None:
        return
    others = [each.node.name for each in subject.uses.writers(key) if each.node is not write.node]
    is_read = any(read.node is write.node for read in subject.uses.readers(key))
    shared = f" what {' and '.join(others)} wrote there is gone before a tool can read it;" if others else ""
    yield _finding(
        target, "output", agent.name, None,
        f"Under {target.name} every event of {agent.name} writes {key!r}, a call of a tool too, with an empty text:{shared} "
        "tools and placeholders read an empty value until the answer comes.",
        f"Give {agent.name} an output_key of its own{' that nothing reads before its answer' if is_read else ''}.",
        "warning" if others or is_read else "info",
    )  # fmt: skip


def _stored(subject: Subject, target: Rules, write: Write) -> Iterator[Finding]:
    """A reply to an output_schema, stored parsed by one and raw by the other."""
    agent, rules = write.node.agent, subject.rules
    if agent.output_schema is None:
        return
    reply = Event(agent.name, Content.model(json.dumps(_sample(agent.output_schema))))
    here, there = rules.output(reply, agent), target.output(reply, agent)
    if here is None or there is None:
        return
    is_same = type(here.value) is type(there.value)
    rule = "text_of" if is_same else "output"
    readers = [read for read in _first_of_each(subject, write.key) if order(write.node, read.node) != "later"]
    for read in readers:
        fix = f"Leave out the output_schema of {agent.name} and check its text in a callback: text reads the same everywhere."
        yield from _as_text(subject, target, read, rule, here.value, there.value, fix)
    if not is_same and not readers:
        yield _finding(
            target, rule, agent.name, None,
            f"{write.key!r} holds {_kind(here.value)} under {rules.name}, {_kind(there.value)} under {target.name}.",
            "Code that reads it must take both.", "info",
        )  # fmt: skip


def _sample(schema: Mapping[str, Any]) -> Any:
    """A value that fits a Gemini schema, with every property."""
    kind = str(schema.get("type", "OBJECT")).upper()
    if schema.get("enum"):
        return schema["enum"][0]
    if kind == "ARRAY" and schema.get("items"):
        return [_sample(schema["items"])]
    if kind == "OBJECT":
        return {name: _sample(inner) for name, inner in (schema.get("properties") or {}).items()}
    return _SAMPLES.get(kind)


def _kind(value: Any) -> str:
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "a map"


def _read(subject: Subject, target: Rules) -> Iterator[Finding]:
    """A history that ends on the agent's own reply, as in a loop of one agent."""
    for node in subject.uses.nodes:
        inner = [each for each in node.walk() if isinstance(each, LlmNode)]
        if not isinstance(node.agent, LoopAgent) or len(inner) != 1:
            continue
        agent, model = inner[0].agent, model_name(inner[0])
        events = [Event(USER, Content.user("…")), Event(agent.name, Content.model("…"))]
        one, other = (_sent(rules, agent, model, events) for rules in (subject.rules, target))
        if len(one) == len(other):
            continue
        more, fewer = (subject.rules, target) if len(one) > len(other) else (target, subject.rules)
        _, added = max(one, other, key=len)[-1]
        yield _finding(
            target, "contents", agent.name, None,
            f"From its second iteration on, {agent.name} is sent its own reply last. Under {more.name} another turn of the "
            f"user's follows it, {one_line(added, _SHOWN)!r}; under {fewer.name} none does.",
            "Say in the instruction what an iteration is to do, by a key that it reads.", "info",
        )  # fmt: skip


def _sent(rules: Rules, agent: LlmAgent, model: str, events: list[Event]) -> list[tuple[str | None, str]]:
    include = agent.include_contents
    pairs = rules.contents(agent, model, None, events, IncludeContents(include))
    return [(content.role, content.text) for content, _ in pairs]


def _identities(subject: Subject, target: Rules) -> Iterator[Finding]:
    """What an agent is told that it is, but for line breaks and full stops."""
    for node in subject.uses.llm_nodes:
        one, other = (_words(rules.identity(node.agent)) for rules in (subject.rules, target))
        if one == other:
            continue
        if not other:
            message = f"Under {target.name} {node.name} is not told its name and description"
            message += ", because it has an output_schema." if node.agent.output_schema is not None else "."
            fix = "If the answer depends on them, say them in the instruction."
        else:
            said = target.identity(node.agent) or ""
            message = (
                f"Under {target.name} the name and description are told in other characters: {one_line(said, 160)}"
            )
            fix = "Leave quotes, backslashes and line breaks out of the name and description."
        yield _finding(target, "identity", node.name, None, message, fix, "info")


def _words(identity: str | None) -> str:
    return re.sub(r"[\s.]+", "", identity or "")


def _asked_by(subject: Subject, target: Rules) -> Iterator[Finding]:
    for node in subject.uses.llm_nodes:
        model = model_name(node)
        ways = [rules.schema_by_tool(node.agent, model) for rules in (subject.rules, target)]
        if model and ways[0] != ways[1]:
            by = ["by the tool set_model_response" if way else "by a response schema" for way in ways]
            yield _finding(
                target, "schema_by_tool", node.name, None,
                f"With {model}, tools and an output_schema, the answer is asked for {by[0]} under {subject.rules.name}, "
                f"{by[1]} under {target.name}.",
                "Put the tools and the output_schema into two steps.",
            )  # fmt: skip


def _configs(subject: Subject, target: Rules) -> Iterator[Finding]:
    """Fields of the config that only one of both sends."""
    for node in subject.uses.llm_nodes:
        given = node.agent.generate_content_config
        named = set(given.to_dict()) if given is not None else set()
        one, other = (set(rules.config(node.agent, model_name(node))) & named for rules in (subject.rules, target))
        for field in sorted(one ^ other):
            sends, leaves = (subject.rules, target) if field in one else (target, subject.rules)
            yield _finding(
                target, "config", node.name, None, f"{field} is sent under {sends.name}, and left out under {leaves.name}.",
                "Take a value that is not zero, or one that the model uses anyway.",
            )  # fmt: skip


def _loops(subject: Subject, target: Rules) -> Iterator[Finding]:
    for node in subject.uses.nodes:
        if isinstance(node.agent, LoopAgent):
            one, other = (_limit(rules, node.agent) for rules in (subject.rules, target))
            if one != other:
                yield _finding(
                    target, "loop_limit", node.name, None,
                    f"The loop runs {one} under {subject.rules.name}, {other} under {target.name}.",
                    "Give it a max_iterations of 1 or more.",
                )  # fmt: skip


def _limit(rules: Rules, loop: LoopAgent) -> str:
    limit = rules.loop_limit(loop.max_iterations)
    return "without a limit" if limit is None else f"at most {limit} times"


def _temp_keys(subject: Subject, target: Rules) -> Iterator[Finding]:
    """temp: keys that the run is given to start with."""
    for key in sorted(subject.given):
        if key.startswith(TEMP_PREFIX) and _keeps(subject.rules, key) and not _keeps(target, key):
            yield _finding(
                target, "start_state", subject.uses.root.name, None,
                f"{key!r}, which the session is given to start with, is dropped under {target.name}.",
                "Give it under a key without temp:, or set it in a before_agent_callback.",
            )  # fmt: skip


def _keeps(rules: Rules, key: str) -> bool:
    return key in rules.start_state({key: ""})
