"""The moving picture of a trial inside a report."""

from __future__ import annotations

import importlib

import xarray as xr

PICTURE = "musclesolve.report.picture.moving_picture"


def moving_picture(result: xr.Dataset) -> str | None:
    """HTML to embed once in a page; None where this version draws no moving pictures."""
    try:
        module = importlib.import_module(PICTURE)
    except ModuleNotFoundError as missing:
        if missing.name is None or not PICTURE.startswith(missing.name):
            raise
        return None
    return str(module.picture_fragment(result))
