"""All figures of a result, as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import xarray as xr
from matplotlib.figure import Figure

from musclesolve._util.progress import Progress
from musclesolve.errors import InputError
from musclesolve.plotting.figure_names import MODEL_FIGURES, RESULT_FIGURES, UNCERTAINTY_FIGURES
from musclesolve.plotting.page.png import figures_of
from musclesolve.plotting.result.contact_component_figure import contact_force_components
from musclesolve.plotting.result.coordinate_figures import coordinates_and_moments, reserves
from musclesolve.plotting.result.cutoff_figures import cutoff_and_noise
from musclesolve.plotting.result.function_group_figure import function_groups
from musclesolve.plotting.result.ground_figure import ground_reaction
from musclesolve.plotting.result.joint_figures import contact_forces, joint_angles_and_moments
from musclesolve.plotting.result.muscle_figures import activations, muscle_forces
from musclesolve.plotting.result.power_figure import joint_powers
from musclesolve.plotting.result.residual_figures import consistency_shift, reserves_and_residual
from musclesolve.results.dataset.checked import MODEL, checked_result
from musclesolve.results.files.atomic_writing import write_files

FIGURES: dict[str, Callable[[xr.Dataset], Figure]] = {
    "activations": activations,
    "muscle_forces": muscle_forces,
    "function_groups": function_groups,
    "joint_angles_and_moments": joint_angles_and_moments,
    "joint_powers": joint_powers,
    "contact_forces": contact_forces,
    "contact_force_components": contact_force_components,
    "ground_reaction": ground_reaction,
    "reserves_and_residual": reserves_and_residual,
    "consistency_shift": consistency_shift,
    "cutoff_and_noise": cutoff_and_noise,
}
OF_MODEL: dict[str, Callable[[xr.Dataset], Figure]] = {
    "activations": activations,
    "muscle_forces": muscle_forces,
    "function_groups": function_groups,
    "coordinates_and_moments": coordinates_and_moments,
    "joint_powers": joint_powers,
    "reserves": reserves,
}
"""Those of a result on an OpenSim model."""
NEEDS = {
    "consistency_shift": "consistency_shift",
    "cutoff_and_noise": "marker_cutoff",
    "function_groups": "max_isometric_force",
    "joint_powers": "joint_power",
    "contact_force_components": "contact_force_component",
}
"""Figures of a variable that results of earlier versions, or of other trials, do not have."""
NEEDED_OF_MODEL = (
    *("time", "muscle", "dof", "side", "group", "activation", "muscle_force", "status"),
    *("joint_angle", "joint_moment", "reserve_moment"),
)
NEEDED = (
    *NEEDED_OF_MODEL,
    *("joint_reaction", "joint_reaction_net", "ground_reaction_force", "pelvis_residual"),
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
    return write_files(directory, figure_files(result), (*RESULT_FIGURES, *MODEL_FIGURES))


def figure_files(result: xr.Dataset, progress: Progress | None = None) -> dict[str, bytes]:
    """The content of the file of every figure, by its name; without those whose variable an old result lacks."""
    check(result)
    return figures_of(result, OF_MODEL if MODEL in result.attrs else FIGURES, progress, NEEDS)


def figures_again(
    result: xr.Dataset, progress: Progress | None = None
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The figures of result.nc or of uncertainty.nc as in `figure_files`, and the names of all that there may be."""
    if "quantile_samples" not in result.attrs:
        return figure_files(result, progress), (*RESULT_FIGURES, *MODEL_FIGURES)
    from musclesolve.plotting.study import uncertainty_figures as uncertainty

    return uncertainty.uncertainty_figures(result, progress), UNCERTAINTY_FIGURES


def check(result: xr.Dataset) -> None:
    """Refuse a dataset that lacks what the figures are drawn from, or is damaged."""
    of_model = MODEL in getattr(result, "attrs", {})
    missing = [name for name in (NEEDED_OF_MODEL if of_model else NEEDED) if name not in result.variables]
    missing += [] if of_model or "subject_mass_kg" in result.attrs else ["attribute subject_mass_kg"]
    code, problem = "bad_result", f"this is not a result of musclesolve: it has no {', '.join(missing)}"
    if not missing and result.sizes["time"] < 2:
        code, problem = "too_few_frames", "a result of a single frame has no curves to draw"
    if missing or result.sizes["time"] < 2:
        expected = "a dataset written by `musclesolve run`"
        raise InputError(problem, code=code, file=result.encoding.get("source"), expected=expected)
    checked_result(result)
