"""Mean curves of groups and conditions with their bands, and where they differ.

Below the curves of a panel a bar marks every cluster of a test with its p, and a small panel shows the statistic along
the cycle with its threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from musclesolve._util.progress import Progress
from musclesolve.errors import input_error
from musclesolve.plotting.page.arrangement import text_width
from musclesolve.plotting.page.curves import percents
from musclesolve.plotting.page.figure_files import figures_of
from musclesolve.plotting.page.keys import area, line
from musclesolve.plotting.page.page_style import GRID_COLOR, NOTE_COLOR, current_style
from musclesolve.plotting.page.panels import fitting_columns, muscles_by_group
from musclesolve.plotting.page.sheet import Sheet, heading, page, sheet_of, zero_line
from musclesolve.plotting.study.comparison_figures import COST_COLORS as COLORS
from musclesolve.results.cycles.gait_cycles import curves_of
from musclesolve.results.cycles.outcomes import without_arms_and_empty
from musclesolve.results.dataset.quantities import KINDS, QUANTITIES, heading_of, shown
from musclesolve.results.dataset.result_quantities import OPPOSITE, listed
from musclesolve.results.tables.study_tables import NO_GROUP, p_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
MOST_CURVES = len(COLORS)
"""Curves in a panel."""
FIRST = (
    *(
        "pelvis_angle",
        "joint_angle",
        "joint_moment",
        "knee_adduction_moment",
        "joint_power",
        "ground_reaction_force",
    ),
    *("contact_force_component", "contact_force", "knee_contact_medial", "knee_contact_lateral"),
)
"""Quantities in the order of gait analysis; others follow."""
OF_GROUND = {"x": "forward", "y": "to the median plane", "z": "upward"}
"""Axes of the ground reaction of cycles, which points along the walking direction."""
FEWEST = 3
"""Subjects of whom a mean is drawn where others have no value."""


def group_files(
    means: xr.Dataset,
    comparisons: xr.Dataset | None = None,
    progress: Progress | None = None,
    drawn: Sequence[str] | None = None,
) -> dict[str, bytes]:
    """The content of the file of every figure of the groups of a study, by its name; progress as in `figures_of`.

    A variable with more curves than fit on a page has several: group_muscle_force.png, group_muscle_force_2.png.
    """
    return figures_of(means, group_drawings(means, comparisons, drawn), progress)


def group_drawings(
    means: xr.Dataset, comparisons: xr.Dataset | None = None, drawn: Sequence[str] | None = None
) -> dict[str, Callable[[xr.Dataset], Sheet]]:
    """What draws every figure of the groups of a study from the means, by its name.

    A panel has six curves at most. Of more groups and conditions there are several pages, each with the reference
    (the first group and condition) and some of the others. Arms and curves without values are left out, but for those
    that are primary outcomes.

    Args:
        means: what ``group_means`` returned.
        comparisons: what ``compare_curves`` returned.
        drawn: groups and conditions that are drawn; all of them unless given. The reference is added.
    """
    figures: dict[str, Callable[[xr.Dataset], Sheet]] = {}
    variables = [
        str(name)
        for name, each in means.data_vars.items()
        if f"{name}_high" in means and "percent" in each.dims
    ]
    variables.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    kept, _ = without_arms_and_empty(means, variables)
    pages = _pages_of(means, drawn)
    for name in variables:
        wanted = kept.get(name, [])
        if comparisons is not None and "family" in comparisons.coords:
            primary = (comparisons["family"].values == "primary") & (comparisons["variable"].values == name)
            wanted = [*wanted, *map(str, comparisons["name"].values[primary])]
        names = [each for each in _ordered(means, name) if each in wanted]
        parts = [(cells, names[k : k + MOST]) for cells in pages for k in range(0, len(names), MOST)]
        for number, (cells, part) in enumerate(parts):
            suffix = f"_{number + 1}" if number else ""
            figures[f"group_{name}{suffix}"] = _drawing(name, comparisons, part, cells)
    return figures


def _drawing(
    variable: str, comparisons: xr.Dataset | None, names: list[str], cells: tuple[list[str], list[str]]
) -> Callable[[xr.Dataset], Sheet]:
    return lambda means: group_curves(
        means.sel(group=cells[0], condition=cells[1]), variable, comparisons, names=names
    )


def _pages_of(means: xr.Dataset, drawn: Sequence[str] | None) -> list[tuple[list[str], list[str]]]:
    """Groups and conditions of each page: the first of each, and as many others as a panel has room for."""
    axes = []
    for key in ("group", "condition"):
        names = [str(name) for name in means[key].values]
        chosen = [name for name in names if name in (drawn or ())]
        axes.append([names[0], *(name for name in chosen if name != names[0])] if chosen else names)
    legs = means.sizes.get("leg", 1)
    groups = _with_first(axes[0], MOST_CURVES)
    most = max(
        2, min(MOST_CURVES // (legs * len(groups[0])), len(DASHES) if len(axes[0]) > 1 else MOST_CURVES)
    )
    return [(group, condition) for group in groups for condition in _with_first(axes[1], most)]


def _with_first(names: list[str], most: int) -> list[list[str]]:
    """The names in lists of at most so many, each beginning with the first name."""
    if len(names) <= most:
        return [names]
    return [[names[0], *names[k : k + most - 1]] for k in range(1, len(names), most - 1)]


def group_curves(
    means: xr.Dataset,
    variable: str,
    comparisons: xr.Dataset | None = None,
    *,
    names: Sequence[str] | None = None,
    band: Literal["confidence", "sd"] = "confidence",
) -> Sheet:
    """Mean curves of a variable, a panel for each of its curves, in the page style in force.

    Groups have colors and conditions dashes; where there is one group, conditions have the colors, and legs that are
    compared the dashes. Angles are in degrees. A band ends where a subject has no value; the mean goes on as a thin
    line as far as three subjects have one. Below a panel a row of bars marks where an effect differs; those of a
    single condition or group against the first have its color.

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
    curves = {key: dict(curves_of(means[variable + key].rename(variable))) for key in ("", *ends, "_count")}
    wanted = list(names) if names is not None else _ordered(means, variable)
    if missing := sorted(set(wanted) - set(curves[""])):
        raise input_error("plotting.no_curve", variable=variable, missing=missing, curves=curves[""])
    tests = {} if comparisons is None else _tests(comparisons, variable, wanted)
    shown_names = {str(name) for key in ("group", "condition") for name in means[key].values}
    effects, bars = _effects(tests, comparisons, shown_names)
    factor, unit = shown(str(means[variable].attrs.get("units", "")))
    sheet, panels = _panels(means, variable, wanted, bars, bool(effects))
    styles = _styles(means)
    percent = np.asarray(means["percent"].values, float)
    below, fewer = _below(bars, bool(effects)), list[int]()
    colors = {key: style["color"] for key, style in styles.items()}
    for number, axes in enumerate(panels.flat):
        axes.set_visible(number < len(wanted))
        if number >= len(wanted):
            continue
        name = wanted[number]
        for key, style in styles.items():
            where = dict(zip(("group", "condition", "leg"), key, strict=False))
            mean = factor * curves[""][name].sel(where).values
            first, last = (factor * curves[end][name].sel(where).values for end in ends)
            count = curves["_count"][name].sel(where).values
            whole = count >= count.max(initial=0)
            low, high = (first, last) if band == "confidence" else (mean - first, mean + last)
            axes.fill_between(
                percent, low, high, where=whole, alpha=BAND, linewidth=0.0, color=style["color"]
            )
            axes.plot(percent, np.where(whole, mean, np.nan), **style)
            if (some := ~whole & (count >= FEWEST)).any():
                fewer += count[some].tolist()
                # joined to the curve on either side
                joined = some | np.roll(some, 1) | np.roll(some, -1)
                axes.plot(percent, np.where(joined, mean, np.nan), **{**style, "linewidth": 0.4 * WIDTH})
        axes.set_xlim(percent[0], percent[-1])
        axes.set_xticks(percents(axes))
        if axes.get_ylim()[0] < 0.0 < axes.get_ylim()[1]:
            zero_line(axes)
        opposite = OPPOSITE.get(name, "")
        roomy = bool(opposite) and not current_style().narrow
        label = OF_GROUND.get(name, name) if variable == "ground_reaction_force" else name
        heading(axes, label.replace("_", " ") + (f" (+)   {opposite} (-)" if roomy else ""))
        lowest = number + panels.shape[1] >= len(wanted)
        axes.tick_params(labelbottom=not effects and lowest)
        if effects:
            _bars(axes, tests.get(name, []), bars, effects, colors, comparisons)
            _strip(axes, tests.get(name, []), effects, below, labelled=lowest)
    cycle = set(listed(means, "movements")) <= {"walking", "running"}
    of = _unit_words(variable, unit)
    sheet.label_axes("gait cycle [%]" if cycle else "cycle [%]", f"{variable.replace('_', ' ')} [{of}]")
    sheet.add_legend(_legend(means, styles, effects, band, fewer))
    if comparisons is not None and comparisons.attrs.get("tests") and current_style().titled:
        beside = f"; colored bars: against {means['condition'].values[0]}".replace("_", " ")
        if any(bar.startswith("group: ") for bar in bars):
            beside = "; colored bars: against the first"
        sheet.add_note(_note(comparisons) + (beside if len(bars) > len(effects) else ""))
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


