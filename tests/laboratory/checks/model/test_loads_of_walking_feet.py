"""A foot in the air carries nothing, and under a foot that walks the pressure goes along."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from model_faults import Loads, Spoil, Trial, greatest, load_trials, on_coordinates, on_loads
from recorded_data import recorded

from musclesolve._util.arrays import true_runs
from musclesolve.dynamics import low_pass
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.checks.model.load_units_and_axes import scaled
from musclesolve.models.opensim.external_loads import ExternalLoad

WALKS = ("knee", "service", "overground")


@cache
def trials() -> dict[str, Trial]:
    recorded("instrumented_knee")
    return load_trials(recorded("rajagopal_walk").parent)


@cache
def of_sound(name: str) -> frozenset[str]:
    return frozenset(each.code for each in findings_of_body(trials()[name].body()))


def filtered(cutoff: float) -> Spoil:
    def of_all(loads: Loads) -> Loads:
        return tuple(
            replace(load, force=low_pass(load.force, 1.0 / float(np.diff(load.time).mean()), cutoff))
            for load in loads
        )

    return on_loads(of_all)


def raised(by: float) -> Spoil:
    """The greatest load with another zero of its vertical force [N]."""

    def spoil(trial: Trial) -> Trial:
        name, up = greatest(trial), np.array([0.0, by, 0.0])
        return on_loads(
            lambda loads: tuple(
                replace(load, force=load.force + up) if load.name == name else load for load in loads
            )
        )(trial)

    return spoil


def resting(trial: Trial) -> Trial:
    """The greatest load at the mean place of its pressure."""
    name = greatest(trial)

    def at_mean(loads: Loads) -> Loads:
        size = {load.name: np.abs(load.force[:, 1]) for load in loads}
        return tuple(
            replace(load, point=0.0 * load.point + np.average(load.point, axis=0, weights=size[name]))
            if load.name == name
            else load
            for load in loads
        )

    return on_loads(at_mean)(trial)


def way_of_pressure(factor: float, side: str = "") -> Spoil:
    """Points of force that travel another way under each foot, or under the foot of a side."""

    def of_all(loads: Loads) -> Loads:
        changed = []
        for load in loads:
            point = load.point.copy()
            for first, stop in true_runs(load.force[:, 1] > 40.0) if load.body.endswith(side) else ():
                middle = np.average(point[first:stop], axis=0, weights=load.force[first:stop, 1])
                point[first:stop] = middle + factor * (point[first:stop] - middle)
            changed.append(replace(load, point=point))
        return tuple(changed)

    return on_loads(of_all)


def held(trial: Trial) -> Trial:
    """The greatest load with one sample kept for 0.1 s in the middle of its longest contact."""
    name = greatest(trial)

    def of_one(load: ExternalLoad) -> ExternalLoad:
        runs = true_runs(load.force[:, 1] > 300.0)
        first = sum(max(runs, key=lambda run: run[1] - run[0])) // 2
        stop, force, point = (
            np.searchsorted(load.time, load.time[first] + 0.1),
            load.force.copy(),
            load.point.copy(),
        )
        force[first:stop], point[first:stop] = force[first], point[first]
        return replace(load, force=force, point=point) if load.name == name else load

    return on_loads(lambda loads: tuple(map(of_one, loads)))(trial)


def cut_off(load: ExternalLoad) -> ExternalLoad:
    """Points that stay on the first 60 % of their way ahead in each contact."""
    point = load.point.copy()
    for first, stop in true_runs(load.force[:, 1] > 40.0):
        point[first:stop, 0] = np.minimum(point[first:stop, 0], np.quantile(point[first:stop, 0], 0.6))
    return replace(load, point=point)


def dead(axis: int) -> Spoil:
    """One horizontal component of all loads that is zero."""
    kept = 1.0 - np.eye(3)[axis]
    return on_loads(lambda loads: tuple(replace(load, force=load.force * kept) for load in loads))


def leaning(share: float, count: int | None = None) -> Spoil:
    """All loads, or the first ones, with a share of the vertical force ahead."""
    ahead = np.array([share, 0.0, 0.0])
    return on_loads(
        lambda loads: (
            *(replace(load, force=load.force + load.force[:, 1:2] * ahead) for load in loads[:count]),
            *(loads[count:] if count else ()),
        )
    )


def about_origin(load: ExternalLoad) -> ExternalLoad:
    """The load with moments about the origin beside its centers of pressure."""
    return replace(load, moment=load.moment + np.cross(load.point, load.force))


def noisy(size: float) -> Spoil:
    """Loads with white noise [N] while a foot is on the plate."""
    draw = np.random.default_rng(3)

    def of_one(load: ExternalLoad) -> ExternalLoad:
        return replace(
            load,
            force=load.force + size * draw.standard_normal(load.force.shape) * (load.force[:, 1:2] > 20.0),
        )

    return on_loads(lambda loads: tuple(map(of_one, loads)))


def between(least: float, share: float) -> Spoil:
    """Vertical forces up to a share of the greatest one, and none below the least [N]."""

    def of_one(load: ExternalLoad) -> ExternalLoad:
        force = load.force.copy()
        force[:, 1] = np.minimum(force[:, 1], share * force[:, 1].max())
        force[force[:, 1] < least] = 0.0
        return replace(load, force=force)

    return on_loads(lambda loads: tuple(map(of_one, loads)))


def of_foot(side: str, factors: tuple[float, float, float]) -> Spoil:
    """Forces under the foot of a side, or of both without one, times factors along the axes."""
    return on_loads(
        lambda loads: tuple(
            replace(load, force=load.force * factors) if load.body.endswith(side) else load for load in loads
        )
    )


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize(
    ("side", "factors", "what"),
    [
        ("_r", (0.5, 1.0, 1.0), "the forward forces on calcn_r"),
        ("_l", (0.5, 1.0, 1.0), "the forward forces on calcn_l"),
        ("", (0.5, 1.0, 1.0), "the forward forces on both feet"),
        ("", (1.5, 1.0, 1.0), "the forward forces on both feet"),
        ("", (1.0, 1.0, 3.0), "the sideward forces on both feet"),
    ],
)
def test_horizontal_forces_of_another_scale_are_named(
    name: str, side: str, factors: tuple[float, float, float], what: str
) -> None:
    found = findings_of_body(of_foot(side, factors)(trials()[name]).body())
    (said,) = [each.what for each in found if each.code == "plate_scale"]
    assert said.startswith(what)
    assert {each.code for each in found} - of_sound(name) == {"plate_scale"}


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (filtered(2.5), "plate_baseline"),
        (raised(-60.0), "plate_baseline"),
        (raised(100.0), "plate_baseline"),
        (resting, "frozen"),
        (way_of_pressure(0.7), "pressure_way"),
        (way_of_pressure(1.5), "pressure_way"),
        (way_of_pressure(-1.0), "pressure_way"),
        (between(0.0, 0.9), "plate_clipped"),
        (between(100.0, 1.0), "plate_clipped"),
        (held, "plate_clipped"),
        (on_loads(lambda loads: tuple(map(cut_off, loads))), "plate_clipped"),
        (dead(0), "plate_channel"),
        (dead(2), "plate_channel"),
        (leaning(0.05), "leaning_force"),
        (leaning(-0.05), "leaning_force"),
        (leaning(0.07, 1), "leaning_force"),
        (on_loads(scaled(0.0, ["moment"])), "free_moment"),
        (on_loads(scaled(5.0, ["moment"])), "free_moment"),
        (on_loads(lambda loads: tuple(map(about_origin, loads))), "free_moment"),
        (noisy(25.0), "force_resolution"),
    ],
    ids=[
        *"filtered low high resting short long backward cut no_small_forces held cut_points".split(),
        *"no_forward no_sideward ahead behind one_ahead no_twist large_twist about_origin noise".split(),
    ],
)
def test_a_load_that_no_foot_makes_is_named(name: str, spoil: Spoil, code: str) -> None:
    found = {each.code for each in findings_of_body(spoil(trials()[name]).body())} - of_sound(name)
    assert code in found


@pytest.mark.parametrize("what", ["point", "force"])
def test_loads_in_the_axes_of_a_foot_that_belong_to_the_ground_are_named(what: str) -> None:
    of_foot = on_loads(
        lambda loads: tuple(replace(load, **{f"{what}_frame": "calcn_l"}) for load in loads)  # type: ignore[arg-type]
    )
    found = [each for each in findings_of_body(of_foot(trials()["knee"]).body()) if each.code == "load_body"]
    assert {each.severity for each in found} == {"error"}
    assert all(f"the {what} of plate" in each.what and "calcn_l" in each.what for each in found)


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("factor", [0.5, 0.7, 1.6])
def test_a_way_of_another_scale_under_one_foot_is_compared_with_the_other(name: str, factor: float) -> None:
    found = findings_of_body(way_of_pressure(factor, "_r")(trials()[name]).body())
    (said,) = [each.what for each in found if each.code == "pressure_way" and "as far under" in each.what]
    assert "calcn_r" in said


@pytest.mark.parametrize("by", [-0.4, -0.3, -0.02, 0.02, 0.3, 0.4])
def test_loads_of_another_time_are_late_or_early(by: float) -> None:
    """Two steps of which the last one has no plate: 0.4 s away few frames fit."""
    late = on_loads(lambda loads: tuple(replace(load, time=load.time + by) for load in loads))
    found = findings_of_body(late(trials()["service"]).body())
    (said,) = [each.what for each in found if each.code == "time_offset"]
    assert ("late" if by > 0.0 else "early") in said and "plate_axes" not in {each.code for each in found}


@pytest.mark.parametrize("name", WALKS)
def test_the_usual_filter_of_forces_has_no_finding(name: str) -> None:
    found = {each.code for each in findings_of_body(filtered(6.0)(trials()[name]).body())}
    assert not found - of_sound(name)


@pytest.mark.parametrize("name", WALKS)
def test_a_leg_that_was_filtered_otherwise_than_the_other_one_is_found(name: str) -> None:
    sound = trials()[name]
    rate = 1.0 / float(np.diff(sound.coordinates.time).mean())
    of_leg = on_coordinates(
        lambda column, values: low_pass(values, rate, 2.0) if column.endswith("_r") else values
    )
    found = [each for each in findings_of_body(of_leg(sound).body()) if each.code == "over_filtered"]
    assert len(found) == 1 and "right" in found[0].what


def test_a_load_under_both_feet_in_turn_fails_no_check() -> None:
    def on_one(loads: Loads) -> Loads:
        one, other = loads
        return replace(one, force=one.force + other.force), replace(other, force=0.0 * other.force)

    found = {each.code for each in findings_of_body(on_loads(on_one)(trials()["overground"]).body())}
    assert "plate_baseline" in found and "check_failed" not in found


def test_a_load_held_at_its_peak_was_not_cut() -> None:
    name = next(iter(trials()))
    sound = trials()[name]

    def at_peak(load: ExternalLoad) -> ExternalLoad:
        first, force, point = int(load.force[:, 1].argmax()), load.force.copy(), load.point.copy()
        rows = (load.time >= load.time[first]) & (load.time < load.time[first] + 0.1)
        force[rows], point[rows] = force[first], point[first]
        return replace(load, force=force, point=point) if load.name == greatest(sound) else load

    body = on_loads(lambda loads: tuple(map(at_peak, loads)))(sound).body()
    said = [each.what for each in findings_of_body(body) if each.code == "plate_clipped"]
    assert len(said) == 1 and "held" in said[0], said


def test_heavy_feet_are_no_scale_of_the_loads() -> None:
    """The forward forces seemed to accelerate the body with half of their size."""
    sound = trials()["overground"]
    masses = {
        name: replace(mass, mass=3.0 * mass.mass, inertia=3.0 * mass.inertia)
        if name.startswith(("talus", "calcn", "toes"))
        else mass
        for name, mass in sound.model.masses.items()
    }
    body = replace(sound, model=replace(sound.model, masses=masses)).body()
    codes = {each.code for each in findings_of_body(body)}
    assert "segment_mass" in codes and "plate_scale" not in codes


def shear_late(by: float) -> Spoil:
    """Horizontal forces late by a time [s] against the vertical ones."""

    def of_one(load: ExternalLoad) -> ExternalLoad:
        late = np.stack([np.interp(load.time - by, load.time, column) for column in load.force.T], axis=1)
        return replace(load, force=np.where([True, False, True], late, load.force))

    return on_loads(lambda loads: tuple(map(of_one, loads)))


def points_zero(below: float) -> Spoil:
    """Points of force at the origin of the laboratory while the vertical force is small [N]."""
    return on_loads(
        lambda loads: tuple(
            replace(load, point=np.where(load.force[:, 1:2] < below, 0.0, load.point)) for load in loads
        )
    )


def points_exchanged(one: int, other: int) -> Spoil:
    """Points of two loads exchanged."""

    def of_all(loads: Loads) -> Loads:
        points = [load.point for load in loads]
        points[one], points[other] = points[other], points[one]
        return tuple(replace(load, point=point) for load, point in zip(loads, points, strict=True))

    return on_loads(of_all)


def copied(loads: Loads) -> Loads:
    """The second load with the numbers of the first one."""
    first, second, *others = loads
    return first, replace(first, name=second.name, body=second.body), *others


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("by", [-0.04, 0.04])
def test_forward_forces_of_another_time_than_the_vertical_ones_are_named(name: str, by: float) -> None:
    found = findings_of_body(shear_late(by)(trials()[name]).body())
    (said,) = [each.what for each in found if each.code == "time_offset"]
    assert said.startswith("the forward forces") and ("late" if by > 0.0 else "early") in said


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("below", [100.0, 200.0])
def test_points_that_are_lost_while_the_force_is_small_leave_the_foot(name: str, below: float) -> None:
    found = findings_of_body(points_zero(below)(trials()[name]).body())
    assert any(each.code == "pressure_outside" and "leaves the line" in each.what for each in found)


@pytest.mark.parametrize("pair", [(0, 1), (0, 2)])
def test_exchanged_points_of_two_plates_are_the_only_cause(pair: tuple[int, int]) -> None:
    found = findings_of_body(points_exchanged(*pair)(trials()["knee"]).body())
    (fault,) = [each for each in found if each.severity == "error"]
    assert fault.code == "plates_swapped" and "the points of these two plates are exchanged" in fault.what


@pytest.mark.parametrize("name", WALKS)
def test_a_copy_of_a_plate_is_no_unit_of_the_forces(name: str) -> None:
    found = findings_of_body(on_loads(copied)(trials()[name]).body())
    (fault,) = [each for each in found if each.severity == "error"]
    assert fault.code == "plates_swapped" and "the same numbers" in fault.what


def test_a_missing_contact_is_no_clock() -> None:
    """The motion needs a force where the load is missing: at another rate the loads fit hardly better."""

    def without(loads: Loads) -> Loads:
        first, *others = loads
        begin, stop = true_runs(first.force[:, 1] > 40.0)[-1]
        rows = np.arange(len(first.time))[:, None]
        return replace(first, force=np.where((rows < begin) | (rows >= stop), first.force, 0.0)), *others

    found = {each.code for each in findings_of_body(on_loads(without)(trials()["overground"]).body())}
    assert "contact_without_force" in found and not found & {"clock_rate", "time_offset"}
