"""The news desk's tools, agents and replies."""

from __future__ import annotations

import json

import pytest

from adknb import FunctionCall, ModelError, PipelineData, Runner
from adknb.core.specs import LlmAgent
from adknb.examples.news import (
    OPINION_TOPIC,
    SOURCES,
    TOPIC,
    ResearchToWritingTransformer,
    editor_expert,
    fact_checker,
    find_sources,
    join_reports,
    search_expert,
    source_reader,
    writing_expert,
    written,
)
from adknb.examples.news_replies import NOTE, news_replies
from adknb.examples.news_tools import articles, check_fact, read_article, search_news
from adknb.examples.unsteady import UnsteadyModel


def ids(topic: str) -> list[str]:
    return [each["id"] for each in search_news(topic)["articles"]]


def said(agent: LlmAgent, message: str, **state: str) -> str:
    return Runner(agent, model=news_replies()).run(message, state=state).output


def test_the_best_matches_come_newest_first() -> None:
    assert ids(TOPIC) == [
        "blog-battery", "watch-battery", "grid-battery", "review-battery", "courier-battery", "university-battery",
    ]  # fmt: skip
    assert ids("ferry autopilot, open source") == ["weekly-ferry"]
    assert ids("the latest on quantum teleportation") == []
    assert ids("") == []


def test_an_article_keeps_facts_and_opinions_apart() -> None:
    found = read_article("union-ferry")
    assert (found["source"], found["facts"], found["opinions"]) == (
        "Seafarers' Letter",
        ["A captain can switch the docking autopilot off within 1 second."],
        ["The union wants two people on the bridge whatever the autopilot does."],
    )
    assert read_article("../union-ferri") == {
        "error": "there is no article '../union-ferri'. Did you mean 'union-ferry'?"
    }


def test_the_articles_are_distinct_and_none_is_cut() -> None:
    assert len({each.id for each in articles()}) == len(articles()) == 12
    assert all(each.date.endswith("Z") and each.opinions for each in articles())


def test_two_sources_are_high_confidence_and_another_number_is_low() -> None:
    assert check_fact("The tidal battery stores 46 megawatt hours.")["confidence"] == "high"
    assert check_fact("The docking autopilot is published under the Apache 2.0 licence.")["confidence"] == "medium"
    wrong = check_fact("The tidal battery stores 64 megawatt hours.")
    assert wrong["confidence"] == "low"
    assert wrong["confirmed_by"] == ["Tide Blog"]
    assert wrong["contradicted_by"] == ["The Ellery Courier", "Coast Energy Review"]
    assert wrong["instead"][0] == "The tidal battery stores 46 megawatt hours. (The Ellery Courier)"
    assert check_fact("Whales read the Courier.") == {
        "claim": "Whales read the Courier.", "confidence": "low", "confirmed_by": [], "contradicted_by": [], "instead": [],
    }  # fmt: skip


def test_research_calls_its_tools_then_answers() -> None:
    run = Runner(search_expert(), model=news_replies()).run(TOPIC)
    calls = [[call.name for call in event.function_calls] for event in run.session.events if event.function_calls]
    assert calls == [["search_news"], ["read_article"] * SOURCES]
    first = next(call for event in run.session.events for call in event.function_calls)
    assert first == FunctionCall("search_news", {"topic": "tidal battery"}, first.id)
    research = json.loads(run.output)
    assert (len(research["facts"]), len({fact["source"] for fact in research["facts"]})) == (10, SOURCES)
    assert NOTE in run.steps.note[0]


def test_the_writers_task_names_every_source_and_bad_json_is_passed_on() -> None:
    transform = ResearchToWritingTransformer().transform
    research = {
        "topic": "tides", "facts": [{"claim": "It is wet.", "source": "A", "date": "2026-03-02T07:30:00Z"}],
        "opinions": [{"view": "It is nice.", "source": "B"}],
    }  # fmt: skip
    task = ResearchToWritingTransformer.TASK
    assert transform(json.dumps(research)) == (
        f"{task}\n\nTopic: tides\nFacts:\n- It is wet. (A, 2026-03-02)\nOpinions:\n- It is nice. (B)"
    )
    for bad in ("no JSON", "[]", "null", '{"topic": "tides"}', '{"topic": 1, "facts": [1], "opinions": []}'):
        assert transform(bad) == f"{task}\n\n{bad}"


def test_a_reply_that_is_no_json_is_the_article_and_is_checked() -> None:
    assert written("Tides come.") == {"article": "Tides come.", "claims": [], "require_fact_check": True}
    assert written('{"headline": "H", "article": "A", "claims": ["c"], "require_fact_check": false}') == {
        "article": "H\n\nA", "claims": ["c"], "require_fact_check": False,
    }  # fmt: skip


def test_the_wrong_number_is_found_and_corrected() -> None:
    research = said(search_expert(), TOPIC)
    draft = said(writing_expert(), ResearchToWritingTransformer().transform(research))
    assert written(draft)["require_fact_check"] is True
    assert "stores 64 megawatt hours (Tide Blog, 2026-03-02)." in written(draft)["article"]
    report = said(fact_checker(), draft)
    assert report.splitlines()[0] == (
        "low: The tidal battery stores 64 megawatt hours.; instead: The tidal battery stores 46 megawatt hours. "
        "(The Ellery Courier)"
    )
    final = said(editor_expert(), "Finish it.", article=written(draft)["article"], fact_check_output=report)
    assert "The tidal battery stores 46 megawatt hours (The Ellery Courier). The 12 sunken" in final
    assert final.endswith(
        "Editor's note: “The tidal battery stores 64 megawatt hours.” is now “The tidal battery stores 46 megawatt hours.”."
    )


def test_opinions_alone_are_not_checked() -> None:
    research = said(search_expert(), OPINION_TOPIC)
    draft = said(writing_expert(), ResearchToWritingTransformer().transform(research))
    assert written(draft)["require_fact_check"] is False
    final = said(editor_expert(), "Finish it.", article=written(draft)["article"])
    assert final.endswith("Editor's note: nothing had to be checked.")


def test_replies_to_what_is_not_the_lessons_form() -> None:
    assert written(said(writing_expert(), "Write!"))["article"] == "The news\n\nWrite!"
    assert said(fact_checker(), "no JSON") == "There is no claim to check."


def test_readers_report_one_article_each_and_their_reports_join() -> None:
    sources = find_sources(TOPIC)
    assert sources == ["blog-battery", "watch-battery", "grid-battery", "review-battery", "courier-battery"]
    reports = {
        f"read {number}": said(source_reader(number), TOPIC, **{f"source_{number}": source})
        for number, source in enumerate(sources, 1)
    }
    assert json.loads(reports["read 1"])["facts"] == [
        {"claim": "The tidal battery stores 64 megawatt hours.", "source": "Tide Blog", "date": "2026-03-02T12:05:00Z"}
    ]
    joined = join_reports(PipelineData(reports, context={"topic": "tidal battery"}))
    assert joined == said(search_expert(), TOPIC)


def test_an_unsteady_model_fails_as_often_as_told_then_answers() -> None:
    model = UnsteadyModel(news_replies(), errors={"search_expert": [ModelError("503: overloaded")]}, name="unsteady")
    runner = Runner(search_expert(), model=model)
    with pytest.raises(ModelError, match="503: overloaded"):
        runner.run(TOPIC)
    assert runner.run(TOPIC).output == said(search_expert(), TOPIC)
    assert (model.calls, model.name) == ({"search_expert": 4}, "unsteady")
