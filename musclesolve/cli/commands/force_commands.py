"""Commands that compute muscle forces: `demo`, `run`, `share`, `compare`, `emg` and `average`."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musclesolve._util.sides import BOTH
from musclesolve.cli.errors import SOME_FRAMES_FAILED
from musclesolve.cli.options import (
    Coordinates,
    Cost,
    Figures,
    Loads,
    Model,
    Moments,
    Output,
    Questions,
    Side,
    Solver,
    TrialFile,
    drawn_figures,
    output_option,
    with_settings,
)
from musclesolve.cli.printing import complain, finish, print_address, print_summary, progress
from musclesolve.constants import AVERAGE_FILE, RESULT_FILE, SEED
from musclesolve.data.bundled import reference_stride
from musclesolve.plotting.page.page_style import PageStyle, page_style
from musclesolve.results.tables.lines import line
from musclesolve.settings.commands import CommandSettings, FigureSettings, command_arguments
from musclesolve.settings.live import LiveSettings, StreamSettings
from musclesolve.settings.schema import settings_of
from musclesolve.settings.trial import AUTO, ModelSettings, RecordedSettings, run_arguments, share_arguments

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import RenderableType
    from rich.table import Table


def demo(
    output: Output = Path("demo-output"),
    figures: Figures = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Compute the bundled reference stride, end to end."""
    analyze("demo", reference_stride(), output, figures, show=show)


@with_settings(CommandSettings, command_arguments("many", "run", "figures"))
@with_settings(RecordedSettings, run_arguments())
def run(
    trial: Annotated[
        list[Path], typer.Argument(metavar="TRIAL.toml...", help="Trial files, or folders of trial files.")
    ],
    output: Output,
    cost: Cost = None,
    solver: Solver = None,
    side: Side = BOTH,
    figures: Figures = None,
    questions: Questions = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page of one trial in the browser.")] = False,
    **settings: Any,
) -> None:
    """Compute the muscle forces of one trial: result.nc, its page report.html, and a printed summary.

    With several trials, a folder, --jobs, --scheduler or --again: each trial in a folder of its own, and trials.csv.

    Results of the same input, options and version are kept; a trial that fails does not stop the others.
    """
    jobs, scheduler, again = (settings.pop(key, None) for key in ("jobs", "scheduler", "again"))
    uncertainty, seed = settings.pop("samples", None), settings.pop("seed")
    style = PageStyle(**{key: settings.pop(key) for key in settings_of(FigureSettings)})
    options: dict[str, Any] = {"cost": cost, "solver": solver, "side": side, **settings}
    many = len(trial) > 1 or os.path.isdir(trial[0]) or jobs is not None or scheduler is not None or again
    figures = drawn_figures(figures, style)
    with page_style(style):
        if many and (uncertainty is not None or show):
            option = "--open" if show else "--uncertainty"
            raise typer.BadParameter(f"{option} is for one trial, without --jobs, --scheduler and --again")
        if many:
            how = {"jobs": jobs, "scheduler": scheduler, "again": again, "questions": questions or ()}
            analyze_many(trial, output, figures, options, **how)
        else:
            analyze("run", trial[0], output, figures, uncertainty, seed, show, questions or (), **options)


@with_settings(ModelSettings, share_arguments())
def share(
    model: Model,
    coordinates: Coordinates,
    output: Output,
    moments: Moments = None,
    loads: Loads = None,
    side: Side = BOTH,
    figures: Figures = None,
    **settings: Any,
) -> None:
    """Muscle forces of an OpenSim model from its coordinates and joint moments or loads: result.nc, page, STO.

    A trial file of a model, with the same inputs, is for `musclesolve run`. Of a model of MuJoCo or biorbd: result.nc,
    page, activations.csv.
    """
    from musclesolve.sharing.kernel.compiled_solver import compile_kernel_beside
    from musclesolve.studies.many_trials.one_trial import share_into

    compile_kernel_beside()
    options = {"side": side, "loads": loads, **settings}
    with progress() as report:
        result, paths = share_into(
            output, (model, coordinates, moments), options, report, figures=figures is True
        )
    finish_result("share", result, paths, page=figures is not False)


