"""Mean curves of groups and conditions with their bands, and their differences.

Below the curves of a panel a bar marks every cluster of a test with its p, and a small panel shows the statistic along
the cycle with its threshold.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.messages import check_known, unknown_name
from musclesolve._util.sides import joint_kind
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory.plotting.page.curves import MARKED, NormBands, mark_range, percents
from musclesolve.laboratory.plotting.page.page_style import (
    APART,
    BAND,
    GRID_COLOR,
    NOTE_COLOR,
    RIGHT,
    area,
    current_style,
    line,
    line_scale,
    text_width,
)
from musclesolve.laboratory.plotting.page.panels import fitting_columns, muscles_by_group, with_panels
from musclesolve.laboratory.plotting.page.sheet import Sheet, heading, native, page, sheet_of, zero_line
from musclesolve.laboratory.plotting.study.comparison_figures import COST_COLORS, curve_colors
from musclesolve.laboratory.results.cycles.discrete_values import without_arms_and_empty
from musclesolve.laboratory.results.cycles.gait_cycles import curves_of
from musclesolve.laboratory.results.cycles.gait_scores import in_models
from musclesolve.laboratory.results.dataset.quantities import KINDS, QUANTITIES, heading_of, in_set, shown
from musclesolve.laboratory.results.dataset.result_quantities import OPPOSITE, listed
from musclesolve.laboratory.results.movement import RUNNING, WALKING, Movement
from musclesolve.laboratory.results.plausibility import measured
from musclesolve.laboratory.results.tables.study_tables import NO_GROUP, CurveTest, curve_tests, p_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.2)), (0, (1.2, 1.2)), (0, (7, 1.5, 1.5, 1.5)))
"""Dashes of conditions, where the groups have the colors."""
WIDTH = 1.3
BAR_ROW, STRIP, GAP = 0.11, 0.30, 0.05
"""Height of a row of bars and of the panel of the statistic, and space between, at the default size of text [inch]."""
BAR_COLOR, FIRST_COLOR = "#333333", "#111111"
EFFECTS: tuple[tuple[str, Any], ...] = (
    *(("#111111", "-"), ("#999999", "-"), ("#CC79A7", (0, (4, 1.5)))),
    *(("#0072B2", "-"), ("#D55E00", (0, (4, 1.5))), ("#56B4E9", (0, (1.2, 1.2))), ("#E69F00", "-")),
)
"""Color and dashes of the statistic of an effect, where there are several: groups, conditions, numbers of subjects."""
MOST_PANELS = 24
"""Panels on a page."""
MOST_ROWS = 6
"""Rows of panels on a page of small multiples."""
MOST_CURVES = 4
"""Largest number of curves with bands in a panel; more curves are drawn as small multiples."""
MOST_COLUMNS = {False: 4, True: 2}
"""Columns of small multiples on a page, and on one that is as wide as a column of a paper."""
COUNT, COUNT_GAP = 0.13, 0.10
"""Height of the lines of the number of subjects, and the space above, at the default size of text [inch]."""
FIRST = (
    *("trunk_angle", "pelvis_angle", "joint_angle", "foot_progression_angle", "joint_moment"),
    *("knee_adduction_moment", "joint_power", "ground_reaction_force", "ground_reaction_resultant"),
    *("contact_force_component", "contact_force", "knee_contact_medial", "knee_contact_lateral"),
)
"""Quantities in the order of gait analysis; others follow."""
SEEN_FROM_LEG = {"tilt": "tilt forward (+)", "list": "this side up (+)", "rotation": "this side forward (+)"}
AXIS_WORDS = {"x": "forward", "y": "to the median plane", "z": "upward"}
LABELS = {
    "ground_reaction_force": AXIS_WORDS,
    "ground_reaction_resultant": {"ground_reaction_resultant": "resultant"},
    "pelvis_angle": SEEN_FROM_LEG,
    "trunk_angle": SEEN_FROM_LEG,
    "foot_progression_angle": {"foot_progression_angle": "toes in (+)   out (-)"},
    "knee_adduction_moment": {"knee_adduction_moment": "external, adducting (+)"},
}
"""Titles of variables: curves of cycles are relative to the leg and the walking direction."""
TICK_PAD = 2.5
"""From an axis to its numbers [points]."""
FEWEST = 3
"""Least number of subjects for a mean where others have no value."""


Cell = tuple[str, str]
"""A group in a condition."""


@dataclass(frozen=True)
class Column:
    """Cells of a column of small multiples, and its words."""

    cells: tuple[Cell, ...]
    words: str = ""


def group_drawings(
    means: xr.Dataset, comparisons: xr.Dataset | None = None, drawn: Sequence[str] | None = None
) -> dict[str, Callable[[xr.Dataset], Sheet]]:
    """Return the drawing function of every figure of the groups of a study from the means, by its name.

    Four curves share a panel at most. More groups and conditions have small multiples: a row for each curve of
    the variable, in its columns the reference (the first group or condition) with some of the others, or of several
    groups a column for each condition. Arms and curves without values are left out, but for those that are primary
    outcomes.

    Args:
        means: what ``group_means`` returned.
        comparisons: what ``compare_curves`` returned.
        drawn: groups and conditions that are drawn; all of them unless given. The reference is added.
    """
    figures: dict[str, Callable[[xr.Dataset], Sheet]] = {}
    variables = [
        str(name)
        for name, variable in means.data_vars.items()
        if f"{name}_high" in means and "percent" in variable.dims
    ]
    variables.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    kept, _ = without_arms_and_empty(means, variables)
    columns, across = _columns_of(means, drawn), MOST_COLUMNS[current_style().narrow]
    most = MOST_PANELS if len(columns) == 1 else MOST_ROWS
    tests = [] if comparisons is None else curve_tests(comparisons)
    for name in variables:
        wanted = kept.get(name, [])
        if comparisons is not None:
            of_curve = [test for test in tests if test.variable == name]
            primary = [test.name for test in of_curve if test.family == "primary"]
            if len(primary) == len(of_curve) and (of_curve or name not in in_set("compared")):
                wanted = []  # of a quantity with outcomes alone only these
            wanted = [*wanted, *primary]
        names = [key for key in _ordered(means, name) if key in wanted]
        parts = [
            (names[row : row + most], columns[column : column + across])
            for column in range(0, len(columns), across)
            for row in range(0, len(names), most)
        ]
        for number, (rows, beside) in enumerate(parts):
            suffix = f"_{number + 1}" if number else ""
            figures[f"group_{name}{suffix}"] = partial(
                group_curves, variable=name, comparisons=comparisons, names=rows, columns=beside
            )
    return figures


def _columns_of(means: xr.Dataset, drawn: Sequence[str] | None = None) -> list[Column]:
    """Return one column with all groups and conditions, or the columns of small multiples."""
    axes = []
    for key in ("group", "condition"):
        names = [str(name) for name in means[key].values]
        chosen = [name for name in names if name in (drawn or ())]
        axes.append([names[0], *(name for name in chosen if name != names[0])] if chosen else names)
    groups, conditions = axes
    legs = means.sizes.get("leg", 1)
    if legs * len(groups) * len(conditions) <= MOST_CURVES:
        return [Column(tuple(product(groups, conditions)))]
    together = [groups] if legs * len(groups) <= MOST_CURVES else _with_first(groups, 3 if legs == 1 else 2)
    if len(groups) == 1:
        return [
            Column(
                ((groups[0], conditions[0]), *((groups[0], name) for name in names[1:])), _words(names[1:])
            )
            for names in _with_first(conditions, 3 if legs == 1 else 2)
        ]
    return [
        Column(
            tuple((group, condition) for group in part),
            _words([*part[1:] * (len(together) > 1), *[condition] * (len(conditions) > 1)]),
        )
        for condition in conditions
        for part in together
    ]


def _words(names: Sequence[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)


def _with_first(names: list[str], most: int) -> list[list[str]]:
    """Split the names into lists of at most so many, each beginning with the first name."""
    return [[names[0], *names[k : k + most - 1]] for k in range(1, len(names), most - 1)]


@native
def group_curves(
    means: xr.Dataset,
    variable: str,
    comparisons: xr.Dataset | None = None,
    *,
    names: Sequence[str] | None = None,
    band: Literal["confidence", "sd"] = "confidence",
    columns: Sequence[Column] | None = None,
) -> Sheet:
    """Mean curves of a variable, a panel for each of its curves, in the page style in force.

    Groups have colors and conditions dashes; where there is one group, conditions have color and dashes, and legs that
    are compared the dashes. They are the same on all pages of a study. Angles are in degrees. A band ends where a
    subject has no value; the mean goes on as a thin line as far as three subjects have one, and a strip below the panel
    shows their number. Bands of what is never negative end at zero. Below a panel a row of bars marks where an effect
    differs; bars of a single condition or group against the first have its color. Behind curves of walking stand
    published norms (`NormBands`), beside contact forces the range of the peaks that implants measured.

    Args:
        means: what ``group_means`` returned.
        variable: joint_angle, joint_moment, joint_power, muscle_force, joint_reaction, ...
        comparisons: what ``compare_curves`` returned; no bars and statistics without it.
        names: of the curves, such as "knee_flexion", "soleus" or "knee z"; all of them unless given.
        band: the confidence band of the means, or one standard deviation over the subjects.
        columns: groups and conditions of each column of small multiples; those that fit one page unless given.

    Raises:
        InputError: the means have no such variable or curve.
    """
    if str(variable) not in means or f"{variable}_high" not in means:
        known = [str(name) for name in means.data_vars if f"{name}_high" in means]
        raise unknown_name(variable, "mean", known)
    ends = ("_low", "_high") if band == "confidence" else ("_std", "_std")
    curves = {key: dict(curves_of(means[variable + key].rename(variable))) for key in ("", *ends, "_count")}
    wanted = list(names) if names is not None else _ordered(means, variable)
    check_known(wanted, "curve", curves[""], f" of {variable}")
    beside = list(columns or _columns_of(means)[: MOST_COLUMNS[current_style().narrow]])
    styles = _styles(means)
    of_column = [[key for key in styles if key[:2] in column.cells] for column in beside]
    drawn = [key for key in styles if any(key in keys for keys in of_column)]
    tests: dict[str, list[CurveTest]] = {name: [] for name in wanted}
    for test in [] if comparisons is None else curve_tests(comparisons):
        if test.variable == variable and test.name in tests:
            tests[test.name].append(test)
    every = [test for of_curve in tests.values() for test in of_curve]
    effects = list(dict.fromkeys(test.effect for test in every if not test.compared))
    shown_names = {name for key in drawn for name in key[:2]} - {""}
    bars = [test.effect for test in every if test.clusters and test.compared in shown_names]
    bars = [*effects, *dict.fromkeys(bars)]
    factor, unit = shown(str(means[variable].attrs.get("units", "")))
    percent = np.asarray(means["percent"].values, float)
    numbers = {
        (name, key): curves["_count"][name].sel(_where(key)).values for name in wanted for key in drawn
    }
    varies = any(np.ptp(count) > 0 for count in numbers.values())
    # below a panel, at the default size of text [inch]: numbers of subjects, bars, a statistic, and free space
    bars_top = (COUNT_GAP + COUNT) * varies
    below = bars_top + len(bars) * BAR_ROW + (GAP + STRIP) * bool(effects)
    below += GAP if below else 0.0
    sheet, panels = _panels(means, variable, wanted, below, bool(effects), len(beside))
    fewer, colors = list[int](), {key: style["color"] for key, style in styles.items()}
    several, of_band = len(beside) > 1, _band_words(means, band)
    speed, marks = float("nan"), dict[str, str]()  # of the first group and condition of the page [m/s]
    if "walking_speed" in means and drawn:
        speed = float(means["walking_speed"].sel(_where(drawn[0][:2])).mean())
    norms = NormBands.at_speed(speed, set(listed(means, "movements")) == {WALKING})
    drawn_in = with_panels(panels, list(product(wanted, range(len(beside)))))
    places = [(axes, name, column) for axes, (name, column) in drawn_in]
    for axes, name, column in places:
        for key in of_column[column]:
            style, count = styles[key], numbers[name, key]
            mean = factor * curves[""][name].sel(_where(key)).values
            first, last = (factor * curves[end][name].sel(_where(key)).values for end in ends)
            whole = count >= count.max(initial=0)
            low, high = (first, last) if band == "confidence" else (mean - first, mean + last)
            if variable in in_set("positive"):
                low = np.maximum(low, 0.0)
            label = _curve_name(means, key)
            filled: dict[str, Any] = {"alpha": BAND, "linewidth": 0.0, "color": style["color"]}
            axes.fill_between(percent, low, high, where=whole, label=f"{label}{APART}{of_band}", **filled)
            axes.plot(percent, np.where(whole, mean, np.nan), label=label, **style)
            if (some := ~whole & (count >= FEWEST)).any():
                fewer += count[some].tolist()
                # joined to the curve on either side
                joined = some | np.roll(some, 1) | np.roll(some, -1)
                thin: dict[str, Any] = style | {"linewidth": 0.4 * style["linewidth"]}
                thin["label"] = f"{label}{APART}fewer subjects"
                axes.plot(percent, np.where(joined, mean, np.nan), **thin)
        _draw_norm(norms, axes, means, variable, name, unit, several)
        if variable == "contact_force":
            first_mean = curves[""][name].sel(_where(of_column[column][0])).values
            marks |= _mark_measured(axes, means, name, unit, first_mean, speed)
        axes.set_xlim(percent[0], percent[-1])
        axes.set_xticks(percents(axes))
        opposite = OPPOSITE.get(name, "")
        roomy = bool(opposite) and not current_style().narrow and not several
        words = LABELS.get(variable, {}).get(name, name)
        if variable == "center_acceleration":
            group, _, axis = name.rpartition(" ")
            words = f"{group}: {AXIS_WORDS[axis]}"
        heading(
            axes, words.replace("_", " ") + (f" (+)   {opposite} (-)" if roomy else ""), beside[column].words
        )
    for axes, name, column in places:  # after the scale of their row is known
        if axes.get_ylim()[0] < 0.0 < axes.get_ylim()[1]:
            zero_line(axes)
        lowest = places.index((axes, name, column)) + panels.shape[1] >= len(places)
        points = 72.0 * (below - GAP) * current_style().scale if below else 0.0
        axes.tick_params(axis="x", labelbottom=lowest, pad=points + TICK_PAD)
        if varies:
            _counts(axes, percent, {key: numbers[name, key] for key in of_column[column]}, styles)
        if bars:
            here = {text for key in of_column[column] for text in key[:2]} - {""}
            of_all = [test for test in tests[name] if not test.compared and column == 0]
            single = [test for test in tests[name] if test.compared in here]
            _bars(axes, [*of_all, *single], bars, effects, colors, bars_top)
            if effects and column == 0:
                _strip(axes, percent, of_all, effects, below)
    cycle = set(listed(means, "movements")) <= {WALKING, RUNNING}
    of = _unit_words(variable, unit)
    sheet.label_axes("gait cycle [%]" if cycle else "cycle [%]", f"{variable.replace('_', ' ')} [{of}]")
    styles = {key: styles[key] for key in drawn}
    sheet.add_legend(_legend(means, styles, effects, band, fewer, bool(marks)))
    if comparisons is not None and comparisons.attrs.get("tests") and current_style().titled:
        words = f"; colored bars: against {means['condition'].values[0]}".replace("_", " ")
        if any(bar.startswith("group: ") for bar in bars):
            words = "; colored bars: against the first"
        sheet.add_note(_note(comparisons) + (words if len(bars) > len(effects) else ""))
    norms.explain(sheet)
    if marks:
        sheet.add_note(f"{MARKED}: {'; '.join(marks.values())}")
    return sheet


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
    """Return the unit of a variable, with its reference quantity where it is a share."""
    kind = KINDS.get(QUANTITIES[variable].kind) if variable in QUANTITIES else None
    about = kind.units[unit].about if kind is not None and unit in kind.units else ""
    return f"{unit or '1'} {about}".strip()


def _styles(means: xr.Dataset) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return the style of the curve of every group and condition (and leg) that has subjects, on all pages alike.

    Colors and dashes of one axis repeat together only after 24 names; groups leave the dashes to conditions and legs.
    """
    groups, conditions = ([str(name) for name in means[key].values] for key in ("group", "condition"))
    legs = [str(name) for name in means["leg"].values] if "leg" in means.dims else []
    several, colors, width = len(groups) > 1, curve_colors(), WIDTH * line_scale()
    styles = {}
    for row, group in enumerate(groups):
        for column, condition in enumerate(conditions):
            # the first of several conditions is black: beside it stand others on every page
            black = colors is COST_COLORS and not several and len(conditions) > 1
            of = row if several else max(column - black, 0)
            color = FIRST_COLOR if black and column == 0 else colors[of % len(colors)]
            for place, key in enumerate([(group, condition, leg) for leg in legs] or [(group, condition)]):
                if not int(means["subjects"].sel(_where(key))):
                    continue
                dash = of % len(DASHES) + of // (2 * len(colors))
                if several and len(groups) <= len(colors):
                    dash = column * max(len(legs), 1)
                elif legs:
                    dash = 0
                dashes = DASHES[(dash + place) % len(DASHES)]
                styles[key] = {"color": color, "linestyle": dashes, "linewidth": width}
                chosen = current_style().chosen(_curve_name(means, key))
                styles[key] |= {name: value for name, value in chosen.items() if name in styles[key]}
    return styles


