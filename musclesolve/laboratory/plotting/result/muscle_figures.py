"""Activation and force of every muscle and muscle group, and fibers and tendons; both legs in one panel."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.messages import check_known, count_of, unknown_name
from musclesolve._util.sides import ALL_SIDES, SIDE_NAMES, has_side, side_of, split_side, with_side
from musclesolve.laboratory.plotting.page.curves import Legs, NormBands
from musclesolve.laboratory.plotting.page.page_style import NOTE_COLOR, current_style, line
from musclesolve.laboratory.plotting.page.panels import (
    ACTIVATION,
    FORCE,
    GROUPS,
    Grid,
    muscles_by_group,
    small_multiples,
)
from musclesolve.laboratory.plotting.page.sheet import (
    Sheet,
    as_result,
    heading,
    native,
    note,
    page,
    zero_line,
)
from musclesolve.laboratory.plotting.study.comparison_figures import every_muscle
from musclesolve.laboratory.results.dataset.frame_validity import valid
from musclesolve.laboratory.results.dataset.result_quantities import group_force
from musclesolve.laboratory.results.facts import achilles
from musclesolve.laboratory.results.tables.lines import decimal
from musclesolve.sharing.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENVELOPE = "EMG"
EXPLAINED = "EMG: envelope, peak at 1, delayed to agree best; above it the side and r with the activation"
PREDICTED = "EMG: envelope, peak at 1; above it side and r of activation while it alone is not followed"
MOST_MUSCLES = 15
"""Number of muscles on a page of a column, unless chosen."""
OF_EMG = ("emg_delayed", "emg_correlation", "channel_muscles")
OF_GROUP = "sum of forces over sum of maximum isometric forces [%]  (each panel has its own scale)"
ROWS = 8
"""Number of muscles on the page of fibers and tendons."""
FIBER_AXIS = "of optimal fiber lengths L0, and per cent of the slack length"
MEASURED: dict[str, Any] = {"color": NOTE_COLOR, "linewidth": 2.2, "linestyle": (0, (1.0, 0.6)), "alpha": 0.9}
MEASURED_LABEL = "fascicle measured by ultrasound"
FIBER_TITLE = "Fibers and elastic tendons: Achilles tendon, then those that store most energy"


@native
def activations(result: xr.Dataset | Solution) -> Sheet:
    """Activation of each muscle, 0 to 1, over the envelope of its EMG where that was measured."""
    titles, grid = ("Muscle activation", ACTIVATION), Grid(top=1.02, low=True)
    return _every_muscle(as_result(result), "activation", titles, grid, with_emg=True)


@native
def emg_and_activation(result: xr.Dataset) -> Sheet:
    """Activation (line) of the muscles with EMG over their envelopes (shaded), both as they are compared."""
    shown = {
        split_side(name)[0] for names in result["channel_muscles"].values for name in str(names).split(", ")
    }
    names = [name for name in map(str, result["muscle"].values) if split_side(name)[0] in shown]
    titles, grid = ("EMG beside activation", "share of the maximum [1]"), Grid(4, top=1.02, low=True)
    return _every_muscle(result.sel(muscle=names), "activation", titles, grid, with_emg=True)


@native
def muscle_forces(result: xr.Dataset | Solution) -> Sheet:
    """Force of each muscle in newton, every panel with its own scale."""
    return _every_muscle(as_result(result), "muscle_force", ("Muscle force", FORCE), Grid(low=True))


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
        return every_muscle(
            average, quantity, titles[quantity], Grid(top=1.0 if quantity == "activation" else None)
        )
    result = as_result(data)
    known = list(map(str, result["muscle"].values))
    if not (names := [name for name in known if muscle in (name, split_side(name)[0])]):
        raise unknown_name(muscle, "muscle", known)
    grid = Grid(top=1.02 if quantity == "activation" else None, low=True)
    with_emg = emg and quantity == "activation"
    return _every_muscle(result.sel(muscle=names), quantity, titles[quantity], grid, with_emg)


@native
def function_groups(result: xr.Dataset | Solution) -> Sheet:
    """A panel for each group of the muscle set, from hip to ankle, with the peak of the summed force of each side."""
    result = as_result(result, "max_isometric_force")
    legs = Legs.from_result(result)
    # Group -> its muscles without side, the groups in the order of all pages.
    stems: dict[str, set[str]] = {}
    for name, group in zip(result["muscle"].values, result["group"].values, strict=True):
        stems.setdefault(str(group), set()).add(split_side(str(name))[0])
    counts = {group: len(stems[group]) for group in dict.fromkeys((*GROUPS, *stems)) if group in stems}
    notes = {group: count_of(count, "muscle") for group, count in counts.items()}

    def fill(axes: "Axes", group: str) -> None:
        peaks = []
        for side in legs.sides:
            if (sum_of := group_force(result, group, side)) is None:
                continue
            force, capacity = sum_of
            legs.draw(axes, side, 100.0 * force / capacity)
            legs.mark_stance(axes, side)
            force = force[valid(result, side)]
            if np.isfinite(force).any():
                peaks.append(f"{np.nanmax(force):.0f} N")
        note(axes, f"peak {' / '.join(peaks)}" if peaks else "")

    grid = Grid(columns=3, low=True, above=0.15)
    sheet = small_multiples(result, ("Muscle groups", OF_GROUP), legs.x, notes, fill, grid)
    legs.legend(sheet, stance=True)
    return sheet


@native
def fibers_and_tendons(result: xr.Dataset) -> Sheet:
    """Fiber length and velocity over optimal fiber length, and strain of the tendon.

    Muscles of the Achilles tendon come first, then muscles whose tendons store the largest peak energy.
    """
    legs, quantities, stems = Legs.from_result(result), of_fibers(result), with_most_energy(result)
    height = min(1.0, 0.12 + 0.12 * len(stems))
    sheet, panels = page(result, FIBER_TITLE, len(stems), len(quantities), height=height)
    for row, stem in zip(panels, stems, strict=True):
        for axes, (quantity, values) in zip(row, quantities.items(), strict=True):
            for side in ALL_SIDES:
                if (name := with_side(stem, side)) in values["muscle"].values:
                    legs.draw_muscle(axes, name, values.sel(muscle=name).values)
                    legs.mark_events(axes, side)
            if quantity.startswith("fiber velocity"):
                zero_line(axes)
            if quantity.startswith("tendon strain"):
                axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
            legs.x.apply(axes, labeled=stem == stems[-1], with_label=False)
            heading(axes, stem.replace("_", " ") if axes is row[0] else "", quantity)
    sheet.label_axes(legs.x.label, FIBER_AXIS)
    legs.legend(sheet, events=True)
    return sheet


def of_fibers(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Length and velocity of the fibers over their optimal length, and strain of the tendons, by title and unit."""
    optimal = result["optimal_fiber_length"]
    return {
        "fiber length [L0]": result["fiber_length"] / optimal,
        "fiber velocity [L0/s]": result["fiber_velocity"] / optimal,
        "tendon strain [%]": 100.0 * result["tendon_strain"],
    }


