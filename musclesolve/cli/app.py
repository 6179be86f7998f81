"""The command line: all commands, and its entry point `main`.

Exit codes: 0 done; 2 the input is at fault, or the system refuses something (one message); 3 done, but some frames
have no valid solution; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Annotated

try:
    import typer
except KeyboardInterrupt:  # most of the time before `main` is spent here
    print("musclesolve: stopped by Ctrl-C; nothing was written", file=sys.stderr)
    raise SystemExit(130) from None

from musclesolve.cli import environment, streams
from musclesolve.cli.command_classes import Command, Commands, with_options
from musclesolve.cli.commands import (
    init_command,
    list_commands,
    model_commands,
    picture_command,
    recording_commands,
    report_command,
    run_commands,
    study_commands,
)
from musclesolve.cli.errors import INTERRUPTED, interrupt_message
from musclesolve.cli.printing import announce, complain, console

app = typer.Typer(
    cls=Commands,
    help="Muscle forces of the legs from recorded motion and ground forces.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def print_version(requested: bool) -> None:
    """Print the version and exit."""
    if requested:
        from musclesolve.version import __version__

        console().print(f"musclesolve {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that stand before a command."""


BOTH, QUIET = ("quiet", "json"), ("quiet",)
"""Options that commands get besides their own."""
PANELS: dict[str, dict[Callable[..., None], tuple[str, ...]]] = {
    "Muscle forces": {
        run_commands.demo: BOTH,
        run_commands.run: BOTH,
        model_commands.share: BOTH,
        study_commands.compare: BOTH,
        study_commands.average: BOTH,
    },
    "Recordings": {
        init_command.init: QUIET,
        recording_commands.check: BOTH,
        recording_commands.calibrate: (),
        recording_commands.convert: QUIET,
        recording_commands.synthesize: QUIET,
    },
    "Look at results, hand them on": {
        report_command.report: QUIET,
        picture_command.picture: QUIET,
        study_commands.plot: QUIET,
        model_commands.export: QUIET,
    },
    "What there is, and how fast": {
        list_commands.muscles: (),
        list_commands.markers: (),
        list_commands.faults: (),
        study_commands.benchmark: BOTH,
    },
}
"""The commands by purpose, in the order of the help."""

for panel, commands in PANELS.items():
    for command, names in commands.items():
        app.command(cls=Command, rich_help_panel=panel)(with_options(command, *names))


def _run_command() -> None:
    """Run the command; a Ctrl-C after its end does not change how it has ended."""
    try:
        app(prog_name="musclesolve")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def main() -> None:
    """Entry point of the command ``musclesolve``."""
    try:
        streams.guard_streams()
        announce()
        environment.prepare()
        _run_command()
    except KeyboardInterrupt as stop:  # before or after a command: within it `report_errors` reports it
        complain(interrupt_message(stop))
        raise SystemExit(INTERRUPTED) from None
    finally:
        environment.finish()


if __name__ == "__main__":
    main()