def analyze(
    command: str,
    trial: Path,
    output: Path,
    figures: bool | None = None,
    samples: int | str | None = None,
    seed: int = SEED,
    show: bool = False,
    questions: Sequence[str] = (),
    **options: Any,
) -> None:
    """Read, compute, write, summarize; ends with exit code 3 where frames have no valid solution.

    figures: also as files; False: neither figures nor page. show: write the page in any case, and open it.
    questions: answered beside the questions of the trial file.
    """
    from musclesolve.results.files.result_netcdf import check_folder
    from musclesolve.sharing.kernel.compiled_solver import compile_kernel_beside
    from musclesolve.studies.many_trials.one_trial import analyze_with_uncertainty
    from musclesolve.studies.questions.answers import answer_files, asked_of

    compile_kernel_beside()
    given = {key: value for key, value in options.items() if value is not None}
    answers = {name: make for name, make in answer_files(asked_of(trial, questions), given).items() if make}
    for name in answers:
        check_folder(output, name, trial)
    with progress() as report:
        done = analyze_with_uncertainty(trial, output, given, figures is True, report, samples, seed)
    result, paths, found = done
    finish_result(
        command, result, paths, found, page=show or figures is not False, show=show, answers=answers
    )


def finish_result(
    command: str,
    result: xr.Dataset,
    paths: list[Path],
    uncertainty: xr.Dataset | None = None,
    page: bool = False,
    show: bool = False,
    answers: Mapping[str, Any] | None = None,
) -> None:
    """Summarize a result, with its uncertainty where that is known; afterward write answers and page, and open it.

    answers: makers of the files of answers to questions, by file name.
    """
    from musclesolve.results.export.export import opensim_note
    from musclesolve.results.facts import Facts
    from musclesolve.results.judgement import judge
    from musclesolve.results.statements import document, statements, summary

    facts = Facts(result)
    said = statements(facts, uncertainty)
    code = 0 if judge(facts).complete else SOME_FRAMES_FAILED
    print_summary(summary(said))  # the verdict first; the page takes a moment
    if any(path.suffix == ".sto" for path in paths) and (note := opensim_note(result, "sto")):
        print_summary(line("note", f"STO files: {note}"))
    if page or answers:
        from musclesolve.results.files.atomic_writing import write_files

        stored = next(path for path in paths if path.name == RESULT_FILE)
        makers = {**(answers or {}), **_pages(page)}  # the page shows the answers
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
    finish(command, [], lambda: document(said), paths, code)


def _answered(path: Path) -> str:
    """The answer of a file in sentences, below its question."""
    from musclesolve.results.files.result_netcdf import read_result
    from musclesolve.results.tables.question_tables import NO_ANSWER, answer_sentences

    found = read_result(path)
    why = found.attrs.get(NO_ANSWER)
    return line(path.stem, f"no answer: {why}" if why else " ".join(answer_sentences(found, path.stem)))


def analyze_many(
    trials: list[Path], output: Path, figures: bool | None, options: dict[str, Any], **how: Any
) -> None:
    """Compute trials side by side and report the outcome of each; exit code 2 where none could be read."""
    from musclesolve.cli.tables import trial_table as tables
    from musclesolve.studies.many_trials import run_many

    def document() -> dict[str, Any]:
        from musclesolve.cli.result_documents import many_trials_document

        return many_trials_document(records)

    def text() -> Iterator[Table | str]:
        yield tables.table(records)
        yield from tables.remarks(records, output)

    with progress() as report:
        how |= {"figures": figures is True, "progress": report, "further": _pages(figures is not False)}
        records = run_many.run_many(trials, output, **options, **how)
    for record in records:
        if record.message:
            complain(f"{record.name}: {record.message}")
    finish("run", text(), document, code=tables.exit_code(records))


def _pages(wanted: bool) -> dict[str, Any]:
    """Return the functions that write the page of a trial beside its result, by file name."""
    from musclesolve.plotting.figure_names import REPORT
    from musclesolve.report.page import trial_report

    return {REPORT: trial_report} if wanted else {}


@with_settings(CommandSettings, command_arguments("compare"))
def compare(
    trial: TrialFile,
    output: Annotated[Path, output_option("Folder for the comparison and its figures.")],
    solver: Solver = None,
    side: Side = BOTH,
    full: Annotated[
        bool, typer.Option("--full", help="Print every function group, muscle pair by pair, and EMG channel.")
    ] = False,
    **settings: Any,
) -> None:
    """Compare the muscle forces of one trial under several costs: comparison.nc, a table of agreement, figures."""
    from musclesolve.studies.compare import compare_into

    with progress() as report:
        result, paths = compare_into(output, trial, settings["costs"], solver, side, report)
    _finish_comparison(result, paths, full)


