"""All figures of a result, as files."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import xarray as xr

from musclesolve._util.checks import check_type
from musclesolve._util.messages import Progress, check_known
from musclesolve.laboratory.plotting.figure_names import (
    FIGURE_NAMES,
    RECORDING,
    UNCERTAINTIES,
    drawings,
    files_of,
    in_every_format,
)
from musclesolve.laboratory.plotting.figure_names import MODEL as MODEL_KIND
from musclesolve.laboratory.plotting.page.page_style import Figures, current_style, figures_of, page_style
from musclesolve.laboratory.results.dataset.checked import MODEL, check_parts, checked_result
from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
from musclesolve.tables.text_file import file_path

FIGURES, OF_MODEL = drawings(RECORDING), drawings(MODEL_KIND)
"""Figures of a result of a recording, and of a result on an OpenSim model: name -> drawing function."""
NEEDED_OF_MODEL = (
    *("time", "muscle", "dof", "side", "group", "activation", "muscle_force", "status"),
    *("joint_angle", "joint_moment", "reserve_moment"),
)
NEEDED = (
    *NEEDED_OF_MODEL,
    *("joint_reaction", "joint_reaction_net", "ground_reaction_force", "pelvis_residual"),
)


def save_figures(
    result: xr.Dataset,
    directory: str | Path,
    format: str | None = None,
    figures: Collection[str] = (),
    progress: Progress | None = None,
) -> list[Path]:
    """Draw the figures of a result into a folder, in the style in force (`page_style`).

    Args:
        result: what ``musclesolve.run`` returns, or ``result.nc`` or ``uncertainty.nc`` hold.
        directory: the folder; made when it is missing. Figures of a result in it are replaced, of whatever format.
        format: png (200 dots per inch), pdf or svg; default: the style's.
        figures: names of those that are drawn; default: all. Files of others are left alone.
        progress: called before every figure.

    Returns:
        The files written.

    Raises:
        InputError: the dataset is not a result of musclesolve, there is no such format or figure, or the folder cannot
            be written.
    """
    style = current_style()
    with (
        reserved(file_path(directory)),
        page_style(style if format is None else replace(style, file_format=format)),
    ):
        return write_files(directory, *figures_again(result, progress, figures))


def figure_files(
    result: xr.Dataset, progress: Progress | None = None, only: Collection[str] = ()
) -> dict[str, bytes]:
    """The content of the file of every figure, by its name; figures of missing variables are left out.

    Args:
        result: of `musclesolve.run`, or on an OpenSim model.
        progress: called before every figure.
        only: names of those that are drawn; default: all.
    """
    check(result)
    figures = drawable_of(result, OF_MODEL if MODEL in result.attrs else FIGURES, only)
    return figures_of(result, figures, progress)


def figures_again(
    result: xr.Dataset, progress: Progress | None = None, only: Collection[str] = ()
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Draw the figures of result.nc or of uncertainty.nc as in `figure_files`; also the names of replaced files."""
    if "quantile_samples" not in getattr(result, "attrs", ()):
        files = figure_files(result, progress, only)
        all_files = files_of(RECORDING, MODEL_KIND)
    else:
        files = figures_of(result, drawable_of(result, drawings(UNCERTAINTIES), only), progress)
        all_files = files_of(UNCERTAINTIES)
    return files, in_every_format(files if only else all_files)


def drawable_of(result: xr.Dataset, figures: Figures, names: Collection[str]) -> Figures:
    """The figures of these names, or all of them without names whose variable the result has."""
    check_known(names, "figure", figures)
    if not names:
        return {name: draw for name, draw in figures.items() if FIGURE_NAMES[name].is_drawable(result)}
    requested = {name: draw for name, draw in figures.items() if name in names}
    for name in requested:
        FIGURE_NAMES[name].check(result)
    return requested


def check(result: xr.Dataset) -> None:
    """Refuse a dataset that lacks data of the figures, or is damaged."""
    of_model = MODEL in check_type(result, xr.Dataset, "result", "a result, of run or read_result").attrs
    missing = [name for name in (NEEDED_OF_MODEL if of_model else NEEDED) if name not in result.variables]
    missing += [] if of_model or "subject_mass_kg" in result.attrs else ["attribute subject_mass_kg"]
    check_parts(result, missing)
    checked_result(result)
