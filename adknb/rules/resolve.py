"""Rule sets by name."""

from __future__ import annotations

from typing import Final

from adknb.core.errors import SpecError, near_names
from adknb.rules.base import Rules
from adknb.rules.go import GoFixedRules, GoRules
from adknb.rules.java import JavaRules
from adknb.rules.js import JsRules
from adknb.rules.python import PythonRules

_RULES: Final[dict[str, Rules]] = {
    "java": JavaRules(), "go": GoRules(), "go_fixed": GoFixedRules(), "js": JsRules(), "python": PythonRules(),
}  # fmt: skip

NAMES: Final = tuple(_RULES)
"""The rule sets that there are."""


def resolve_rules(value: str | Rules) -> Rules:
    """The rule set of this name; a rule set as it is. Raises `SpecError` with the names that there are."""
    if isinstance(value, Rules):
        return value
    if value not in _RULES:
        raise SpecError(f"there is no rule set {value!r}.{near_names(str(value), _RULES)}")
    return _RULES[value]
