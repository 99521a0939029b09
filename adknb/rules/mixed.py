"""One rule set with a single rule of another: to find which rule a difference comes from."""

from __future__ import annotations

from typing import Any, cast

from adknb.rules.base import Rules


def with_rule(base: Rules, other: Rules, name: str) -> Rules:
    """`base`, but for the rule `name` (a method or attribute of `Rules`), which is `other`'s.

    What `base` works out by that rule itself follows it too; what the rule asks further is answered by `other`.
    """
    kind: Any = type(base)
    rule = property(lambda self: getattr(other, name))
    mixed = kind.__new__(type(f"{kind.__name__}With", (kind,), {name: rule}))
    mixed.__dict__.update(base.__dict__)
    mixed.__dict__["name"] = f"{base.name} with {name} of {other.name}"  # what events keep is kept apart by this name
    return cast("Rules", mixed)
