"""Results as pandas tables. Rows are plain dicts first, so that cards can show them without pandas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from adknb.analysis.accounts import accounts
from adknb.analysis.contract import Contract
from adknb.analysis.findings import Lint
from adknb.analysis.freshness import Ledger
from adknb.compare.comparison import Comparison
from adknb.compare.dry import PromptComparison
from adknb.compare.portability import Portability
from adknb.core.pending import pending_calls
from adknb.core.protocols import TokenCounter
from adknb.core.run import Run, Session
from adknb.core.views import register_table
from adknb.sessions.adk_database import AdkSessions
from adknb.tables import lab
from adknb.tables.adk_sessions import ADK_SESSIONS, adk_session_rows
from adknb.tables.checks import CONTRACT, LINT, contract_rows, lint_rows
from adknb.tables.comparison import PROMPTS, comparison_rows
from adknb.tables.events import EVENTS, event_rows
from adknb.tables.frame import Kind, frame
from adknb.tables.pending import PENDING, pending_rows
from adknb.tables.portability import PORTABILITY, portability_rows
from adknb.tables.prompt import PROMPT, find_request, prompt_rows
from adknb.tables.session import TURNS, session_event_rows, session_history_rows, session_state_rows, turn_rows
from adknb.tables.state import STATE, STATE_HISTORY, history_rows, state_rows
from adknb.tables.steps import COST, STEPS, TOKENS, step_rows, token_rows
from adknb.tables.workflow import (
    CHECKPOINTS,
    OUTCOMES,
    PLAN,
    TIMELINE,
    checkpoint_rows,
    outcome_rows,
    plan_rows,
    timeline_rows,
)
from adknb.tokens.channels import pieces
from adknb.tokens.counter import default_counter
from adknb.tokens.prices import has_prices
from adknb.workflow.checkpoints import Checkpoints
from adknb.workflow.plan import Plan
from adknb.workflow.result import WorkflowResult

if TYPE_CHECKING:
    import pandas as pd


def state(run: Run, counter: TokenCounter | None = None) -> pd.DataFrame:
    return frame(state_rows(Ledger(run), counter or default_counter()), STATE)


def state_history(run: Run) -> pd.DataFrame:
    return frame(history_rows(Ledger(run)), STATE_HISTORY)


def events(run: Run) -> pd.DataFrame:
    return frame(event_rows(Ledger(run)), EVENTS)


def _with_cost(columns: Mapping[str, Kind]) -> Mapping[str, Kind]:
    return {**columns, **COST} if has_prices() else columns


def steps(run: Run, counter: TokenCounter | None = None) -> pd.DataFrame:
    ledger = Ledger(run)
    return frame(step_rows(ledger, accounts(ledger, counter or default_counter())), _with_cost(STEPS))


def tokens(run: Run, counter: TokenCounter | None = None) -> pd.DataFrame:
    ledger = Ledger(run)
    return frame(token_rows(ledger, accounts(ledger, counter or default_counter())), _with_cost(TOKENS))


def prompt(run: Run, name: str, request: int = 1, counter: TokenCounter | None = None) -> pd.DataFrame:
    ledger, step = Ledger(run), run.step(name)
    made_of = pieces(find_request(step, request).sent, counter or default_counter(), ledger.earlier)
    return frame(prompt_rows(ledger, step, request, made_of), PROMPT)


def pending(run: Run) -> pd.DataFrame:
    return frame(pending_rows(pending_calls(run.turn_events)), PENDING)


def register() -> None:
    """Give every result its tables."""
    for function in (state, state_history, events, steps, tokens, prompt, pending):
        register_table(Run, function.__name__, function)
    register_table(Session, "turns", lambda session: frame(turn_rows(session, default_counter()), TURNS))
    register_table(Session, "state", lambda session: frame(session_state_rows(session, default_counter()), STATE))
    register_table(Session, "state_history", lambda session: frame(session_history_rows(session), STATE_HISTORY))
    register_table(Session, "events", lambda session: frame(session_event_rows(session), EVENTS))
    register_table(Session, "pending", lambda session: frame(pending_rows(pending_calls(session.history)), PENDING))
    register_table(Contract, "contract", lambda contract: frame(contract_rows(contract), CONTRACT))
    register_table(Lint, "lint", lambda lint: frame(lint_rows(lint), LINT))
    register_table(Portability, "portability", lambda result: frame(portability_rows(result), PORTABILITY))
    register_table(WorkflowResult, "timeline", lambda result: frame(timeline_rows(result), TIMELINE))
    register_table(WorkflowResult, "steps", lambda result: frame(outcome_rows(result), OUTCOMES))
    register_table(Plan, "plan", lambda plan: frame(plan_rows(plan), PLAN))
    register_table(Checkpoints, "checkpoints", lambda checkpoints: frame(checkpoint_rows(checkpoints), CHECKPOINTS))
    for table in (lab.rows, lab.summary, lab.tokens, lab.twice, lab.flips, lab.by_input, lab.encodable):
        register_table(Comparison, table.__name__, table)
    register_table(AdkSessions, "sessions", lambda sessions: frame(adk_session_rows(sessions), ADK_SESSIONS))
    register_table(PromptComparison, "prompts", lambda comparison: frame(comparison_rows(comparison), PROMPTS))
