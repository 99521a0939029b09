"""The news desk: research with tools, writing, fact-check, editing. Four agents, to be the steps of a `SequentialWorkflow`.

The pipeline of Go's "Sequential Workflow Deep Dive", in adknb's words. Its agents carry hyphens there, which ADK does not allow.
"""

from __future__ import annotations

import json
from typing import Any, Final

from adknb.core.specs import LlmAgent
from adknb.examples.news_tools import check_fact, read_article, search_news
from adknb.workflow.data import PipelineData

TOPIC: Final = "What is new about the tidal battery?"
"""Six articles report facts about it, and one of them has a number wrong."""
OPINION_TOPIC: Final = "What is said about screen-free Sundays?"
"""Three articles, all of them opinion: nothing to check."""
SOURCES: Final = 5
"""Articles that research reads."""


def search_expert() -> LlmAgent:
    """Finds and reads articles, and reports what they say as JSON."""
    return LlmAgent(
        name="search_expert",
        description="Researches a topic in the news.",
        instruction="You research the news. Find articles on the user's topic, "
        f"and read at least {SOURCES} where there are so many.\n"
        "Give the source and date of everything, and keep facts and opinions apart. Reply with JSON only:\n"
        '{"topic": "…", "facts": [{"claim": "…", "source": "…", "date": "…"}], "opinions": [{"view": "…", "source": "…"}]}',
        tools=[search_news, read_article],
    )


def writing_expert() -> LlmAgent:
    """Writes the article, and says whether it states facts that have to be checked."""
    return LlmAgent(
        name="writing_expert",
        description="Writes the article.",
        instruction="You are a news editor. Write an article from the research in the message: a headline that is true, "
        "a first paragraph with the gist, then the rest in order, every statement with its source. Reply with JSON only:\n"
        '{"headline": "…", "article": "…", "claims": ["…"], "require_fact_check": true|false}\n'
        "claims lists the factual statements; require_fact_check is false where there is none.",
    )


def fact_checker() -> LlmAgent:
    """Looks up every claim of the article."""
    return LlmAgent(
        name="fact_checker",
        description="Checks the article's facts.",
        instruction="You check facts. Look up each of the claims in the message, and report them line by line: the claim, "
        "confidence high, medium or low, and for low confidence what should stand there instead.",
        tools=[check_fact],
    )


def editor_expert() -> LlmAgent:
    """Makes the final version from the article and, where there is one, the report on its facts."""
    return LlmAgent(
        name="editor_expert",
        description="Makes the final version.",
        instruction="You are the chief editor. Correct what the report finds wrong, smooth the language, "
        "and end with a note that says what you changed.\nArticle:\n{article}\nReport on its facts:\n{fact_check_output?}",
    )


def source_reader(number: int) -> LlmAgent:
    """Reads one article, whose id the state has as `source_1`, `source_2` …; several can do so at once."""
    return LlmAgent(
        name=f"reader_{number}",
        description="Reads one article.",
        instruction=f"Read article {{source_{number}}}, and report what it says about the user's topic. Reply with JSON only:\n"
        '{"facts": [{"claim": "…", "source": "…", "date": "…"}], "opinions": [{"view": "…", "source": "…"}]}',
        tools=[read_article],
    )


def find_sources(topic: str) -> list[str]:
    """The ids of the articles to read. No model is asked."""
    return [found["id"] for found in search_news(topic)["articles"]][:SOURCES]


def join_reports(data: PipelineData) -> str:
    """One research report of what the readers said, in the order of their steps."""
    reports = [json.loads(report) for report in data.payload.values()]
    joined = {name: [each for report in reports for each in report[name]] for name in ("facts", "opinions")}
    return json.dumps({"topic": data.context["topic"], **joined}, ensure_ascii=False)


class ResearchToWritingTransformer:
    """Turns the research's JSON into the writer's task.

    Text that is no such JSON is passed on below the task as it is: the writer can still make something of it.
    """

    TASK: Final = (
        "Write a news article from this research. Use all that matters in it, stay neutral, and name the source of each "
        "statement."
    )

    def transform(self, text: str) -> str:
        try:
            research = json.loads(text)
            facts = [f"- {fact['claim']} ({fact['source']}, {fact['date'][:10]})" for fact in research["facts"]]
            opinions = [f"- {opinion['view']} ({opinion['source']})" for opinion in research["opinions"]]
            topic = research["topic"]
        except (ValueError, TypeError, KeyError):
            return f"{self.TASK}\n\n{text}"
        return "\n".join([self.TASK, "", f"Topic: {topic}", "Facts:", *facts, "Opinions:", *opinions])


def written(text: str) -> dict[str, Any]:
    """What the writer's JSON says: the `article` with its headline, its `claims`, and whether these are to be checked
    (`require_fact_check`). A reply that is no such JSON is the article itself, and is checked."""
    try:
        reply = json.loads(text)
        article = f"{reply['headline']}\n\n{reply['article']}"
        claims, check = list(reply["claims"]), bool(reply["require_fact_check"])
    except (ValueError, TypeError, KeyError):
        return {"article": text, "claims": [], "require_fact_check": True}
    return {"article": article, "claims": claims, "require_fact_check": check}
