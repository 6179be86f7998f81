"""The figures of Silva (2003), chapters 5 and 6, made again, each beside what the source states of it.

Figures 1992.1 and 1992.2 are by Hof (1992), 1998.3 is the third of Silva & Ambrosio (1998), 2005.2 of Blajer &
Czaplicki (2005), 2006.2 of Blajer, Dziewiecki & Mazur (2006).

    python -m benchmarks.thesis_figures [-o FOLDER] [--figure 6.12 --figure 5.20 ...] [--trial TRIAL.toml]

Writes a PNG for each figure and thesis_figures.md: what text and caption print, what we find, and why they differ. The
pictures of the source are not at hand, so its words are what ours are compared with. By default the bundled stride is
used; where the source speaks of errors of measurement it gets those that the source reports.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from rich.progress import Progress

from benchmarks.arguments import command_line
from benchmarks.thesis_figures.comparison import Finding, statements
from benchmarks.thesis_figures.drawing import png
from benchmarks.thesis_figures.figure_registry import FIGURES, chosen
from benchmarks.thesis_figures.study import DIGITIZING_MM, FORCE_CUTOFF_HZ, Study
from benchmarks.timing import console
from musclesolve.data import reference_stride
from musclesolve.errors import InputError, MuscleSolveError
from musclesolve.results.files.atomic_writing import write_files

INDEX = "thesis_figures.md"
HEADING = ("figure", "ours", "the source prints", "we find", "why they differ")


def index_page(study: Study, found: Mapping[str, Finding]) -> str:
    """Markdown with a row for each figure."""
    rows = [_row(HEADING), _row(["---"] * len(HEADING))]
    for number, finding in found.items():
        statement = statements()[number]
        picture = f"[{statement.file}]({statement.file})" if finding.figure else "none"
        title = f"{number} {statement.title}"
        rows.append(_row((title, picture, statement.printed, finding.found, statement.difference)))
    tables = []
    for number, finding in found.items():
        if finding.table:
            heading, *lines = finding.table
            tables += ["", f"## {number} {statements()[number].title}", ""]
            tables += [_row(heading), _row(["---"] * len(heading)), *map(_row, lines)]
    command = "python -m benchmarks.thesis_figures"
    if not study.bundled:
        command += f" --trial {study.path.name}"
    return "\n".join(
        [
            "# The figures of Silva (2003), made again",
            "",
            f"`{command}`; one of them: `{command} --figure 6.12`. {_of_what(study)}",
            "",
            *rows,
            *tables,
            "",
        ]
    )


def _of_what(study: Study) -> str:
    subject, muscles = study.trial.subject, "muscles silva_2003 with their passive forces, cost stress_cubed"
    text = (
        f"Trial `{study.path.name}` ({subject.name}, {subject.mass:g} kg, {subject.stature:g} m), {muscles}. "
    )
    if study.bundled:
        errors = ", ".join(f"{each:g}" for each in DIGITIZING_MM)
        text += (
            f"For 5.17 to 5.23 the markers have white noise of {errors} mm rms (forward, left, up), the errors of "
            f"digitization that the source reports in 5.2.3. "
        )
    else:
        text += "The last column speaks of the bundled stride. "
    return text + (
        f"For 5.17 to 5.23 forces are filtered at {FORCE_CUTOFF_HZ:g} Hz, and markers, where no cut-off is named, at "
        "those that the source's residual analysis chooses. Moments are positive in flexion and dorsiflexion, the "
        "support moment in extension. The pictures of the source are not at hand: compared is with its text."
    )


def _row(cells: tuple[str, ...] | list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def make(folder: Path, trial: Path, numbers: list[str]) -> dict[str, Finding]:
    """Draw figures of a trial and write them with their index into a folder."""
    study, found = Study(trial), {}
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("figures", total=len(numbers))
        for number in numbers:
            bar.update(task, description=f"figure {number}")
            found[number] = FIGURES[number](study)
            bar.advance(task)
    figures = {statements()[number].file: finding.figure for number, finding in found.items()}
    files = {name: png(figure) for name, figure in figures.items() if figure is not None}
    write_files(folder, files | {INDEX: index_page(study, found).encode()})
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 2 where its input is at fault."""
    parser = command_line(__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("thesis_figures"), metavar="FOLDER")
    parser.add_argument(
        "--figure", action="extend", nargs="+", default=[], metavar="NUMBER", help="6.12; else all"
    )
    parser.add_argument("--trial", type=Path, default=reference_stride(), metavar="TRIAL.toml")
    given = parser.parse_args(arguments)
    try:
        found = make(given.output, given.trial, chosen(given.figure))
    except (InputError, MuscleSolveError) as error:
        print(f"thesis_figures: {error}", file=sys.stderr)
        return 2
    console.print(f"{len(found)} figures and {INDEX} in {given.output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
