"""The command `live`: muscle forces while the subject moves."""

import logging
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from musclesolve._util.sides import BOTH
from musclesolve.cli.errors import SOME_FRAMES_FAILED
from musclesolve.cli.finished_result import finish_result
from musclesolve.cli.options import Cost, Side, TrialFile, output_option, with_settings
from musclesolve.cli.printing import finish, print_address, progress
from musclesolve.constants import RESULT_FILE
from musclesolve.laboratory.recording.command_settings import (
    CommandSettings,
    LiveSettings,
    StreamSettings,
    command_arguments,
)
from musclesolve.laboratory.recording.trial_settings import AUTO
from musclesolve.tables.settings import settings_of


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
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address of --page only.")
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
    options = LiveSettings(**stated)
    if replay and options.source:
        raise typer.BadParameter("state one of --replay and --from")
    if not replay and not options.source:
        raise typer.BadParameter("state where samples come from: --from, or --replay -o OUT for a recording")
    if replay != (output is not None):
        raise typer.BadParameter("--replay and -o belong together")
    streamed = {
        "--page": page,
        "--record": record is not None,
        "--to": bool(options.sink),
        **{
            f"--{name.replace('_', '-')}": options[name] != usual.default
            for name, usual in settings_of(StreamSettings).items()
        },
    }
    if replay and any(streamed.values()):
        option = next(name for name, stated in streamed.items() if stated)
        raise typer.BadParameter(
            f"{option} is for what comes in real time: --from replay, in place of --replay -o OUT"
        )
    replays = any(text.partition(":")[0] == "replay" for text in options.source)
    if repeat and not replays:
        raise typer.BadParameter("--repeat belongs to --from replay")
    if not page and (no_browser or page_settings or options.page_port):
        raise typer.BadParameter("--no-browser, --page-settings and --page-port belong to --page")
    if (options.stand is None and (options.walk or weigh)) or (options.stand is not None and record is None):
        raise typer.BadParameter("--walk and --weigh belong to --stand, and that to --record")
    settings: dict[str, Any] = {name: options[name] for name in ("lag_ms", "cutoff_hz")}
    settings |= {"cost": cost, "side": side}
    if output is not None:
        _replay_into(trial, output, settings)
        return
    from musclesolve._util.processes import stop_signals
    from musclesolve.apps.live.joining import Wanted
    from musclesolve.apps.live.live import Live
    from musclesolve.apps.live.recorder import Recorder
    from musclesolve.apps.live.session import SessionWatch, check_streams, open_session, open_sink
    from musclesolve.apps.live.stream import run_session
    from musclesolve.cli.live_progress import StatusLine, session_document, session_lines
    from musclesolve.laboratory.recording.data import Trial

    feet: Any = None if options.plate is None else [None if foot == AUTO else foot for foot in options.plate]
    axes, rate, seconds = (options.forward, options.up), options.rate, options.seconds
    check_streams(options.source, options.sink)  # before anything is computed or announced
    joining: dict[str, Any] = {"wait_ms": options.wait_ms, "plate_offset": options.plate_offset}
    with ExitStack() as closing:
        sayings: list[Callable[[str], None]] = [logging.getLogger("musclesolve").warning]

        def say(sentence: str) -> None:
            """Say a sentence wherever somebody may look."""
            for saying in sayings:
                saying(sentence)

        sinks = list(map(open_sink, options.sink))
        for sink in sinks:
            closing.callback(sink.close)
        sinks += [StatusLine(say), SessionWatch(say)]
        if record is not None:
            sinks.append(Recorder(record, say))
        if page:  # its process loads what it needs while the trial is prepared
            from musclesolve.apps.live.page.page_sink import LivePage

            shown = LivePage(page_settings, options.page_port, not no_browser, print_address)
            closing.callback(shown.close)
            sinks.append(shown)
            sayings.append(shown.say)

        def made(of: Path | Trial) -> Live:
            with progress() as report:
                report("preparation", 0.1)
                one = Live(of, rate_hz=rate, plates=feet, **settings)
                report("compilation", 0.5)
                one.warm_up()
            if page and (replays or options.stand):  # else once the streams are there
                shown.begin(one)
            return one

        if options.stand is None:
            ready = made(trial)
            if page and replays:  # a recording is short
                logging.getLogger("musclesolve").info("the recording begins when a browser shows the page")
                shown.wait_for_browser()
            wanted = Wanted.from_live(ready, *axes, repeats=repeat)
            joined, going = open_session(wanted, options.source, sinks, **joining)
            # from here on Ctrl-C ends the session; before it, the command
            stop = closing.enter_context(stop_signals())
            passed = run_session(ready, joined, going, stop, seconds, fresh=True)
        else:
            from musclesolve.apps.live.standing import Standing, stand_first

            assert record is not None
            standing = Standing(trial, record, feet, rate, weigh)
            rate, feet = standing.rate, list(standing.plates)
            joined, going = open_session(Wanted.from_live(standing, *axes), options.source, sinks, **joining)
            for item in going:
                closing.callback(item.close)
            stop = closing.enter_context(stop_signals())
            ready, chosen = stand_first(
                standing, joined, made, seconds=options.stand, walk=options.walk, say=say, stop=stop
            )
            passed = run_session(ready, chosen, going, stop, seconds, fresh=True)
    code = 0 if passed.complete else SOME_FRAMES_FAILED
    finish("live", session_lines(passed), lambda: session_document(passed, trial, ready), code=code)


def _replay_into(trial: Path, output: Path, settings: dict[str, Any]) -> None:
    """Send a recording through `Live` as fast as it goes, write its frames as a result, and summarize it."""
    from musclesolve.apps.live.replay import replay
    from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
    from musclesolve.laboratory.results.files.result_netcdf import result_content

    with progress() as report, reserved(output):
        result = replay(trial, progress=report, **settings).result
        report("writing", 1.0)
        paths = write_files(output, {RESULT_FILE: result_content(result)})
    finish_result("live", result, paths)
