"""How wide a text is in print, and how it is broken into lines that fit."""

from __future__ import annotations

from functools import lru_cache

from matplotlib.font_manager import FontProperties, findfont, get_font

LINE = 1.25 / 72.0
"""Height of a line of text per point of its size [inch]."""
KEPT = "\N{NO-BREAK SPACE}"
"""Where a line is not broken: before a bracket."""
_SIZE = 100.0
"""Points at which texts are measured; their width goes with the size."""


@lru_cache(maxsize=4096)
def _measured(text: str) -> float:
    font = get_font(_file())
    font.set_size(_SIZE, 72)
    font.set_text(text, 0.0)
    width: float = font.get_width_height()[0]
    return width / 64.0 / 72.0 / _SIZE


@lru_cache(maxsize=1)
def _file() -> str:
    return str(findfont(FontProperties()))


def text_width(text: str, points: float) -> float:
    """Width of the longest line of a text [inch]."""
    return points * max((_measured(line) for line in text.split("\n")), default=0.0)


def text_height(text: str, points: float) -> float:
    """Height of the lines of a text [inch]."""
    return LINE * points * (text.count("\n") + 1)


def broken(text: str, points: float, width: float) -> str:
    """A text with line breaks where it is wider than so many inches, between words; wide spaces are broken first."""
    lines: list[str] = []
    for part in _parts(text, points, width):
        lines.append("")
        for word in _words(part, points, width):
            longer = f"{lines[-1]} {word}".lstrip()
            if lines[-1] and text_width(longer, points) > width:
                lines.append(word)
            else:
                lines[-1] = longer
    return "\n".join(lines).replace(KEPT, " ")


def _words(text: str, points: float, width: float) -> list[str]:
    """What lines are broken between: words, with a bracket behind them unless both are wider than a line."""
    words = text.replace(" (", KEPT + "(").split(" ")
    return [
        part for word in words for part in (word.split(KEPT) if text_width(word, points) > width else [word])
    ]


def _parts(text: str, points: float, width: float) -> list[str]:
    """The text, or its parts between wide spaces where it does not fit a line."""
    return [text] if text_width(text, points) <= width else [part.strip() for part in text.split("   ")]
