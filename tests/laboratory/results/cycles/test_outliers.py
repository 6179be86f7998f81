"""Planted faults are found and named, and cycles without fault are left in peace."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from refusals import refused
from thorough import THOROUGH

import musclesolve as ms
from musclesolve.laboratory import with_outliers
from musclesolve.laboratory.results.cycles.outliers import JUDGED, THRESHOLD

PERCENT = np.linspace(0.0, 100.0, 101)
PHASE = 2.0 * np.pi * PERCENT / 100.0
DOFS = ("hip_flexion", "knee_flexion", "ankle_dorsiflexion")
WAVES = np.stack(
    [np.ones(101), *(wave(k * PHASE) / k for k in (1, 2, 3) for wave in (np.sin, np.cos))], axis=1
)


def study(subjects: int = 8, trials: int = 3, seed: int = 0, noise: float = 0.04) -> xr.Dataset:
    """Persons who differ, each with some trials of both legs that differ less; ground forces of a stance."""
    draw = np.random.default_rng(seed)
    common = WAVES @ draw.normal(size=(7, 3))
    rows = [(f"S{s}", f"S{s}_{t}", side) for s in range(subjects) for t in range(trials) for side in "rl"]
    own = {f"S{s}": common + 0.3 * WAVES @ draw.normal(size=(7, 3)) for s in range(subjects)}
    moment = np.stack([own[name] + noise * WAVES @ draw.normal(size=(7, 3)) for name, _, _ in rows])
    angle = np.stack(
        [0.4 * own[name] + 0.4 * noise * WAVES @ draw.normal(size=(7, 3)) for name, _, _ in rows]
    )
    stance = np.where(PERCENT < 60.0, np.sin(np.pi * PERCENT / 60.0), 0.0)
    force = np.stack([[0.05, 0.02, 1.1] * (stance * (1.0 + noise * draw.normal()))[:, None] for _ in rows])
    columns = dict(zip(("subject", "cycle_trial", "cycle_side"), zip(*rows, strict=True), strict=True))
    return xr.Dataset(
        {
            "joint_angle": (("cycle", "percent", "dof"), angle, {"units": "rad"}),
            "joint_moment": (("cycle", "percent", "dof"), moment, {"units": "N m/kg"}),
            "ground_reaction_force": (("cycle", "percent", "axis"), force, {"units": "BW"}),
        },
        {
            "percent": PERCENT,
            "dof": list(DOFS),
            "axis": list("xyz"),
            "condition": ("cycle", ["slow"] * len(rows)),
            **{name: ("cycle", np.array(values)) for name, values in columns.items()},
        },
    )


def flagged(cycles: xr.Dataset) -> list[str]:
    found = with_outliers(cycles)
    return sorted({str(name) for name in found["cycle_trial"].values[found["outlier"].values]})


def exchanged(cycles: xr.Dataset, trial: str) -> xr.Dataset:
    """Each foot with the force of the other, half a stride apart, and the moments that follow from it."""
    rows = cycles["cycle_trial"].values == trial
    cycles = cycles.copy(deep=True)
    for name in ("joint_moment", "ground_reaction_force"):
        cycles[name][rows] = np.roll(cycles[name].values[rows], 50, axis=1)
    return cycles


@pytest.mark.parametrize("trials", [2, 3, 5])
def test_a_trial_with_exchanged_legs_is_found(trials):
    """Two trials are enough: the other persons decide which one is the usual."""
    cycles = exchanged(study(trials=trials), "S3_1")
    found = with_outliers(cycles)
    assert flagged(cycles) == ["S3_1"] and int(found["outlier"].sum()) == 2
    for reason in found["outlier_reason"].values[found["outlier"].values]:
        assert (
            "ground force" in reason
            and "from this subject's median" in reason
            and "times the usual" in reason
        )
    assert (found["outlier_reason"].values[~found["outlier"].values] == "").all()
    assert found.sizes == cycles.sizes


def test_a_marker_fault_is_named_by_its_angle_and_its_size():
    cycles = study()
    cycles["joint_angle"][10, 40:70, 1] += 0.8
    found = with_outliers(cycles)
    assert np.flatnonzero(found["outlier"]).tolist() == [10]
    # 0.8 rad over 30 of 101 per cent, a third of the cycles in the median
    size = np.degrees(0.8 * np.sqrt(30.0 / 101.0) / np.sqrt(1.0 - 1.0 / 3.0))
    words = str(found["outlier_reason"].values[10])
    assert words.startswith("knee_flexion angle ") and "degrees" in words
    assert float(words.split()[2]) == pytest.approx(size, rel=0.1)
    assert float(found["distance"][10]) > THRESHOLD


def test_a_force_fault_of_one_stride():
    cycles = study(trials=3)
    cycles["ground_reaction_force"][5, :, 2] *= 0.5
    found = with_outliers(cycles)
    assert np.flatnonzero(found["outlier"]).tolist() == [5]
    assert "vertical ground force" in str(found["outlier_reason"].values[5])


def test_persons_who_differ_and_legs_that_differ_are_no_outliers():
    cycles = study()
    left = cycles["cycle_side"].values == "l"
    cycles["joint_moment"][(cycles["subject"].values == "S2") & left] *= 0.3  # a stroke, in all trials
    cycles["joint_moment"][cycles["subject"].values == "S5"] *= 2.0
    assert flagged(cycles) == []


@pytest.mark.parametrize("subjects", [5, 20])
def test_false_alarms_are_as_rare_as_stated(subjects):
    """0.5 % of five persons, 0.1 % of twenty, in the module: here below 1 % of 600 cycles, or of 2 400."""
    count = alarms = 0
    while count < (2400 if THOROUGH else 600):
        cycles = study(subjects, 3, seed=count)
        spread = np.exp(0.3 * np.random.default_rng(count).normal(size=subjects))
        for name in ("joint_angle", "joint_moment"):
            values = cycles[name].values
            for s in range(subjects):
                rows = cycles["subject"].values == f"S{s}"
                middle = values[rows].mean(axis=0)
                cycles[name][rows] = middle + spread[s] * (values[rows] - middle)
        alarms += int(with_outliers(cycles)["outlier"].sum())
        count += cycles.sizes["cycle"]
    assert alarms < 0.01 * count


def test_what_cannot_be_compared_is_not_judged():
    cycles = study(3, 2)
    cycles["joint_angle"][4] = np.nan
    cycles["joint_moment"][4] = np.nan
    cycles["ground_reaction_force"][4] = np.nan
    found = with_outliers(cycles)
    assert np.isnan(found["distance"][4]) and not found["outlier"][4]
    single = with_outliers(study(4, 1).isel(cycle=slice(0, None, 2)))  # one leg, one trial of each
    assert single["distance"].isnull().all() and not single["outlier"].any()


def test_parts_of_curves_that_were_not_measured_do_not_count():
    cycles = study()
    cycles["joint_moment"][3, 60:] = np.nan
    cycles["joint_moment"][3, 20:50] += 3.0
    found = with_outliers(cycles)
    assert np.flatnonzero(found["outlier"]).tolist() == [3]


def test_cycles_of_one_result_without_subject_are_those_of_one_person():
    cycles = study(1, 5).drop_vars(["subject", "condition"])
    cycles["joint_moment"][2] += 2.0
    assert np.flatnonzero(with_outliers(cycles)["outlier"]).tolist() == [2]


def test_what_is_judged_must_be_there():
    cycles = study(2, 2)
    with refused("bad_result", "joint_moment"):
        with_outliers(cycles.drop_vars(set(JUDGED) & set(cycles.data_vars)))
    assert ms.laboratory.with_outliers is with_outliers