def with_most_energy(result: xr.Dataset) -> list[str]:
    """The muscles of the Achilles tendon without side, then those whose tendons store the largest peak energy."""
    energy = result["tendon_energy"].transpose("time", "muscle").values
    peak = np.where(np.isfinite(energy), energy, 0.0).max(axis=0)
    order = [*achilles(result), *map(str, result["muscle"].values[np.argsort(-peak, kind="stable")])]
    return list(dict.fromkeys(split_side(name)[0] for name in order))[:ROWS]


@native
def measured_fascicles(result: xr.Dataset) -> Sheet:
    """Fiber length of the muscles whose fascicles were measured, beside the measured length, in millimeters."""
    legs, measured = Legs.from_result(result), of_fascicles(result)
    notes = {muscle: note for muscle, (_, note) in measured.items()}

    def fill(axes: "Axes", muscle: str) -> None:
        for part in legs.x.passes[legs.muscle_sides[muscle]]:
            shown = np.where(part.repeated, np.nan, measured[muscle][0][part.index])
            axes.plot(part.place, shown, label=MEASURED_LABEL, **MEASURED)
        legs.draw_muscle(axes, muscle, 1000.0 * result["fiber_length"].sel(muscle=muscle).values)
        legs.mark_events(axes, side_of(muscle))

    titles = ("Fiber length and measured fascicle length", "length [mm]")
    sheet = small_multiples(result, titles, legs.x, notes, fill, Grid(columns=2, low=True))
    shown = {legs.muscle_sides[muscle] for muscle in measured} | {side_of(muscle) for muscle in measured}
    drawn = replace(legs, sides=[side for side in legs.sides if side in shown])
    drawn.legend(sheet, events=True, further={MEASURED_LABEL: line(**MEASURED)})
    return sheet


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


def _every_muscle(
    result: xr.Dataset, name: str, titles: tuple[str, str], grid: Grid, with_emg: bool = False
) -> Sheet:
    legs = Legs.from_result(result)
    values = result[name].transpose("muscle", "time").values
    curves = dict(zip(map(str, result["muscle"].values), values, strict=True))
    measured = envelopes(result) if with_emg else {}
    norms = NormBands.from_result(result, legs.x)

    def fill(axes: "Axes", muscle: str) -> None:
        texts = []
        norms.draw(axes, name, muscle)
        for side in legs.sides:
            known = measured.get(f"{muscle}_{side}", ())
            for envelope, _ in known:
                legs.shade(axes, side, envelope, ENVELOPE)
            texts += [f"{SIDE_NAMES[side]} {', '.join(decimal(r, 2) for _, r in known)}"] if known else []
        note(axes, f"r {', '.join(texts)}" if texts else "")
        for side in ALL_SIDES:
            if (full := with_side(muscle, side)) in curves:
                legs.draw_muscle(axes, full, curves[full])
                legs.mark_events(axes, side)

    sheet = small_multiples(result, titles, legs.x, muscles(result), fill, grid)
    note_choice(sheet, result)
    sides = {full[-1] for full in measured}
    drawn = {side_of(full) for full in curves} | {legs.muscle_sides[full] for full in curves}
    legs = replace(legs, sides=[side for side in legs.sides if side in drawn])
    legs.legend(sheet, events=True, shaded=ENVELOPE if sides else "", of=sides)
    if norms.drawn:
        norms.explain(sheet)
    if sides:
        sheet.add_note(PREDICTED if "emg_predicted" in result else EXPLAINED)
    return sheet


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


def note_choice(sheet: Sheet, result: xr.Dataset) -> None:
    """Note on a page of a column that it has only some of the muscles."""
    shown, count = muscles(result), len(_all_muscles(result))
    if not current_style().muscles and len(shown) < count:
        sheet.add_note(f"{len(shown)} of {count} muscles: of each group the one with the greatest force")


def _all_muscles(result: xr.Dataset) -> dict[str, str]:
    names = [split_side(str(name))[0] for name in result["muscle"].values]
    return muscles_by_group(names, [str(group) for group in result["group"].values])
