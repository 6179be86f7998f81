r"""Arguments and options that commands share, and the many options of `synthesize`.

In a help text "[mm]" is read as markup and vanishes: write "\[mm]".
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from musclesolve.cli.completion import cost_names, fault_names, marker_set_names, solver_names


class Side(StrEnum):
    """Which legs are analysed."""

    right = "r"
    left = "l"
    both = "both"


Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of the summary, also for an error.")
]

TrialFile = Annotated[Path, typer.Argument(metavar="TRIAL.toml", help="The trial file.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder for result.nc and the figures.")]
Cost = Annotated[
    str | None,
    typer.Option(help="Cost function; default: the one of the trial file.", autocompletion=cost_names),
]
Solver = Annotated[
    str | None, typer.Option(help="Solver; default: the one of the trial file.", autocompletion=solver_names)
]
Sides = Annotated[Side, typer.Option(help="Legs to analyse.")]

RecordingFolder = Annotated[Path, typer.Option("-o", "--output", help="Folder for the recording.")]
Motion = Annotated[str, typer.Option(help="walk, or run (with flight).")]
MarkerNoise = Annotated[float, typer.Option(help="Noise of the markers, root mean square \\[mm].")]
NoiseKind = Annotated[
    str, typer.Option(help="white: noise of the cameras; skin: markers slide on the skin with the stride.")
]
ForceNoise = Annotated[float, typer.Option(help="Noise of the force plates, root mean square [N].")]
MarkerRate = Annotated[float, typer.Option(help="Sampling rate of the markers [Hz].")]
ForceRate = Annotated[float, typer.Option(help="Sampling rate of the force plates [Hz].")]
Strides = Annotated[int, typer.Option(help="Number of strides to analyse.")]
Margin = Annotated[float, typer.Option(help="Time recorded before and after the strides \\[s].")]
Cutoff = Annotated[
    str | None,
    typer.Option(
        help="Cut-off frequency in the trial file [Hz], or residual_analysis; default: 6 for a walk, 15 for a run."
    ),
]
ForceCutoff = Annotated[
    float | None, typer.Option(help="Cut-off frequency of the forces [Hz]; default: that of the markers.")
]
MarkerSet = Annotated[
    str | None,
    typer.Option(
        help="A marker set (names: `musclesolve markers`); default: landmarks.",
        autocompletion=marker_set_names,
    ),
]
Cameras = Annotated[int, typer.Option(help="Number of cameras that record the markers; 0: marker files.")]
PixelNoise = Annotated[float, typer.Option(help="Noise of the image points, root mean square \\[px].")]
Forward = Annotated[str, typer.Option(help="Axis of the files that counts as forward.")]
Up = Annotated[str, typer.Option(help="Axis of the files that points up.")]
Heading = Annotated[float, typer.Option(help="Initial walking direction, to the left of forward \\[deg].")]
Turn = Annotated[
    float, typer.Option(help="Change of the walking direction to the left over the strides \\[deg].")
]
Gaps = Annotated[
    list[str] | None, typer.Option(help="MARKER:FROM:TO, seconds without that marker; repeatable.")
]
Steps = Annotated[
    list[str] | None,
    typer.Option(
        help="A contact that is measured by a force plate, such as r2, the second one of the right foot; repeatable. "
        "Default: all contacts; otherwise the trial file has no \\[time]."
    ),
]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        help="A fault to plant (names: `musclesolve faults`); repeatable.", autocompletion=fault_names
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.")]
