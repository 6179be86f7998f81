"""Commands `desk`, everything by clicks; `watch`, a result of each new recording; `warm`, compile beforehand."""

from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musclesolve.cli.options import output_option, with_settings
from musclesolve.cli.printing import complain, finish, print_address, print_plain, print_summary, progress
from musclesolve.errors import not_installed
from musclesolve.laboratory.recording.command_settings import (
    CommandSettings,
    DeskSettings,
    WatchSettings,
    command_arguments,
)

if TYPE_CHECKING:
    from rich.table import Table

    from musclesolve.studies.many_trials.trial_record import TrialRecord


@with_settings(CommandSettings, command_arguments("desk"))
def desk(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder with the recordings; it may be new.")
    ] = Path("."),
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in a browser.")] = True,
    **stated: Any,
) -> None:
    """Lead from recordings to a report by clicks: a page on this machine, until Ctrl-C; it writes the trial file.

    Nothing leaves the machine, and nothing outside the folder is written.
    """
    for package in ("nicegui", "tomlkit"):
        if find_spec(package) is None:
            raise not_installed("the desk needs", package, "desk")
    from musclesolve.apps.desk.server import serve

    serve(folder, DeskSettings(**stated).port, browser, lambda address: print_address(address, "desk"))


KERNELS = (
    "musclesolve.sharing.kernel.entry",
    "musclesolve.sharing.kernel.level_walk",
    "musclesolve.sharing.kernel.simplex",
    "musclesolve.muscles.paths.kernel.entry",
    "musclesolve.models.opensim.joint_kernel",
    "musclesolve.dynamics.kernel.entry",
    "musclesolve.trajectory.chain_kernel",
    "musclesolve._util.series_kernel",
)
"""Modules with compiled functions; the first takes longest."""


def warm() -> None:
    """Compile everything for this machine, once, so that no other command waits for it; a minute or two.

    Machine code, and the byte code of Python, which some installations lack.
    """
    import compileall
    from importlib import import_module

    from musclesolve._util.compiled_code import compiled_functions

    for package in ("musclesolve", "muscle_db"):
        spec = find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            compileall.compile_dir(folder, quiet=2)
    functions = [
        (module, name, function)
        for module in KERNELS
        for name, function in compiled_functions(import_module(module)).items()
    ]
    there = sum(function.is_kept() for _, _, function in functions)
    with progress() as report:
        functions[0][2].compile_beside(*functions[0][:2])  # the second processor, if there is one
        for number, (module, name, function) in enumerate(functions[1:] + functions[:1]):
            report(f"{module.split('.')[1]}: {name.lower()}", number / len(functions))
            function.load()
    kept = sum(function.is_kept() for _, _, function in functions)
    print_plain(
        f"{kept} of {len(functions)} functions are compiled and kept on disk, {there} of them before."
    )
    if kept < len(functions):
        print_plain(
            "The others are compiled again by each command: the folder of the program cannot be written."
        )


LOOK = 0.5
"""Interval at which the folder is searched [s]."""


@with_settings(CommandSettings, command_arguments("watch"))
def watch(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder into which recordings are saved.")
    ],
    template: Annotated[
        Path, typer.Option(metavar="T.toml", help="The trial file of an earlier recording of the protocol.")
    ],
    output: Annotated[
        Path | None, output_option("Folder for all results; results in FOLDER unless given.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Compute what is there, and end, instead of waiting for more.")
    ] = False,
    **stated: Any,
) -> None:
    """Make a trial file, a result and a page of each new recording in a folder, until Ctrl-C.

    Recordings, of markers, cameras or an OpenSim model, follow one protocol: the trial file of an earlier recording.
    A recording at fault is named with its remedy, and the next one is computed.
    """
    from musclesolve._util.processes import stop_signals
    from musclesolve.cli.result_documents import many_trials_document
    from musclesolve.cli.tables.trial_tables import exit_code_of, trials_remarks, trials_table
    from musclesolve.laboratory.plotting.figure_names import REPORT
    from musclesolve.laboratory.report.page import trial_report
    from musclesolve.studies.many_trials.watch_folder import Computer, Template, Watch

    watched = Watch(
        folder, Template(template), output, WatchSettings(**stated).settled, {REPORT: trial_report}
    )
    printed: dict[str, TrialRecord] = {}
    with watched.held(), closing(Computer()) as compute, stop_signals() as stop:
        end = "" if once else "; Ctrl-C ends"
        print_summary(f"watching {watched.folder}; results in {watched.results}{end}")
        while not stop():
            jobs = watched.look()
            _print_new(watched.records, printed)
            if jobs:
                watched.take(compute(jobs[0]))
                _print_new(watched.records, printed)
            elif once and not watched.is_open:
                break
            else:
                sleep(LOOK)
    records = watched.records

    def text() -> "Iterator[Table | str]":
        if records:
            yield trials_table(records)
            yield from trials_remarks(records, watched.results)
        elif once:
            yield "no recording was found in the folder"

    code = exit_code_of(records) if once else 0
    finish("watch", text(), lambda: many_trials_document(records), code=code)


def _print_new(records: "list[TrialRecord]", printed: "dict[str, TrialRecord]") -> None:
    """Print the outcomes of recordings since the last output."""
    from musclesolve.laboratory.results.judgement import LABELS

    for record in records:
        if printed.get(record.name) == record:
            continue
        printed[record.name] = record
        if record.measures is not None:
            measures = record.measures
            peaks = [f"{joint} {peak:.1f}" for joint, peak in measures.contact.items() if isfinite(peak)]
            forces = f"; contact forces [BW] {', '.join(peaks)}" if peaks else ""
            print_summary(f"{record.name}: {LABELS[measures.verdict]}{forces}; {record.seconds:.1f} s")
            if measures.why:
                print_summary(f"  {measures.why}")
        elif record.outcome.has_fault:
            complain(f"{record.name}: {record.message}")
        else:
            print_summary(f"{record.name}: {record.message or record.outcome.value}")
