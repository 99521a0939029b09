"""ADK's own names for what an agent's line says otherwise: each is answered with where it stands."""

import pytest

from adknb import GenerateContentConfig, LlmAgent
from adknb.notebook.agent_line import AGENT_LINE
from adknb.notebook.command import UsageError
from adknb.notebook.magic_lines import AGENT
from adknb.notebook.pipelines import CALLBACKS

OPTIONS = {
    "output_key": "--key KEY", "output_schema": "--schema NAME", "include_contents": "--include default|none",
    "generate_content_config": "--config JSON", **{f"{kind}_callback": f"--{kind.replace('_', '-')} NAMES" for kind in CALLBACKS},
    **dict.fromkeys(
        ("top_p", "top_k", "stop_sequences", "presence_penalty", "frequency_penalty", "candidate_count"), "--config JSON"
    ),
}  # fmt: skip
ELSEWHERE = (
    "name", "instruction", "sub_agents", "global_instruction", "disallow_transfer_to_parent", "disallow_transfer_to_peers",
)  # fmt: skip
SAME = ("description", "model", "tools", "temperature", "max_output_tokens", "seed")


def said(line: str) -> str:
    with pytest.raises(UsageError) as raised:
        AGENT.parse(line)
    return str(raised.value)


def test_every_field_of_adk_s_is_known() -> None:
    fields = {*LlmAgent.model_fields, *GenerateContentConfig.model_fields}
    assert fields == {*OPTIONS, *ELSEWHERE, *SAME}
    assert {*SAME} <= {option.destination for option in AGENT.options}
    assert set(ELSEWHERE) == set(AGENT.elsewhere) == set(AGENT_LINE.elsewhere)


@pytest.mark.parametrize(("field", "option"), OPTIONS.items())
def test_a_field_of_adk_s_is_answered_with_its_option(field: str, option: str) -> None:
    for name in (f"--{field}", f"--{field.replace('_', '-')}"):
        assert said(f"A {name} x").startswith(f"%%agent: there is no option {name!r}. Write {option}: ")
    assert said(f"A {field}=x").startswith(f"%%agent: '{field}=x' is one word too many. Write {option}: ")


@pytest.mark.parametrize("field", ELSEWHERE)
def test_a_field_that_stands_elsewhere(field: str) -> None:
    assert said(f"A --{field} x") == f"%%agent: there is no option '--{field}'. {AGENT.elsewhere[field]}"


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("--output-keys", "--key"),
        ("--include-content", "--include"),
        ("--before-agent-calback", "--before-agent"),
        ("--outputkey", "--key"),
    ],
)
def test_a_mistyped_field_offers_its_option_first(name: str, option: str) -> None:
    assert said(f"A {name} x").startswith(f"%%agent: there is no option {name!r}. Did you mean {option!r}")
