"""Lengths of a page that scale with its text, and the widths of texts in print.

A browser measures and breaks the texts of a page that it draws itself; then nothing is measured here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from musclesolve.plotting.page.page_style import MM, PageStyle, changed_setting, current_style

A4 = (210.0 * MM, 297.0 * MM)

# Lengths [inch], at the default size of text unless stated otherwise.
LEFT, RIGHT = 0.60, 0.32  # margins
SIDEWAYS, LABEL = 0.41, 0.25  # between the panels of a row: for numbers, for axis labels
LEAST = 0.36  # height that a panel keeps
# free space above, below and between the panels of the default style, for `height`
USUAL_MARGINS, USUAL_GAP = ((0.95, 0.55), 0.40)
EDGE = 0.06  # free space between text and the edge of the page
ACROSS = 0.46  # from a panel to the label of its vertical axis
BETWEEN = 0.045  # between the text above a panel and that above the next, and between two texts of one
LINE = 1.25 / 72.0  # height of a line of text per point of its size
KEPT = "\N{NO-BREAK SPACE}"
"""Space at which a line is not broken: before a bracket."""


@dataclass(frozen=True)
class Arrangement:
    """Arrangement of the panels of a page."""

    rows: int
    columns: int
    panel_height: float  # [inch], on a page of the default style
    labels: bool = False  # whether each panel has a label of its vertical axis
    left: float = 0.0  # more space on the left of the first column [inch]
    right: float = 0.0  # more space on the right of every panel [inch]
    below: float = 0.0  # more space below every panel [inch]
    least: float = LEAST  # height that a panel keeps [inch]

    def inner_width(self, style: PageStyle) -> float:
        """Width between the margins of the page [inch]."""
        return style.width - (LEFT + RIGHT + self.left + self.right) * style.scale

    def gap(self, style: PageStyle) -> float:
        """Width between the panels of a row [inch]."""
        return (SIDEWAYS + LABEL * self.labels + self.right) * style.scale

    def pitch(self, style: PageStyle) -> float:
        """Distance from a panel to the next of its row [inch]."""
        return (self.inner_width(style) + self.gap(style)) / self.columns

    def room_above(self, style: PageStyle, column: int) -> float:
        """Space for the text above a panel, from its left edge to the next object on its right [inch]."""
        if column == self.columns - 1:
            return self.pitch(style) - self.gap(style) + (RIGHT + self.right) * style.scale - EDGE
        between = BETWEEN if style.narrow else 2.0 * BETWEEN
        return self.pitch(style) - max(between, (ACROSS + 0.06) * style.scale * self.labels)


def space_for(labels: Sequence[str], usual: float = 0.40) -> float:
    """More space than the usual beside a panel, for labels of its rows in the size of the style in force [inch]."""
    style = current_style()
    return max(0.0, max(text_width(label, style.font_pt) for label in labels) / style.scale - usual)


def height_for(rows: int) -> float:
    """The least height of a panel with a number of labeled rows, at the default size of text [inch]."""
    return 8.0 * LINE * rows


@lru_cache(maxsize=4096)
def _width_per_point(line: str, family: str) -> float:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    size = 100.0
    font = get_font(findfont(FontProperties()))  # whose size changes with what is drawn
    font.set_size(size, 72)
    font.set_text(line, 0.0)
    return float(font.get_width_height()[0]) / 64.0 / 72.0 / size


def text_width(text: str, points: float) -> float:
    """Width of the longest line of a text in print [inch]; zero where a browser measures and breaks it."""
    if not current_style().drawn:
        return 0.0
    family = str(changed_setting("font.family") or "") + str(changed_setting("font.sans-serif") or "")
    return points * max((_width_per_point(line, family) for line in text.split("\n")), default=0.0)


def text_height(text: str, points: float) -> float:
    """Height of the lines of a text [inch]."""
    return LINE * points * (text.count("\n") + 1)


def broken(text: str, points: float, width: float) -> str:
    """Break a text into lines of at most `width` [inch]: at wide spaces first, then between words.

    A bracket stays with the word before it unless both are wider than a line.
    """
    fits = text_width(text, points) <= width
    lines: list[str] = []
    for part in [text] if fits else [part.strip() for part in text.split("   ")]:
        lines.append("")
        for word in part.replace(" (", KEPT + "(").split(" "):
            for piece in word.split(KEPT) if text_width(word, points) > width else [word]:
                longer = f"{lines[-1]} {piece}".lstrip()
                if lines[-1] and text_width(longer, points) > width:
                    lines.append(piece)
                else:
                    lines[-1] = longer
    return "\n".join(lines).replace(KEPT, " ")
