"""The news agents' tools: twelve short articles, written for the lessons. The town, the outlets and what they report are made up.

Each tool is a pure function of its arguments and of the file beside this one, and asks nobody.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from adknb.core.errors import near_names

_FILE: Final = Path(__file__).with_name("news_articles.json")
_WORD: Final = re.compile(r"\d+(?:[.:]\d+)*|[^\W\d_]+")
_NUMBER: Final = re.compile(r"\d")
_SMALL_WORDS: Final = frozenset(
    ("a", "about", "an", "and", "at", "by", "for", "from", "in", "is", "it", "its", "new", "news", "of", "on", "or", "said",
     "that", "the", "to", "was", "what", "which", "with")
)  # fmt: skip
_SHARED: Final = 0.75
"""The share of a claim's words that a fact must have to be about the same."""


class Article(NamedTuple):
    """One article. `date` is an ISO 8601 time in UTC; facts and opinions are kept apart."""

    id: str
    source: str
    date: str
    title: str
    topics: tuple[str, ...]
    facts: tuple[str, ...]
    opinions: tuple[str, ...]


@lru_cache(maxsize=1)
def articles() -> tuple[Article, ...]:
    """All articles, in the file's order."""
    read = json.loads(_FILE.read_text(encoding="utf-8"))
    lists = ("topics", "facts", "opinions")
    return tuple(Article(**{**each, **{name: tuple(each[name]) for name in lists}}) for each in read)


def search_news(topic: str) -> dict[str, Any]:
    """Find the articles that match a topic best, the newest first: the id, source, date and title of each."""
    wanted = _words([topic])
    scores = {each: len(wanted & _words([each.title, *each.topics])) for each in articles()}
    best = max(scores.values())
    found = [each for each in articles() if best and scores[each] == best]
    return {
        "articles": [
            {"id": each.id, "source": each.source, "date": each.date, "title": each.title}
            for each in sorted(found, key=lambda each: each.date, reverse=True)
        ]
    }


def read_article(article_id: str) -> dict[str, Any]:
    """Read one article: its source, date and title, with facts and opinions apart."""
    known = {each.id: each for each in articles()}
    if article_id not in known:
        return {"error": f"there is no article {article_id!r}.{near_names(article_id, known)}"}
    found = known[article_id]
    return {
        "id": found.id, "source": found.source, "date": found.date, "title": found.title,
        "facts": list(found.facts), "opinions": list(found.opinions),
    }  # fmt: skip


def check_fact(claim: str) -> dict[str, Any]:
    """Look up who reports a claim: confidence high (two sources or more), medium (one) or low (none, or more sources
    report another number), with the sources for and against, and what these report instead."""
    sources: dict[bool, list[str]] = {True: [], False: []}
    words, numbers = _split(claim)
    others: list[str] = []
    for article in articles():
        for fact in article.facts:
            its_words, its_numbers = _split(fact)
            if not words or len(words & its_words) < _SHARED * len(words):
                continue
            agrees = numbers <= its_numbers
            if article.source not in sources[agrees]:
                sources[agrees].append(article.source)
            if not agrees:
                others.append(f"{fact} ({article.source})")
    confirmed, contradicted = sources[True], sources[False]
    confidence = "low"
    if confirmed and len(confirmed) > len(contradicted):
        confidence = "high" if len(confirmed) > 1 else "medium"
    return {
        "claim": claim, "confidence": confidence, "confirmed_by": confirmed, "contradicted_by": contradicted,
        "instead": list(dict.fromkeys(others)) if confidence == "low" else [],
    }  # fmt: skip


def _words(texts: Iterable[str]) -> frozenset[str]:
    """The words of the texts in lower case, numbers included, but for those that every text has."""
    return frozenset(word for text in texts for word in _WORD.findall(text.lower())) - _SMALL_WORDS


def _split(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """A sentence's words, and its numbers."""
    numbers = frozenset(word for word in _words([text]) if _NUMBER.match(word))
    return _words([text]) - numbers, numbers
