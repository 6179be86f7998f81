r"""The road from recordings to muscle forces, from a shell.

Exit codes: 0 done; 2 the input is at fault, or the system refuses something (one message); 3 done, but some frames
have no valid solution; 130 stopped by Ctrl-C. Heavy modules are imported inside the commands, so that --help comes at
once.
In a help text "[mm]" would be taken for markup, and vanish: write it "\[mm]".
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

try:
    import typer
    from rich.console import Console
    from typer.core import TyperGroup
except KeyboardInterrupt:  # most of the time before `main`
    print("musclesolve: stopped by Ctrl-C; nothing was written", file=sys.stderr)
    raise SystemExit(130) from None

from musclesolve._util import written_files as written
from musclesolve._util.interrupts import ignore_interrupts, interrupts
from musclesolve.cli import environment, streams
from musclesolve.cli.printing import announce, complain, console, say, say_files
from musclesolve.data.bundled import reference_stride

INPUT_AT_FAULT = 2
SOME_FRAMES_FAILED = 3
INTERRUPTED = 130


class Commands(TyperGroup):
    """All commands: whatever ends one of them is reported in one message."""

    def main(self, *arguments: Any, **more: Any) -> Any:
        """Run the command that is asked for."""
        with messages():
            return super().main(*arguments, **more)


app = typer.Typer(
    cls=Commands,
    help="From recorded motion and ground forces to the force of every muscle of the legs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Side(StrEnum):
    """Which legs are analysed."""

    right = "r"
    left = "l"
    both = "both"


Output = Annotated[Path, typer.Option("-o", "--output", help="Folder for result.nc and the figures.")]
Cost = Annotated[str | None, typer.Option(help="Cost function; default: the one of the trial file.")]
Solver = Annotated[str | None, typer.Option(help="Solver; default: the one of the trial file.")]
Sides = Annotated[Side, typer.Option(help="Legs to analyse.")]


def say_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        from musclesolve.version import __version__

        console().print(f"musclesolve {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=say_version, is_eager=True, help="Say which version this is."),
    ] = False,
) -> None:
    """Options that stand before a command."""


@app.command()
def demo(output: Output = Path("demo-output")) -> None:
    """Compute the bundled reference stride, end to end."""
    analyse(reference_stride(), output)


@app.command()
def run(
    trial: Annotated[
        list[Path], typer.Argument(metavar="TRIAL.toml...", help="Trial files; a folder: those in it.")
    ],
    output: Output,
    cost: Cost = None,
    solver: Solver = None,
    side: Sides = Side.both,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw the figures.")] = True,
    jobs: Annotated[int | None, typer.Option(help="Trials at a time; default: as many as cores.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Compute on a cluster: address of a dask.distributed scheduler.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Compute trials too whose result is there and of the same input.")
    ] = False,
    uncertainty: Annotated[
        int | None,
        typer.Option(min=2, help="Samples of a Monte Carlo over the sources of error: uncertainty.nc."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the random numbers of the samples.")] = 0,
) -> None:
    """Compute the muscle forces of one trial: result.nc, figures and a printed summary.

    With several trials, a folder, --jobs, --scheduler or --again: each trial into a folder of its own, and trials.csv.

    What has been computed from the same input, options and version is kept; no trial stops the others.
    """
    options = {"cost": cost, "solver": solver, "side": side.value}
    many = len(trial) > 1 or os.path.isdir(trial[0]) or jobs is not None or scheduler is not None or again
    if many and uncertainty is None:
        analyse_many(trial, output, figures, options, jobs=jobs, scheduler=scheduler, again=again)
    elif many:
        raise typer.BadParameter("--uncertainty is for one trial, without --jobs, --scheduler and --again")
    else:
        analyse(trial[0], output, figures, uncertainty, seed, **options)


@app.command()
def compare(
    trial: Annotated[Path, typer.Argument(metavar="TRIAL.toml", help="The trial file.")],
    cost: Annotated[list[str], typer.Option(help="A cost function; give the option twice or more.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the comparison and its figures.")
    ],
    solver: Solver = None,
    side: Sides = Side.both,
) -> None:
    """Share the forces of one trial under several costs: comparison.nc, a table of the agreement, figures."""
    import musclesolve as ms
    from musclesolve.plotting.comparison_figures import FILES, comparison_files
    from musclesolve.results.files.netcdf import netcdf_bytes
    from musclesolve.results.files.replacing import check_folder, check_inputs
    from musclesolve.results.files.writing import reserved, write_files
    from musclesolve.results.tables import comparison_tables

    with progress() as report, reserved(output):
        check_folder(output, "comparison.nc", trial)
        loaded = ms.read_trial(trial)
        check_inputs(loaded.files.values(), output, ["agreement.csv"])
        result = ms.compare(loaded, cost, solver, side.value, progress=report)
        files = {"comparison.nc": netcdf_bytes(result), **comparison_files(result, report)}
        files["agreement.csv"] = comparison_tables.agreement_csv(result)
        report("writing", 1.0)
        paths = write_files(output, files, FILES)
    for table in comparison_tables.tables(result):
        console().print(table)
    say_files(paths)
    if comparison_tables.any_failed(result):
        raise typer.Exit(SOME_FRAMES_FAILED)


@app.command()
def check(
    trial: Annotated[Path, typer.Argument(metavar="TRIAL.toml", help="The trial file.")],
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Tell what is wrong with a recording, all of it, before anything is computed; exit code 2 if there is an error."""
    import musclesolve as ms
    from musclesolve.cli.check_report import json_text, tables

    report = ms.check(trial)
    if json:
        typer.echo(json_text(report))
    else:
        for table in tables(report):
            console().print(table)
        console().print(report.verdict, soft_wrap=True)
    if not report.ok:
        raise typer.Exit(INPUT_AT_FAULT)


