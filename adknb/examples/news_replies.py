"""What the news agents reply, in place of a model: written for the lessons, and worked out from what each request holds.

The agents' prompts are not read. What they are sent is: topics, articles, claims and reports are taken from the request, so a
step that is sent something else replies something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from adknb.core.content import Content, FunctionCall, Part
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.examples.news import SOURCES, written
from adknb.models.scripted import ScriptedModel

NOTE: Final = "written for this lesson: ignores your prompt"
"""What tables say beside each of these replies."""


def news_replies() -> ScriptedModel:
    """A model for the agents of `news`."""
    readers = {f"reader_{number}": _read for number in range(1, SOURCES + 1)}
    replies = {"search_expert": _research, "writing_expert": _write, "fact_checker": _check, "editor_expert": _edit}
    return ScriptedModel({**replies, **readers}, name="written-for-the-lesson")


def _research(request: LlmRequest) -> LlmResponse:
    """Searches, reads the first articles that were found, then puts their facts and opinions together."""
    answers = _answers(request)
    topic = _message(request).rstrip("?").rpartition(" the ")[2].removeprefix("What is said about ")
    if not answers:
        return _call("search_news", topic=topic)
    found = [each["id"] for each in answers[0]["articles"]][:SOURCES]
    read = answers[1:]
    if len(read) < len(found):
        return _calls([FunctionCall("read_article", {"article_id": each}) for each in found[len(read) :]])
    return _json({"topic": topic, **_reported(read)})


def _read(request: LlmRequest) -> LlmResponse:
    """Reads the article that the instruction names, then reports it."""
    answers = _answers(request)
    if not answers:
        return _call(
            "read_article", article_id=(request.system_instruction or "").split(",")[0].removeprefix("Read article ")
        )
    return _json(_reported(answers))


def _reported(articles: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the articles say, each fact and opinion with where it stands."""
    return {
        "facts": [
            {"claim": fact, "source": article["source"], "date": article["date"]}
            for article in articles
            for fact in article["facts"]
        ],
        "opinions": [
            {"view": view, "source": article["source"]} for article in articles for view in article["opinions"]
        ],
    }


def _write(request: LlmRequest) -> LlmResponse:
    """An article of the facts and opinions in the task, in their order."""
    task = _message(request)
    lines = task.splitlines()
    if "Facts:" not in lines or "Opinions:" not in lines:
        return _json({"headline": "The news", "article": task, "claims": [], "require_fact_check": False})
    topic = next((line.removeprefix("Topic: ") for line in lines if line.startswith("Topic: ")), "the day")
    facts_at, opinions_at = lines.index("Facts:"), lines.index("Opinions:")
    facts = [_sourced(line) for line in lines[facts_at + 1 : opinions_at]]
    opinions = [_sourced(line) for line in lines[opinions_at + 1 :]]
    said = [f"{claim.rstrip('.')} ({source})." for claim, source in facts]
    views = [f"{view} ({source})" for view, source in opinions]
    first, rest = (said[:2], said[2:]) if said else (views[:1], [])
    paragraphs = [" ".join(first), " ".join(rest), " ".join(views if said else views[1:])]
    return _json(
        {
            "headline": f"{topic[:1].upper()}{topic[1:]}: {'what is known' if facts else 'what people think'}",
            "article": "\n\n".join(filter(None, paragraphs)),
            "claims": [claim for claim, _ in facts],
            "require_fact_check": bool(facts),
        }
    )


def _check(request: LlmRequest) -> LlmResponse:
    """Looks up each claim at once, then reports line by line."""
    answers = _answers(request)
    if not answers:
        claims = written(_message(request))["claims"]
        if not claims:
            return _text("There is no claim to check.")
        return _calls([FunctionCall("check_fact", {"claim": claim}) for claim in claims])
    lines = []
    for answer in answers:
        instead = f"; instead: {answer['instead'][0]}" if answer["instead"] else ""
        lines.append(f"{answer['confidence']}: {answer['claim']}{instead}")
    return _text("\n".join(lines))


def _edit(request: LlmRequest) -> LlmResponse:
    """The article with what the report has `instead`, and a note."""
    prompt = request.system_instruction or ""
    article = prompt.partition("\nArticle:\n")[2].partition("\nReport on its facts:\n")[0]
    report = prompt.partition("\nReport on its facts:\n")[2].partition("\n\nYou are an agent.")[0]
    notes = []
    for line in report.splitlines():
        wrong, found, right = line.partition("; instead: ")
        if found:
            claim = wrong.partition(": ")[2]
            statement, source = _sourced(right)
            stated = re.search(re.escape(claim.rstrip(".")) + r" \([^()]*\)", article)
            if stated is not None:
                article = article.replace(stated.group(), f"{statement.rstrip('.')} ({source})")
            notes.append(f"“{claim}” is now “{statement}”")
    note = "; ".join(notes) if notes else ("no fact was wrong" if report.strip() else "nothing had to be checked")
    return _text(f"{article}\n\nEditor's note: {note}.")


def _message(request: LlmRequest) -> str:
    """The text of the user's last message."""
    texts = [
        part.text
        for content in request.contents
        if content.role == "user"
        for part in content.parts
        if part.text is not None
    ]
    return texts[-1]


def _answers(request: LlmRequest) -> list[dict[str, Any]]:
    """What the tools answered, in their order."""
    return [
        dict(part.function_response.response)
        for content in request.contents
        for part in content.parts
        if part.function_response is not None
    ]


def _sourced(line: str) -> tuple[str, str]:
    """`- A claim. (Source, 2026-03-02)` as the claim and the source with its date."""
    claim, _, source = line.removeprefix("- ").rpartition(" (")
    return claim, source.removesuffix(")")


def _call(name: str, **arguments: Any) -> LlmResponse:
    return _calls([FunctionCall(name, arguments)])


def _calls(calls: list[FunctionCall]) -> LlmResponse:
    return LlmResponse(Content("model", tuple(Part(function_call=call) for call in calls)), note=NOTE)


def _json(value: Mapping[str, Any]) -> LlmResponse:
    return _text(json.dumps(value, ensure_ascii=False))


def _text(text: str) -> LlmResponse:
    return LlmResponse(Content.model(text), note=NOTE)
