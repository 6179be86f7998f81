"""Commands on recordings: `init`, `check`, `calibrate`, `convert` and `synthesize`."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from musclesolve.cli import options
from musclesolve.cli.errors import INPUT_AT_FAULT
from musclesolve.cli.printing import (
    complain,
    console,
    finish,
    mode,
    print_document,
    print_files,
    print_lines,
    print_plain,
    print_summary,
    print_table,
    progress,
)
from musclesolve.constants import TRIAL_FILE
from musclesolve.laboratory.recording.command_settings import (
    SYNTHETIC,
    CommandSettings,
    SyntheticSettings,
    command_arguments,
)
from musclesolve.laboratory.results.tables.lines import line
from musclesolve.tables.settings import settings_of

if TYPE_CHECKING:
    from musclesolve.laboratory.draft.draft_folder import FolderDraft
    from musclesolve.laboratory.results.judgement import Report
    from musclesolve.studies.study.check_study import StudyCheck


@options.with_settings(CommandSettings, command_arguments("init"))
def init(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="The folder with the recordings of one subject; with --study: of all subjects.",
        ),
    ],
    output: Annotated[
        Path | None,
        options.output_option(
            "The file to write; default: trial.toml, with --study study.toml and trials.csv, in the folder."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    study: Annotated[
        bool, typer.Option("--study", help="Draft a study of all trials in the folder and below it.")
    ] = False,
    **subject: Any,
) -> None:
    """Draft a trial file from the recordings in a folder: all that they show is filled in, the rest marked TODO.

    With --study: a study file and its table of trials from recordings, trial files, results of AddBiomechanics
    (folders, .b3d), sessions of OpenCap and OpenSim models in the folder and below it; a line a trial, with subject,
    mass, stature and sex by its files or a table of subjects (CSV, XLSX), with group, condition and session by folders.
    """
    if study:
        _init_study(folder, output, force, subject)
        return
    from musclesolve.laboratory.draft.draft_folder import draft_folder, write_drafts
    from musclesolve.laboratory.draft.subject_size import GivenSubject

    draft = draft_folder(folder, output, GivenSubject(**subject))
    _print_draft(draft, write_drafts(draft, force))


def _init_study(folder: Path, output: Path | None, force: bool, subject: Mapping[str, Any]) -> None:
    from musclesolve.studies.draft.draft_study import draft_study, write_study

    for key in subject:
        raise typer.BadParameter(
            f"--{key.replace('_', '-')} is of one subject; a study has several: enter it in trials.csv"
        )
    draft = draft_study(folder, output)
    paths = write_study(draft, force)
    for about, statement in draft.recognized:
        print_summary(line(about, statement))
    print_lines("not read", draft.unread)
    print_lines("left out", draft.left_out)
    print_lines("left open", draft.todos or ("nothing",))
    edit = f"search for TODO in {draft.path}, and look at {draft.table[0]}, then "
    path = shlex.quote(str(draft.path))
    print_summary(line("next", f"{edit}musclesolve check {path}; musclesolve study {path} -o results"))
    if drafted := paths[2:]:
        print_summary(line("trial files", f"{len(drafted)} drafted beside their recordings"))
    print_files(paths[:2])


def _print_draft(draft: "FolderDraft", paths: list[Path]) -> None:
    """Print recognized facts, open decisions of each trial, unused files, written files, and the next command."""
    for trial in draft.trials:
        for subject, statement in trial.recognized:
            print_summary(line(subject, statement))
        print_lines("left open", trial.todos or ("nothing",))
        if len(draft.trials) > 1:
            print_summary(line("trial file", f"{trial.path.name}\n"))
    print_lines("not read", draft.unread)
    print_lines("left out", draft.left_out)
    print_lines("not used", draft.others)
    print_lines("with the model", draft.commands)
    print_files(paths)
    todo = any(trial.todos for trial in draft.trials)
    edit = f"search for TODO in {paths[0]}, then " if todo else ""
    more = "; the others likewise" if len(paths) > 1 else ""
    print_summary(line("next", f"{edit}musclesolve check {shlex.quote(str(paths[0]))}{more}"))


def check(
    trial: Annotated[
        Path,
        typer.Argument(
            metavar="TRIAL.toml",
            help="The trial file, the study file of many, their folder, or a camera file.",
        ),
    ],
) -> None:
    """Report all problems of a recording before anything is computed; exit code 2 if one is an error.

    A study: the problems of every trial that is not excluded. A folder: of every trial file in it, or of its study.
    A camera file: reprojection errors of the control points, and camera positions.
    """
    from musclesolve.cli.tables import trial_tables
    from musclesolve.tables.document import is_camera_file, is_study

    if is_camera_file(trial):
        _check_cameras(trial)
    elif trial.is_dir() or is_study(trial):
        from musclesolve.studies.study.check_study import check_folder, check_study

        with progress() as reported:
            many = (check_folder if trial.is_dir() else check_study)(trial, progress=reported)
        errors = [f"{name}: {message}" for name, message in many.errors]
        _finish_check(many, lambda: trial_tables.study_check_tables(many), errors, [many.verdict], many.notes)
    else:
        from musclesolve.studies.questions.answers import check_with_questions

        with progress() as reported:
            report = check_with_questions(trial, reported)
        assert report.judgement is not None
        first = report.judgement.lines
        _finish_check(report, lambda: trial_tables.check_tables(report), map(str, report.of("error")), first)


def _check_cameras(path: Path) -> None:
    """Print reprojection errors and positions of the cameras of a camera file."""
    from musclesolve.cli.tables.calibration_tables import camera_table
    from musclesolve.laboratory.files.cameras.camera_file import read_camera_file

    file = read_camera_file(path)
    finish("check", [camera_table(file)], lambda: {"cameras": [fit.camera.name for fit in file.calibrations]})


def _finish_check(
    report: "Report | StudyCheck",
    tables: "Callable[[], Iterable[RenderableType]]",
    errors: "Iterable[str]",
    first: "Iterable[str]",
    notes: "Iterable[str]" = (),
) -> None:
    """Print the verdict of a check and its tables, its document, or its errors alone; end the command.

    first: the verdict and its reason.
    """
    code = 0 if report.ok else INPUT_AT_FAULT
    if mode.json:
        print_document({"command": "check", "exit_code": code, **report.as_dict()})
    elif mode.quiet:
        for error in errors:
            complain(error)
    else:
        for sentence in first:
            print_plain(sentence)
        print_lines("note", notes)
        for table in tables():
            console().print(table)
    if code:
        raise typer.Exit(code)


@options.with_settings(CommandSettings, command_arguments("convert"))
def convert(
    source: Annotated[
        Path, typer.Argument(help="A recording, such as TRC, C3D, CSV, MOT, STO, or a camera file.")
    ],
    output: Annotated[
        list[Path], options.output_option("NAME.trc for markers, NAME.mot or .sto for forces.")
    ],
    **settings: Any,
) -> None:
    """Write markers or forces of a recording as files that OpenSim reads."""
    from musclesolve.laboratory.files.formats import convert as write

    for note in write(source, output, **settings):
        print_table(note)
    print_files(output)


@options.with_settings(SYNTHETIC, {key: ("recording", key) for key in settings_of(SyntheticSettings)})
def synthesize(
    output: Annotated[Path, options.output_option("Folder for the recording.")],
    gap: Annotated[
        list[str] | None, typer.Option(help="MARKER:FROM:TO, seconds without that marker; repeatable.")
    ] = None,
    **stated: Any,
) -> None:
    """Make a recording with known truth (truth.nc): the reference stride or a run, with noise and gaps."""
    from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
    from musclesolve.studies.synthetic import recording_options, synthetic_recording

    gaps = tuple(recording_options.parse_gap(text) for text in gap or ())
    with reserved(output):
        files = synthetic_recording.recording_files(gaps=gaps, **stated)
        synthetic_recording.check_free(output, files)
        paths = write_files(output, files)
    print_files(paths)
    trial = output / TRIAL_FILE
    check, run = ["musclesolve", "check", str(trial)], ["musclesolve", "run", str(trial), "-o"]
    print_summary(f"{'next':<17} {shlex.join(check)}; {shlex.join([*run, str(output / 'results')])}")
