"""Faults of plates: zero, support without a plate, mass, units."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from examined import found, loaded

from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.data import reference_stride
from musclesolve.laboratory.checks.case import Case
from musclesolve.laboratory.checks.recording import axes, balance, contacts, mass, plate_zero, units
from musclesolve.laboratory.forces import find_options, mechanics, recorded_body
from musclesolve.laboratory.recording.data import PlateForce, PlateGap, Trial
from musclesolve.laboratory.trial.plates.foot_contacts import unmeasured_contacts

LEGS = "asis", "psis", "hip", "knee", "ankle", "heel", "toe", "metatarsal"


@pytest.fixture(scope="module")
def stride() -> Case:
    """The bundled stride, without any fault."""
    return loaded(reference_stride())


def with_plates(case: Case, *plates: PlateForce) -> Case:
    return replace(case, trial=replace(case.trial, forces=plates))


def analyzed(case: Case, trial: Trial) -> Case:
    """A case with a trial and its inverse dynamics."""
    body = recorded_body(trial, find_options(trial, None, None, "both"), mechanics(trial))
    return replace(case, trial=trial, body=body)


def on_foot(case: Case, side: str) -> PlateForce:
    return next(plate for plate in case.trial.forces if plate.side == side)


def shifted(plate: PlateForce, by: float, noise: float = 0.0) -> PlateForce:
    """A plate with a wrong zero [N] and noise [N rms]."""
    error = by + noise * np.random.default_rng(3).normal(size=plate.time.size)
    return replace(plate, force=plate.force + error[:, None] * [0.0, 0.0, 1.0])


@pytest.mark.parametrize("level", [-21.0, 8.0, 33.0])
def test_a_wrong_zero_is_said_with_its_newtons(stride: Case, level: float) -> None:
    right, left = on_foot(stride, "r"), on_foot(stride, "l")
    (entry,) = found(with_plates(stride, shifted(right, level, 1.5), left), plate_zero)
    assert entry.code == "plate_baseline" and entry.where.plate == "right" and entry.severity == "warning"
    assert entry.cost is not None and entry.cost.size == pytest.approx(abs(level), abs=1.0)
    ((place, zeros),) = entry.change
    (zero,) = zeros.values()
    assert place == ("plates", "vertical_zero_n") and zero == pytest.approx(level, abs=1.0)


def test_noise_and_forces_set_to_zero_are_no_wrong_zero(stride: Case) -> None:
    noisy = [shifted(plate, 0.0, 3.0) for plate in stride.trial.forces]
    assert not found(with_plates(stride, *noisy), plate_zero)
    cut = [replace(plate, force=plate.force * (plate.force[:, 2:] > 25.0)) for plate in stride.trial.forces]
    assert not found(with_plates(stride, *cut), plate_zero)


def test_a_gap_that_begins_in_a_light_contact_is_no_wrong_zero(stride: Case) -> None:
    """What fills the gap keeps the last force before it, and was not measured."""
    right = on_foot(stride, "r")
    force, light = right.force.copy(), np.flatnonzero(right.force[:, 2] == 0.0)[:150]
    assert (np.diff(light) == 1).all()
    force[light, 2] = 18.0
    held = replace(right, force=force)
    assert found(with_plates(stride, held), plate_zero)
    gap = PlateGap(*right.time[light[[0, -1]]], filled=False, where="line 7")
    assert not found(with_plates(stride, replace(held, gaps=(gap,))), plate_zero)


def test_a_foot_that_stands_without_a_force_costs_this_contact(stride: Case) -> None:
    left = on_foot(stride, "l")
    without = replace(left, force=0.0 * left.force)
    entries = found(with_plates(stride, on_foot(stride, "r"), without), contacts)
    (entry,) = [each for each in entries if each.code == "contact_without_force"]
    assert entry.side == "l" and entry.severity == "warning" and entry.where.times
    assert not found(stride, contacts)


def test_a_foot_that_a_plate_loads_in_its_stance_is_measured(stride: Case) -> None:
    left = on_foot(stride, "l")
    early = (left.time < np.median(left.time[left.force[:, 2] > 100.0]))[:, None]
    light = replace(left, force=np.where(early, left.force, 0.0))
    assert not found(with_plates(stride, on_foot(stride, "r"), light), contacts)


@pytest.mark.parametrize(("factor", "severity"), [(0.9, "warning"), (1.1, "warning"), (1.3, "error")])
def test_another_mass_than_the_plates_carry_is_said_in_newtons(
    stride: Case, factor: float, severity: str
) -> None:
    stated = stride.trial.subject.mass
    subject = replace(stride.trial.subject, mass=stated * factor)
    (entry,) = found(replace(stride, trial=replace(stride.trial, subject=subject)), mass)
    assert entry.severity == severity
    ((place, fitting),) = entry.change
    assert place == ("subject", "mass_kg") and fitting == pytest.approx(stated, rel=0.02)
    weight = abs(factor - 1.0) * stated * STANDARD_GRAVITY
    assert entry.cost is not None and entry.cost.size == pytest.approx(weight, rel=0.25)
    assert not found(stride, mass)


def test_a_mass_that_balances_the_frames_is_named_as_their_cause(stride: Case) -> None:
    stated = stride.trial.subject.mass
    heavy = replace(stride.trial, subject=replace(stride.trial.subject, mass=1.6 * stated))
    (entry,) = [each for each in found(analyzed(stride, heavy), balance) if each.code == "unbalanced"]
    words = re.search(r"a mass of ([\d.]+) kg would balance (\d+) of them", entry.what)
    assert words is not None
    assert float(words[1]) == pytest.approx(stated, rel=0.03) and int(words[2]) > 20
    thrown = [
        replace(plate, force=plate.force + 900.0 * (np.arange(plate.time.size) % 40 < 2)[:, None])
        for plate in stride.trial.forces
    ]
    pushed = analyzed(stride, replace(stride.trial, forces=tuple(thrown)))
    (entry,) = [each for each in found(pushed, balance) if each.code == "unbalanced"]
    assert "a mass of" not in entry.what


@pytest.mark.parametrize("factor", [1.0, 1.3])
def test_markers_of_the_legs_suffice_for_the_mass(stride: Case, factor: float) -> None:
    legs = {name: markers for name, markers in stride.trial.mapping.items() if name.startswith(LEGS)}
    stated = stride.trial.subject.mass
    trial = replace(stride.trial, mapping=legs, subject=replace(stride.trial.subject, mass=factor * stated))
    entries = found(replace(stride, trial=trial), mass)
    assert bool(entries) == (factor > 1.0)
    for entry in entries:
        assert dict(entry.change)["subject", "mass_kg"] == pytest.approx(stated, rel=0.02)


@pytest.mark.parametrize(
    ("stated", "scale", "severity"),
    [(1.0, 1.0, ""), (1.35, 1.0, "error"), (0.8, 1.0, "error"), (1.0, 0.85, "warning"), (1.0, 1.06, "")],
)
def test_one_foot_on_a_plate_shows_the_mass_while_the_other_swings(
    stride: Case, stated: float, scale: float, severity: str
) -> None:
    left, mass_kg = on_foot(stride, "l"), stride.trial.subject.mass
    alone = with_plates(stride, replace(left, force=scale * left.force))
    subject = replace(stride.trial.subject, mass=stated * mass_kg)
    entries = found(replace(alone, trial=replace(alone.trial, subject=subject)), mass)
    assert [entry.severity for entry in entries] == [severity] * bool(severity)
    for entry in entries:
        words = re.search(r"the left foot stands alone .* carry and accelerate ([\d.]+) kg", entry.what)
        assert words is not None and float(words[1]) == pytest.approx(scale * mass_kg, rel=0.05)
        assert "weigh the subject" in entry.remedy and "scale" in entry.remedy
        assert not entry.change and entry.where.times  # mass or plate: which one, nobody knows from this


@pytest.mark.parametrize("factor", [0.6, 0.75, 1.4, 2.0])
def test_the_stated_mass_puts_no_swinging_foot_on_the_floor(stride: Case, factor: float) -> None:
    trial = with_plates(stride, on_foot(stride, "l")).trial
    other = replace(trial, subject=replace(trial.subject, mass=factor * trial.subject.mass))
    known, unknown = unmeasured_contacts(trial), unmeasured_contacts(other)
    assert known["r"].any() and not known["r"].all()
    assert all((known[side] == unknown[side]).all() for side in "lr")


@pytest.mark.parametrize(("factor", "unit"), [(1000.0, "millimeters"), (100.0, "centimeters")])
def test_points_of_force_in_another_unit_are_named(stride: Case, factor: float, unit: str) -> None:
    plates = [replace(plate, point=plate.point * factor) for plate in stride.trial.forces]
    entries = [each for each in found(with_plates(stride, *plates), units) if each.code == "point_units"]
    assert len(entries) == 2 and all(unit in each.what and each.severity == "error" for each in entries)


def test_kilonewtons_never_load_a_plate(stride: Case) -> None:
    plates = [replace(plate, force=plate.force * 0.001) for plate in stride.trial.forces]
    (entry,) = found(with_plates(stride, *plates), units)
    assert entry.code == "force_units" and "kilonewtons" in entry.remedy


def test_axes_of_plates_that_are_turned_by_some_degrees_are_not_accused(stride: Case) -> None:
    c, s = np.cos(np.radians(10.0)), np.sin(np.radians(10.0))
    turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    plates = [replace(plate, force=plate.force @ turn) for plate in stride.trial.forces]
    assert not found(with_plates(stride, *plates), axes)
