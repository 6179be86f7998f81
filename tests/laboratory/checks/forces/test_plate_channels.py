"""A channel of a plate that is late, limited, lost, of one sign, or with a zero that moves under the foot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded_data import recorded
from treadmill import on_a_treadmill
from trial_copy import TrialCopy

from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.data import reference_stride
from musclesolve.laboratory.analysis.recorded_body import RecordedBody
from musclesolve.laboratory.checks.forces.plate_balance import (
    BalanceFit,
    accusations,
    balance,
    likeliest,
    observed,
)
from musclesolve.laboratory.checks.forces.plate_zero_and_saturation import resolution
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.results.finding import Where


@pytest.fixture(scope="module")
def stride() -> tuple[RecordedBody, BalanceFit]:
    body = prepare(reference_stride())
    assert isinstance(body, RecordedBody)
    measured = balance(body.trial, body.mechanics)
    assert measured is not None
    return body, measured


def test_channels_and_free_moment_make_the_wrench(stride):
    """Delays of all plates are one of the forces; those of three channels are one of a plate, but for its twist."""
    _, measured = stride
    assert sum(each["late whole"][..., 0] for each in measured.channels) == pytest.approx(measured.change)
    for each, twist in zip(measured.channels, measured.twist, strict=True):
        parts = sum(each[f"late {name}"][..., 0] for name in ("forward", "sideward", "vertical"))
        assert (each["late whole"][..., 0] - parts)[1:-1] == pytest.approx(
            np.gradient(twist, measured.time, axis=0)[1:-1], abs=0.02 * np.abs(parts[:, 5]).max()
        )


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("late vertical 0", [0.02]),
        ("late whole 1", [0.02]),
        ("late forward 1", [-0.03]),
        ("added sideward 1", [-0.045, 0.015]),
    ],
)
def test_the_residual_shows_which_channel_is_wrong(stride, name, size):
    _, measured = stride
    kind, _, plate = name.rpartition(" ")
    residual = measured.residual + measured.channels[int(plate)][kind] @ np.array(size)
    names = [f"{kind} {k}" for k in (0, 1) for kind in measured.channels[k]]
    fits = accusations(observed(replace(measured, residual=residual), [], "rl", [0, 1]), names)
    assert likeliest(fits) == name
    assert fits[name].size == pytest.approx(size, abs=0.15 * np.linalg.norm(size))
    assert not accusations(observed(measured, [], "rl", [0, 1]), names)


def crossing(force: np.ndarray) -> int:
    """The first sample after the greatest braking at which a force (S,) pushes."""
    braking = int(force.argmin())
    return braking + int((force[braking:] > 0.0).argmax())


def spoiled(
    folder: Path, side: str, change: Callable[[np.ndarray], np.ndarray], part: str = "force", axis: int = 0
):
    """Findings on the stride with the forward force (S,), or another column, of one plate, 600 Hz, changed."""
    copy = TrialCopy()
    (plate,) = copy.plates(side)
    values = copy.plate(plate, part).copy()
    values[:, axis] = change(values[:, axis])
    copy.set_plate(plate, part, values)
    report = copy.examined(folder, costs=False)
    return [each for each in report.findings if each.severity != "note"]


def test_a_channel_that_changes_after_every_other_sample_rests_nowhere(tmp_path):
    def in_pairs(force: np.ndarray) -> np.ndarray:
        return force[np.arange(force.size) // 2 * 2]

    assert not [each for each in spoiled(tmp_path, "l", in_pairs) if "from sample to sample" in each.what]


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        (
            lambda force: np.roll(force, -18),
            "time_offset",
            "ms early against the motion, its other channels are not",
        ),
        (lambda force: np.abs(force), "plate_channel", "turns back at zero within one sample (2 times"),
        (
            lambda force: np.maximum(force, 0.0),
            "plate_channel",
            "stays exactly the same from sample to sample",
        ),
        (lambda force: force * (np.arange(force.size) < 700), "plate_channel", "stays exactly the same"),
        (
            lambda force: np.where(np.arange(force.size) < crossing(force), force, -force),
            "plate_channel",
            "changes its sign within one sample (1 time,",
        ),
        (
            lambda force: np.clip(force, -60.0, 60.0),
            "plate_clipped",
            "the forward force stays at exactly 60 N",
        ),
    ],
)
def test_a_wrong_channel_is_named(change, code, word, tmp_path):
    found = spoiled(tmp_path, "l", change)
    assert {each.code for each in found} == {code}
    assert any(word in each.what for each in found) and {each.where.plate for each in found} == {"left"}


@pytest.mark.parametrize(("axis", "way"), [(0, "forward"), (1, "sideward")])
def test_points_that_are_cut_off_at_an_edge_of_the_plate_are_named(axis, way, tmp_path):
    def cut(point: np.ndarray) -> np.ndarray:
        return np.minimum(point, np.quantile(point[point != 0.0], 0.7))

    (found,) = [f for f in spoiled(tmp_path, "l", cut, "point", axis) if f.code == "plate_clipped"]
    assert f"the {way} coordinate of the point of force stays" in found.what


@pytest.mark.parametrize("step", [1e-4, 1e-3, 5e-3])
def test_rounded_points_are_not_cut_off(step, tmp_path):
    for axis in (0, 1):
        found = spoiled(tmp_path / f"{axis}", "l", lambda point: np.round(point / step) * step, "point", axis)
        assert "plate_clipped" not in {f.code for f in found}


def of_mass(path: Path, factor: float) -> TrialCopy:
    """A recording of a subject who is heavier by a factor, and whose forces are."""
    copy = TrialCopy(path)
    copy.set_key("subject", "mass_kg", repr(factor * copy.settings.subject.mass_kg))
    for plate in copy.plates():
        for role in ("force", "moment"):
            copy.set_plate(plate, role, factor * copy.plate(plate, role))
    return copy


@pytest.mark.parametrize("factor", [0.3, 1.6])
def test_no_plate_of_a_heavy_or_light_subject_adds_a_force(factor, tmp_path):
    copy = of_mass(recorded("instrumented_knee") / "walk_ss9.toml", factor)
    report = copy.examined(tmp_path, costs=False)
    assert not {"plate_drift", "time_offset"} & set(report.codes), str(report)


@pytest.mark.parametrize("factor", [0.3, 1.7])
def test_a_force_that_is_added_in_proportion_to_the_weight_is_found(factor, recorded_walk_trial, tmp_path):
    copy = of_mass(recorded_walk_trial.path, factor)
    weight, (plate,) = factor * copy.settings.subject.mass_kg * STANDARD_GRAVITY, copy.plates("l")
    force = copy.plate(plate, "force").copy()
    added = np.linspace(0.0, 0.072 * weight, len(force)) * (force[:, 2] > 0.03 * weight)
    force[:, 1] += added
    copy.set_plate(plate, "force", force)
    found = [each for each in copy.examined(tmp_path, costs=False).findings if each.where.plate]
    (said,) = (each.what for each in found if each.code == "plate_drift")
    size = float(said.partition("adds about ")[2].partition(" N")[0])
    assert size == pytest.approx(np.sqrt(np.mean(added[added > 0.0] ** 2)), rel=0.25) and "sideward" in said
    assert {each.where.plate for each in found} == {"left"}


@pytest.mark.parametrize("belt", [False, True])
def test_a_body_that_stays_in_its_place_shows_less_of_the_scale_of_space(belt, tmp_path):
    copy = TrialCopy()
    if belt:
        on_a_treadmill(copy)
    body = prepare(copy.write(tmp_path))
    assert isinstance(body, RecordedBody)
    measured = balance(body.trial, body.mechanics)
    assert measured is not None and measured.space is not None
    spoiled = replace(measured, residual=measured.residual + 0.03 * measured.space)
    fits = accusations(observed(spoiled, [], "rl", [0, 1]), ["space"])
    assert ("space" in fits) == (not belt)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda force: 25.0 * np.round(force / 25.0), "in steps of 25 N"),
        (lambda force: force + np.random.default_rng(1).normal(0.0, 20.0, force.shape), "has noise of"),
        (np.round, ""),
        (lambda force: force + np.random.default_rng(1).normal(0.0, 2.0, force.shape), ""),
    ],
)
def test_coarse_steps_and_noise_of_a_force_are_named(stride, spoil, told):
    (plate, *_), where = stride[0].trial.forces, Where(None)
    found = list(resolution("the right plate", spoil(plate.force[plate.force[:, 2] > 100.0]), where))
    assert [one.code for one in found] == ["force_resolution"] * bool(told)
    assert all(told in one.what and "the right plate" in one.what for one in found)


def test_a_moment_that_is_added_under_a_foot_is_found(tmp_path):
    """The zero of the vertical moment moves by 12 N m under the left foot: it turns nothing."""
    copy = TrialCopy()
    (plate,) = copy.plates("l")
    under_foot = copy.plate(plate, "force")[:, 2:] > 20.0
    copy.set_plate(plate, "moment", copy.plate(plate, "moment") + [0.0, 0.0, 12.0] * under_foot)
    (fault,) = (each for each in copy.examined(tmp_path, costs=False).findings if each.severity != "note")
    assert (fault.code, fault.where.plate) == ("free_moment", "left") and "that turns nothing" in fault.what


def test_a_forefoot_beside_its_plate_is_found(recorded_walk_trial, tmp_path):
    """The load falls to 40 % toward toe-off, which neither a scale nor a delay of the plate explains."""
    copy = TrialCopy(recorded_walk_trial.path)
    (plate,) = copy.plates("l")
    force = copy.plate(plate, "force").copy()
    loaded = np.flatnonzero(force[:, 2] > 20.0)
    late = loaded[int(0.6 * loaded.size) :]
    force[late] *= np.linspace(1.0, 0.4, late.size)[:, None]
    copy.set_plate(plate, "force", force)
    found = [each for each in copy.examined(tmp_path, costs=False).findings if each.severity != "note"]
    assert [each.code for each in found] == ["unbalanced"] and "less than the motion needs" in found[0].what


def test_a_plate_that_is_dead_for_a_while_is_not_measured_then(tmp_path):
    copy = TrialCopy()
    (plate,) = copy.plates("l")
    force = copy.plate(plate, "force").copy()
    first = np.flatnonzero((force[:, 2] > 400.0) & (copy.forces.time > 1.0))[0]
    force[first : first + 24] = 0.0  # 40 ms
    copy.set_plate(plate, "force", force)
    found = [each for each in copy.examined(tmp_path, costs=False).findings if each.severity != "note"]
    assert [each.code for each in found] == ["plate_instant"] and "jumps to 0 N" in found[0].what


@pytest.mark.parametrize(
    ("factor", "unit"),
    [(1.0 / 70.25, "newtons per kilogram"), (1.0 / 7.9, "kilograms-force or percent of the weight")],
)
def test_forces_of_another_unit_are_named(factor, unit, tmp_path):
    copy = TrialCopy()
    copy.change_plates(["force"], lambda force: force * factor)
    (fault,) = (each for each in copy.examined(tmp_path, costs=False).findings if each.severity == "error")
    assert fault.code == "force_units" and fault.what.endswith(f"the forces are in {unit}")


def test_points_of_all_plates_are_judged_where_each_foot_has_a_judged_plate(tmp_path):
    """Two of three plates are judged, one of each foot."""
    copy = TrialCopy(recorded("instrumented_knee") / "walk_ss1.toml")
    copy.change_plates(["point"], lambda point: point - [0.0, 0.026, 0.0])
    said = [
        each.what for each in copy.examined(tmp_path, costs=False).findings if each.code == "pressure_offset"
    ]
    assert len(said) == 1 and "of all plates alike" in said[0]
