"""The view of a result in a notebook: an xarray.Dataset whose HTML shows verdict, curves and contact forces.

The class is a subclass because Jupyter, marimo, Colab and VS Code all call `_repr_html_`; a formatter registered on
import would work in IPython alone, and would change the view of every Dataset of a session.
"""

from __future__ import annotations

from html import escape
from importlib import import_module

import xarray as xr

VIEW = "musclesolve.report.notebook"
"""Place of the function that draws a result in a notebook, imported when a result is shown."""


class ResultDataset(xr.Dataset):
    """An xarray.Dataset with another HTML view: a notebook shows the statements on the result before its variables.

    Selections, copies, arithmetic, `xarray.concat` and pickles keep the class. A part that is no complete result is
    shown like any other Dataset; so is a result after `xarray.set_options(display_style="text")`. `xarray.merge`,
    `where` and `xarray.open_dataset` return a plain Dataset, `musclesolve.read_result` a ResultDataset.
    """

    __slots__ = ()

    @classmethod
    def from_dataset(cls, data: xr.Dataset) -> ResultDataset:
        """A ResultDataset with the variables, attributes and source of a dataset."""
        result = cls(data.data_vars, data.coords, data.attrs)
        result.encoding = data.encoding
        return result

    def _repr_html_(self) -> str:
        """The view of a result with the table of xarray folded below; only this table for other datasets."""
        table = super()._repr_html_()
        if xr.get_options()["display_style"] == "text":
            return table
        try:
            view: str | None = import_module(VIEW).result_view(self, table)
        except Exception as error:  # a cell that shows a result never fails
            why = escape(f"{type(error).__name__}: {error}".partition("\n")[0])
            return f"<p>The view of this result is missing: {why}</p>{table}"
        return view or table