@app.command()
def benchmark(
    trial: Annotated[
        Path | None,
        typer.Argument(metavar="TRIAL.toml", help="The trial file; default: the bundled reference stride."),
    ] = None,
    frames: Annotated[int, typer.Option(help="The most frames that a solver gets.")] = 10_000,
    cost: Annotated[
        list[str] | None,
        typer.Option(help="A cost function; repeatable; default: three smooth ones, min_max."),
    ] = None,
    solver: Annotated[
        list[str] | None, typer.Option(help="A solver; repeatable; default: all, and bare rivals.")
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="More time for each; growing frames, muscles and moments; compiling anew."
        ),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the tables as CSV and the figures.")
    ] = None,
) -> None:
    """Measure the solvers side by side on this machine, one frame by itself, and where the time of a run goes."""
    from musclesolve.results.files.writing import reserved, write_files
    from musclesolve.studies.benchmark import figures, report, tables

    with nullcontext() if output is None else reserved(output):
        with progress() as told:
            found = report.benchmark(trial, frames, tuple(cost or ()), tuple(solver or ()), full, told)
        console().print(tables.said_of_machine(found), soft_wrap=True)
        console().print(tables.COLUMN_MEANING, soft_wrap=True)
        for table in tables.tables(found):
            console().print(table)
        if output is not None:
            with progress() as told:
                drawn = figures.figure_files(found, told)
            say_files(write_files(output, tables.files(found) | drawn, figures.FILES))


@app.command()
def plot(
    result: Annotated[
        Path, typer.Argument(metavar="RESULT.nc", help="result.nc or uncertainty.nc of `musclesolve run`.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for the figures; default: beside the result."),
    ] = None,
) -> None:
    """Draw the figures of a result again."""
    from musclesolve.plotting.save_figures import figures_again
    from musclesolve.results.files.netcdf import read_result
    from musclesolve.results.files.writing import reserved, write_files

    loaded, folder = read_result(result), output or result.parent
    with progress() as report, reserved(folder):
        figures, outdated = figures_again(loaded, report)
        report("writing", 1.0)
        paths = write_files(folder, figures, outdated)
    say_files(paths)