def _finish_comparison(result: xr.Dataset, paths: list[Path], full: bool) -> None:
    from musclesolve.results.comparison_facts import ComparisonFacts
    from musclesolve.results.tables.comparison_tables import summary_parts, tables

    def document() -> dict[str, Any]:
        from musclesolve.cli.result_documents import comparison_document

        return comparison_document(result)

    parts = tables if full else summary_parts
    complete = ComparisonFacts(result).complete
    finish("compare", parts(result), document, paths, 0 if complete else SOME_FRAMES_FAILED)


@with_settings(CommandSettings, command_arguments("emg"))
def emg(
    trial: TrialFile,
    output: Annotated[Path, output_option("Folder for emg_trade_off.nc and its figure.")],
    cost: Cost = None,
    solver: Solver = None,
    side: Side = BOTH,
    **settings: Any,
) -> None:
    """Compare effort and EMG misfit over the weight of EMG, predict left-out channels, estimate the clock offset."""
    from musclesolve.errors import InputError
    from musclesolve.plotting.study.emg_figures import emg_files
    from musclesolve.recording.trial import trial_file
    from musclesolve.results.files.atomic_writing import reserved, write_files
    from musclesolve.results.files.result_netcdf import check_folder, check_inputs, netcdf_bytes, trial_from
    from musclesolve.results.tables.emg_tables import clock_lines, trade_off_document, trade_off_table
    from musclesolve.studies.emg_offset import emg_offset
    from musclesolve.studies.emg_trade_off import emg_trade_off

    with progress() as report, reserved(output):
        check_folder(output, "emg_trade_off.nc", trial)
        loaded = trial_file.read_trial(trial)
        check_inputs(loaded.files.values(), output, [])
        found = emg_trade_off(loaded, cost=cost, solver=solver, side=side, progress=report, **settings)
        found.attrs |= trial_from(trial, output)
        clock: xr.Dataset | str
        try:
            clock = emg_offset(loaded, cost=cost, side=side)
        except InputError as error:  # too few channels or frames: stated, the trade-off is there
            clock = f"not estimated: {error.problem}"
        report("writing", 1.0)
        paths = write_files(output, {"emg_trade_off.nc": netcdf_bytes(found), **emg_files(found)})
    text: list[RenderableType] = [trade_off_table(found), "\n".join(clock_lines(found, clock))]
    finish("emg", text, lambda: trade_off_document(found, clock), paths)


@with_settings(CommandSettings, command_arguments("calibrate_muscles"))
def calibrate_muscles(
    trial: Annotated[
        list[Path],
        typer.Argument(metavar="TRIAL.toml...", help="Trials of one person, with EMG or fascicle lengths."),
    ],
    output: Annotated[Path, output_option("File of the person's muscles (.toml).")],
    strength: Annotated[Path | None, typer.Option(help="File of strength tests (.toml).")] = None,
    osim: Annotated[
        Path | None, typer.Option("--osim", help="Also an OpenSim model with these muscles (.osim).")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", help="Folder for figures and calibration.nc.")
    ] = None,
    cost: Cost = None,
    side: Side = BOTH,
    **settings: Any,
) -> None:
    """Muscles of one person, fitted to EMG, fascicle lengths and strength tests, with standard deviations."""
    from musclesolve.opensim.person_file import write_person
    from musclesolve.opensim.person_model import write_person_model
    from musclesolve.plotting.study.calibration_figures import calibration_files
    from musclesolve.recording.text.text_file import check_place
    from musclesolve.results.files.atomic_writing import reserved, write_files
    from musclesolve.results.files.result_netcdf import netcdf_bytes
    from musclesolve.results.tables.calibration_tables import (
        agreement_table,
        calibration_document,
        calibration_lines,
        factor_table,
    )
    from musclesolve.studies.calibration.calibrate import calibrate_muscles
    from musclesolve.studies.calibration.free_parameters import stated_words

    check_place(output, "the muscles of one person", ".toml", table="person")
    if osim is not None:
        check_place(osim, "an OpenSim model", ".osim")
    settings |= {key: stated_words(settings[key]) for key in ("free", "fixed") if key in settings}
    with progress() as report, nullcontext() if figures is None else reserved(figures):
        done = calibrate_muscles(trial, strength=strength, cost=cost, side=side, progress=report, **settings)
        report("writing", 1.0)
        sentences = list(done.notes)
        write_person(done.person, output)
        paths = [output]
        if osim is not None:
            sentences += write_person_model(done.person, osim)
            paths.append(osim)
        if figures is not None:
            files = {"calibration.nc": netcdf_bytes(done.found), **calibration_files(done.found)}
            paths += write_files(figures, files)
    undetermined = [direction.sentence for direction in done.directions]
    text: list[RenderableType] = [
        factor_table(done.person, done.found),
        agreement_table(done.found),
        "\n".join(calibration_lines(done.person, done.found, undetermined, sentences)),
    ]
    finish(
        "calibrate-muscles",
        text,
        lambda: calibration_document(done.person, done.found, undetermined, sentences),
        paths,
    )


