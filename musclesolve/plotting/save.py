"""All figures of a result, as files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import xarray as xr
from matplotlib.figure import Figure

from musclesolve.errors import InputError
from musclesolve.plotting.consistency import consistency_shift
from musclesolve.plotting.filtering import cutoff_and_noise
from musclesolve.plotting.forces import contact_forces, ground_reaction
from musclesolve.plotting.joints import joint_angles_and_moments
from musclesolve.plotting.muscles import activations, muscle_forces
from musclesolve.plotting.png import Progress, png_files
from musclesolve.plotting.trust import reserves_and_residual
from musclesolve.results.checked import checked_result
from musclesolve.results.writing import write_files

FIGURES: dict[str, Callable[[xr.Dataset], Figure]] = {
    "activations": activations,
    "muscle_forces": muscle_forces,
    "joint_angles_and_moments": joint_angles_and_moments,
    "contact_forces": contact_forces,
    "ground_reaction": ground_reaction,
    "reserves_and_residual": reserves_and_residual,
    "consistency_shift": consistency_shift,
}
SINCE = {"consistency_shift": "consistency_shift"}
"""Figures of a variable that results of earlier versions do not have: they are drawn where it is there."""
WITH: dict[str, tuple[str, Callable[[xr.Dataset], Figure]]] = {
    "cutoff_and_noise": ("marker_cutoff", cutoff_and_noise),
}
"""Further figures, of a variable that only some trials ask for."""
FILES = tuple(f"{name}.png" for name in (*FIGURES, *WITH))
"""Every figure of a result that there may be: one that is not drawn does not stay behind from a result before."""
NEEDED = (
    "time",
    "muscle",
    "dof",
    "side",
    "group",
    "activation",
    "muscle_force",
    "status",
    "joint_angle",
    "joint_moment",
    "joint_reaction",
    "joint_reaction_net",
    "ground_reaction_force",
    "reserve_moment",
    "pelvis_residual",
)


def save_figures(result: xr.Dataset, directory: str | Path) -> list[Path]:
    """Draw every figure of a result into a folder.

    Args:
        result: what ``musclesolve.run`` returns or ``result.nc`` holds.
        directory: the folder; made when it is missing. Figures of the same name in it are replaced.

    Returns:
        The files written, PNG at 200 dots per inch.

    Raises:
        InputError: the dataset is not a result of musclesolve, or the folder cannot be written.
    """
    return write_files(directory, figure_files(result), FILES)


def figure_files(result: xr.Dataset, progress: Progress = lambda stage, fraction: None) -> dict[str, bytes]:
    """The content of the file of every figure, by its name; without those whose variable an old result lacks.

    Args:
        result: what ``musclesolve.run`` returns or ``result.nc`` holds.
        progress: called before every figure with "drawing" and the share of the figures that is done.

    Raises:
        InputError: the dataset is not a result of musclesolve.
    """
    check(result)
    drawn = {name: draw for name, draw in FIGURES.items() if name not in SINCE or SINCE[name] in result}
    drawn |= {name: draw for name, (needed, draw) in WITH.items() if needed in result}
    return png_files({name: partial(draw, result) for name, draw in drawn.items()}, progress)


def check(result: xr.Dataset) -> None:
    """Refuse a dataset that lacks what the figures are drawn from, or is damaged."""
    missing = [name for name in NEEDED if name not in result.variables]
    missing += [f"attribute {name}" for name in ("subject_mass_kg",) if name not in result.attrs]
    if missing:
        raise InputError(
            f"this is not a result of musclesolve: it has no {', '.join(missing)}",
            file=result.encoding.get("source"),
            expected="a dataset written by `musclesolve run`",
        )
    if result.sizes["time"] < 2:
        raise InputError(
            "a result of a single frame has no curves to draw", file=result.encoding.get("source")
        )
    checked_result(result)
