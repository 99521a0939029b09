"""A user's own strategy that returns something else than pairs: the trial has failed, and its row says what to return."""

from typing import Any

import pytest

from adknb import History, ScriptedModel, compare_variants
from tests.compare.pipelines import two_steps


class Returns:
    """A strategy of the user's own that returns whatever it was made with."""

    name = "mine"

    def __init__(self, returned: Any) -> None:
        self.returned = returned

    def contents(self, history: History) -> Any:
        return self.returned


@pytest.mark.parametrize(
    "returned", [None, 5, [5], [None], ["ab"], [("a", "b")], [(None, None)], [(1, 2, 3)]], ids=repr
)
def test_what_is_no_list_of_pairs_is_said(returned: Any) -> None:
    model = ScriptedModel({"A": ["a"], "B": ["b"]})
    comparison = compare_variants(two_steps(), ["one"], ["default", Returns(returned)], model=model)
    assert comparison.record("mine", 1).error == (
        f"SpecError: agent 'A': the context strategy 'mine' returned {returned!r}; return a list of (content, event) pairs, "
        "such as history.included(IncludeContents.NONE)"
    )
    assert comparison.record("default", 1).error == ""
