"""Commands on many trials of many people: `study` and `dataset`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from musclesolve._util.messages import alike, count_of, shortened
from musclesolve.cli.errors import INPUT_AT_FAULT, SOME_FRAMES_FAILED
from musclesolve.cli.options import BY_NAME, drawn_figures, output_option, results_of, with_settings
from musclesolve.cli.printing import complain, finish, progress
from musclesolve.laboratory.plotting.page.page_style import PageStyle, page_style
from musclesolve.laboratory.recording.command_settings import (
    CommandSettings,
    FigureSettings,
    command_arguments,
)
from musclesolve.laboratory.results.tables.lines import line, lines
from musclesolve.tables.settings import settings_of

if TYPE_CHECKING:
    from musclesolve.studies.dataset.compute_dataset import Estimate
    from musclesolve.studies.dataset.data_set import DataSet
    from musclesolve.studies.study.analysis import StudyResult
    from musclesolve.studies.study.run_study import ComputedStudy
    from musclesolve.studies.study.study_file import Study


@with_settings(CommandSettings, command_arguments("many", "study", "figures"))
def study(
    file: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The study file.")],
    output: Annotated[
        Path | None, output_option("Folder for the page, the tables and all trials.", BY_NAME)
    ] = None,
    figures: Annotated[
        bool | None,
        typer.Option(
            "--figures/--no-figures", help="Also draw the mean curves as files.", show_default=False
        ),
    ] = None,
    **settings: Any,
) -> None:
    """Compute all trials of a study, compare conditions and groups: study.html, study.nc, tables.

    Results that are up to date are kept; a trial that fails does not stop the others.
    """
    from musclesolve.cli.result_documents import study_document
    from musclesolve.cli.tables.trial_tables import exit_code_of
    from musclesolve.studies.pages.written_pages import study_into

    style = PageStyle(**{key: settings.pop(key) for key in settings_of(FigureSettings)})
    drawn = bool(drawn_figures(figures, style))
    with page_style(style), progress() as report:
        result, paths = study_into(results_of(output, file), file, figures=drawn, progress=report, **settings)
    for record in result.computed.records.values():
        if record.message:
            complain(f"{record.name}: {record.message}")

    code = exit_code_of(result.computed.records.values())
    if code == 0 and result.cycles is None:
        code = SOME_FRAMES_FAILED  # there is nothing to average
    finish("study", _text(result), lambda: study_document(result), paths, code)


@with_settings(CommandSettings, command_arguments("many", "dataset"))
def dataset(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE",
            help="Folders with trials, B3D files, or one study file: models with kinematics and loads, recordings.",
        ),
    ],
    output: Annotated[Path | None, output_option("Folder of the data set.", BY_NAME)] = None,
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Print the time and size of the whole data set, from a few trials."),
    ] = False,
    **settings: Any,
) -> None:
    """Make a data set of the forces of all trials: a file for each trial, tables, a card and a page.

    A trial at fault costs itself alone. The same command goes on after a stop, and computes nothing twice.
    """
    output = results_of(output, sources[0])
    if estimate:
        from musclesolve.studies.dataset.compute_dataset import estimate_dataset

        with progress() as report:
            estimated = estimate_dataset(sources, output, progress=report, **settings)
        none = len(estimated.failed) == len(estimated.sampled)
        code = INPUT_AT_FAULT if none else SOME_FRAMES_FAILED if estimated.failed else 0
        finish("dataset", _estimated(estimated), lambda: asdict(estimated), code=code)
        return
    from musclesolve.cli.tables.trial_tables import exit_code_of
    from musclesolve.studies.pages.written_pages import dataset_into

    with progress() as report:
        data, computed, paths = dataset_into(sources, output, progress=report, **settings)

    def document() -> dict[str, Any]:
        return {
            "trials": len(data.trials),
            "with_result": len(data),
            "fit_for_use": len(data.names()),
            "subjects": len(data.subjects),
            "frames": int(data.subjects["frames"].sum()),
            "notes": list(computed.notes),
        }

    finish("dataset", _made(data, computed), document, paths, exit_code_of(computed.records.values()))


def _estimated(total: Estimate) -> Iterator[str]:
    """Yield the estimate in lines."""
    frames = f", {total.frames} frames in B3D files" if total.frames else ""
    trials, subjects = count_of(total.trials, "trial"), count_of(total.subjects, "subject")
    yield line("trials", f"{trials} of {subjects}{frames}")
    done = [name for name in total.sampled if name not in total.failed]
    if done:
        s = max(total.seconds, 1.0)
        time = f"{s / 3600.0:.1f} h" if s >= 3600.0 else f"{s / 60.0:.1f} min" if s >= 60.0 else f"{s:.0f} s"
        yield line("time", f"{time} with --jobs {total.jobs}")
        yield line("size", f"{total.size / 1e6:.3g} MB")
        end = "these results are kept" if total.kept else "in a folder apart: the data set is left as it is"
        yield line("computed", f"{', '.join(done)}; {end}")
    else:
        yield line("time, size", "not known: no trial that was tried has a result")
    yield from lines("no result", (f"{name}: {reason}" for name, reason in total.failed.items()))
    yield from lines("note", total.notes)


def _made(data: DataSet, computed: ComputedStudy) -> Iterator[str]:
    """Yield the numbers of a data set in lines."""
    yield from _outcomes(computed)
    frames, subjects = int(data.subjects["frames"].sum()), int((data.subjects["with_result"] > 0).sum())
    yield line("frames", f"{frames} of {count_of(subjects, 'subject')}")
    yield line("fit for use", f"{len(data.names())} of {count_of(len(data.trials), 'trial')}")
    message = {
        record.name: record.message.partition("\n")[0]
        for record in computed.records.values()
        if record.outcome.has_fault
    }
    excluded = {trial.name: trial.exclude for trial in computed.study.trials if trial.exclude}
    for kind, reasons in (("no result", message), ("excluded", excluded)):
        for names in map(list, alike(_without_names(computed.study, reasons))):
            yield from lines(kind, [f"{shortened(names)}: {reasons[names[0]]}"])
    yield from lines("note", computed.notes)


def _without_names(study: Study, reasons: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield trials and reasons without the place and the names, which are others for each trial."""
    for name, text in reasons.items():
        reason = re.sub(r"^.*?: ", "", text).replace(name, "NAME")
        yield name, re.sub(rf"\b{re.escape(study.trial_of[name].subject)}\b", "SUBJECT", reason)


