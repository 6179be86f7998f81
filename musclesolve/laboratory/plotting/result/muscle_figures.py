"""Figures of the muscles: activations, forces, function groups, one muscle, fibers and tendons, fascicles.

Each is described once, as a `Chart` of the facts of a result.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.messages import check_known, count_of, unknown_name
from musclesolve._util.sides import ALL_SIDES, SIDE_NAMES, has_side, side_of, split_side, with_side
from musclesolve.laboratory.plotting.page.chart import Chart, Panel
from musclesolve.laboratory.plotting.page.chart_figure import chart_figure, charted, charted_of_arrays
from musclesolve.laboratory.plotting.page.curves import Legs, NormBands
from musclesolve.laboratory.plotting.page.marks import Line, Mark
from musclesolve.laboratory.plotting.page.page_style import NOTE_COLOR, current_style, line
from musclesolve.laboratory.plotting.page.panels import ACTIVATION, FORCE, GROUPS, muscles_by_group
from musclesolve.laboratory.plotting.page.sheet import Explained, Sheet, as_result, native
from musclesolve.laboratory.plotting.study.comparison_figures import every_muscle
from musclesolve.laboratory.results.dataset.frame_validity import valid
from musclesolve.laboratory.results.dataset.result_quantities import group_force
from musclesolve.laboratory.results.facts import Facts, achilles
from musclesolve.laboratory.results.tables.lines import decimal
from musclesolve.sharing.solution import Solution

ENVELOPE = "EMG"
EXPLAINED = "EMG: envelope, peak at 1, delayed to agree best; above it the side and r with the activation"
PREDICTED = "EMG: envelope, peak at 1; above it side and r of activation while it alone is not followed"
MOST_MUSCLES = 15
"""Number of muscles on a page of a column, unless chosen."""
OF_EMG = ("emg_delayed", "emg_correlation", "channel_muscles")
OF_GROUP = "sum of forces over sum of maximum isometric forces [%]  (all panels have one scale)"
ROWS = 8
"""Number of muscles on the page of fibers and tendons."""
MEASURED: dict[str, Any] = {"color": NOTE_COLOR, "linewidth": 2.2, "linestyle": (0, (1.0, 0.6)), "alpha": 0.9}
MEASURED_LABEL = "fascicle measured by ultrasound"
FIBER_TITLE = "Fibers and elastic tendons: Achilles tendon, then those that store most energy"
FULL_SCALE = 1.05
"""Upper end of the scale of activations."""


@charted_of_arrays()
def activations(facts: Facts) -> Chart:
    """Activation of each muscle, 0 to 1, over the envelope of its EMG where that was measured."""
    return _every_muscle(facts.result, "activation", "Muscle activation", ACTIVATION)


@charted
def emg_and_activation(facts: Facts) -> Chart:
    """Activation (line) of the muscles with EMG over their envelopes (shaded), both as they are compared."""
    result = facts.result
    stems = {split_side(name)[0] for of in result["channel_muscles"].values for name in str(of).split(", ")}
    names = [name for name in map(str, result["muscle"].values) if split_side(name)[0] in stems]
    title, vertical = "EMG beside activation", "share of the maximum [1]"
    return replace(_every_muscle(result.sel(muscle=names), "activation", title, vertical), abreast=4)


@charted_of_arrays()
def muscle_forces(facts: Facts) -> Chart:
    """Force of each muscle in newton, every panel with its own scale."""
    return _every_muscle(facts.result, "muscle_force", "Muscle force", FORCE)


@native
def one_muscle(
    data: xr.Dataset | Solution, muscle: str, quantity: str = "activation", *, emg: bool = True
) -> Sheet:
    """One muscle of both legs or of one: curve, or mean and band of several strides, over EMG and norm.

    EMG is drawn where it was recorded, a norm where the norm file of the style in force has one of the muscle.

    Args:
        data: a result, a solution, or an average (average.nc).
        muscle: a name, with side or without.
        quantity: activation, or muscle_force [N].
        emg: whether the envelope is drawn behind the activation.

    Raises:
        InputError: no such muscle or quantity.
    """
    titles = {"activation": ("Muscle activation", ACTIVATION), "muscle_force": ("Muscle force", "force [N]")}
    check_known([quantity], "quantity", titles)
    if not isinstance(data, Solution) and "percent" in data.dims:
        stem, side = split_side(muscle)
        if stem not in data["muscle"].values:
            raise unknown_name(muscle, "muscle", map(str, data["muscle"].values))
        average = data.sel(muscle=[stem], side=[side] if has_side(muscle) else data["side"].values)
        return chart_figure(every_muscle(average, quantity, *titles[quantity]))
    result = as_result(data)
    known = list(map(str, result["muscle"].values))
    if not (names := [name for name in known if muscle in (name, split_side(name)[0])]):
        raise unknown_name(muscle, "muscle", known)
    chart = _every_muscle(result.sel(muscle=names), quantity, *titles[quantity], emg)
    return chart_figure(chart)


@charted_of_arrays("max_isometric_force")
def function_groups(facts: Facts) -> Chart:
    """A panel for each function group, with the peak of the summed force of each side."""
    result = facts.result
    legs, shown, top = Legs.from_result(result), list[Panel](), 1.0
    # Group -> its muscles without side, the groups in the order of all pages.
    stems: dict[str, set[str]] = {}
    for name, group in zip(result["muscle"].values, result["group"].values, strict=True):
        stems.setdefault(str(group), set()).add(split_side(str(name))[0])
    for group in (group for group in dict.fromkeys((*GROUPS, *stems)) if group in stems):
        marks, peaks = list[Mark](), list[str]()
        for side in legs.sides:
            if (sum_of := group_force(result, group, side)) is None:
                continue
            force, capacity = sum_of
            share = 100.0 * force / capacity
            marks += [*legs.stance_bars(side), *legs.curves(side, share)]
            if np.isfinite(known := force[valid(result, side)]).any():
                peaks.append(f"{np.nanmax(known):.0f} N")
                top = max(top, float(np.nanmax(share[valid(result, side)])))
        count, peak = count_of(len(stems[group]), "muscle"), f"peak {' / '.join(peaks)}" if peaks else ""
        shown.append(Panel(_plain(group), marks, note=count, more=peak, low=0.0))
    shown = [replace(panel, high=1.12 * top) for panel in shown]  # below the bars of stance
    chart = Chart(legs.x, legs.result, "Muscle groups", shown, abreast=3, row=0.21, vertical=OF_GROUP)
    legs.legend(chart, stance=True)
    return chart


@charted
def fibers_and_tendons(facts: Facts) -> Chart:
    """Fiber length and velocity over optimal fiber length, and strain of the tendon.

    Muscles of the Achilles tendon come first, then muscles whose tendons store the largest peak energy.
    """
    result, shown = facts.result, list[Panel]()
    legs, quantities = Legs.from_result(result), of_fibers(result)
    for stem in with_most_energy(result):
        for (title, unit), values in quantities.items():
            marks = [
                mark
                for side in ALL_SIDES
                if (name := with_side(stem, side)) in values["muscle"].values
                for mark in legs.muscle_curves(name, values.sel(muscle=name).values) + legs.event_lines(side)
            ]
            has_zero = title != "fiber length"
            shown.append(Panel(f"{_plain(stem)}, {title}", marks, unit, has_zero=has_zero))
    chart = Chart(legs.x, legs.result, FIBER_TITLE, shown, columns=3, abreast=3, row=0.12)
    legs.legend(chart, events=True)
    chart.add_note("L0: optimal fiber length")
    return chart


def of_fibers(result: xr.Dataset) -> dict[tuple[str, str], xr.DataArray]:
    """Length and velocity of the fibers over their optimal length, and strain of the tendons, by title and unit."""
    optimal = result["optimal_fiber_length"]
    return {
        ("fiber length", "L0"): result["fiber_length"] / optimal,
        ("fiber velocity", "L0/s"): result["fiber_velocity"] / optimal,
        ("tendon strain", "%"): 100.0 * result["tendon_strain"],
    }


def with_most_energy(result: xr.Dataset) -> list[str]:
    """The muscles of the Achilles tendon without side, then those whose tendons store the largest peak energy."""
    energy = result["tendon_energy"].transpose("time", "muscle").values
    peak = np.where(np.isfinite(energy), energy, 0.0).max(axis=0)
    order = [*achilles(result), *map(str, result["muscle"].values[np.argsort(-peak, kind="stable")])]
    return list(dict.fromkeys(split_side(name)[0] for name in order))[:ROWS]


@charted
def measured_fascicles(facts: Facts) -> Chart:
    """Fiber length of the muscles whose fascicles were measured, beside the measured length, in millimeters."""
    result = facts.result
    legs, panels, drawn = Legs.from_result(result), list[Panel](), set[str]()
    for muscle, (measured, note) in of_fascicles(result).items():
        marks = list[Mark]()
        for part in legs.x.passes[legs.muscle_sides[muscle]]:
            values = np.where(part.repeated, np.nan, measured[part.index])
            marks.append(Line(MEASURED_LABEL, MEASURED, part.place, values))
        lengths = 1000.0 * result["fiber_length"].sel(muscle=muscle).values
        marks += legs.muscle_curves(muscle, lengths) + legs.event_lines(side_of(muscle))
        panels.append(Panel(_plain(muscle), marks, "mm", note, has_zero=False))
        drawn |= {legs.muscle_sides[muscle], side_of(muscle)}
    title = "Fiber length and measured fascicle length"
    chart = Chart(legs.x, legs.result, title, panels, columns=3, row=0.21)
    legs.sides[:] = [side for side in legs.sides if side in drawn]
    legs.legend(chart, events=True, further={MEASURED_LABEL: line(**MEASURED)})
    return chart


def of_fascicles(result: xr.Dataset) -> dict[str, tuple[Array, str]]:
    """Measured length (T,) [mm] of the fascicles of each muscle, and its agreement with the fibers in words."""
    result = result.isel(fascicle=result["fascicle_muscle"].isin(result["muscle"]).values)
    muscles = list(map(str, result["fascicle_muscle"].values))
    rms, mean = (1000.0 * result[f"fascicle_{way}_error"].values for way in ("rms", "mean"))
    known = zip(muscles, rms, mean, result["fascicle_correlation"].values, strict=True)
    return {
        muscle: (
            1000.0 * result["measured_fascicle_length"].sel(muscle=muscle).values,
            f"rms {a:.1f} mm, mean {b:+.1f} mm, r {r:.2f}",
        )
        for muscle, a, b, r in known
    }


def envelopes(result: xr.Dataset) -> dict[str, list[tuple[Array, float]]]:
    """Curves of EMG (T,) as compared with the activation, with their correlation, by muscle with side."""
    of_muscle: dict[str, list[tuple[Array, float]]] = {}
    if not all(name in result.variables for name in OF_EMG) or not result.sizes["channel"]:
        return of_muscle
    delayed = result["emg_delayed"].transpose("channel", "time").values
    fits, of = (result[key].values for key in ("emg_correlation", "channel_muscles"))
    for curve, r, belong in zip(delayed, fits, of, strict=True):
        for muscle in str(belong).split(", "):
            of_muscle.setdefault(muscle, []).append((curve, float(r)))
    return of_muscle


def _every_muscle(result: xr.Dataset, name: str, title: str, vertical: str, with_emg: bool = True) -> Chart:
    """A panel for each muscle, over its EMG and its norm, with the name of its group."""
    legs = Legs.from_result(result)
    norms = NormBands.from_result(result, legs.x)
    values = result[name].transpose("muscle", "time").values
    curves = dict(zip(map(str, result["muscle"].values), values, strict=True))
    events = {side: legs.event_lines(side) for side in ALL_SIDES}
    of_share = name == "activation"
    measured, shown = envelopes(result) if of_share and with_emg else {}, list[Panel]()
    for stem, group in muscles(result).items():
        (marks, _), fits = norms.band(name, stem), list[str]()
        for side in legs.sides:
            known = measured.get(f"{stem}_{side}", ())
            for envelope, _ in known:
                marks += legs.area_below(side, envelope, ENVELOPE)
            fits += [f"{SIDE_NAMES[side]} {', '.join(decimal(r, 2) for _, r in known)}"] if known else []
        for side in ALL_SIDES:
            if (full := with_side(stem, side)) in curves:
                marks += legs.muscle_curves(full, curves[full]) + events[side]
        high, least = (FULL_SCALE, 0.0) if of_share else (None, 1.0)
        r = f"r {', '.join(fits)}" if fits else ""
        shown.append(Panel(_plain(stem), marks, note=_plain(group), more=r, low=0.0, high=high, least=least))
    chart, sides = (
        Chart(legs.x, legs.result, title, shown, abreast=5, row=0.21, vertical=vertical),
        {full[-1] for full in measured},
    )
    note_choice(chart, result)
    drawn = {side_of(full) for full in curves} | {legs.muscle_sides[full] for full in curves}
    legs.sides[:] = [side for side in legs.sides if side in drawn]
    legs.legend(chart, events=True, shaded=ENVELOPE if sides else "", of=sides)
    if norms.drawn:
        norms.explain(chart)
    if sides:
        chart.add_note(PREDICTED if "emg_predicted" in result else EXPLAINED)
    return chart


def _plain(name: str) -> str:
    return name.replace("_", " ")


def muscles(result: xr.Dataset) -> dict[str, str]:
    """Muscles chosen by the style, without side -> group; muscles of one group are neighbors.

    Raises:
        InputError: the style names what is neither a muscle nor a group of the result.
    """
    every, style = _all_muscles(result), current_style()
    if style.muscles:
        chosen = set[str]()
        for name in style.muscles:
            named = {m for m, group in every.items() if m in (name, split_side(name)[0]) or group == name}
            if not named:
                raise unknown_name(name, "muscle", [*every, *dict.fromkeys(every.values())])
            chosen |= named
        return {name: group for name, group in every.items() if name in chosen}
    if not style.narrow or len(every) <= MOST_MUSCLES:
        return every
    force = result["muscle_force"].transpose("time", "muscle").values
    peak = dict.fromkeys(every, 0.0)
    for name, most in zip(
        result["muscle"].values, np.where(np.isfinite(force), force, 0.0).max(axis=0), strict=True
    ):
        stem = split_side(str(name))[0]
        peak[stem] = max(peak[stem], float(most))
    strongest = {
        max((m for m in every if every[m] == group), key=peak.__getitem__) for group in every.values()
    }
    return {name: group for name, group in every.items() if name in strongest}


def note_choice(sheet: Explained, result: xr.Dataset) -> None:
    """Note on a page of a column that it has only some of the muscles."""
    shown, count = muscles(result), len(_all_muscles(result))
    if not current_style().muscles and len(shown) < count:
        sheet.add_note(f"{len(shown)} of {count} muscles: of each group the one with the greatest force")


def _all_muscles(result: xr.Dataset) -> dict[str, str]:
    names = [split_side(str(name))[0] for name in result["muscle"].values]
    return muscles_by_group(names, [str(group) for group in result["group"].values])
