"""Results as files, for what reads them."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.laboratory.results.files.result_netcdf import result_content


def write_result(result: xr.Dataset, path: Path) -> None:
    """Write a result as the commands do."""
    write_files(path.parent, {path.name: result_content(result)})