def _outcomes(computed: ComputedStudy) -> Iterator[str]:
    """Yield the numbers of trials by outcome and by verdict."""
    from musclesolve.cli.tables.trial_tables import outcomes_line
    from musclesolve.laboratory.results.judgement import counted_verdicts
    from musclesolve.studies.many_trials.trial_record import Outcome

    study, records = computed.study, computed.records
    excluded = [Outcome.EXCLUDED for trial in study.trials if trial.exclude]
    yield outcomes_line([*(record.outcome for record in records.values()), *excluded])
    judged = (record.measures.verdict for record in records.values() if record.measures)
    if verdicts := counted_verdicts(judged):
        yield line("verdicts", verdicts)


def _text(result: StudyResult) -> Iterator[RenderableType | str]:
    """Yield the numbers of trials by outcome, unusual values, and differences."""
    from musclesolve.laboratory.results.fact_table import rows
    from musclesolve.laboratory.results.judgement import NOT_USABLE
    from musclesolve.laboratory.results.tables import study_tables

    study, records = result.computed.study, result.computed.records
    yield from _outcomes(result.computed)
    yield from lines("note", result.computed.notes)
    measured = {record.name: record.measures for record in records.values() if record.measures is not None}
    if unsolved := [name for name, of in measured.items() if of.without_solution]:
        yield line("not solved", f"{shortened(unsolved)}: some frames have no valid solution")
    if not_usable := [name for name, of in measured.items() if of.verdict == NOT_USABLE]:
        yield line("not usable", f"{shortened(not_usable)}: the page has the reasons")
    for names in map(list, alike(result.not_averaged.items())):
        yield from lines("not averaged", [f"{shortened(names)}: {result.not_averaged[names[0]]}"])
    if result.cycles is not None:
        subjects = len(set(result.cycles["subject"].values.tolist()))
        unusual = int(result.cycles["outlier"].sum())
        yield line(
            "cycles",
            f"{result.cycles.sizes['cycle']} of {count_of(subjects, 'subject')}, "
            f"{unusual} of them unusual: the page lists unusual cycles, and the means contain them",
        )
        if result.left_out:
            without = dict.fromkeys(study.trial_of[name].subject for name in result.left_out)
            yield line("left out", f"{', '.join(without)}: in no mean and no test, see the findings")
        yield from lines("compared", result.compared.said)
    if result.sensitivity:
        yield line("plausible", result.sensitivity)
    if any(entry.severity != "note" for entry, _ in result.findings):
        yield study_tables.findings_table(result.findings)
    if result.comparisons is None:
        yield line("tested", result.not_compared)
        return
    if result.comparisons.sizes["cluster"]:
        yield study_tables.table_of_tests(result.comparisons, 20)
    yield from (line(*row) for row in rows(study_tables.facts_of_tests(result.comparisons)))
