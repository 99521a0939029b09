"""Forty support tickets, written for the lessons: no customer's words and no customer's data are in them."""

from __future__ import annotations

from pathlib import Path

_FILE = Path(__file__).with_name("tickets.csv")


def tickets() -> Path:
    """The CSV file of the tickets (UTF-8), one row each, ten of each category.

    Columns: `name`; `message`; `state:user:tier`, the customer's tier, empty where it is not known; `expected:TriageAgent`,
    the right category: billing, outage, account or other.
    """
    return _FILE
