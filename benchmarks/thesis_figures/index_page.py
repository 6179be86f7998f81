"""The index of the figures: what the source prints, what we find, why they differ."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.thesis_figures.comparison import Finding, statements
from benchmarks.thesis_figures.study import DIGITIZING_MM, FORCE_CUTOFF_HZ, Study

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
