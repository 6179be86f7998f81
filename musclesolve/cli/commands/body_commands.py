"""The command on the body of one subject: `calibrate-body`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musclesolve.cli.options import output_option, with_settings
from musclesolve.cli.printing import finish, progress
from musclesolve.settings.commands import CommandSettings, command_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from musclesolve.studies.calibration.body_record import BodyCalibration


@with_settings(CommandSettings, command_arguments("calibrate_body"))
def calibrate_body(
    trials: Annotated[
        list[Path], typer.Argument(metavar="TRIAL.toml...", help="Trial files of recordings of one subject.")
    ],
    output: Annotated[Path, output_option("The body file to write.")],
    **settings: Any,
) -> None:
    """Fit masses, centers of mass, clock and plates of one subject, so that motion and ground forces agree.

    Nothing is applied: the written file is used where the tables subject and plates of a trial file name it.
    """
    from musclesolve.recording.text.text_file import check_place
    from musclesolve.results.files.atomic_writing import reserved
    from musclesolve.studies.calibration import body_calibration

    with progress() as report, reserved(output.parent):
        check_place(output, "the body of one subject", ".toml", table="body")
        body = body_calibration.calibrate_body(trials, progress=report, **settings)
        path = body.save(output)

    def document() -> dict[str, Any]:
        from dataclasses import asdict

        return asdict(body)

    finish("calibrate-body", _text(body, path), document, [path])


def _text(body: BodyCalibration, path: Path) -> Iterator[RenderableType | str]:
    """Yield the body, the remarks on unknowns, the effect on each trial, and the lines for a trial file."""
    from musclesolve.cli.tables.calibration_tables import parameter_table, trial_table
    from musclesolve.drafting.draft_text import value_text
    from musclesolve.results.tables.lines import line, lines

    stated, off = body.stated["mass_kg"], 1.96 * body.mass_sd
    yield line(
        "body",
        f"{body.name}: {body.mass:.2f} kg (95 % +-{off:.2f} kg), stated {stated:g} kg; nothing was changed",
    )
    yield parameter_table(body.parameters)
    yield from lines("remarks", body.remarks)
    yield trial_table(body.trials)
    yield line("to use it", f'[subject] body = "{path.name}"')
    for one in body.trials:
        keys = "; ".join(f"{key} = {value_text(value)}" for key, value in one.plates.items())
        yield line("", f"[plates] of {one.trial.name}: {keys or 'nothing'}")
