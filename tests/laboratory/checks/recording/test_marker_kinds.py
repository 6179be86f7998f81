"""Faults of markers: units, axes, sides, labels, leaps and held places are named with their own extent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from examined import found, loaded

from musclesolve.data import reference_stride
from musclesolve.laboratory.checks.case import Case
from musclesolve.laboratory.checks.recording import axes, landmarks, leaps, segments, sides, units
from musclesolve.laboratory.checks.recording.sides import partners
from musclesolve.tables.sampled import Markers


@pytest.fixture(scope="module")
def stride() -> Case:
    """The bundled stride, without any fault."""
    return loaded(reference_stride())


def with_markers(case: Case, markers: Markers, role: str = "markers") -> Case:
    return replace(case, trial=replace(case.trial, **{role: markers}))


def moved(case: Case, names: list[str], frames: slice, by: object) -> Case:
    """Some markers displaced by (3,) [m] in some frames."""
    markers = case.trial.markers
    position = markers.position.copy()
    for name in names:
        position[frames, markers.names.index(name)] += np.asarray(by)
    return with_markers(case, replace(markers, position=position))


def marker(case: Case, landmark: str) -> str:
    (name,) = case.trial.mapping[landmark]
    return name


@pytest.mark.parametrize("factor", [0.001, 1000.0])
@pytest.mark.parametrize("role", ["markers", "static"])
def test_a_unit_of_length_is_named_by_its_factor(stride: Case, role: str, factor: float) -> None:
    markers = getattr(stride.trial, role)
    spoiled = with_markers(stride, replace(markers, position=markers.position * factor), role)
    (entry,) = [each for each in found(spoiled, units) if each.code == "marker_units"]
    assert entry.severity == "error" and entry.where.file == markers.path
    assert f"a thousand times too {'large' if factor > 1.0 else 'small'}" in entry.what
    assert not found(stride, units)


def test_another_axis_up_is_named_with_the_change_of_the_trial_file(stride: Case) -> None:
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # what was up is to the left
    alone = replace(stride, trial=replace(stride.trial, forces=()))
    spoiled = with_markers(alone, alone.trial.markers.rotated(turn))
    spoiled = replace(spoiled, unknown=spoiled.unknown | {"upright"})
    codes = {each.code: each for each in found(spoiled, axes)}
    assert codes["up_axis"].severity == "error" and dict(codes["up_axis"].change)
    assert not found(stride, axes)
    # the other checks of markers do not speak of what follows from it
    assert not found(spoiled, sides)


def test_forces_that_pull_are_of_the_foot_on_the_plate(stride: Case) -> None:
    forces = tuple(replace(plate, force=-plate.force) for plate in stride.trial.forces)
    entries = found(replace(stride, trial=replace(stride.trial, forces=forces)), axes)
    assert {each.code for each in entries} == {"force_sign"} and len(entries) == 2


def test_all_labels_of_right_and_left_are_one_finding(stride: Case) -> None:
    pairs = dict(sorted({tuple(sorted(pair)) for pair in partners(stride.trial).items()}))
    markers, static = stride.trial.markers, stride.trial.static
    assert static is not None
    swapped = with_markers(stride, markers.exchanged(pairs, slice(None)))
    (entry,) = found(swapped, sides)
    assert entry.code == "sides_swapped" and entry.where.file == markers.path and entry.change
    both = with_markers(swapped, static.exchanged(pairs, slice(None)), "static")
    (entry,) = found(both, sides)
    assert entry.where.field == "[mapping] asis_r"
    assert not found(stride, sides)


def test_plates_under_the_feet_tell_exchanged_labels_from_a_reversed_axis(stride: Case) -> None:
    """Labels of feet and plates are exchanged alike; a mirror of the markers moves the feet off the pressure."""
    trial = stride.trial
    pairs = dict(sorted({tuple(sorted(pair)) for pair in partners(trial).items()}))
    markers, static = (each.exchanged(pairs) for each in (trial.markers, trial.static))
    other = {"r": "l", "l": "r"}
    forces = tuple(replace(plate, side=other[plate.side]) for plate in trial.forces)
    labels = replace(stride, trial=replace(trial, markers=markers, static=static, forces=forces))
    (entry,) = found(labels, sides)
    assert entry.code == "sides_swapped" and "labels of right and left are exchanged:" in entry.what
    assert {key[-1] for key, _ in entry.change} >= {"markers", "static", "side"}
    mirror = np.diag([1.0, -1.0, 1.0])
    turned = [replace(each, position=each.position @ mirror) for each in (trial.markers, trial.static)]
    room = replace(stride, trial=replace(trial, markers=turned[0], static=turned[1]))
    (entry,) = found(room, sides)
    assert entry.code == "sides_swapped" and "or one axis of the markers is reversed" in entry.what


@pytest.mark.parametrize("landmark", ["psis", "knee_lateral"])
def test_one_pair_is_named_and_no_other(stride: Case, landmark: str) -> None:
    one, other = (marker(stride, f"{landmark}_{side}") for side in "rl")
    markers = stride.trial.markers.exchanged({one: other}, slice(None))
    (entry,) = found(with_markers(stride, markers), sides)
    assert entry.code == "pair_swapped" and {*entry.where.markers} == {one, other}
    # nor does the order of landmarks, which follows from it, suggest another exchange
    assert not found(with_markers(stride, markers), landmarks)


def test_two_labels_that_are_exchanged_throughout_are_named(stride: Case) -> None:
    one, other = marker(stride, "heel_r"), marker(stride, "toe_r")
    markers = stride.trial.markers.exchanged({one: other}, slice(None))
    (entry,) = found(with_markers(stride, markers), segments)
    assert entry.code == "labels_exchanged" and entry.severity == "error"
    assert {*entry.where.markers} == {one, other} and not entry.where.times
    ((_, pair),) = entry.change
    assert pair in ({one: other}, {other: one})
    assert not found(stride, segments)


def test_labels_that_are_exchanged_for_a_while_cost_these_frames(stride: Case) -> None:
    one, other, time = marker(stride, "heel_l"), marker(stride, "toe_l"), stride.trial.markers.time
    frames = np.zeros(time.size, bool)
    frames[40:52] = True
    (entry,) = found(with_markers(stride, stride.trial.markers.exchanged({one: other}, frames)), segments)
    assert entry.severity == "warning" and {*entry.where.markers} == {one, other}
    assert entry.where.times == ((float(time[40]), float(time[51])),)


def test_a_stretch_ends_where_paths_cross_or_a_marker_is_lost() -> None:
    time = np.arange(12.0)
    position = np.stack(
        [np.stack([time, 0 * time, 0 * time], 1), np.stack([time, 1 + 0 * time, 0 * time], 1)], 1
    )
    position[6:, [0, 1]] = position[6:, [1, 0]]
    ((pair, at),) = segments.crossings(position).items()
    assert pair == (0, 1) and at.tolist() == [6]
    position[9, 0] = np.nan
    parts = segments.pieces(position, pair, at)
    assert [np.flatnonzero(part).tolist() for part in parts] == [[*range(6)], [6, 7, 8], [10, 11]]


@pytest.mark.parametrize("size", [0.06, 0.126])
def test_a_leap_of_one_marker_costs_its_frames_in_newtons(stride: Case, size: float) -> None:
    name, time = marker(stride, "knee_lateral_r"), stride.trial.markers.time
    (entry,) = found(moved(stride, [name], slice(60, None), [0.0, size, 0.0]), leaps)
    assert entry.code == "leap" and entry.severity == "warning" and entry.where.markers == (name,)
    ((first, last),) = entry.where.times
    assert time[58] < first <= last < time[62]
    assert entry.cost is not None and entry.cost.unit == "N"
    assert float(entry.what.partition("by ")[2].partition(" mm")[0]) == pytest.approx(1000 * size, abs=4.0)
    assert not found(stride, leaps)


def test_the_force_of_a_leap_is_in_proportion_to_its_size(stride: Case) -> None:
    name, force = marker(stride, "knee_lateral_r"), {}
    for size in (0.1, 0.2):
        (entry,) = found(moved(stride, [name], slice(60, None), [size, 0.0, 0.0]), leaps)
        assert entry.cost is not None
        force[size] = entry.cost.size
    assert force[0.2] / force[0.1] == pytest.approx(2.0, rel=0.05)


def test_a_leap_of_all_markers_of_a_body_is_one_finding(stride: Case) -> None:
    names = list(segments.bodies(stride.trial)["pelvis"][0])
    entries = found(moved(stride, names, slice(60, None), [0.126, 0.0, 0.0]), leaps)
    (entry,) = [each for each in entries if "together" in each.what]
    assert {*names} <= {*entry.where.markers}
    assert float(entry.what.split(" mm")[0].split()[-1]) == pytest.approx(126.0, abs=2.0)
    assert entry.cost is not None and entry.cost.size > 100.0
    assert not {*names} & {name for each in entries if each is not entry for name in each.where.markers}
