"""A page: a header, a grid of panels, and lengths between them that go with the text, whatever the width.

Files, pages of HTML and axes of a user show the same figure, which matplotlib draws (`DrawnSheet`).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import numpy as np
import xarray as xr

from musclesolve._util.messages import as_text
from musclesolve._util.sides import ALL_SIDES, has_side, side_of, split_side
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.plotting.figure_names import FIGURE_NAMES
from musclesolve.laboratory.plotting.page.page_style import (
    A4,
    LOOK,
    NOTE_COLOR,
    USUAL_GAP,
    USUAL_MARGINS,
    Arrangement,
    current_style,
    page_style,
)
from musclesolve.laboratory.results.dataset.result_quantities import identity
from musclesolve.laboratory.results.tables.comparison_tables import agreement
from musclesolve.models.opensim.muscle_set import long_name
from musclesolve.sharing.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from musclesolve.laboratory.plotting.page.drawn_sheet import DrawnSheet

Sheet: TypeAlias = "DrawnSheet"
"""The kind of a page in annotations; matplotlib is loaded where one is drawn."""


class Explained(Protocol):
    """A page, or a chart of a page of HTML, with its legend and notes."""

    def add_legend(self, entries: Mapping[str, Any]) -> None:
        """Add a legend: text -> `Key`, or a tuple of them."""

    def add_note(self, text: str) -> None:
        """Add a smaller note."""


OF_EACH_SIDE = ("status", "valid", "gap", "moment_error", "cost_bound", "cost", "least_cost")
"""Variables of a frame, which a result has for each side."""


def as_result(data: xr.Dataset | Solution, *needed: str, least_frames: int = 2) -> xr.Dataset:
    """A result as it is; a solution, its Dataset, or a comparison of a problem with the parts that figures read.

    Muscles have the side of their name and, where the name is known, its function group. A comparison of several costs
    and several solvers has a curve for each pair.

    needed: variables of the figure; least_frames: that it draws.
    """
    result = data.to_dataset() if isinstance(data, Solution) else data
    if "side" in result.coords or "muscle" not in result.coords:
        return result
    if lacking := [name for name in needed if name not in result]:
        raise InputError(
            f"the solution has no {', '.join(lacking)}",
            code="missing_argument",
            expected="the arrays of the problem",
            remedy="draw solution.to_dataset(problem)",
        )
    if result.sizes.get("time", 1) < least_frames:
        raise InputError(
            "a single frame has no curves to draw",
            code="too_few_frames",
            expected="two frames or more",
            remedy="draw ms.plotting.pose_activations",
        )
    if "solver" in result.dims:
        result = _pairs(result)
    muscles = list(map(str, result["muscle"].values))
    known = {side_of(name) for name in muscles}
    sides = [side for side in ALL_SIDES if side in known]
    groups = [long_name(split_side(name)[0])[1] for name in muscles]
    result = result.assign_coords(side=sides, group=("muscle", groups))
    for name in OF_EACH_SIDE:
        if name in result.data_vars:
            array = result[name].expand_dims(side=sides).transpose(*result[name].dims, "side")
            result[name] = array.copy(data=np.array(array.values)).assign_attrs(result[name].attrs)
    if {"cost", "time"} <= set(result.dims) and all(map(has_side, muscles)):
        result = result.assign(agreement(result)[["group_force"]].data_vars)
    return result


def _pairs(comparison: xr.Dataset) -> xr.Dataset:
    """A comparison with one axis, `cost`, for costs and solvers, named by what differs."""
    costs, solvers = (list(map(str, comparison[dim].values)) for dim in ("cost", "solver"))
    parts = [comparison.sel(cost=cost, solver=solver, drop=True) for cost in costs for solver in solvers]
    labels = [
        solver if len(costs) == 1 else cost if len(solvers) == 1 else f"{cost}, {solver}"
        for cost in costs
        for solver in solvers
    ]
    over = [name for name, v in comparison.data_vars.items() if {"cost", "solver"} & set(v.dims)]
    joined = xr.concat([part[over] for part in parts], "cost", combine_attrs="override", join="exact")
    return comparison.drop_vars([*over, "cost", "solver"]).assign(joined.data_vars).assign_coords(cost=labels)


def page(
    result: xr.Dataset,
    title: str,
    rows: int,
    columns: int,
    *,
    height: float = 1.0,
    labels: bool = False,
    space: Mapping[str, float] | None = None,
    sharey: Any = False,
) -> tuple[Sheet, np.ndarray]:
    """Make a page with a grid of panels, shape (rows, columns), in the current style.

    Below the title stand the identity of the result and, later, a legend. Its height is a share of the height of A4
    upright, and what headings, legend and a narrow page need beyond it.

    Args:
        result: dataset of the page.
        title: of the page.
        rows: of panels.
        columns: of panels.
        height: of the page, as a share of A4.
        labels: whether there is space between the columns for the label of a vertical axis.
        space: more space than usual, at the default size of text: "left" of the first column, on the "right" of every
            panel, "below" every panel; and the "least" height of a panel [inch].
        sharey: of `Figure.subplots`.
    """
    style, space = current_style(), space or {}
    usual = A4[1] * height - sum(USUAL_MARGINS) - (rows - 1) * (USUAL_GAP + space.get("below", 0.0))
    arrangement = Arrangement(rows, columns, max(usual / rows, 0.1), labels, **space)
    from musclesolve.laboratory.plotting.page.drawn_sheet import DrawnSheet, OwnAxes

    if style.axes is not None:
        drawn = OwnAxes(style, arrangement, style.axes)
        return cast("Sheet", drawn), drawn.panels
    sheet = DrawnSheet(style, arrangement, sharey)
    if style.titled:
        sheet.add_header(title, style.title_pt)
        if of := identity(result):
            sheet.add_header(of, style.note_pt, NOTE_COLOR)
    sheet.fit()
    return sheet, sheet.panels


def sheet_of(axes: "Axes") -> Sheet:
    """The page of a panel."""
    if hasattr(axes.figure, "set_texts"):
        return cast("Sheet", axes.figure)
    from musclesolve.laboratory.plotting.page.drawn_sheet import OwnAxes

    return cast("Sheet", OwnAxes(current_style(), Arrangement(1, 1, 1.0), axes))


def native(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Give a figure the keywords of matplotlib: `ax`, `color`, `label`, `linestyle` and `linewidth`.

    ax: axes to draw into instead of a page, as many as the figure has panels; they are returned. The others: a value,
    or one for each of "right" and "left", or of the costs, solvers or results that are compared.
    """
    form = signature(draw)
    first = next(iter(form.parameters.values()))
    maker = {"comparison": " of compare", "average": " of average_cycles"}.get(first.name, "")
    kinds = tuple(kind for kind in (xr.Dataset, Solution, Mapping) if kind.__name__ in str(first.annotation))

    def refused(problem: str) -> InputError:
        remedy = f"ms.plotting.{draw.__name__}(result, ...)"
        return input_error("bad_result", problem=problem, expected=f"a result{maker}", remedy=remedy)

    @wraps(draw)
    def drawn(*args: Any, ax: Any = None, **named: Any) -> Any:
        of = args[0] if args else named.get(first.name)
        if xr.Dataset in kinds and not (isinstance(of, kinds) and (of or isinstance(of, xr.Dataset))):
            what = f"the variable {of.name} alone" if isinstance(of, xr.DataArray) else as_text(of)
            raise refused(f"this is {what}")
        if first.name == "comparison" and "cost" not in getattr(of, "dims", ()):
            raise refused("this dataset has no axis of costs")
        if isinstance(of, xr.Dataset) and (figure := FIGURE_NAMES.get(draw.__name__)):
            figure.check(of)
        look = {name: named.pop(name) for name in LOOK if name in named}
        try:
            if ax is None and not look:
                return draw(*args, **named)
            with page_style(replace(current_style(), axes=ax, look=look)):
                sheet = draw(*args, **named)
        except KeyError as absent:
            # a name that the dataset has is one that a table of the package lacks (xarray writes a sentence)
            if not isinstance(of, xr.Dataset) or str(absent.args[0]) in _names(of):
                raise
            raise refused(f"this dataset lacks what the figure shows: {absent}") from absent
        return sheet if ax is None else ax

    keywords = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in ("ax", *LOOK)]
    drawn.__signature__ = form.replace(parameters=[*form.parameters.values(), *keywords])  # type: ignore[attr-defined]
    return drawn


def _names(of: xr.Dataset) -> set[str]:
    """Names of variables and attributes of a dataset, its labels, and these without their sides."""
    labels = {str(label) for values in of.coords.values() for label in values.values.ravel()}
    return {*labels, *(split_side(label)[0] for label in labels), *map(str, of.variables), *of.attrs}


def heading(axes: "Axes", name: str, note: str = "") -> None:
    """Name of a panel and, below it, a smaller note; broken into lines where the panel is narrow."""
    sheet_of(axes).set_texts(axes, name, note)


def note(axes: "Axes", text: str) -> None:
    """A smaller note above the right end of a panel."""
    if text:
        sheet_of(axes).set_texts(axes, right=text)


def zero_line(axes: "Axes") -> None:
    """Draw the line of zero."""
    axes.axhline(0.0, color="black", linewidth=0.4, zorder=1)