def _unit_words(variable: str, unit: str) -> str:
    """The unit, and of what it is a share."""
    kind = KINDS.get(QUANTITIES[variable].kind) if variable in QUANTITIES else None
    about = kind.units[unit].about if kind is not None and unit in kind.units else ""
    return f"{unit or '1'} {about}".strip()


def _effects(
    tests: dict[str, list[xr.Dataset]], comparisons: xr.Dataset | None, shown_names: set[str]
) -> tuple[list[str], list[str]]:
    """The effects whose statistic is drawn, and those with a row of bars: these, and single ones of what is shown."""
    if comparisons is None:
        return [], []
    every = [test for of in tests.values() for test in of]
    first = list(dict.fromkeys(str(test["effect"].values) for test in every if int(test["follows"]) < 0))
    found = set(comparisons["cluster_test"].values.tolist())
    single = [
        str(test["effect"].values)
        for test in every
        if int(test["follows"]) >= 0 and int(test["row"]) in found and _compared_one(test) in shown_names
    ]
    return first, [*first, *dict.fromkeys(single)]


def _compared_one(test: xr.Dataset) -> str:
    """The group or condition that a single comparison is of: of "condition: slow - level" it is slow."""
    return str(test["effect"].values).partition(": ")[2].rpartition(" - ")[0]


