"""A norm file drafted from a study holds the means and spreads of its subjects, and is read back as such."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from refusals import refused

import musclesolve as ms
from musclesolve.laboratory.results.cycles.gait_scores import (
    LOG_SCORE,
    UNITS,
    deviation_index,
    read_norms,
    score_variables,
)
from musclesolve.studies import draft_norms

HIPS = ["hip_flexion", "hip_adduction", "hip_internal_rotation", "knee_flexion", "ankle_dorsiflexion"]


def study(folder, subjects=("A", "B", "C"), moment_unit="N m/kg"):
    """Cycles of subjects whose curves differ by whole degrees, two of each; the last group is of patients."""
    every = [name for name in (*subjects, "P") for _ in range(2)]
    count, percent = len(every), np.linspace(0.0, 100.0, 101)
    shift = np.repeat(np.arange(len(subjects) + 1.0), 2)[:, None]
    base = 20.0 * np.sin(2.0 * np.pi * percent / 100.0) + shift
    rotations = ["tilt", "list", "rotation"]
    angle = np.radians(base)
    data = xr.Dataset(
        {
            "joint_angle": (("cycle", "percent", "dof"), np.stack([angle] * 5, axis=2), {"units": "rad"}),
            "joint_moment": (
                ("cycle", "percent", "dof"),
                np.stack([base] * 5, axis=2),
                {"units": moment_unit},
            ),
            "joint_power": (("cycle", "percent", "dof"), np.stack([base] * 5, axis=2), {"units": "W/kg"}),
            "pelvis_angle": (
                ("cycle", "percent", "pelvis_rotation"),
                np.stack([angle] * 3, axis=2),
                {"units": "rad"},
            ),
            "foot_progression_angle": (("cycle", "percent"), angle, {"units": "rad"}),
            "walking_speed": (("cycle",), 1.2 + 0.1 * shift[:, 0], {"units": "m/s"}),
        },
        {"percent": percent, "dof": HIPS, "pelvis_rotation": rotations}
        | {
            "subject": ("cycle", every),
            "group": ("cycle", ["healthy"] * (count - 2) + ["patients"] * 2),
            "condition": ("cycle", ["level"] * count),
            "cycle_side": ("cycle", ["r", "l"] * (count // 2)),
        },
    )
    data.to_netcdf(folder / "study.nc")
    return folder


def test_a_coordinate_of_a_model_that_is_positive_in_extension_changes_its_sign(tmp_path):
    plain = read_norms(draft_norms(study(tmp_path), tmp_path / "plain.csv")[0])
    of_model = xr.load_dataset(tmp_path / "study.nc").assign_attrs(extension_positive="knee_angle")
    of_model["dof"] = ["knee_angle" if name == "knee_flexion" else name for name in HIPS]
    (tmp_path / "model").mkdir()
    of_model.to_netcdf(tmp_path / "model" / "study.nc")
    turned = read_norms(draft_norms(tmp_path / "model", tmp_path / "turned.csv")[0])
    for key, curve in plain.curves.items():
        sense = -1.0 if key[0] in ("joint_angle", "joint_moment") and key[1] == "knee_flexion" else 1.0
        np.testing.assert_allclose(turned.curves[key].mean, sense * curve.mean, atol=1e-4)


def test_a_drafted_norm_is_the_mean_and_spread_of_the_first_group(tmp_path):
    """The function of docs/clinical_sheet.md, by its public name."""
    assert ms.studies.draft_norms is draft_norms
    file, _ = draft_norms(study(tmp_path), tmp_path / "norms.csv")
    found = read_norms(file)
    hip = found.curves["joint_angle", "hip_flexion"]
    assert hip.mean[0] == pytest.approx(1.0, abs=1e-3)  # of shifts 0, 1, 2; without the patient of shift 3
    assert hip.sd == pytest.approx(np.ones(51), abs=1e-3)
    assert found.curves["joint_power", "hip"].mean[0] == pytest.approx(3.0, abs=1e-3)  # three rotations
    assert set(score_variables()) <= set(found.curves)
    assert found.values["walking_speed"] == pytest.approx((1.3, 0.1), abs=1e-6)
    assert found.speed_range == pytest.approx((1.1, 1.5), abs=1e-6)
    assert "3 subjects" in found.subjects


def test_the_controls_of_a_drafted_norm_have_the_index_100_in_the_mean(tmp_path):
    """The Gait Profile Scores of the subjects are 1, 0 and 1 degrees by hand; none is zero with four of them."""
    file, _ = draft_norms(study(tmp_path, subjects="ABCD"), tmp_path / "norms.csv")
    mean, sd = read_norms(file).values[LOG_SCORE]
    logs = np.log([1.5, 0.5, 0.5, 1.5])
    assert (mean, sd) == pytest.approx((logs.mean(), logs.std(ddof=1)), abs=1e-5)
    assert np.mean([deviation_index(each, mean, sd) for each in logs]) == pytest.approx(100.0, abs=1e-3)


def test_a_norm_of_one_subject_is_refused(tmp_path):
    with refused("not_comparable"):
        draft_norms(study(tmp_path), tmp_path / "norms.csv", group="patients")
    assert not (tmp_path / "norms.csv").exists()


def test_a_quantity_in_a_unit_that_no_norm_has_is_left_out_and_named(tmp_path):
    file, found = draft_norms(study(tmp_path, moment_unit="N m/(kg m)"), tmp_path / "norms.csv")
    assert found.left_out == {"joint_moment": "N m/(kg m)"}
    assert {quantity for quantity, _ in read_norms(file).curves} == {*UNITS} & {
        "joint_angle",
        "pelvis_angle",
        "foot_progression_angle",
        "joint_power",
    }


def test_the_refusal_of_a_group_names_the_groups_that_there_are(tmp_path):
    with pytest.raises(ms.InputError, match="groups: healthy, patients"):
        draft_norms(study(tmp_path), tmp_path / "norms.csv", group="controls")
