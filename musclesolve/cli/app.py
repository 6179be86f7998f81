"""The command line: all commands, and its entry point `main`.

Exit codes: 0 done; 2 the input is at fault, or the system refuses something (one message); 3 done, but some frames
have no valid solution; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import signal
import sys
from typing import Annotated, Any

try:
    import typer
    from typer.core import TyperGroup
except KeyboardInterrupt:  # most of the time before `main` is spent here
    print("musclesolve: stopped by Ctrl-C; nothing was written", file=sys.stderr)
    raise SystemExit(130) from None

from musclesolve.cli import environment, streams
from musclesolve.cli.commands import (
    list_commands,
    model_commands,
    recording_commands,
    report_command,
    run_commands,
    study_commands,
)
from musclesolve.cli.errors import INTERRUPTED, interrupt_message, report_errors
from musclesolve.cli.printing import announce, complain, console


class Commands(TyperGroup):
    """All commands; an error that ends one is reported in one message."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run the command that the arguments name."""
        with report_errors():
            return super().main(*arguments, **options)


app = typer.Typer(
    cls=Commands,
    help="Muscle forces of the legs from recorded motion and ground forces.",
    no_args_is_help=True,
    add_completion=False,
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


for command in (
    run_commands.demo,
    run_commands.run,
    model_commands.share,
    study_commands.compare,
    recording_commands.check,
    study_commands.benchmark,
    study_commands.plot,
    report_command.report,
    recording_commands.synthesize,
    recording_commands.convert,
    model_commands.export,
    recording_commands.calibrate,
    study_commands.average,
    list_commands.muscles,
    list_commands.markers,
    list_commands.faults,
):
    app.command()(command)


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