@app.command()
def synthesize(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the recording.")],
    motion: Annotated[str, typer.Option(help="walk, or run: with flight.")] = "walk",
    noise_mm: Annotated[float, typer.Option(help="Noise of the markers, root mean square \\[mm].")] = 0.0,
    noise: Annotated[
        str, typer.Option(help="white: the cameras'; skin: markers slide with the stride.")
    ] = "white",
    force_noise_n: Annotated[float, typer.Option(help="Noise of the plates, root mean square [N].")] = 0.0,
    marker_rate_hz: Annotated[float, typer.Option(help="Rate of the markers [Hz].")] = 100.0,
    force_rate_hz: Annotated[float, typer.Option(help="Rate of the plates [Hz].")] = 1000.0,
    strides: Annotated[int, typer.Option(help="Strides to be analysed.")] = 1,
    margin_s: Annotated[float, typer.Option(help="Recorded before and after them \\[s].")] = 0.4,
    cutoff_hz: Annotated[
        str | None,
        typer.Option(
            help="Cut-off that the trial file asks for [Hz], or residual_analysis; default: 6 for a walk, 15 for a run."
        ),
    ] = None,
    force_cutoff_hz: Annotated[
        float | None, typer.Option(help="Cut-off of the forces alone [Hz]; default: that of the markers.")
    ] = None,
    marker_set: Annotated[
        str | None, typer.Option(help="A marker set (names: `musclesolve markers`); default: landmarks.")
    ] = None,
    cameras: Annotated[int, typer.Option(help="Cameras that see the markers; 0: marker files.")] = 0,
    noise_px: Annotated[float, typer.Option(help="Noise of the cameras' pixels, rms \\[px].")] = 0.0,
    forward: Annotated[str, typer.Option(help="Axis of the files that counts as forward.")] = "+x",
    up: Annotated[str, typer.Option(help="Axis of the files that points up.")] = "+z",
    heading_deg: Annotated[
        float, typer.Option(help="Where the subject sets out for, to the left of forward \\[deg].")
    ] = 0.0,
    turn_deg: Annotated[
        float, typer.Option(help="How far the path turns to the left over the strides \\[deg].")
    ] = 0.0,
    gap: Annotated[
        list[str] | None, typer.Option(help="MARKER:FROM:TO, seconds in which it is not seen; repeatable.")
    ] = None,
    step: Annotated[
        list[str] | None,
        typer.Option(
            help="A contact that has a plate, such as r2, the second one of the right foot; repeatable. Without any "
            "all have one; with some the trial file has no \\[time]."
        ),
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(help="Something that goes wrong (names: `musclesolve faults`); repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 0,
) -> None:
    """Make a recording whose truth is known, truth.nc beside it: the reference stride or a run, with noise and gaps."""
    given = {
        key: value
        for key, value in locals().items()
        if key not in ("output", "gap", "step", "fault", "cutoff_hz")
    }
    from musclesolve.results.files.writing import reserved, write_files
    from musclesolve.synthetic.recording.recording_options import parse_cutoff, parse_gap
    from musclesolve.synthetic.recording.synthetic_recording import check_free, recording_files

    gaps = tuple(parse_gap(text) for text in gap or ())
    faults, cutoff = tuple(fault or ()), parse_cutoff(cutoff_hz)
    steps = tuple(step) if step else None
    with reserved(output):
        files = recording_files(gaps=gaps, steps=steps, faults=faults, cutoff_hz=cutoff, **given)
        check_free(output, files)
        paths = write_files(output, files)
    say_files(paths)
    if faults:
        say(f"{'planted':<17} {', '.join(faults)}")
    trial = output / "trial.toml"
    say(f"{'next':<17} musclesolve check {trial}; musclesolve run {trial} -o {output / 'results'}")


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(help="A recording: TRC, C3D, CSV, MOT, STO or a camera file.")],
    output: Annotated[
        list[Path], typer.Option("-o", "--output", help="NAME.trc for markers, NAME.mot or .sto for forces.")
    ],
    forward: Annotated[
        str | None,
        typer.Option(help="Axis of the source in the walking direction: turns it into the axes of OpenSim."),
    ] = None,
    up: Annotated[
        str | None,
        typer.Option(
            help="Axis of the source that points up, +z when not given: goes with --forward, or alone with the "
            "plates of a C3D file (where is the ground?)."
        ),
    ] = None,
    units: Annotated[str, typer.Option(help="Unit of length of the markers: mm, cm or m.")] = "mm",
) -> None:
    """Write markers or forces of a recording as files that OpenSim reads."""
    from musclesolve.recording.conversion import convert as write

    for note in write(source, output, forward, up, units):
        console().print(note, soft_wrap=True)
    say_files(output)


