"""A result as people see it in a notebook: an xarray.Dataset whose HTML shows verdict, curves and contact forces.

A subclass, because `_repr_html_` is what Jupyter, marimo, Colab and VS Code all ask for; a formatter registered on
import would be one of IPython alone, and would change how every Dataset of a session is shown.
"""

from __future__ import annotations

from html import escape
from importlib import import_module

import xarray as xr

VIEW = "musclesolve.report.notebook"
"""What draws a result in a notebook. Pages are made later than results, so it is looked up when one is shown."""


class ResultDataset(xr.Dataset):
    """An xarray.Dataset in everything but its HTML: in a notebook it shows what a result says before its variables.

    Selections, copies, arithmetic, `xarray.concat` and pickles keep the class, and a part that no longer is a result
    is shown as any other Dataset; so is a result after `xarray.set_options(display_style="text")`. `xarray.merge`,
    `where` and `xarray.open_dataset` return a plain Dataset, `musclesolve.read_result` one of these.
    """

    __slots__ = ()

    @classmethod
    def from_dataset(cls, data: xr.Dataset) -> ResultDataset:
        """A ResultDataset with the variables, attributes and source of a dataset."""
        result = cls(data.data_vars, data.coords, data.attrs)
        result.encoding = data.encoding
        return result

    def _repr_html_(self) -> str:
        """The view of a result with the table of xarray folded below; that table alone for what is no result."""
        table = super()._repr_html_()
        if xr.get_options()["display_style"] == "text":
            return table
        try:
            view: str | None = import_module(VIEW).result_view(self, table)
        except Exception as error:  # a cell that shows a result never fails
            why = escape(f"{type(error).__name__}: {error}".partition("\n")[0])
            return f"<p>The view of this result is missing: {why}</p>{table}"
        return view or table
