from .asserts import (
    assert_not_asked as assert_not_asked,
    assert_not_written as assert_not_written,
    assert_prompt_contains as assert_prompt_contains,
    assert_prompt_lacks as assert_prompt_lacks,
    assert_wrote as assert_wrote,
)
from .comparisons import assert_comparison as assert_comparison
from .malformed import malformed as malformed
from .step import (
    StepResult as StepResult,
    run_step as run_step,
)