@app.command()
def calibrate(
    cameras: Annotated[Path, typer.Argument(metavar="CAMERAS.toml", help="A camera file.")],
) -> None:
    """Calibrate the cameras of a camera file: how well they show the control points again, and where they stand."""
    from musclesolve.cli.camera_table import table
    from musclesolve.recording.cameras.camera_file import read_camera_file

    console().print(table(read_camera_file(cameras)))


@app.command()
def average(
    result: Annotated[
        list[Path], typer.Argument(metavar="RESULT.nc...", help="Results of `musclesolve run`.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for average.nc and its figures.")],
    partial: Annotated[
        bool, typer.Option("--partial", help="Take gait cycles too of which the frames cover less than 95 %.")
    ] = False,
) -> None:
    """Average the gait cycles of results, each leg for itself: average.nc, a table of the strides, figures."""
    from musclesolve.plotting.average_figures import average_files
    from musclesolve.results.files.netcdf import netcdf_bytes
    from musclesolve.results.files.writing import reserved, write_files
    from musclesolve.results.tables.average_table import remarks, table
    from musclesolve.studies.average import average_results

    with progress() as report, reserved(output):
        averaged = average_results(result, partial=partial)
        files = {"average.nc": netcdf_bytes(averaged), **average_files(averaged, report)}
        report("writing", 1.0)
        paths = write_files(output, files)
    console().print(table(averaged))
    for remark in remarks(averaged):
        say(remark)
    say_files(paths)
    if averaged.attrs["invalid"]:
        raise typer.Exit(SOME_FRAMES_FAILED)


@app.command()
def muscles(
    name: Annotated[str | None, typer.Argument(help="A muscle, by its name or short name.")] = None,
    database: Annotated[str, typer.Option(help="Name of a muscle database, or a file.")] = "silva_2003",
) -> None:
    """List the muscles, or show one in full."""
    import muscle_db
    from musclesolve.cli.muscle_table import muscle_in_full, table

    loaded = muscle_db.load(database)
    console().print(table(loaded) if name is None else muscle_in_full(loaded[name]))


@app.command()
def markers(name: Annotated[str | None, typer.Argument(help="A marker set, by its name.")] = None) -> None:
    """List the marker sets, or show one in full."""
    from musclesolve.cli.marker_set_table import set_in_full, table

    console().print(table() if name is None else set_in_full(name))


@app.command()
def faults() -> None:
    """List the faults that `synthesize` can plant into a recording."""
    from musclesolve.cli.fault_table import table

    console().print(table())


def analyse(
    trial: Path,
    output: Path,
    figures: bool = True,
    samples: int | None = None,
    seed: int = 0,
    **options: Any,
) -> None:
    """Read, compute, write, summarise; ends with exit code 3 where frames have no valid solution."""
    from musclesolve.results.tables.summary import any_failed, summary
    from musclesolve.studies.many_trials.one_trial import analyse as compute
    from musclesolve.studies.uncertainty.run_uncertainty import UncertaintyFiles

    given = {key: value for key, value in options.items() if value is not None}
    with progress() as report:
        more = UncertaintyFiles(samples, seed, figures, given, report)
        result, paths = compute(trial, output, given, figures, report, more)
    say("\n".join([summary(result), *more.lines]))
    say_files(paths)
    if any_failed(result):
        raise typer.Exit(SOME_FRAMES_FAILED)


