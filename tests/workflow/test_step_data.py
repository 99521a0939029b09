"""What goes into a step and what comes out: payload, context, state, conditions, adapters."""

from __future__ import annotations

import math
from typing import Any

import pytest

from adknb.core.errors import SpecError
from adknb.core.specs import LlmAgent
from adknb.models.scripted import ScriptedModel
from adknb.workflow.adapters import JsonAdapter
from adknb.workflow.data import PipelineData
from adknb.workflow.errors import StepFailedError
from adknb.workflow.retry import RetryPolicy
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow
from tests.workflow.flows import Function, adds, told, workflow

pytestmark = pytest.mark.anyio


async def test_each_step_is_handed_what_the_one_before_put_out() -> None:
    a, b = adds("a"), adds("b")
    result = await workflow(Step(name="a", agent=a), Step(name="b", agent=b)).execute("in:")
    assert (a.seen, b.seen) == (["in:"], ["in:a"])
    assert (result.output, result.status, result.token_used) == ("in:ab", "completed", 0)


async def test_an_output_stands_in_the_context_under_its_name_and_as_an_identifier() -> None:
    result = await workflow(Step(name="fact-check", agent=adds("!")), Step(name="2nd", agent=adds("?"))).execute("in")
    assert dict(result.data.context) == {
        "fact-check_output": "in!", "fact_check_output": "in!", "2nd_output": "in!?", "_2nd_output": "in!?",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("step", "key", "author"),
    [
        ("fact-check", "fact_check_output", "fact_check"), ("2nd", "_2nd_output", "step_2nd"), ("user", "user_output", "step_user"),
        ("<b>é</b>", "_b_é__b__output", "b_b"), ("--", "___output", "step"), ("a__b", "a__b_output", "a_b"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("rules", ["java", "go", "js"])
async def test_a_step_may_have_any_name(step: str, key: str, author: str, rules: str) -> None:
    result = await workflow(Step(name=step, agent=adds("!")), rules=rules).execute("in")
    assert result.session.state == {f"{step}_output": "in!", key: "in!"}
    assert [event.author for event in result.session.events] == [author]


async def test_the_context_stands_in_the_state_where_placeholders_read_it() -> None:
    editor = LlmAgent(name="editor", instruction="In a {tone} tone: {fact_check_output}")
    flow = SequentialWorkflow(
        [Step(name="fact-check", agent=adds("!")), Step(name="edit", agent=editor)], model=ScriptedModel(["done"])
    )
    result = await flow.execute("in", {"tone": "calm", "nothing": None})
    assert result.run_of("edit").step("editor").requests[0].sent.system[0].text == "In a "
    sent = result.run_of("edit").step("editor").requests[0].sent.system_instruction
    assert sent is not None
    assert sent.startswith("In a calm tone: in!")
    assert result.session.state == {
        "tone": "calm", "fact-check_output": "in!", "fact_check_output": "in!", "edit_output": "done",
    }  # fmt: skip


async def test_a_value_that_becomes_null_leaves_the_state() -> None:
    result = await workflow(Step(name="a", agent=adds("a"), context_updates={"tone": None})).execute(
        "in", {"tone": "x"}
    )
    assert result.data.context["tone"] is None
    assert result.session.state == {"a_output": "ina"}


@pytest.mark.parametrize(("wanted", "output"), [(True, "in:ab"), (False, "in:a")])
async def test_a_condition_decides_by_the_data(wanted: bool, output: str) -> None:
    flow = workflow(
        Step(name="a", agent=adds("a")),
        Step(name="b", agent=adds("b"), condition=lambda data: data.context["wanted"]),
    )
    result = await flow.execute("in:", {"wanted": wanted})
    assert result.output == output
    assert told(result)[2:] == (["b started 1", "b completed 1"] if wanted else ["b skipped 0"])
    assert ("b_output" in result.data.context) == wanted


async def test_a_condition_may_be_async_and_what_it_raises_is_an_error_of_the_step() -> None:
    async def no(data: PipelineData) -> bool:
        return False

    assert (await workflow(Step(name="a", agent=adds("a"), condition=no)).execute("in")).output == "in"
    flow = workflow(Step(name="a", agent=adds("a"), condition=lambda data: data.context["x"], on_error="skip"))
    assert told(await flow.execute("in")) == ["a failed 0", "a skipped 0"]


async def test_adapters_and_transformer_come_around_the_agent_in_their_order() -> None:
    agent = Function(lambda payload: f'{{"said": "{payload}"}}')
    flow = workflow(
        Step(name="a", agent=lambda payload: {"topic": payload}),
        Step(
            name="b", agent=agent, input_adapter=JsonAdapter(dict[str, str]),
            transformer=lambda payload: f"about {payload['topic']}", output_adapter=JsonAdapter(dict[str, str]),
        ),
    )  # fmt: skip
    result = await flow.execute("bees")
    assert agent.seen == ["about bees"]
    assert result.output == {"said": "about bees"}
    assert result.data.context["b_output"] == {"said": "about bees"}


async def test_an_agent_is_sent_a_payload_that_is_no_text_as_json() -> None:
    flow = SequentialWorkflow(
        [Step(name="a", agent=lambda payload: ["é", 1]), Step(name="b", agent=LlmAgent(name="b"))],
        model=ScriptedModel(["ok"]),
    )
    sent = (await flow.execute("in")).run_of("b").step("b").requests[0].sent
    assert [content.text for content in sent.contents] == ['["é", 1]']


async def test_an_output_that_its_adapter_refuses_is_asked_for_again() -> None:
    answers = iter(["no JSON", '{"n": 1}'])
    step = Step(
        name="a", agent=lambda payload: next(answers), output_adapter=JsonAdapter(),
        retry_policy=RetryPolicy(max_attempts=2, backoff=lambda attempt: 0.0, retry_on=lambda error: True),
    )  # fmt: skip
    result = await workflow(step).execute("in")
    assert result.output == {"n": 1}
    assert told(result) == ["a started 1", "a retry 1", "a started 2", "a completed 2"]
    assert len(result.runs["a"]) == 2
    assert [event.text for event in result.session.events] == ['{"n": 1}']


async def test_context_updates_are_made_of_the_step_s_output() -> None:
    def needs_check(data: PipelineData) -> dict[str, Any]:
        return {"require_fact_check": data.payload["facts"] > 0, "seen": data.context["a_output"]}

    flow = workflow(
        Step(name="a", agent=lambda payload: {"facts": 2}, context_updates=needs_check),
        Step(name="b", agent=lambda data: f"{data.context['require_fact_check']} {data.context['seen']}"),
    )
    assert (await flow.execute("in")).output == "True {'facts': 2}"


async def test_context_updates_must_be_a_dict() -> None:
    with pytest.raises(
        StepFailedError, match="context_updates returned 5; return a dict of what the context gets, or None"
    ):
        await workflow(Step(name="a", agent=adds("a"), context_updates=lambda data: 5)).execute("in")


async def test_a_function_that_asks_for_the_data_gets_it_and_may_return_it_changed() -> None:
    def annotated(everything: PipelineData) -> PipelineData:
        return everything.with_(payload=len(everything.payload)).with_context(counted=True)

    result = await workflow(Step(name="a", agent=annotated)).execute("four", {"kept": 1})
    assert result.output == 4
    assert dict(result.data.context) == {"kept": 1, "a_output": 4, "counted": True}
    assert result.session.state == {"kept": 1, "a_output": 4, "counted": True}


@pytest.mark.parametrize(
    ("returned", "why"),
    [
        (None, "it returned None"),
        ({1, 2}, "'the output': a set cannot be stored"),
        ([float("nan")], "nan is not a JSON number"),
    ],
)
async def test_a_function_must_return_a_payload(returned: Any, why: str) -> None:
    with pytest.raises(StepFailedError, match=why):
        await workflow(Step(name="a", agent=lambda payload: returned)).execute("in")


async def test_a_payload_cannot_be_changed_in_place() -> None:
    def change(payload: list[int]) -> str:
        payload.append(3)
        return "changed"

    with pytest.raises(StepFailedError, match="pipeline data is immutable"):
        await workflow(Step(name="a", agent=change)).execute([1, 2])


async def test_a_step_that_does_not_read_the_payload_is_sent_the_workflow_s_input() -> None:
    a, b, c = adds("a"), adds("b"), adds("c")
    flow = workflow(
        Step(name="a", agent=a),
        Step(name="b", agent=b, reads=("a_output",)),
        Step(name="c", agent=c, reads=("payload",)),
    )
    result = await flow.execute("in:")
    assert (a.seen, b.seen, c.seen) == (["in:"], ["in:"], ["in:b"])
    assert result.output == "in:bc"


async def test_metadata_says_who_made_the_payload_and_after_whom() -> None:
    flow = workflow(
        Step(name="a", agent=adds("a")),
        Step(name="b", agent=adds("b", ConnectionError("x")), retry_policy=RetryPolicy(2, backoff=lambda attempt: 2.0)),
    )
    result = await flow.execute("in:")
    first, second = (outcome.metadata for outcome in result.outcomes)
    assert result.metadata == second
    assert (second.step_name, second.retry_count, second.latency_ms) == ("b", 1, 0.0)
    assert second.previous_steps == (*first.previous_steps, first.step_id)
    assert len({*second.previous_steps, second.step_id}) == 3


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": ""}, "Step '': name: a step's name is one line of text, not ''"),
        ({"agent": None}, "Step 'a': agent: the step needs an agent or a function"),
        ({"agent": 5}, "Step 'a': agent: an agent or a function is needed, not 5"),
        ({"timeout": 0}, "Step 'a': timeout: seconds above 0 are needed, or None for no limit; not 0.0"),
        (
            {"on_error": "fallback"},
            "Step 'a': fallback: on_error='fallback' and fallback=… go together; give both or neither",
        ),
        ({"fallback": str}, "Step 'a': fallback: on_error='fallback' and fallback=… go together; give both or neither"),
        (
            {"context_updates": 1},
            "Step 'a': context_updates: a dict, or a function of the data that returns one, not 1",
        ),
        (
            {"input_adapter": 1},
            "Step 'a': input_adapter: an adapter with convert(data) and validate(data) is needed, not 1",
        ),
        (
            {"transformer": 1},
            "Step 'a': transformer: an object with transform(data), or a function of the payload, is needed, not 1",
        ),
        ({"on_eror": "skip"}, "Step 'a': there is no field 'on_eror'. Did you mean 'on_error'?"),
    ],
)
def test_a_wrong_step_says_what_is_wrong(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError) as caught:
        Step(**{"name": "a", "agent": str, **wrong})
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("steps", "settings", "words"),
    [
        ([], {}, "workflow 'workflow' has no steps. Give it some: steps=[Step(name=…, agent=…)]"),
        (["a-b", "a_b"], {}, "workflow 'workflow': steps 'a-b' and 'a_b' would both write 'a_b_output'. Rename one."),
        (["a", "a"], {}, "workflow 'workflow': steps 'a' and 'a' would both write 'a_output'. Rename one."),
        (["a"], {"middleware": [5]}, "5 is no middleware: an async function of (request, call_next) is needed"),
        (["a"], {"token_budget": -1}, "tokens are counted in whole numbers from 0, not -1"),
        (["a"], {"max_parallel": 0}, "max_parallel is 1 or more steps at once, not 0"),
        (["a"], {"max_parallel": 1.5}, "max_parallel is 1 or more steps at once, not 1.5"),
        (["a"], {"timeout": "3"}, "timeout is seconds above 0, or None for no limit; not '3'"),
        (["a"], {"timeout": math.nan}, "timeout is seconds above 0, or None for no limit; not nan"),
        (["a"], {"timeout": 0}, "timeout is seconds above 0, or None for no limit; not 0"),
    ],
)
def test_a_wrong_workflow_says_what_is_wrong(steps: list[str], settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError) as caught:
        SequentialWorkflow([Step(name=name, agent=str) for name in steps], **settings)
    assert str(caught.value) == words
