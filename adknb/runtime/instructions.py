"""An agent's instruction as the text of one request, each piece with its origin."""

from __future__ import annotations

from collections.abc import Mapping

from adknb.core.errors import AdknbError, AgentError
from adknb.core.requests import Segment
from adknb.rules.base import Placeholder, Rules, Sections, Template
from adknb.runtime.callbacks import ReadonlyContext, call
from adknb.runtime.context import InvocationContext
from adknb.runtime.tree import LlmNode


async def system_segments(context: InvocationContext, node: LlmNode) -> list[Segment]:
    """The system instruction. Raises `MissingKeyError` or `MissingArtifactError` before anything is sent."""
    root = node.root
    global_instruction = None
    source = root if isinstance(root, LlmNode) else node if node.rules.own_global_instruction else None
    if source is not None and source.agent.global_instruction != "":
        try:
            global_instruction = await _resolved(
                context, source.global_template, source.agent.global_instruction, "global instruction"
            )
        except AdknbError as error:
            raise node.rules.in_global_instruction(error) from error.__cause__
    instruction = None
    if node.agent.instruction != "":
        instruction = await _resolved(context, node.template, node.agent.instruction, "instruction")
    return node.rules.system(Sections(node.schema_note, global_instruction, instruction, node.identity, node.transfer))


async def _resolved(
    context: InvocationContext, template: Template | None, instruction: object, origin: str
) -> list[Segment] | None:
    if template is None:
        text = await call(context.node.name, origin, instruction, ReadonlyContext(context))  # type: ignore[arg-type]
        if not isinstance(text, str):
            raise AgentError(f"agent {context.node.name!r}: its {origin} function must return text, not {text!r}")
        return [Segment(text, origin)] if text or context.invocation.rules.empty_function_text_counts else None
    invocation = context.invocation
    rules, state = invocation.rules, invocation.session.state
    segments = []
    for piece in template:
        if isinstance(piece, str):
            segments.append(Segment(piece, origin))
        elif piece.artifact:
            artifact = await invocation.artifacts.load_artifact(invocation.session, piece.name)
            if artifact is not None:
                segments.append(Segment(rules.artifact_text(artifact), "artifact", piece.name))
            elif not piece.optional:
                first = _missing_key(template, state, rules) if rules.keys_are_missed_first else None
                raise rules.missing(first or piece, context.node.name, state)
        elif piece.name in state:
            segments.append(Segment(rules.text_of(state[piece.name]), "state", piece.name))
        elif (text := rules.text_without_value(piece.name)) is not None:
            segments.append(Segment(text, "state", piece.name))
        elif not piece.optional:
            raise rules.missing(piece, context.node.name, state)
    return segments


def _missing_key(template: Template, state: Mapping[str, object], rules: Rules) -> Placeholder | None:
    """The first required key without a value."""
    for piece in template:
        if isinstance(piece, str) or piece.artifact or piece.optional or piece.name in state:
            continue
        if rules.text_without_value(piece.name) is None:
            return piece
    return None
