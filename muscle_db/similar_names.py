"""Known names that are like a word, and the remedy that proposes them."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

NEARLY = 0.85
"""Least similarity (difflib) of names with a slip of the fingers."""
LIKE = 0.6
"""Least similarity (difflib) of a name that may be meant."""


def similar(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return up to `count` known names of nearly this spelling, else with this word, else of similar spelling, else
    that contain it.

    Case is ignored.
    """
    name, by_folded = str(name), {other.casefold(): other for other in known}
    near = get_close_matches(name.casefold(), by_folded, n=count, cutoff=NEARLY)
    near = near or [folded for folded in by_folded if name.casefold() in re.split(r"[\W_]+", folded)][:count]
    near = near or get_close_matches(name.casefold(), by_folded, n=count, cutoff=LIKE)
    if not near and len(name) > 2:
        near = [folded for folded in by_folded if name.casefold() in folded][:count]
    return [by_folded[folded] for folded in near]


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """Return a remedy with the known names most similar to `name`, or None."""
    near = similar(name, known)
    return "did you mean " + " or ".join(f"'{other}'" for other in near) + "?" if near else None
