"""Options of the commands that draw figures: their format, and the width and text that a paper asks for."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from musclesolve.plotting.page.page_style import PageStyle


class FileFormat(StrEnum):
    """Of figures."""

    png = "png"
    pdf = "pdf"
    svg = "svg"


Format = Annotated[FileFormat, typer.Option("--format", help="Format of the figures.")]
Width = Annotated[
    float,
    typer.Option(help="Width of the figures \\[mm]; columns of journals have 80 to 90, pages 170 to 190."),
]
Font = Annotated[float, typer.Option(help="Size of the text in the figures \\[points].")]
Titles = Annotated[
    bool,
    typer.Option(
        "--titles/--no-titles", help="Print title and trial above the figures; papers have captions."
    ),
]
Norms = Annotated[
    bool, typer.Option("--norms/--no-norms", help="Draw published bands of walking behind the curves.")
]


def style(
    file_format: FileFormat, width: float, font: float, titles: bool = True, norms: bool = True
) -> PageStyle:
    """The style of the pages that the options ask for."""
    return PageStyle(width, font, titles, file_format.value, norms)