@with_settings(CommandSettings, command_arguments("live"))
def live(
    trial: TrialFile,
    output: Annotated[Path | None, output_option("Folder for result.nc of --replay.")] = None,
    replay: Annotated[
        bool,
        typer.Option("--replay", help="As fast as it goes, every sample of the recording: result.nc in -o."),
    ] = False,
    repeat: Annotated[
        bool, typer.Option("--repeat", help="--from replay over and over, until Ctrl-C or --seconds.")
    ] = False,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write what comes and what is computed to a folder that `run` understands."
        ),
    ] = None,
    weigh: Annotated[
        bool, typer.Option("--weigh", help="With --stand: the mass is what the plates carry.")
    ] = False,
    page: Annotated[
        bool,
        typer.Option("--page", help="Show the session in the browser: moving picture, curves, biofeedback."),
    ] = False,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address of --page only, without opening a browser.")
    ] = False,
    page_settings: Annotated[
        Path | None,
        typer.Option(help="File (JSON) that keeps what is chosen on --page for the next session."),
    ] = None,
    cost: Cost = None,
    side: Side = BOTH,
    **stated: Any,
) -> None:
    """Muscle and joint forces frame by frame while the subject moves, or of a recording as if it came live."""
    given = LiveSettings(**stated)
    if replay and given.source:
        raise typer.BadParameter("state one of --replay and --from")
    if not replay and not given.source:
        raise typer.BadParameter("state where samples come from: --from, or --replay -o OUT for a recording")
    if replay != (output is not None):
        raise typer.BadParameter("--replay and -o belong together")
    streamed = {
        "--page": page,
        "--record": record is not None,
        "--to": bool(given.sink),
        **{
            f"--{name.replace('_', '-')}": given[name] != usual.default
            for name, usual in settings_of(StreamSettings).items()
        },
    }
    if replay and any(streamed.values()):
        option = next(name for name, stated in streamed.items() if stated)
        raise typer.BadParameter(
            f"{option} is for what comes in real time: --from replay, in place of --replay -o OUT"
        )
    replays = any(text.partition(":")[0] == "replay" for text in given.source)
    if repeat and not replays:
        raise typer.BadParameter("--repeat belongs to --from replay")
    if not page and (no_open or page_settings or given.page_port):
        raise typer.BadParameter("--no-open, --page-settings and --page-port belong to --page")
    if (given.stand is None and (given.walk or weigh)) or (given.stand is not None and record is None):
        raise typer.BadParameter("--walk and --weigh belong to --stand, and that to --record")
    settings: dict[str, Any] = {
        "lag_ms": given.lag_ms,
        "cutoff_hz": given.cutoff_hz,
        "cost": cost,
        "side": side,
    }
    if output is not None:
        _replay_into(trial, output, settings)
        return
    from musclesolve._util.interrupts import stop_signals
    from musclesolve.cli.live_progress import StatusLine, session_document, session_lines
    from musclesolve.live.adapters.registry import check_streams
    from musclesolve.live.joining import Wanted
    from musclesolve.live.live import Live
    from musclesolve.live.recorder import Recorder
    from musclesolve.live.session import open_session
    from musclesolve.live.session_watch import SessionWatch
    from musclesolve.live.stream import Sink, run_session
    from musclesolve.recording.data import Trial

    feet: Any = None if given.plate is None else [None if foot == AUTO else foot for foot in given.plate]
    axes, rate, seconds = (given.forward, given.up), given.rate, given.seconds
    check_streams(given.source, given.sink)  # before anything is computed
    joining: dict[str, Any] = {"wait_ms": given.wait_ms, "plate_offset": given.plate_offset}
    with ExitStack() as closing:
        sayings: list[Callable[[str], None]] = [logging.getLogger("musclesolve").warning]

        def say(sentence: str) -> None:
            """Say a sentence wherever somebody may look."""
            for each in sayings:
                each(sentence)

        sinks: list[str | Sink] = [*given.sink, StatusLine(say), SessionWatch(say)]
        if record is not None:
            sinks.append(Recorder(record, say))
        if page:  # its process loads what it needs while the trial is prepared
            from musclesolve.live.page.page_sink import LivePage

            shown = LivePage(page_settings, given.page_port, not no_open, print_address)
            closing.callback(shown.close)
            sinks.append(shown)
            sayings.append(shown.say)

        def made(of: Path | Trial) -> Live:
            with progress() as report:
                report("preparation", 0.1)
                one = Live(of, rate_hz=rate, plates=feet, **settings)
                report("compilation", 0.5)
                one.warm_up()
            if page:  # before samples come
                shown.begin(one)
            return one

        if given.stand is None:
            ready = made(trial)
            if page and replays:  # a recording is short
                logging.getLogger("musclesolve").info("the recording begins when a browser shows the page")
                shown.wait_for_browser()
            wanted = Wanted.from_live(ready, *axes, repeats=repeat)
            joined, going = open_session(wanted, given.source, sinks, **joining)
            # from here on Ctrl-C ends the session; before it, the command
            stop = closing.enter_context(stop_signals())
            passed = run_session(ready, joined, going, stop, seconds, fresh=True)
        else:
            from musclesolve.live.standing import Standing, stand_first

            assert record is not None
            standing = Standing(trial, record, feet, rate, weigh)
            rate, feet = standing.rate, list(standing.plates)
            joined, going = open_session(Wanted.from_live(standing, *axes), given.source, sinks, **joining)
            for item in going:
                closing.callback(item.close)
            stop = closing.enter_context(stop_signals())
            ready, chosen = stand_first(
                standing, joined, made, seconds=given.stand, walk=given.walk, say=say, stop=stop
            )
            passed = run_session(ready, chosen, going, stop, seconds, fresh=True)
    code = 0 if passed.complete else SOME_FRAMES_FAILED
    finish("live", session_lines(passed), lambda: session_document(passed, trial, ready), code=code)


