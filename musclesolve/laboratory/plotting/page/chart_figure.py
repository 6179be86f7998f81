"""Charts as pages of matplotlib: for files, and for axes of a user."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

import xarray as xr

from musclesolve.laboratory.plotting.page.chart import Chart, Panel, vertical_ends
from musclesolve.laboratory.plotting.page.marks import paint
from musclesolve.laboratory.plotting.page.page_style import broken, current_style
from musclesolve.laboratory.plotting.page.panels import fitting_columns
from musclesolve.laboratory.plotting.page.sheet import (
    Sheet,
    as_result,
    heading,
    native,
    note,
    page,
    sheet_of,
    zero_line,
)
from musclesolve.laboratory.results.facts import Facts
from musclesolve.sharing.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEAD = 0.14
"""Height of title, legend and margins, as a share of A4."""
LABEL_INCH = 0.25
"""Space below a panel for the label of its own axis [inch], at the default size of text."""
TOP = {False: 0.93, True: 0.97}
"""Share of the height of a small panel, of an own or a stated scale, above which a number would touch other text."""
CHARTS: dict[str, Callable[..., Chart]] = {}
"""The charts by the names of their drawing functions; a chart is there when its module is imported."""


def charted(chart: Callable[[Facts], Chart]) -> Callable[..., Any]:
    """Make the figure of a chart: a function of a result. The page of a result paints the chart itself."""

    def draw(result: xr.Dataset) -> Sheet:
        return chart_figure(chart(Facts(result)))

    return _named(draw, chart)


def charted_data(chart: Callable[..., Chart]) -> Callable[..., Any]:
    """Make the figure of a chart of other data than a result, with the parameters of the chart."""

    def draw(*args: Any, **named: Any) -> Sheet:
        return chart_figure(chart(*args, **named))

    draw.__signature__ = signature(chart).replace(return_annotation=Sheet)  # type: ignore[attr-defined]
    return _named(draw, chart)


def charted_of_arrays(*needed: str) -> Callable[[Callable[[Facts], Chart]], Callable[..., Any]]:
    """Make the figure of a chart that also a solution has; needed: arrays that the solution must have."""

    def made(chart: Callable[[Facts], Chart]) -> Callable[..., Any]:
        def draw(result: xr.Dataset | Solution) -> Sheet:
            return chart_figure(chart(Facts(as_result(result, *needed))))

        return _named(draw, chart)

    return made


def _named(draw: Callable[..., Sheet], chart: Callable[..., Chart]) -> Callable[..., Any]:
    CHARTS[chart.__name__] = chart
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(draw, name, getattr(chart, name))
    return native(draw)


def chart_of(draw: Callable[..., Any]) -> Callable[[Any], Chart] | None:
    """The chart of a drawing function, which takes the facts of a result or other data; None of one without."""
    function, chosen = (draw.func, draw.keywords) if isinstance(draw, partial) else (draw, {})
    chart = CHARTS.get(function.__name__)
    return chart and partial(chart, **chosen)


def chart_figure(chart: Chart) -> Sheet:
    """Paint a chart as a page in the style in force."""
    panels, style, columns = chart.panels, current_style(), chart.abreast
    usual = max(1, -(-len(panels) // columns))
    if chart.vertical:
        names = [panel.title if panel else "" for panel in panels]
        columns = fitting_columns(names, columns, 3 if style.narrow else 2)
    rows = max(1, -(-len(panels) // columns))
    shown = [panel for panel in panels if panel is not None]
    own, units = any(panel.across for panel in shown), {panel.unit for panel in shown}
    sheet, grid = page(
        chart.of,
        chart.title,
        rows,
        columns,
        height=min(1.0, HEAD + chart.row * usual) * rows / usual,
        labels=len(units) > 1,
        space={"below": LABEL_INCH} if own else None,
    )
    if not own:
        sheet.label_axes(chart.x.label, chart.vertical)
    alike = bool(chart.vertical) and len({vertical_ends(panel) for panel in shown}) == 1
    for number, axes in enumerate(grid.flat):
        panel = panels[number] if number < len(panels) else None
        if panel is None:
            axes.set_visible(False)
            continue
        _paint(axes, panel, small=bool(chart.vertical))
        if panel.unit and (len(units) > 1 or number % columns == 0):
            axes.set_ylabel(f"[{panel.unit}]")
        if alike and number % columns:
            axes.tick_params(labelleft=False)
        if panel.across:
            sheet.label_below(axes, panel.across)
        else:
            below = panels[number + columns] if number + columns < len(panels) else None
            labeled = below is None or bool(below.across)
            chart.x.apply(axes, labeled=labeled, with_label=own)
    if chart.entries:
        sheet.add_legend(chart.entries)
    for text in chart.notes:
        sheet.add_note(text)
    return sheet


def _paint(axes: "Axes", panel: Panel, small: bool) -> None:
    """Paint a panel; small: one of many without labels of their own."""
    style, low, high = current_style(), *vertical_ends(panel)
    if axes.has_data():  # axes of a user, with other curves
        low, high = min(low, axes.get_ylim()[0]), max(high, axes.get_ylim()[1])
    paint(axes, panel.marks)
    if panel.has_zero and panel.low != 0.0:
        zero_line(axes)
    if panel.square:
        axes.set_aspect("equal", adjustable="datalim")
    else:
        axes.set_ylim(low, high)
    if style.axes is None and small:
        ticks = [
            tick
            for tick in axes.get_yticks()
            if low <= tick <= low + TOP[panel.high is not None] * (high - low)
        ]
        axes.set_yticks(ticks)
    elif style.axes is None:
        axes.locator_params(axis="y", steps=[1, 2, 5, 10])  # few digits, which reach no label
    below = panel.note if small else broken(panel.note, style.note_pt, sheet_of(axes).panel_width(axes))
    heading(axes, panel.title, "" if small and style.narrow else below)
    note(axes, panel.more)
