"""What results look like: each has a card in HTML and one in plain text. Neither needs IPython or ipywidgets."""

from __future__ import annotations

from adknb.analysis.contract import Contract
from adknb.analysis.findings import Lint
from adknb.compare.comparison import Comparison
from adknb.compare.dry import PromptComparison
from adknb.compare.inspect import InputComparison
from adknb.compare.portability import Portability
from adknb.core.run import Run, Session
from adknb.core.views import register_card, register_chart, register_styler, show_tables_with
from adknb.notebook.cards.adk_sessions_card import adk_sessions_html, adk_sessions_text
from adknb.notebook.cards.agent_card import agent_html, agent_text
from adknb.notebook.cards.comparison_card import comparison_html, comparison_text
from adknb.notebook.cards.contract_card import contract_html, contract_text
from adknb.notebook.cards.help_card import help_html, help_text, verbs_html, verbs_text
from adknb.notebook.cards.history_card import history_html, history_text
from adknb.notebook.cards.lab_card import lab_html, lab_text
from adknb.notebook.cards.lab_input import input_html, input_text
from adknb.notebook.cards.lint_card import lint_html, lint_text
from adknb.notebook.cards.message_card import message_html, message_text
from adknb.notebook.cards.pipeline_card import pipeline_html, pipeline_text
from adknb.notebook.cards.portability_card import portability_html, portability_text
from adknb.notebook.cards.prompt_card import PromptView, prompt_html, prompt_text
from adknb.notebook.cards.run_card import run_html, run_text
from adknb.notebook.cards.run_diff_card import run_diff_html, run_diff_text
from adknb.notebook.cards.session_card import session_html, session_text
from adknb.notebook.cards.styler import readable
from adknb.notebook.cards.workflow_card import workflow_html, workflow_text
from adknb.notebook.cards.workflow_checkpoints_card import checkpoints_html, checkpoints_text
from adknb.notebook.cards.workflow_plan_card import plan_html, plan_text
from adknb.notebook.charts import chart
from adknb.notebook.results import AgentCard, HelpText, Message, PipelineCard, PromptHistory, RunDiff, VerbList
from adknb.notebook.shown import shown_table
from adknb.sessions.adk_database import AdkSessions
from adknb.workflow.checkpoints import Checkpoints
from adknb.workflow.plan import Plan
from adknb.workflow.result import WorkflowResult


def register() -> None:
    """Give results their cards and their readable tables."""
    register_card(Run, run_html, run_text)
    register_card(Session, session_html, session_text)
    register_card(AdkSessions, adk_sessions_html, adk_sessions_text)
    register_card(PromptView, prompt_html, prompt_text)
    register_card(Contract, contract_html, contract_text)
    register_card(Lint, lint_html, lint_text)
    register_card(PromptComparison, comparison_html, comparison_text)
    register_card(Portability, portability_html, portability_text)
    register_card(Comparison, lab_html, lab_text)
    register_card(InputComparison, input_html, input_text)
    register_card(WorkflowResult, workflow_html, workflow_text)
    register_card(Plan, plan_html, plan_text)
    register_card(Checkpoints, checkpoints_html, checkpoints_text)
    register_card(AgentCard, agent_html, agent_text)
    register_card(PipelineCard, pipeline_html, pipeline_text)
    register_card(PromptHistory, history_html, history_text)
    register_card(RunDiff, run_diff_html, run_diff_text)
    register_card(VerbList, verbs_html, verbs_text)
    register_card(HelpText, help_html, help_text)
    register_card(Message, message_html, message_text)
    register_chart(Comparison, chart)
    for result in (Run, Session, Contract, Lint, PromptComparison, Comparison, Portability):
        register_styler(result, readable)
    show_tables_with(shown_table)
