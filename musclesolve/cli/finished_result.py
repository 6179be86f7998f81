"""The end of a command that computed one result: its summary, its page, and the answers to its questions."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from musclesolve.cli.errors import SOME_FRAMES_FAILED
from musclesolve.cli.printing import finish, print_summary, progress
from musclesolve.constants import RESULT_FILE
from musclesolve.laboratory.results.tables.lines import line

if TYPE_CHECKING:
    import xarray as xr


def finish_result(
    command: str,
    result: "xr.Dataset",
    paths: list[Path],
    uncertainty: "xr.Dataset | None" = None,
    page: bool = False,
    show: bool = False,
    answers: Mapping[str, Any] | None = None,
) -> None:
    """Summarize a result, with its uncertainty where that is known; afterward write answers and page, and open it.

    answers: makers of the files of answers to questions, by file name.
    """
    from musclesolve.laboratory.results.export.export import opensim_note
    from musclesolve.laboratory.results.fact_table import document, summary
    from musclesolve.laboratory.results.facts import Facts
    from musclesolve.laboratory.results.judgement import judge
    from musclesolve.laboratory.results.result_facts import facts_of

    facts = Facts(result)
    table = facts_of(facts, uncertainty)
    code = 0 if judge(facts).complete else SOME_FRAMES_FAILED
    print_summary(summary(table))  # the verdict first; the page takes a moment
    if any(path.suffix == ".sto" for path in paths) and (note := opensim_note(result, "sto")):
        print_summary(line("note", f"STO files: {note}"))
    if page or answers:
        from musclesolve.laboratory.results.files.atomic_writing import write_files

        stored = next(path for path in paths if path.name == RESULT_FILE)
        pages = {name: partial(make, facts=facts) for name, make in report_pages(page).items()}
        makers = {**(answers or {}), **pages}  # the page shows the answers
        for number, (name, make) in enumerate(makers.items()):
            with progress() as report:
                report(
                    name.rpartition(".")[0].replace("_", "-").replace("report", "page"), number / len(makers)
                )
                paths = [*paths, *write_files(stored.parent, {name: make(result, stored)})]
            if answers and name in answers:
                print_summary(_answered(paths[-1]))
        if command == "demo":
            print_summary(line("page", f"open {paths[-1]} in a browser"))
        if show:
            import webbrowser

            webbrowser.open(paths[-1].resolve().as_uri())
    finish(command, [], lambda: document(table), paths, code)


def _answered(path: Path) -> str:
    """The answer of a file in sentences, below its question."""
    from musclesolve.laboratory.results.files.result_netcdf import read_result
    from musclesolve.laboratory.results.tables.question_tables import NO_ANSWER, answer_facts, in_short

    answer = read_result(path)
    why = answer.attrs.get(NO_ANSWER)
    return line(path.stem, f"no answer: {why}" if why else in_short(answer_facts(answer, path.stem)))


def report_pages(wanted: bool) -> dict[str, Any]:
    """Return the functions that write the page of a trial beside its result, by file name."""
    from musclesolve.laboratory.plotting.figure_names import REPORT
    from musclesolve.laboratory.report.page import trial_report

    return {REPORT: trial_report} if wanted else {}