def _replay_into(trial: Path, output: Path, settings: dict[str, Any]) -> None:
    """Send a recording through `Live` as fast as it goes, write its frames as a result, and summarize it."""
    from musclesolve.live.replay import replay
    from musclesolve.results.files.atomic_writing import reserved, write_files
    from musclesolve.results.files.result_netcdf import netcdf_bytes

    with progress() as report, reserved(output):
        result = replay(trial, progress=report, **settings).result
        report("writing", 1.0)
        paths = write_files(output, {RESULT_FILE: netcdf_bytes(result)})
    finish_result("live", result, paths)


@with_settings(CommandSettings, command_arguments("average"))
def average(
    result: Annotated[
        list[Path], typer.Argument(metavar="RESULT.nc...", help="Results of `musclesolve run`.")
    ],
    output: Annotated[Path, output_option("Folder for average.nc and its figures.")],
    **settings: Any,
) -> None:
    """Average the cycles of results, each leg by itself: average.nc, a table of the strides, figures."""
    from musclesolve.plotting.study.average_figures import average_files
    from musclesolve.results.files.atomic_writing import reserved, write_files
    from musclesolve.results.files.result_netcdf import netcdf_bytes
    from musclesolve.results.tables.average_table import remarks, table
    from musclesolve.studies.average import average_results, stated_units

    with progress() as report, reserved(output):
        averaged = average_results(
            result, partial=settings["partial"], units=stated_units(settings.get("units", ()))
        )
        files = {AVERAGE_FILE: netcdf_bytes(averaged), **average_files(averaged, report)}
        report("writing", 1.0)
        paths = write_files(output, files)

    def document() -> dict[str, Any]:
        from musclesolve.cli.result_documents import average_document

        return average_document(averaged)

    text: list[RenderableType] = [table(averaged), *remarks(averaged)]
    failed = averaged.attrs["invalid"]
    finish("average", text, document, paths, SOME_FRAMES_FAILED if failed else 0)
