"""Mean curves of groups and conditions with their bands, and where they differ.

Below the curves of a panel a bar marks every cluster of a test with its p, and a small panel shows the statistic along
the cycle with its threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.transforms import Affine2D, ScaledTranslation, blended_transform_factory

from musclesolve._util.progress import Progress
from musclesolve.errors import input_error
from musclesolve.plotting.page.curves import line, percents
from musclesolve.plotting.page.figure_files import figures_of
from musclesolve.plotting.page.page_style import GRID_COLOR, NOTE_COLOR, current_style
from musclesolve.plotting.page.panels import fitting_columns, muscles_by_group
from musclesolve.plotting.page.sheet import Sheet, heading, page, sheet_of, text_width, zero_line
from musclesolve.plotting.study.comparison_figures import COST_COLORS as COLORS
from musclesolve.results.cycles.gait_cycles import curves_of
from musclesolve.results.dataset.quantities import heading_of, shown
from musclesolve.results.dataset.result_quantities import OPPOSITE, listed
from musclesolve.results.tables.study_tables import NO_GROUP, p_text

BAND = 0.22
"""Opacity of a band."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.2)), (0, (1.2, 1.2)), (0, (7, 1.5, 1.5, 1.5)))
"""Conditions, where the groups have the colors."""
WIDTH = 1.3
BAR_ROW, STRIP, GAP = 0.11, 0.30, 0.05
"""Height of a row of bars and of the panel of the statistic, and space between, at the default size of text [inch]."""
BAR_COLOR = "#333333"
EFFECTS: tuple[tuple[str, Any], ...] = (("#111111", "-"), ("#999999", "-"), ("#CC79A7", (0, (4, 1.5))))
"""Color and dashes of the statistic of an effect, where there are several."""
MOST = 24
"""Panels on a page."""


def group_files(
    means: xr.Dataset, comparisons: xr.Dataset | None = None, progress: Progress | None = None
) -> dict[str, bytes]:
    """The content of the file of every figure of the groups of a study, by its name; progress as in `figures_of`.

    A variable with more curves than fit on a page has several: group_muscle_force.png, group_muscle_force_2.png.
    """
    return figures_of(means, group_drawings(means, comparisons), progress)


def group_drawings(
    means: xr.Dataset, comparisons: xr.Dataset | None = None
) -> dict[str, Callable[[xr.Dataset], Sheet]]:
    """What draws every figure of the groups of a study from the means, by its name."""
    figures = {}
    for name, each in means.data_vars.items():
        if f"{name}_high" not in means or "percent" not in each.dims:
            continue
        names = _ordered(means, str(name))
        for number in range(0, len(names), MOST):
            suffix = f"_{number // MOST + 1}" if number else ""
            part = names[number : number + MOST]
            figures[f"group_{name}{suffix}"] = _drawing(str(name), comparisons, part)
    return figures


def _drawing(
    variable: str, comparisons: xr.Dataset | None, names: list[str]
) -> Callable[[xr.Dataset], Sheet]:
    return lambda means: group_curves(means, variable, comparisons, names=names)


