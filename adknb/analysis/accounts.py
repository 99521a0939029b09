"""What each request of a run cost: its input by channel, what it was sent twice, the reply's tokens, the price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adknb.analysis.freshness import Ledger
from adknb.core.protocols import TokenCounter
from adknb.core.requests import Request
from adknb.core.run import StepRun
from adknb.core.usage import Usage
from adknb.tokens.channels import Channels, Piece, channels, part_text, pieces, sent_twice
from adknb.tokens.prices import price_of


@dataclass(frozen=True, slots=True)
class Account:
    """What one request cost: its pieces, its input by channel, the tokens sent twice by key, the reply's tokens."""

    step: StepRun
    number: int
    request: Request
    pieces: Sequence[Piece]
    channels: Channels
    twice: Mapping[str, int]
    output: int

    @property
    def cost(self) -> float | None:
        """The price of the request by the user's table (`set_prices`); None where the table has no such model."""
        price = price_of(self.request.sent.model)
        if price is None:
            return None
        return price.of(self.request.usage or Usage(self.channels.total, self.output))


def accounts(ledger: Ledger, counter: TokenCounter, steps: Iterable[StepRun] | None = None) -> list[Account]:
    """The account of every request of the run, or of some of its steps, in order. Reported usage wins over counts."""
    result = []
    for step in ledger.run.step_runs if steps is None else steps:
        for number, request in enumerate(step.requests, 1):
            made_of = pieces(request.sent, counter, ledger.earlier)
            sums = channels(made_of, counter.name, request.usage)
            twice = sent_twice(made_of, ledger.writer(request.seen))
            result.append(Account(step, number, request, made_of, sums, twice, _output(request, counter)))
    return result


def _output(request: Request, counter: TokenCounter) -> int:
    if request.usage is not None:
        return request.usage.output_tokens
    if request.reply is None or request.reply.content is None:
        return 0
    return sum(counter.count(part_text(part)) for part in request.reply.content.parts)
