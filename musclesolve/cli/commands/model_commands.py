"""Commands around OpenSim: `share` its models, `export` results to its files and others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from musclesolve.cli.commands.run_commands import finish_result
from musclesolve.cli.completion import cost_names, solver_names
from musclesolve.cli.options import Output, Side, Sides
from musclesolve.cli.printing import print_files, print_summary
from musclesolve.cli.progress_bar import progress
from musclesolve.cli.tendon_words import stated_strains
from musclesolve.results.tables.lines import line

NAN = "the TimeSeriesTable of OpenSim reads them, its Storage ends before the first of them"

Model = Annotated[Path, typer.Option(help="The model, .osim.")]
Coordinates = Annotated[Path, typer.Option(help="Its coordinates, .mot or .sto, as of inverse kinematics.")]
Moments = Annotated[
    Path | None, typer.Option(help="Its joint moments, .sto, as of inverse dynamics: columns NAME_moment.")
]
Loads = Annotated[
    Path | None,
    typer.Option(help="Instead of moments: ground reactions, .mot, or an ExternalLoads file, .xml."),
]
Cost = Annotated[str, typer.Option(help="Cost function.", autocompletion=cost_names)]
Solver = Annotated[str, typer.Option(help="Solver.", autocompletion=solver_names)]
Passive = Annotated[str, typer.Option(help="Passive forces: table (those of the model) or none.")]
Tendon = Annotated[str, typer.Option(help="Tendons: rigid or elastic.")]
TendonStrain = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[WORD=]NUMBER",
        help="Strain of elastic tendons at one maximum isometric force: of all muscles, or soleus=0.06, or "
        "achilles=0.08; repeatable; default: those of the model.",
    ),
]
Coordinate = Annotated[
    list[str] | None,
    typer.Option(
        help="A coordinate whose moment is shared; repeatable; default: all free angles with muscles."
    ),
]
Muscle = Annotated[
    list[str] | None,
    typer.Option(help="A muscle; repeatable; default: all that act on these coordinates."),
]
ReserveWeight = Annotated[
    float | None,
    typer.Option(help="Cost of reserves \\[per (N m)^2]; default: only where muscles fall short."),
]
CutoffHz = Annotated[
    float, typer.Option(help="Low-pass filter of the coordinates [Hz]; 0: they are not filtered.")
]
StartS = Annotated[float | None, typer.Option(help="Start of the time range \\[s].")]
EndS = Annotated[float | None, typer.Option(help="End of the time range \\[s].")]
Figures = Annotated[bool, typer.Option("--figures/--no-figures", help="Draw the figures.")]


def share(
    model: Model,
    coordinates: Coordinates,
    output: Output,
    moments: Moments = None,
    loads: Loads = None,
    cost: Cost = "stress_cubed",
    solver: Solver = "batch",
    passive: Passive = "table",
    tendon: Tendon = "rigid",
    tendon_strain: TendonStrain = None,
    side: Sides = Side.both,
    coordinate: Coordinate = None,
    muscle: Muscle = None,
    reserve_weight: ReserveWeight = None,
    cutoff_hz: CutoffHz = 6.0,
    start_s: StartS = None,
    end_s: EndS = None,
    figures: Figures = True,
) -> None:
    """Muscle forces of an OpenSim model from its coordinates and joint moments or loads: result.nc, figures, STO."""
    from musclesolve.studies.many_trials.one_trial import share_into

    options = {
        "muscles": muscle,
        "dofs": coordinate,
        "side": side.value,
        "passive": passive,
        "tendon": tendon,
        "tendon_strain": stated_strains(tendon_strain or ()),
        "reserve_weight": reserve_weight,
        "cutoff_hz": cutoff_hz or None,
        "start_s": start_s,
        "end_s": end_s,
        "loads": loads,
        "cost": cost,
        "solver": solver,
    }
    with progress() as report:
        result, paths = share_into(output, (model, coordinates, moments), options, report, figures=figures)
    finish_result("share", result, paths)


def export(
    result: Annotated[
        Path,
        typer.Argument(metavar="RESULT.nc", help="A result: of `run`, `share`, `average` or `compare`."),
    ],
    format: Annotated[
        str | None,
        typer.Option(help="sto, mot, csv, mat or parquet; default: the suffix of the output."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The file, or a folder; default: beside the result. STO: NAME.sto gives NAME_activation.sto, "
            "NAME_force.sto, ...",
        ),
    ] = None,
    variable: Annotated[
        list[str] | None,
        typer.Option(help="A series of the result; repeatable. Default: all; STO: the six of most use."),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(
            help="Names, signs and axes: gait2392, rajagopal or own. Default: those of the model of the muscle set in "
            "STO and MOT files, otherwise own."
        ),
    ] = None,
) -> None:
    """Write the series of a result for OpenSim, spreadsheets, MATLAB or data frames."""
    from musclesolve.results.export import export as exporting
    from musclesolve.results.export.opensim_names import find_naming
    from musclesolve.results.files.result_netcdf import read_result

    target = exporting.target_path(result, output, format)
    loaded = read_result(result)
    paths = exporting.export(loaded, target, format, variables=variable, names=names)
    kind = target.suffix.casefold().removeprefix(".")
    print_summary(line("names", find_naming(loaded, names, kind in exporting.FOR_OPENSIM).sentence))
    if kind in exporting.FOR_OPENSIM and (missing := exporting.invalid_frames(loaded)):
        print_summary(line("note", f"{missing} frames without a valid solution are nan: {NAN}"))
    print_files(paths)