def group_curves(
    means: xr.Dataset,
    variable: str,
    comparisons: xr.Dataset | None = None,
    *,
    names: Sequence[str] | None = None,
    band: Literal["confidence", "sd"] = "confidence",
) -> Sheet:
    """Mean curves of a variable, a panel for each of its curves, in the page style in force.

    Groups have colors and conditions dashes; where there is one group, conditions have the colors. Angles are in
    degrees.

    Args:
        means: what ``group_means`` returned.
        variable: joint_angle, joint_moment, joint_power, muscle_force, joint_reaction, ...
        comparisons: what ``compare_curves`` returned; no bars and statistics without it.
        names: of the curves, such as "knee_flexion", "soleus" or "knee z"; all of them unless given.
        band: the confidence band of the means, or one standard deviation over the subjects.

    Raises:
        InputError: the means have no such variable or curve.
    """
    if variable not in means or f"{variable}_high" not in means:
        known = [str(name) for name in means.data_vars if f"{name}_high" in means]
        raise input_error("plotting.means_unknown_name", variable=variable, known=known)
    ends = ("_low", "_high") if band == "confidence" else ("_std", "_std")
    curves = {key: dict(curves_of(means[variable + key].rename(variable))) for key in ("", *ends)}
    wanted = list(names) if names is not None else _ordered(means, variable)
    if missing := sorted(set(wanted) - set(curves[""])):
        raise input_error("plotting.no_curve", variable=variable, missing=missing, curves=curves[""])
    tests = {} if comparisons is None else _tests(comparisons, variable, wanted)
    effects = list(dict.fromkeys(str(test["effect"].values) for of in tests.values() for test in of))
    factor, unit = shown(str(means[variable].attrs.get("units", "")))
    sheet, panels = _panels(means, variable, wanted, len(effects))
    styles = _styles(means)
    percent = np.asarray(means["percent"].values, float)
    below = _below(len(effects))
    for number, axes in enumerate(panels.flat):
        axes.set_visible(number < len(wanted))
        if number >= len(wanted):
            continue
        name = wanted[number]
        for (group, condition), style in styles.items():
            where = {"group": group, "condition": condition}
            mean = factor * curves[""][name].sel(where).values
            first, last = (factor * curves[key][name].sel(where).values for key in ends)
            low, high = (first, last) if band == "confidence" else (mean - first, mean + last)
            axes.fill_between(percent, low, high, alpha=BAND, linewidth=0.0, color=style["color"])
            axes.plot(percent, mean, **style)
        axes.set_xlim(percent[0], percent[-1])
        axes.set_xticks(percents(axes))
        if axes.get_ylim()[0] < 0.0 < axes.get_ylim()[1]:
            zero_line(axes)
        opposite = OPPOSITE.get(name, "")
        roomy = bool(opposite) and not current_style().narrow
        heading(axes, name.replace("_", " ") + (f" (+)   {opposite} (-)" if roomy else ""))
        lowest = number + panels.shape[1] >= len(wanted)
        axes.tick_params(labelbottom=not effects and lowest)
        if effects:
            _bars(axes, tests.get(name, []), effects, comparisons)
            _strip(axes, tests.get(name, []), effects, below, labelled=lowest)
    cycle = set(listed(means, "movements")) <= {"walking", "running"}
    sheet.label_axes(
        "gait cycle [%]" if cycle else "cycle [%]", f"{variable.replace('_', ' ')} [{unit or '1'}]"
    )
    sheet.add_legend(_legend(means, styles, effects, band))
    if comparisons is not None and comparisons.attrs.get("tests") and current_style().titled:
        sheet.add_note(_note(comparisons))
    return sheet


def _title(variable: str) -> str:
    return heading_of(variable)


def _ordered(means: xr.Dataset, variable: str) -> list[str]:
    """Names of the curves of a variable in the order of a page."""
    names = [name for name, _ in curves_of(means[variable])]
    if (
        "muscle" in means[variable].dims
        and "function_group" in means.coords
        and set(means["muscle"].values) == set(names)
    ):
        return list(
            muscles_by_group(*([str(n) for n in means[key].values] for key in ("muscle", "function_group")))
        )
    order = list(OPPOSITE)
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def _styles(means: xr.Dataset) -> dict[tuple[str, str], dict[str, Any]]:
    """How the curve of every group and condition that has subjects is drawn."""
    groups, conditions = ([str(name) for name in means[key].values] for key in ("group", "condition"))
    if max(len(groups), 1) > len(COLORS) or (len(groups) == 1 and len(conditions) > len(COLORS)):
        raise input_error(
            "plotting.groups_conditions_only_colors",
            count=len(groups),
            conditions_count=len(conditions),
            colors_count=len(COLORS),
        )
    styles = {}
    for row, group in enumerate(groups):
        for column, condition in enumerate(conditions):
            if not int(means["subjects"].values[row, column]):
                continue
            color = COLORS[row if len(groups) > 1 else column]
            dashes = DASHES[column % len(DASHES)]
            styles[group, condition] = {"color": color, "linestyle": dashes, "linewidth": WIDTH}
    return styles


