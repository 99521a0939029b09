"""What results look like: each has a card in HTML and one in plain text. Neither needs IPython or ipywidgets."""

from __future__ import annotations

from adknb.analysis.contract import Contract
from adknb.analysis.findings import Lint
from adknb.compare.dry import PromptComparison
from adknb.core.run import Run, Session
from adknb.core.views import register_card, register_styler
from adknb.notebook.cards.comparison_card import comparison_html, comparison_text
from adknb.notebook.cards.contract_card import contract_html, contract_text
from adknb.notebook.cards.lint_card import lint_html, lint_text
from adknb.notebook.cards.prompt_card import PromptView, prompt_html, prompt_text
from adknb.notebook.cards.run_card import run_html, run_text
from adknb.notebook.cards.session_card import session_html, session_text
from adknb.notebook.cards.styler import readable


def register() -> None:
    """Give results their cards and their readable tables."""
    register_card(Run, run_html, run_text)
    register_card(Session, session_html, session_text)
    register_card(PromptView, prompt_html, prompt_text)
    register_card(Contract, contract_html, contract_text)
    register_card(Lint, lint_html, lint_text)
    register_card(PromptComparison, comparison_html, comparison_text)
    for result in (Run, Session, Contract, Lint, PromptComparison):
        register_styler(result, readable)