def _panels(
    means: xr.Dataset, variable: str, names: Sequence[str], below: float, strip: bool, columns: int
) -> tuple[Sheet, np.ndarray]:
    """A page with as many panels side by side as leave every heading two lines, or with these columns."""
    style, several, sharey = current_style(), columns > 1, "row" if columns > 1 else False
    if not several:
        labels = [LABELS.get(variable, {}).get(name, name).replace("_", " ") for name in names]
        columns = fitting_columns(labels, 2 if style.narrow else 3 if len(names) < 13 else 4, 2)
    rows = len(names) if several else max(1, -(-len(names) // columns))
    height = min(1.0, 0.12 + ((0.11 if several else 0.135) + 0.06 * strip) * rows)
    space = {"below": below, "least": 0.5}
    title = f"{heading_of(variable)}: groups and conditions"
    return page(means, title, rows, columns, height=height, space=space, sharey=sharey)


def _where(key: tuple[str, ...]) -> dict[str, str]:
    """The place of a curve: group, condition and, where legs are compared, leg."""
    return dict(zip(("group", "condition", "leg"), key, strict=False))


NORM_UNITS = {"deg": 1.0, "N m/kg": 1.0, "W/kg": 1.0, "N/kg": 1.0, "BW": 1.0 / STANDARD_GRAVITY}
"""Units in which curves of a norm can be drawn, and the factor on its own."""


def _draw_norm(
    norms: NormBands, axes: "Axes", means: xr.Dataset, variable: str, name: str, unit: str, crowded: bool
) -> None:
    """Draw the norm of a curve behind it, in the unit of the study and the sense of the coordinate."""
    if unit not in NORM_UNITS:
        return
    key, scale = in_models().get(name, name), NORM_UNITS[unit]
    scale *= -1.0 if name in listed(means, "extension_positive") else 1.0
    if variable == "joint_power":
        # norms are of joints; a knee that only bends has all its power there
        knees = [dof for dof in map(str, means["dof"].values) if dof.startswith("knee")]
        key = "knee" if knees == [name] else ""
    norms.draw(axes, variable, key, scale, crowded)


def _mark_measured(
    axes: "Axes", means: xr.Dataset, name: str, unit: str, mean: Array, speed: float
) -> dict[str, str]:
    """Mark the range of the peaks that implants measured in a joint at the peak of the mean; return its sentence."""
    movements = listed(means, "movements")
    weights = {"BW": 1.0, "N/kg": STANDARD_GRAVITY}
    if len(movements) != 1 or unit not in weights or not np.isfinite(mean).any():
        return {}
    if (band := measured(name, Movement(movements[0], speed=speed))) is None:
        return {}
    place = float(means["percent"].values[int(np.nanargmax(mean))])
    mark_range(axes, place, weights[unit] * band.lowest, weights[unit] * band.highest)
    return {joint_kind(name): f"{joint_kind(name)} {band.words} BW in {band.movement} ({band.authors})"}


def _counts(
    axes: "Axes",
    percent: Array,
    counts: Mapping[tuple[str, ...], Array],
    styles: Mapping[tuple[str, ...], dict[str, Any]],
) -> None:
    """Draw the number of subjects along the cycle below a panel, as lines of the panel: an axes takes much longer."""
    place, share = sheet_of(axes).below(axes), (percent - percent[0]) / (percent[-1] - percent[0])
    most = max(max(int(count.max(initial=0)) for count in counts.values()), 1)
    for key, count in counts.items():
        height = COUNT * (count / most - 1.0) - COUNT_GAP
        axes.plot(share, height, transform=place, drawstyle="steps-mid", color=styles[key]["color"], linewidth=0.7,
                  clip_on=False)  # fmt: skip
    axes.text(-0.02, -COUNT_GAP, f"n {most}", transform=place, fontsize=current_style().note_pt, color=NOTE_COLOR,
              va="center_baseline", ha="right", clip_on=False)  # fmt: skip
    axes.plot(
        [0.0, 1.0], [-COUNT_GAP - COUNT] * 2, transform=place, color=GRID_COLOR, linewidth=0.4, clip_on=False
    )


def _bars(
    axes: "Axes",
    tests: Sequence[CurveTest],
    bars: Sequence[str],
    effects: Sequence[str],
    colors: Mapping[tuple[str, ...], Any],
    top: float,
) -> None:
    """Draw a bar below the panel for each cluster, with its p; a row for each effect."""
    sheet, style = sheet_of(axes), current_style()
    below: dict[str, Any] = {"transform": sheet.below(axes), "clip_on": False}
    (first, last), panel = axes.get_xlim(), max(sheet.panel_width(axes), 0.1)
    for test in tests:
        if test.effect not in bars:
            continue
        row = bars.index(test.effect)
        middle = -top - (row + 0.5) * BAR_ROW - 0.01
        color = EFFECTS[row % len(EFFECTS)][0] if len(effects) > 1 else BAR_COLOR
        if row >= len(effects):
            color = next(color for key, color in colors.items() if test.compared in key)
        ends = [[(end - first) / (last - first) for end in (of.start, of.end)] for of in test.clusters]
        taken = -np.inf
        for cluster, (start, end) in zip(test.clusters, ends, strict=True):
            across, height = [start, max(end, start + 0.01)], [middle] * 2
            axes.plot(across, height, color=color, linewidth=3.0, solid_capstyle="butt", **below)
            text = f"p{'' if (p := p_text(cluster.p)).startswith('<') else '='}{p}"
            wide = text_width(text, style.note_pt) / panel
            left = (
                end + 0.02 if end + 0.02 + wide < 1.0 + RIGHT * style.scale / panel else start - 0.02 - wide
            )
            others = [other for other in ends if other[0] != start]
            if left > taken and not any(low < left + wide and high > left for low, high in others):
                place: dict[str, Any] = {"va": "center_baseline", "ha": "left", **below}
                axes.text(left, middle, text, fontsize=style.note_pt, color=BAR_COLOR, **place)
                taken = left + wide


def _strip(
    axes: "Axes", percent: Array, tests: Sequence[CurveTest], effects: Sequence[str], below: float
) -> None:
    """Draw the statistic along the cycle, its threshold dashed; of several effects each over its own threshold."""
    strip = sheet_of(axes).strip_below(axes, GAP - below, STRIP)
    style, several = current_style(), len(effects) > 1
    top, low = 0.0, 0.0
    for test in tests:
        if not np.isfinite(test.threshold) or test.effect not in effects:
            continue
        color, dashes = EFFECTS[effects.index(test.effect) % len(EFFECTS)] if several else (BAR_COLOR, "-")
        values, limit = test.statistic, test.threshold
        if several:
            values, limit = values / limit, 1.0
        else:
            strip.set_yticks([limit], [f"{limit:.1f}"])
        strip.plot(percent, values, color=color, linestyle=dashes, linewidth=0.8)
        top = max(top, limit, float(np.nanmax(values)))
        if test.is_t:
            low = min(low, -limit, float(np.nanmin(values)))
        for height in (limit, -limit)[: 1 + test.is_t]:
            strip.axhline(height, color=NOTE_COLOR, linewidth=0.5, linestyle=(0, (4, 2)))
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
    strip.tick_params(labelsize=style.note_pt, length=2.0, pad=2.0, color=NOTE_COLOR, labelbottom=False)


def _curve_name(means: xr.Dataset, key: tuple[str, ...]) -> str:
    """Group, condition and leg of a curve."""
    group, *others = key
    parts = (group or (NO_GROUP if means.sizes["group"] > 1 else ""), *others)
    return ", ".join(part.replace("_", " ") for part in parts if part) or "all"


def _band_words(means: xr.Dataset, band: str) -> str:
    share = str(means.attrs["band"]).partition(" of ")[0]
    return share if band == "confidence" else "± standard deviation over subjects"


def _legend(
    means: xr.Dataset,
    styles: dict[tuple[str, ...], dict[str, Any]],
    effects: Sequence[str],
    band: str,
    fewer: Sequence[int],
    marked: bool,
) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, style in styles.items():
        count = int(means["subjects"].sel(_where(key)))
        name = _curve_name(means, key)
        entries[f"{name} (n = {count})"] = line(of=name, **style)
    # bands have the colors of their curves
    colors = dict.fromkeys(style["color"] for style in styles.values())
    bands = tuple(area(color=color, alpha=BAND, linewidth=0.0) for color in colors)
    entries[_band_words(means, band)] = bands
    if fewer:
        span = f"{min(fewer)} to {max(fewer)}" if min(fewer) < max(fewer) else f"{min(fewer)}"
        entries[f"thin, without a band: n = {span}"] = line(NOTE_COLOR, 0.4 * WIDTH * line_scale())
    if marked:
        entries[MARKED] = line(NOTE_COLOR, 1.2, marker="_", markersize=6)
    if len(effects) > 1:
        for row, effect in enumerate(effects):
            color, dashes = EFFECTS[row % len(EFFECTS)]
            entries[f"{effect}: statistic / threshold"] = line(color, 0.8, linestyle=dashes)
    elif effects:
        entries["statistic, threshold dashed"] = line(BAR_COLOR, 0.8)
    return entries


def _note(comparisons: xr.Dataset) -> str:
    level, made = float(comparisons.attrs["level"]), int(comparisons.attrs["tests"])
    first = [test for test in curve_tests(comparisons) if test.follows < 0 and np.isfinite(test.threshold)]
    if comparisons.attrs["correction"] == "bonferroni":
        levels = " or ".join(f"{alpha:.2g}" for alpha in dict.fromkeys(test.level for test in first))
        return (
            f"level {100.0 * level:g} %, by Bonferroni {levels} for each of {made} tests, random field theory"
        )
    return f"level {100.0 * level:g} % for each of {made} tests by itself, random field theory"