def _below(effects: int) -> float:
    """Height of bars and statistic below a panel [inch], at the default size of text."""
    return effects * BAR_ROW + GAP + STRIP + GAP if effects else 0.0


def _panels(means: xr.Dataset, variable: str, names: Sequence[str], effects: int) -> tuple[Sheet, np.ndarray]:
    """A page with as many panels side by side as leave every heading two lines."""
    style = current_style()
    most = 2 if style.narrow else 3 if len(names) < 13 else 4
    columns = fitting_columns([name.replace("_", " ") for name in names], most, 2)
    rows = max(1, -(-len(names) // columns))
    height = min(1.0, 0.12 + (0.135 + 0.06 * bool(effects)) * rows)
    space = {"below": _below(effects), "least": 0.5}
    return page(
        means, f"{_title(variable)}: groups and conditions", rows, columns, height=height, space=space
    )


def _tests(comparisons: xr.Dataset, variable: str, names: Sequence[str]) -> dict[str, list[xr.Dataset]]:
    """The tests of each curve."""
    found: dict[str, list[xr.Dataset]] = {}
    for row in np.flatnonzero(comparisons["variable"].values == variable):
        name = str(comparisons["name"].values[row])
        if name in names:
            found.setdefault(name, []).append(comparisons.isel(test=int(row)).assign_coords(row=int(row)))
    return found


def _under(axes: Axes) -> Any:
    """Across a panel in its own shares, upwards in inches of the default style from its lower edge."""
    figure, scale = axes.figure, current_style().scale
    assert figure is not None
    upwards = figure.dpi_scale_trans + ScaledTranslation(0.0, 0.0, axes.transAxes)  # type: ignore[arg-type]
    return blended_transform_factory(axes.transAxes, Affine2D().scale(1.0, scale) + upwards)


def _bars(
    axes: Axes, tests: Sequence[xr.Dataset], effects: Sequence[str], comparisons: xr.Dataset | None
) -> None:
    """A bar below the panel for each cluster, with its p; a row for each effect."""
    assert comparisons is not None
    place, style = _under(axes), current_style()
    first, last = axes.get_xlim()
    for test in tests:
        row = effects.index(str(test["effect"].values))
        middle = -(row + 0.5) * BAR_ROW - 0.01
        color = EFFECTS[row % len(EFFECTS)][0] if len(effects) > 1 else BAR_COLOR
        members = np.flatnonzero(comparisons["cluster_test"].values == int(test["row"]))
        taken = -np.inf
        for number in sorted(members, key=lambda k: float(comparisons["start"].values[k])):
            cluster = comparisons.isel(cluster=int(number))
            start, end = ((float(cluster[key]) - first) / (last - first) for key in ("start", "end"))
            axes.plot([start, max(end, start + 0.01)], [middle] * 2, transform=place, color=color,
                      linewidth=3.0, solid_capstyle="butt", clip_on=False)  # fmt: skip
            text = f"p{'' if (p := p_text(float(cluster['p']))).startswith('<') else '='}{p}"
            wide = text_width(text, style.note_pt) / max(sheet_of(axes).panel_width(axes), 0.1)
            left = end + 0.02 if end + 0.02 + wide < 1.1 else start - 0.02 - wide
            if left > taken and not _covers(comparisons, members, number, left, wide, first, last):
                axes.text(left, middle, text, transform=place, fontsize=style.note_pt, color=BAR_COLOR,
                          va="center_baseline", ha="left", clip_on=False)  # fmt: skip
                taken = left + wide


def _covers(
    comparisons: xr.Dataset, members: Any, number: Any, left: float, wide: float, first: float, last: float
) -> bool:
    """Whether a text beside a bar would lie on the bar of another cluster."""
    for other in members:
        if other != number:
            start, end = (
                (float(comparisons[key].values[other]) - first) / (last - first) for key in ("start", "end")
            )
            if start < left + wide and end > left:
                return True
    return False


def _strip(
    axes: Axes, tests: Sequence[xr.Dataset], effects: Sequence[str], below: float, labelled: bool
) -> None:
    """The statistic along the cycle, its threshold dashed; of several effects each over its own threshold."""
    bottom = -below + GAP
    strip = axes.inset_axes((0.0, bottom, 1.0, STRIP), transform=_under(axes))
    strip.patch.set_visible(False)
    strip.spines[["top", "right"]].set_visible(False)
    style, several = current_style(), len(effects) > 1
    top, low = 0.0, 0.0
    for test in tests:
        threshold = float(test["threshold"])
        if not np.isfinite(threshold):
            continue
        row = effects.index(str(test["effect"].values))
        color, dashes = EFFECTS[row % len(EFFECTS)] if several else (BAR_COLOR, "-")
        unit = threshold if several else 1.0
        values = test["statistic"].values / unit
        strip.plot(test["percent"].values, values, color=color, linestyle=dashes, linewidth=0.8)
        line_at = threshold / unit
        strip.axhline(line_at, color=NOTE_COLOR, linewidth=0.5, linestyle=(0, (4, 2)))
        top = max(top, line_at, float(np.nanmax(values)))
        if test["is_t"]:
            strip.axhline(-line_at, color=NOTE_COLOR, linewidth=0.5, linestyle=(0, (4, 2)))
            low = min(low, -line_at, float(np.nanmin(values)))
        if not several:
            strip.set_yticks([line_at], [f"{line_at:.1f}"])
    if top == 0.0:
        strip.text(0.5, 0.5, "not tested", transform=strip.transAxes, fontsize=style.note_pt, color=NOTE_COLOR,
                   ha="center", va="center")  # fmt: skip
        strip.set_yticks([])
        top = 1.0
    elif several:
        strip.set_yticks([1.0], ["1"])
    strip.axhline(0.0, color=GRID_COLOR, linewidth=0.4, zorder=0)
    low, top = (-max(-low, top), max(-low, top)) if low < 0.0 else (low, top)
    strip.set_ylim(1.15 * low, 1.15 * top)
    strip.set_xlim(*axes.get_xlim())
    strip.set_xticks(percents(axes))
    strip.tick_params(labelsize=style.note_pt, length=2.0, pad=2.0, color=NOTE_COLOR, labelbottom=labelled)
    strip.tick_params(axis="x", labelsize=style.font_pt)


def _legend(
    means: xr.Dataset, styles: dict[tuple[str, str], dict[str, Any]], effects: Sequence[str], band: str
) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    unnamed = NO_GROUP if means.sizes["group"] > 1 else ""
    for (group, condition), style in styles.items():
        count = int(means["subjects"].sel(group=group, condition=condition))
        name = ", ".join(part.replace("_", " ") for part in (group or unnamed, condition) if part) or "all"
        entries[f"{name} (n = {count})"] = line(**style)
    share = str(means.attrs["band"]).partition(" of ")[0]
    words = share if band == "confidence" else "± standard deviation over subjects"
    entries[words] = Patch(color=NOTE_COLOR, alpha=BAND, linewidth=0.0)
    if len(effects) > 1:
        for row, effect in enumerate(effects):
            color, dashes = EFFECTS[row % len(EFFECTS)]
            entries[f"{effect}: statistic / threshold"] = line(color, 0.8, linestyle=dashes)
    elif effects:
        entries["statistic, threshold dashed"] = line(BAR_COLOR, 0.8)
    return entries


def _note(comparisons: xr.Dataset) -> str:
    level, each = float(comparisons.attrs["level"]), float(comparisons.attrs["level_of_each"])
    made = int(comparisons.attrs["tests"])
    if comparisons.attrs["correction"] == "bonferroni":
        return (
            f"level {100.0 * level:g} % over {made} tests (Bonferroni: {each:.2g} each), random field theory"
        )
    return f"level {100.0 * level:g} % for each of {made} tests by itself, random field theory"
