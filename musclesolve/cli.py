"""The road from recordings to muscle forces, from a shell.

Exit codes: 0 done; 2 the input is at fault (one message); 3 done, but some frames have no valid solution;
130 stopped by Ctrl-C. Heavy modules are imported inside the commands, so that --help comes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    import xarray as xr

INPUT_AT_FAULT = 2
SOME_FRAMES_FAILED = 3
INTERRUPTED = 130

app = typer.Typer(
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


@app.command()
def demo(output: Output = Path("demo-output")) -> None:
    """Compute the bundled reference stride, end to end."""
    trial = Path(__file__).with_name("data") / "reference_stride" / "trial.toml"
    with messages():
        analyse(trial, output)


@app.command()
def run(
    trial: Annotated[Path, typer.Argument(metavar="TRIAL.toml", help="The trial file.")],
    output: Output,
    cost: Cost = None,
    solver: Solver = None,
    side: Sides = Side.both,
) -> None:
    """Compute the muscle forces of one trial: result.nc, figures and a printed summary."""
    with messages():
        analyse(trial, output, cost=cost, solver=solver, side=side.value)


@app.command()
def plot(
    result: Annotated[Path, typer.Argument(metavar="RESULT.nc", help="A result of `musclesolve run`.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for the figures; default: beside the result."),
    ] = None,
) -> None:
    """Draw the figures of a result again."""
    with messages():
        from musclesolve.plotting import save_figures
        from musclesolve.results import read_result

        say_files(save_figures(read_result(result), output or result.parent))


@app.command()
def muscles(
    name: Annotated[str | None, typer.Argument(help="A muscle, by its name or short name.")] = None,
    database: Annotated[str, typer.Option(help="Name of a muscle database, or a file.")] = "silva_2003",
) -> None:
    """List the muscles, or show one in full."""
    with messages():
        import muscle_db
        from musclesolve.muscle_table import muscle_in_full, table

        loaded = muscle_db.load(database)
        out = console()
        out.print(table(loaded) if name is None else muscle_in_full(loaded[name]), highlight=False)


def analyse(trial: Path, output: Path, **options: str | None) -> None:
    """Read, compute, write, summarise; ends with exit code 3 where frames have no valid solution."""
    import musclesolve as ms
    from musclesolve.plotting import save_figures
    from musclesolve.results import summary, write_result
    from musclesolve.results.summary import any_failed

    given = {key: value for key, value in options.items() if value is not None}
    with progress() as report:
        result: xr.Dataset = ms.run(ms.read_trial(trial), progress=report, **given)
        report("writing", 0.0)
        write_result(result, output / "result.nc")
        report("drawing", 0.2)
        figures = save_figures(result, output)
    console().print(summary(result), highlight=False, markup=False, soft_wrap=True)
    say_files([output / "result.nc", *figures])
    if any_failed(result):
        raise typer.Exit(SOME_FRAMES_FAILED)


@contextmanager
def messages() -> Iterator[None]:
    """Turn the errors that people can mend, and Ctrl-C, into one message and an exit code."""
    try:
        yield
    except _input_errors() as error:
        complain(str(error))
        raise typer.Exit(INPUT_AT_FAULT) from None
    except KeyboardInterrupt:
        complain("stopped by Ctrl-C; a file that was not complete is not kept")
        raise typer.Exit(INTERRUPTED) from None


def _input_errors() -> tuple[type[Exception], ...]:
    from muscle_db import MuscleDatabaseError
    from musclesolve.errors import MuscleSolveError

    return MuscleSolveError, MuscleDatabaseError


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on the standard error stream of a terminal; yields its callback (stage, fraction 0 to 1)."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<24}"), BarColumn(), TimeElapsedColumn())
    out = Console(stderr=True)
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task("reading", total=1.0)
        yield lambda stage, fraction: bar.update(task, description=stage, completed=fraction)


def say_files(paths: list[Path]) -> None:
    """Say where the results are."""
    names = ", ".join(path.name for path in paths)
    console().print(
        f"{'files':<17} {paths[0].parent}: {names}", highlight=False, markup=False, soft_wrap=True
    )


def complain(message: str) -> None:
    """One message on the standard error stream."""
    Console(stderr=True).print(
        f"musclesolve: {message}", style="red", highlight=False, markup=False, soft_wrap=True
    )


def console() -> Console:
    """The standard output; wide enough for a table where it is not a terminal."""
    out = Console()
    return out if out.is_terminal else Console(width=140)


def main() -> None:
    """Entry point of the command ``musclesolve``."""
    app(prog_name="musclesolve")


if __name__ == "__main__":
    main()
