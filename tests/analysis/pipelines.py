"""Pipelines in one line, and findings by their code."""

from __future__ import annotations

from typing import Any

from adknb import BaseAgent, Finding, LlmAgent, SequentialAgent, lint


def llm(name: str, instruction: Any = "", key: str | None = None, **fields: Any) -> LlmAgent:
    return LlmAgent(name=name, instruction=instruction, output_key=key, **fields)


def steps(*agents: BaseAgent) -> SequentialAgent:
    return SequentialAgent(name="root", sub_agents=agents)


def found(root: BaseAgent, code: str, **options: Any) -> list[Finding]:
    return [finding for finding in lint(root, **options) if finding.code == code]


def only(root: BaseAgent, code: str, **options: Any) -> Finding:
    [finding] = found(root, code, **options)
    return finding


def place(finding: Finding) -> tuple[int, int, str]:
    assert finding.place is not None
    return finding.place.line, finding.place.column, finding.place.text
