"""The figures of Silva (2003), chapters 5 and 6, made again.

Figures 1992.1 and 1992.2 are by Hof (1992), 1998.3 is the third of Silva & Ambrosio (1998), 2006.2 of Blajer,
Dziewiecki & Mazur (2006).

    python -m benchmarks.thesis_figures [-o FOLDER] [--figure 6.12 --figure 5.20 ...] [--trial TRIAL.toml]

Writes a PNG for each figure, and thesis_figures.md with what we find in each. What the source prints of each, and why
ours differ, stands in docs/thesis_figures.md. By default the bundled stride is used; where the source speaks of errors
of measurement it gets those that the source reports.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from rich.progress import Progress

from benchmarks.arguments import command_line
from benchmarks.thesis_figures.drawing import Finding, png
from benchmarks.thesis_figures.figure_registry import FIGURES, chosen
from benchmarks.thesis_figures.study import DIGITIZING_MM, FORCE_CUTOFF_HZ, Study
from benchmarks.timing import console
from musclesolve.data import reference_stride
from musclesolve.errors import InputError, MuscleSolveError
from musclesolve.laboratory.results.files.atomic_writing import write_files

INDEX = "thesis_figures.md"


def file_of(number: str) -> str:
    """Name of the file of a figure."""
    return f"figure_{number.replace('.', '_')}.png"


def index_page(study: Study, found: Mapping[str, Finding]) -> str:
    """Markdown with a row for each figure."""
    rows = [
        f"| {number} | {f'[{file}]({file})' if finding.figure else 'none'} | {finding.found} |"
        for number, finding in found.items()
        for file in [file_of(number)]
    ]
    head = [
        "# The figures of Silva (2003), made again",
        "",
        _of_what(study),
        "",
        "| figure | ours | we find |",
    ]
    return "\n".join([*head, "| --- | --- | --- |", *rows, ""])


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
    return text + (
        f"For 5.17 to 5.23 forces are filtered at {FORCE_CUTOFF_HZ:g} Hz, and markers, where no cut-off is named, at "
        "those that the source's residual analysis chooses. Moments are positive in flexion and dorsiflexion, the "
        "support moment in extension."
    )


def make(folder: Path, trial: Path, numbers: list[str]) -> dict[str, Finding]:
    """Draw figures of a trial and write them with their index into a folder."""
    study, found = Study(trial), {}
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("figures", total=len(numbers))
        for number in numbers:
            bar.update(task, description=f"figure {number}")
            found[number] = FIGURES[number](study)
            bar.advance(task)
    files = {file_of(number): png(each.figure) for number, each in found.items() if each.figure is not None}
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
