"""The page: its sections between markers, tables in Markdown, figures of one look, and where the recordings are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING

import musclesolve as ms
from benchmarks.arguments import command_line
from benchmarks.timing import console

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from musclesolve.laboratory import Trial

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation.md"
WALK = ROOT / "tests" / "real" / "rajagopal_walk.toml"
AS_WRITTEN = "../../../shared/data"
"""The folder of the recordings in the trial file."""
DOTS = 110  # per inch


class Absent(SystemExit):
    """Recordings that a command needs are not on this machine; where nobody catches it the command ends so."""


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


pictures: dict[str, Figure] = {}
"""The figures of the sections that were computed, by their names."""


def picture(figure: Figure, name: str, about: str) -> str:
    """Keep a figure of a section, and return the line that shows it."""
    pictures[name] = figure
    return f"![{about}]({name}.png)"


def write_sections(
    page: Path,
    sections: Mapping[str, Callable[[], str]],
    about: str,
    arguments: Sequence[str] | None = None,
    printed: Mapping[str, Callable[[], str]] = MappingProxyType({}),
) -> None:
    """The command of a page: compute sections, and print them, or write them to a page.

    Args:
        page: the document.
        sections: what computes each section, by the name in its marker.
        about: what the command does, for its help.
        arguments: of the command line: names of sections (default: all); -o FOLDER, into which a copy of the page and
            the figures go; --write: into the page itself, figures beside it.
        printed: what computes further tables, which the page does not have: printed where they are named.
    """
    parser = command_line(about)
    parser.add_argument(
        "section", nargs="*", help=f"{', '.join([*sections, *printed])}; default: all of the page"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="for a copy of the page and its figures"
    )
    where.add_argument(
        "--write", action="store_true", help=f"write into {page.parent.name}/{page.name} itself"
    )
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.section if name not in {**sections, **printed}]:
        parser.error(f"no section {', '.join(unknown)}; there are {', '.join([*sections, *printed])}")
    target = page if given.write else None
    if given.output is not None:
        given.output.mkdir(parents=True, exist_ok=True)
        target = given.output / page.name
        target.write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
    for name in given.section or sections:
        try:
            text = {**sections, **printed}[name]()
        except Absent as reason:
            console.print(f"{name:10} not computed: {reason}")
            continue
        if target is None or name in printed:
            console.print(f"{text.strip()}\n", soft_wrap=True)
            continue
        target.write_text(written(target.read_text(encoding="utf-8"), name, text), encoding="utf-8")
        for of, figure in pictures.items():
            figure.savefig(target.parent / f"{of}.png", dpi=DOTS, facecolor="white")
        pictures.clear()
        console.print(f"{name:10} written to {target}")


def data_folder() -> Path:
    """The folder of the recordings."""
    folder = Path(os.environ.get("MUSCLESOLVE_DATA", ROOT / ".." / "shared" / "data"))
    if not (folder / "rajagopal_walk").is_dir():
        raise Absent(f"no recorded walk in {folder}: set MUSCLESOLVE_DATA to the folder of the recordings")
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
    """The folder in which written trial files lie while this runs: a result states the hash of its files."""
    return TemporaryDirectory()


def reference(name: str) -> Path:
    """A file of the reference results that belong to the recorded walk."""
    return data_folder() / "rajagopal_walk" / "reference" / name
