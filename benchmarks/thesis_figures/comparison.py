"""A figure beside what the source prints: the record of both, and what the source states of each figure."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Finding:
    """The content of a figure: the picture, None where the recording has nothing to show, and what is found in words.

    table: rows of cells below a heading row, for what words cannot hold.
    """

    figure: Figure | None
    found: str
    table: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Statement:
    """The statement of the source on a figure: its title, what text and caption print of it, why ours differs."""

    number: str
    title: str
    printed: str
    difference: str
    largest: float | None = None  # largest magnitude that the text names, where it does
    joint: str | None = None  # degree of freedom that the text names beside it

    @property
    def file(self) -> str:
        """Name of the file of our figure."""
        return f"figure_{self.number.replace('.', '_')}.png"


@cache
def statements() -> dict[str, Statement]:
    """Statements of the source, by number of the figure, in its order."""
    text = Path(__file__).with_name("statements.toml").read_text(encoding="utf-8")
    return {number: Statement(number, **entry) for number, entry in tomllib.loads(text)["figure"].items()}