def analyse_many(
    trials: list[Path], output: Path, figures: bool, options: dict[str, Any], **how: Any
) -> None:
    """Compute trials side by side and say what became of each; ends with exit code 2 where none could be read."""
    import musclesolve as ms
    from musclesolve.cli import trial_table as tables

    with progress() as report:
        records = ms.run_many(trials, output, figures=figures, progress=report, **options, **how)
    console().print(tables.table(records))
    for record in records:
        if record.message:
            complain(f"{record.name}: {record.message}")
    for line in tables.remarks(records, output):
        say(line)
    code = tables.exit_code(records)
    if code:
        raise typer.Exit(code)


@contextmanager
def messages() -> Iterator[None]:
    """Turn the errors that people can mend, what the system refuses, and Ctrl-C, into one message and an exit code."""
    written.reset()
    try:
        yield
    except SystemExit as end:  # first, for every command ends with one, and the next line imports
        cause = getattr(end.__context__, "__cause__", None)
        if not isinstance(cause, KeyboardInterrupt):  # typer ends silently after one
            raise
        message, code = stopped(cause), INTERRUPTED
    except _input_errors() as error:
        message, code = str(error), INPUT_AT_FAULT
    except OSError as error:
        message, code = refusal_of_the_system(error), INPUT_AT_FAULT
    except MemoryError:
        message, code = f"the memory is used up; {written.what_was_written()}", INPUT_AT_FAULT
    except KeyboardInterrupt as stop:
        message, code = stopped(stop), INTERRUPTED
    else:
        return
    with ignore_interrupts():
        complain(message)
    raise SystemExit(code)


def stopped(stop: KeyboardInterrupt) -> str:
    """The message after Ctrl-C."""
    return str(stop) or f"stopped by Ctrl-C; {written.what_was_written()}"


def refusal_of_the_system(error: OSError) -> str:
    """The message where the operating system refuses something."""
    reason = error.strerror or str(error)
    if isinstance(error, streams.OutputError):
        return f"the output cannot be printed: {reason}; {written.what_was_written()}"
    try:
        os.getcwd()
    except FileNotFoundError:
        return "the folder in which the command was given is not there any more\n  remedy: change into another one"
    place = f"{error.filename}: " if error.filename is not None else ""
    return f"{place}{reason}; {written.what_was_written()}"


def _input_errors() -> tuple[type[Exception], ...]:
    from muscle_db import MuscleDatabaseError
    from musclesolve.errors import MuscleSolveError

    return MuscleSolveError, MuscleDatabaseError


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on the standard error stream of a terminal; yields its callback (stage, fraction 0 to 1).

    The callback is also where a Ctrl-C is raised that got lost since it was called last.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<24}", markup=False), BarColumn(), TimeElapsedColumn())
    out = Console(stderr=True)
    bar = Progress(*columns, console=out, transient=True, disable=not out.is_terminal)
    with interrupts() as raise_interrupt, bar:
        task = bar.add_task("reading", total=1.0)

        def report(stage: str, fraction: float) -> None:
            raise_interrupt()
            bar.update(task, description=stage, completed=fraction)

        yield report


def _decided() -> None:
    """Run the command, and let no Ctrl-C change how it has ended."""
    try:
        app(prog_name="musclesolve")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def main() -> None:
    """Entry point of the command ``musclesolve``."""
    try:
        streams.guard_streams()
        announce()
        environment.set_right()
        _decided()
    except KeyboardInterrupt as stop:  # before or after a command: within it `messages` reports it
        complain(stopped(stop))
        raise SystemExit(INTERRUPTED) from None


if __name__ == "__main__":
    main()
