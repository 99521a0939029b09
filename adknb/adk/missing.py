"""google-adk's errors for a value that an instruction needs and nobody wrote, in adknb's words."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from adknb.core.errors import AdknbError
from adknb.rules.base import Placeholder, Rules

_KEY: Final = re.compile(r"Context variable not found: `([^`]+)`")
_ARTIFACT: Final = re.compile(r"Artifact '?(.+?)'? not found", re.DOTALL)


def said(error: BaseException, rules: Rules, agent: str, known: Collection[str]) -> AdknbError | None:
    """The error as `MissingKeyError` or `MissingArtifactError` of `agent`; None for any other.

    `known` are the keys that there are. Source: `flows/llm_flows/prompt/_instructions_utils.py`.
    """
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else ""
    key, artifact = _KEY.match(text), _ARTIFACT.match(text)
    if key is not None:
        return rules.missing(Placeholder(f"{{{key[1]}}}", key[1], False), agent, known)
    if artifact is not None:
        return rules.missing(Placeholder(artifact[1], artifact[1], False, artifact=True), agent, known)
    return None
