"""What changed between two JSON values, as JSON, and the second value from the first and that.

What two values share by identity is not looked into, so that the cost is that of the change, not of the whole.
"""

from __future__ import annotations

from typing import Any, Final

SAME: Final = None
"""The difference of two equal values."""


def difference(before: Any, after: Any) -> dict[str, Any] | None:
    """What makes `after` of `before`; `SAME` when they are equal.

    `{"value": V}` is another value. Of dicts `{"set": {key: difference}, "drop": [keys]}`. Of lists `{"keep": k, "then":
    [values], "end": m}`: the first k and the last m are the same, the values stand between; or `{"at": k, "each":
    [differences]}` where the list is as long as before and some in a row changed.
    """
    if before is after:
        return SAME
    if isinstance(before, dict) and isinstance(after, dict):
        return _of_dicts(before, after)
    if isinstance(before, list) and isinstance(after, list):
        return _of_lists(before, after)
    same = type(before) is type(after) and before == after and (before != 0 or repr(before) == repr(after))  # -0.0
    return SAME if same else {"value": after}


def applied(before: Any, change: dict[str, Any] | None) -> Any:
    """`before` after the change. `before` stays as it is, and what did not change is shared with it."""
    if change is SAME:
        return before
    if "value" in change:
        return change["value"]
    if "set" in change:
        result = {key: value for key, value in before.items() if key not in change["drop"]}
        result.update({key: applied(before.get(key), each) for key, each in change["set"].items()})
        return result
    if "each" in change:
        start, each = change["at"], change["each"]
        stop = start + len(each)
        middle = [applied(old, new) for old, new in zip(before[start:stop], each, strict=True)]
        return [*before[:start], *middle, *before[stop:]]
    return [*before[: change["keep"]], *change["then"], *before[len(before) - change["end"] :]]


def _of_dicts(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any] | None:
    gone = [key for key in before if key not in after]
    changed: dict[str, Any] = {}
    for key, value in after.items():
        if key not in before:
            changed[key] = {"value": value}
        elif (found := difference(before[key], value)) is not SAME:
            changed[key] = found
    return {"set": changed, "drop": gone} if changed or gone else SAME


def _of_lists(before: list[Any], after: list[Any]) -> dict[str, Any] | None:
    shorter = min(len(before), len(after))
    keep = 0
    while keep < shorter and difference(before[keep], after[keep]) is SAME:
        keep += 1
    end = 0
    while end < shorter - keep and difference(before[-1 - end], after[-1 - end]) is SAME:
        end += 1
    if keep == len(before) == len(after):
        return SAME
    stop = len(after) - end
    if len(before) == len(after):
        return {
            "at": keep,
            "each": [difference(old, new) for old, new in zip(before[keep:stop], after[keep:stop], strict=True)],
        }
    return {"keep": keep, "then": after[keep:stop], "end": end}
