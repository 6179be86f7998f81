r"""Arguments and options that commands share, and the many of `share` and `synthesize`.

In a help text "[mm]" is read as markup and vanishes: write "\[mm]".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from musclesolve.plotting.page.page_style import PageStyle


def _completing(module: str, names: Callable[[Any], Iterable[str]]) -> Callable[[str], list[str]]:
    """What the shell completes behind an option: names in a module, which is imported only when they are asked for."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names(import_module(module)) if name.startswith(incomplete)]

    return complete


cost_names = _completing("musclesolve.sharing.cost.cost_registry", lambda costs: costs.REGISTRY)
solver_names = _completing(
    "musclesolve.sharing.solver.solver_registry",
    lambda solvers: [name for name, record in solvers.REGISTRY.items() if record.installed],
)
marker_set_names = _completing("musclesolve.recording.markers.marker_set", lambda sets: sets.marker_sets())
muscle_set_names = _completing("muscle_db", lambda sets: sets.available())
muscle_names = _completing("muscle_db", lambda sets: [muscle.name for muscle in sets.load()])
fault_names = _completing("musclesolve.synthetic.faults", lambda faults: faults.faults())
"""Costs; solvers that are installed; bundled marker sets and muscle sets; muscles of the default set; faults."""


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
EmgWeight = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="EMG-informed sharing: weight of the misfit to EMG beside the cost; 0: none; "
        "default: that of the trial file.",
    ),
]
Sides = Annotated[Side, typer.Option(help="Legs to analyse.")]

Model = Annotated[Path, typer.Option(help="The model, .osim.")]
Coordinates = Annotated[Path, typer.Option(help="Its coordinates, .mot or .sto, as of inverse kinematics.")]
Moments = Annotated[
    Path | None, typer.Option(help="Its joint moments, .sto, as of inverse dynamics: columns NAME_moment.")
]
Loads = Annotated[
    Path | None,
    typer.Option(help="Instead of moments: ground reactions, .mot, or an ExternalLoads file, .xml."),
]
Feet = Annotated[
    str,
    typer.Option(
        help="Feet that the loads act on: stated (as an ExternalLoads file names them) or nearest (by their contacts)."
    ),
]
Without = Annotated[
    list[str] | None,
    typer.Option(help="A coordinate whose moment is not shared; repeatable; toes never are by default."),
]
ModelCost = Annotated[str, typer.Option(help="Cost function.", autocompletion=cost_names)]
ModelSolver = Annotated[str, typer.Option(help="Solver.", autocompletion=solver_names)]
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
ContactSpacing = Annotated[
    float | None,
    typer.Option(
        help="With loads: distance of medial and lateral contact of a knee \\[m]; default: by the shank."
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
Muscles = Annotated[
    Path | None,
    typer.Option(help="The muscles of one person, .toml, as of calibrate-muscles; default: as in the model."),
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
Movement = Annotated[
    str | None,
    typer.Option(
        help="What the subject does, such as walking or squat: contact forces are compared with those measured in it; "
        "default: recognised by the motion."
    ),
]
Jobs = Annotated[int | None, typer.Option(help="Number of trials computed at a time; default: one per core.")]
Scheduler = Annotated[
    str | None, typer.Option(help="Compute on a cluster: address of a dask.distributed scheduler.")
]
Again = Annotated[bool, typer.Option("--again", help="Recompute trials whose result is up to date.")]
Figures = Annotated[bool, typer.Option("--figures/--no-figures", help="Draw the figures.")]

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
FunctionalRange = Annotated[
    float,
    typer.Option(
        help="Range of a movement of knees and ankles that shows their axes in place of markers; 0: none \\[deg]."
    ),
]
Cameras = Annotated[int, typer.Option(help="Number of cameras that record the markers; 0: marker files.")]
PixelNoise = Annotated[float, typer.Option(help="Noise of the image points, root mean square \\[px].")]


class Axis(StrEnum):
    """Of a laboratory, with its sense."""

    forward_x, back_x = "+x", "-x"
    forward_y, back_y = "+y", "-y"
    forward_z, back_z = "+z", "-z"


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


class FileFormat(StrEnum):
    """Of figures."""

    png = "png"
    pdf = "pdf"
    svg = "svg"


Format = Annotated[FileFormat, typer.Option("--format", help="Format of the figures.")]
Width = Annotated[
    float,
    typer.Option(help="Width of the figures \\[mm]; columns of journals have 80 to 90, pages 170 to 190."),
]
Font = Annotated[float, typer.Option(help="Size of the text in the figures \\[points].")]
Titles = Annotated[
    bool,
    typer.Option(
        "--titles/--no-titles", help="Print title and trial above the figures; papers have captions."
    ),
]
Norms = Annotated[
    bool, typer.Option("--norms/--no-norms", help="Draw published bands of walking behind the curves.")
]
PageMuscle = Annotated[
    list[str] | None,
    typer.Option(
        "--muscle",
        help="A muscle, or a group of them, on the pages of muscles; repeatable; default: all, in a column (up to 140 "
        "mm) the strongest of each group.",
        autocompletion=muscle_names,
    ),
]


def page_style_of(
    file_format: FileFormat,
    width: float,
    font: float,
    titles: bool = True,
    norms: bool = True,
    muscles: Sequence[str] = (),
) -> PageStyle:
    """The style of the pages that the options ask for."""
    return PageStyle(width, font, titles, file_format.value, norms, tuple(muscles))


def stated_strains(given: Sequence[str], option: str = "--tendon-strain") -> dict[str, float] | None:
    """What --tendon-strain of `share` states, WORD=NUMBER, or a number for all muscles; None of nothing.

    Numbers by word are what `share_model` takes.

    Raises:
        InputError: what is no number, or a word that stands twice.
    """
    from musclesolve.errors import InputError
    from musclesolve.muscles.tendon_strain import ALL  # loads numpy: only where the command runs

    found: dict[str, float] = {}
    for text in given:
        word, equals, value = text.rpartition("=")
        word = word.strip() if equals else ALL
        if word in found:
            raise InputError(
                f"{word!r} stands twice",
                code="duplicate_name",
                where=option,
                expected="every word once",
                remedy="remove one of them",
            )
        try:
            found[word] = float(value)
        except ValueError:
            raise InputError(
                f"{text!r} does not end in a number",
                code="bad_number",
                where=option,
                expected="a strain such as 0.06, or WORD=0.06",
                remedy=f"{option} achilles=0.08",
            ) from None
    return found or None
