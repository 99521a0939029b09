"""What a workflow does about a step that failed."""

from __future__ import annotations

from enum import StrEnum


class ErrorAction(StrEnum):
    """What happens when a step has failed for good.

    The classifier comes first. It says whether the same call may succeed later: if so, and the retry policy has attempts left,
    the step is tried again, whatever its action. The action is for the error that remains:

    | action     | payload that goes on  | step's keys | `data.error` | `data.warnings` | the run                        |
    |------------|-----------------------|-------------|--------------|-----------------|--------------------------------|
    | `fail`     | none                  | not set     |              |                 | ends: failed, the error raised |
    | `skip`     | the step's input      | not set     | as it was    | as they were    | goes on as if without the step |
    | `retry`    | none                  | not set     |              |                 | as `fail`                      |
    | `fallback` | the fallback's output | the same    | as it was    | and the error   | goes on                        |
    | `continue` | the step's input      | not set     | the error    | and the error   | goes on                        |

    The step's keys are `{step}_output` and the output_key of its agent, of several that of the last: what reads `{draft}` reads
    the fallback's answer there, unless the fallback writes that key itself. The output_adapter and context_updates are for
    the agent alone; a fallback function may return data with a context of its own. The same holds for data that an error
    handler gives.

    `retry` is for a step without a policy of its own, in a workflow without one: it then has three attempts. A fallback or
    an error handler that raises ends the run with its own error, the step's as the cause. `data.error` stays until a later
    step puts another in its place, so that every later step can decide by it.

    The workflow's total timeout and a cancellation end the run whatever the action; they are nobody's error to go on with.
    """

    FAIL = "fail"
    SKIP = "skip"
    RETRY = "retry"
    FALLBACK = "fallback"
    CONTINUE = "continue"
