"""The page: its sections between markers, tables in Markdown, figures of one look, and where the recordings are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import musclesolve as ms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from musclesolve.recording.data import Trial

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation.md"
WALK = ROOT / "tests" / "real" / "rajagopal_walk.toml"
AS_WRITTEN = "../../../shared/data"
"""The folder of the recordings in the trial file."""
DOTS = 110  # per inch


class Absent(Exception):
    """Recordings that a section needs are not on this machine."""


def written(page: str, name: str, text: str) -> str:
    """The page with the text of one section in the place of the former."""
    section = re.compile(rf"(<!-- computed: {name} -->\n).*?(<!-- end: {name} -->)", flags=re.DOTALL)
    if len(section.findall(page)) != 1:
        raise LookupError(f"the page has no section {name}")
    return section.sub(lambda found: f"{found[1]}\n{text.strip()}\n\n{found[2]}", page)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def picture(figure: Figure, name: str, about: str) -> str:
    """A figure beside the page, and the line that shows it."""
    figure.savefig(PAGE.parent / f"{name}.png", dpi=DOTS, facecolor="white")
    return f"![{about}]({name}.png)"


def data_folder() -> Path:
    """The folder of the recordings."""
    folder = Path(os.environ.get("MUSCLESOLVE_DATA", ROOT / ".." / "shared" / "data"))
    if not (folder / "rajagopal_walk").is_dir():
        raise Absent(f"no recorded walk in {folder}")
    return folder


def recorded_walk() -> Trial:
    """The recorded walk with the defaults for muscles and cost."""
    folder = data_folder()
    if folder.resolve() == (WALK.parent / AS_WRITTEN).resolve():
        return ms.read_trial(WALK)
    file = Path(written_trials().name) / WALK.name
    text = WALK.read_text(encoding="utf-8").replace(AS_WRITTEN, folder.resolve().as_posix())
    file.write_text(text, encoding="utf-8")
    return ms.read_trial(file)


@cache
def written_trials() -> TemporaryDirectory[str]:
    """Where written trial files lie while this runs: a result states the hash of its files."""
    return TemporaryDirectory()


def reference(name: str) -> Path:
    """A file of the reference results that belong to the recorded walk."""
    return data_folder() / "rajagopal_walk" / "reference" / name