def _styles(means: xr.Dataset) -> dict[tuple[str, ...], dict[str, Any]]:
    """How the curve of every group and condition (and leg) that has subjects is drawn."""
    groups, conditions = ([str(name) for name in means[key].values] for key in ("group", "condition"))
    legs = [str(name) for name in means["leg"].values] if "leg" in means.dims else []
    several = len(groups) > 1
    if max(len(groups), 1) > len(COLORS) or (not several and len(conditions) > len(COLORS)):
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
            color = COLORS[row if several else column]
            for place, key in enumerate([(group, condition, leg) for leg in legs] or [(group, condition)]):
                dash = column * max(len(legs), 1) + place if several or not legs else place
                styles[key] = {"color": color, "linestyle": DASHES[dash % len(DASHES)], "linewidth": WIDTH}
    return styles


def _below(bars: Sequence[str], strip: bool) -> float:
    """Height of bars and statistic below a panel [inch], at the default size of text."""
    return len(bars) * BAR_ROW + GAP + STRIP + GAP if strip else 0.0


def _panels(
    means: xr.Dataset, variable: str, names: Sequence[str], bars: Sequence[str], strip: bool
) -> tuple[Sheet, np.ndarray]:
    """A page with as many panels side by side as leave every heading two lines."""
    style = current_style()
    most = 2 if style.narrow else 3 if len(names) < 13 else 4
    columns = fitting_columns([OF_GROUND.get(name, name).replace("_", " ") for name in names], most, 2)
    rows = max(1, -(-len(names) // columns))
    height = min(1.0, 0.12 + (0.135 + 0.06 * strip) * rows)
    space = {"below": _below(bars, strip), "least": 0.5}
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
    from matplotlib.transforms import Affine2D, ScaledTranslation, blended_transform_factory

    figure, scale = axes.figure, current_style().scale
    assert figure is not None
    upwards = figure.dpi_scale_trans + ScaledTranslation(0.0, 0.0, axes.transAxes)  # type: ignore[arg-type]
    return blended_transform_factory(axes.transAxes, Affine2D().scale(1.0, scale) + upwards)


def _bars(
    axes: Axes,
    tests: Sequence[xr.Dataset],
    bars: Sequence[str],
    effects: Sequence[str],
    colors: dict[tuple[str, ...], Any],
    comparisons: xr.Dataset | None,
) -> None:
    """A bar below the panel for each cluster, with its p; a row for each effect."""
    assert comparisons is not None
    place, style = _under(axes), current_style()
    first, last = axes.get_xlim()
    for test in tests:
        if str(test["effect"].values) not in bars:
            continue
        row = bars.index(str(test["effect"].values))
        middle = -(row + 0.5) * BAR_ROW - 0.01
        color = EFFECTS[row % len(EFFECTS)][0] if len(effects) > 1 else BAR_COLOR
        if row >= len(effects):
            color = next(color for key, color in colors.items() if _compared_one(test) in key)
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
        if not np.isfinite(threshold) or str(test["effect"].values) not in effects:
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
    means: xr.Dataset,
    styles: dict[tuple[str, ...], dict[str, Any]],
    effects: Sequence[str],
    band: str,
    fewer: Sequence[int],
) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    unnamed = NO_GROUP if means.sizes["group"] > 1 else ""
    for (group, condition, *leg), style in styles.items():
        count = int(means["subjects"].sel(group=group, condition=condition))
        parts = (group or unnamed, condition, *leg)
        name = ", ".join(part.replace("_", " ") for part in parts if part) or "all"
        entries[f"{name} (n = {count})"] = line(**style)
    share = str(means.attrs["band"]).partition(" of ")[0]
    words = share if band == "confidence" else "± standard deviation over subjects"
    entries[words] = area(color=NOTE_COLOR, alpha=BAND, linewidth=0.0)
    if fewer:
        span = f"{min(fewer)} to {max(fewer)}" if min(fewer) < max(fewer) else f"{min(fewer)}"
        entries[f"thin, without a band: n = {span}"] = line(NOTE_COLOR, 0.4 * WIDTH)
    if len(effects) > 1:
        for row, effect in enumerate(effects):
            color, dashes = EFFECTS[row % len(EFFECTS)]
            entries[f"{effect}: statistic / threshold"] = line(color, 0.8, linestyle=dashes)
    elif effects:
        entries["statistic, threshold dashed"] = line(BAR_COLOR, 0.8)
    return entries


def _note(comparisons: xr.Dataset) -> str:
    level, made = float(comparisons.attrs["level"]), int(comparisons.attrs["tests"])
    first = comparisons["follows"].values < 0
    own = dict.fromkeys(
        comparisons["level_of_test"].values[first & np.isfinite(comparisons["threshold"].values)]
    )
    if comparisons.attrs["correction"] == "bonferroni":
        each = " or ".join(f"{value:.2g}" for value in own)
        return (
            f"level {100.0 * level:g} % over all {made} tests (Bonferroni: {each} each), random field theory"
        )
    return f"level {100.0 * level:g} % for each of {made} tests by itself, random field theory"
