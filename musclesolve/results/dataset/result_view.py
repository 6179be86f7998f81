"""The accessor `result.musclesolve`: in a notebook it shows verdict, curves and contact forces of a result."""

from html import escape
from importlib import import_module

import xarray as xr

VIEW = "musclesolve.report.notebook"
"""Place of the function that draws a result in a notebook, imported when a result is shown."""


@xr.register_dataset_accessor("musclesolve")
class ResultView:
    """Any Dataset, whose HTML shows what the result says before the table of xarray.

    A Dataset that is no complete result is shown by xarray alone, and so is a result after
    `xarray.set_options(display_style="text")`.
    """

    def __init__(self, data: xr.Dataset) -> None:
        self._data = data

    def __repr__(self) -> str:
        return repr(self._data)

    def _repr_html_(self) -> str:
        """The view of a result with the table of xarray folded below; only this table for other datasets."""
        table: str = self._data._repr_html_()
        if xr.get_options()["display_style"] == "text":
            return table
        try:
            view: str | None = import_module(VIEW).result_view(self._data, table)
        except Exception as error:  # a cell that shows a result never fails
            why = escape(f"{type(error).__name__}: {error}".partition("\n")[0])
            return f"<p>The view of this result is missing: {why}</p>{table}"
        return view or table
