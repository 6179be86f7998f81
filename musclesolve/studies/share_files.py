"""Force sharing on an OpenSim model, from its files to the files of its result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xarray as xr

from musclesolve._util.progress import Progress
from musclesolve.plotting.figure_names import MODEL_FIGURES, RESULT_FIGURES, in_every_format
from musclesolve.results.files.atomic_writing import reserved, write_files
from musclesolve.results.files.result_netcdf import check_folder, check_inputs, netcdf_bytes
from musclesolve.results.files.storage_file import ENDINGS, storage_files
from musclesolve.results.share_model import share_model

RESULT = "result.nc"


def share_into(
    folder: Path,
    inputs: tuple[Path, Path, Path | None],
    options: Mapping[str, Any],
    progress: Progress,
    *,
    figures: bool = True,
) -> tuple[xr.Dataset, list[Path]]:
    """Compute, draw and write: all files are written, or none.

    Args:
        folder: for result.nc, the STO files and the figures.
        inputs: model, coordinates and moments (None where the options have loads).
        options: further keywords of `share_model`.
        progress: called with the name of each stage and the share of the work that is done.
        figures: whether they are drawn.

    Returns:
        The result and the files.
    """
    stem = inputs[1].stem
    with reserved(folder):
        check_folder(folder, RESULT, inputs[1])
        check_inputs(_given(inputs, options), folder, [f"{stem}_{ending}.sto" for ending in ENDINGS])
        progress("sharing", 0.2)
        result = share_model(*inputs, **options)
        drawn = _figures(result, progress) if figures else {}
        progress("writing", 1.0)
        files = {RESULT: netcdf_bytes(result), **storage_files(result, stem), **drawn}
        return result, write_files(folder, files, in_every_format((*RESULT_FIGURES, *MODEL_FIGURES)))


def _given(inputs: tuple[Path | None, ...], options: Mapping[str, Any]) -> list[Path]:
    """The files that are read."""
    return [Path(path) for path in (*inputs, options.get("loads")) if path is not None]


def _figures(result: xr.Dataset, progress: Progress) -> dict[str, bytes]:
    from musclesolve.plotting import figure_sets  # loads matplotlib: only where figures are drawn

    return figure_sets.figure_files(result, progress)
