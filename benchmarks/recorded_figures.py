"""Numbers of the cases of chapter 4 as last run, and the sentences of the documentation that quote them.

`impact_figures.toml` holds the numbers (case, run, quantity), written by `python -m benchmarks.impact_cases --record`;
`impact_sentences.toml` the pages and sentences, with places for numbers. `--record` puts the new numbers into the
pages; a test compares the pages with the numbers, and the numbers with a run.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from benchmarks.chapter_4 import Figures

HERE = Path(__file__).parent
FIGURES, SENTENCES = HERE / "impact_figures.toml", HERE / "impact_sentences.toml"
HEAD = "# Written by `python -m benchmarks.impact_cases --record`; units as in the module of each case.\n"


def recorded() -> dict[str, Figures]:
    """Case -> run -> quantity -> number."""
    return tomllib.loads(FIGURES.read_text(encoding="utf-8"))


def sentences(figures: Mapping[str, Figures]) -> list[tuple[Path, str]]:
    """Page and sentence, with the numbers put in; a sentence of a case that never ran keeps its places for them.

    Raises:
        ValueError: a sentence quotes a number that no run gives.
    """
    entries = tomllib.loads(SENTENCES.read_text(encoding="utf-8"))["sentence"]
    filled = []
    for entry in entries:
        says = entry["says"]
        if entry["of"] in figures:
            try:
                says = says.format_map(figures)
            except KeyError as missing:
                raise ValueError(f"no run gives {missing}, quoted by {entry['page']}: {says}") from None
        filled.append((HERE.parent / entry["page"], says))
    return filled


def pattern(says: str) -> str:
    """A pattern of a sentence that lines may break at any space."""
    return r"\s+".join(map(re.escape, says.split()))


def record(found: Mapping[str, Figures]) -> None:
    """Write the numbers of cases, six digits each, and put them into the pages in place of the last ones.

    No file is written before all of them are known.

    Raises:
        ValueError: a page does not hold a sentence as it was, or a run no longer gives a number that one quotes.
    """
    before = recorded()
    after = before | {
        case: {
            run: {name: float(f"{value:.6g}") for name, value in numbers.items() if math.isfinite(value)}
            for run, numbers in runs.items()
        }
        for case, runs in found.items()
    }
    pages: dict[Path, str] = {}
    for (page, old), (_, new) in zip(sentences(before), sentences(after), strict=True):
        text = pages.get(page) or page.read_text(encoding="utf-8")
        if not (found := re.search(pattern(old), text)):
            raise ValueError(f"{page.name} does not say: {old}")
        pages[page] = text.replace(found.group(), new if new != old else found.group())
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8")
    tables = [
        f'[{case}."{run}"]\n' + "".join(f"{name} = {value!r}\n" for name, value in numbers.items())
        for case, runs in after.items()
        for run, numbers in runs.items()
    ]
    FIGURES.write_text(HEAD + "\n" + "\n".join(tables), encoding="utf-8")
