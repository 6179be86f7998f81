"""Scores of gait: by hand on curves that differ by known numbers, and on the bundled stride."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from refusals import refused

import musclesolve as ms
from musclesolve.laboratory.results.cycles.gait_scores import (
    deviation_index,
    leg_curves,
    mean_curves,
    norm,
    profile_score,
    read_norms,
    score_variables,
    table_of,
    variable_scores,
)
from musclesolve.laboratory.results.dataset.checked import MODEL
from musclesolve.laboratory.results.facts import Facts

CHILDREN = norm("schwartz_2008")


@pytest.fixture(scope="module")
def stride(stride_result):
    return stride_result.copy(deep=True)


PERCENT = np.linspace(0.0, 100.0, 51)


def shifted(shifts):
    """The mean curves of the norm, each shifted [deg]."""
    keys = score_variables()
    return {key: CHILDREN.curves[key].mean + shift for key, shift in zip(keys, shifts, strict=True)}


def test_the_nine_angles_are_those_of_baker():
    assert len(score_variables()) == 9
    assert sum(quantity == "pelvis_angle" for quantity, _ in score_variables()) == 3


def test_scores_of_shifted_curves_are_computed_by_hand():
    """GVS of a constant shift is its size; GPS of shifts 1, 2 and 2 with six zeros is sqrt((1 + 4 + 4) / 9)."""
    scores = variable_scores(shifted([1.0, -2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), CHILDREN)
    assert list(scores.values()) == pytest.approx([1.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert profile_score(scores.values()) == pytest.approx(1.0)


def test_a_wave_counts_by_its_root_mean_square():
    """A difference of a sin over a whole cycle at 51 points has the mean square a^2/2 * 50/51."""
    key = score_variables()[0]
    curve = CHILDREN.curves[key].mean + 3.0 * np.sin(2.0 * np.pi * PERCENT / 100.0)
    assert variable_scores({key: curve}, CHILDREN)[key] == pytest.approx(3.0 * np.sqrt(25.0 / 51.0))


def test_the_index_is_100_at_the_controls_and_90_one_standard_deviation_beyond():
    assert deviation_index(1.6, 1.6, 0.2) == 100.0
    assert deviation_index(1.8, 1.6, 0.2) == pytest.approx(90.0)


def test_the_index_of_features_by_hand():
    """Distances of the features 1, e, e^2 and e^3: their logarithms 0 to 3 of controls 0 and 2 (mean 1, SD sqrt 2)."""
    e = np.e
    controls = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, e**2], [0.0, -(e**2)]])
    strides = np.array([[e, 0.0], [0.0, e**3]])
    sd = np.std([0.0, 0.0, 2.0, 2.0], ddof=1)
    expected = [100.0 - 10.0 * (1.0 - 1.0) / sd, 100.0 - 10.0 * (3.0 - 1.0) / sd]
    assert ms.laboratory.gait_deviation_index(strides, controls) == pytest.approx(expected)
    features = np.array([[0.6, 0.8]])  # one feature: the distances of the controls are .6, .6, .8 e^2, .8 e^2
    logs = np.log([0.6, 0.6, 0.8 * e**2, 0.8 * e**2])
    expected = 100.0 - 10.0 * (np.log(0.6 * e) - logs.mean()) / logs.std(ddof=1)
    assert ms.laboratory.gait_deviation_index(strides[:1], controls, features) == pytest.approx([expected])
    with refused("bad_shape"):
        ms.laboratory.gait_deviation_index(strides, controls[:1])


def test_the_bundled_stride_is_near_the_norm_but_for_its_feet(stride):
    """The angles of the stride are those of the norm, the direction of its feet is not."""
    scores = ms.laboratory.gait_scores(stride)
    assert list(scores.profile) == ["r"] and not np.isfinite(scores.of_person)
    own = scores.variable["r"]
    assert all(own[key] < 2.5 for key in own if key[0] != "foot_progression_angle")
    assert not scores.index and not scores.why_not
    direct = leg_curves(stride, "r")["joint_angle", "knee_flexion"]
    mean = mean_curves(stride, "r")["joint_angle", "knee_flexion"]
    assert mean.min() == pytest.approx(direct.min(), abs=0.2) and mean.max() == pytest.approx(
        direct.max(), abs=0.2
    )


def test_the_sense_of_a_knee_is_stated_and_not_guessed(stride):
    key = "joint_angle", "knee_flexion"
    other = stride.assign_coords(
        dof=[str(d).replace("knee_flexion", "knee_angle") for d in stride.dof.values]
    )
    other["joint_angle"] = other["joint_angle"] * xr.where(other.dof.str.startswith("knee"), -1.0, 1.0)
    np.testing.assert_array_equal(leg_curves(other, "r")[key], -leg_curves(stride, "r")[key])
    stated = other.assign_attrs(extension_positive=["knee_angle_r", "knee_angle_l"])
    np.testing.assert_array_equal(leg_curves(stated, "r")[key], leg_curves(stride, "r")[key])
    one = stride.assign_attrs(extension_positive=["knee_flexion_r", "knee_flexion_l"])
    assert ms.laboratory.cycles(one, "r").attrs["extension_positive"] == ["knee_flexion"]


def test_a_result_without_stride_says_why(stride):
    scores = ms.laboratory.gait_scores(stride.isel(time=slice(0, 30)))
    assert not scores.profile and "needs a stride of level walking in one piece" in scores.why_not


def written(folder, rows):
    path = folder / "norms.csv"
    path.write_text("\n".join(",".join(row) for row in rows) + "\n", encoding="utf-8")
    return path


def test_a_norm_file_gives_back_what_was_written(tmp_path, stride):
    found = read_norms(written(tmp_path, table_of(CHILDREN, 83)))
    for key in score_variables():
        np.testing.assert_allclose(found.curves[key].mean, CHILDREN.curves[key].mean, atol=1e-4)
    assert "83 subjects" in found.source
    assert found.speed_range[0] < 0.0 and found.speed_range[1] > 100.0  # it states no speed
    with_file = ms.laboratory.gait_scores(stride, tmp_path / "norms.csv")
    assert with_file.profile == pytest.approx(ms.laboratory.gait_scores(stride).profile, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        (lambda rows: [row[:-1] for row in rows], "missing_column", 1),
        (lambda rows: [rows[0], (*rows[1][:2], "rad", *rows[1][3:]), *rows[2:]], "bad_value", 2),
        (lambda rows: [*rows[:3], (*rows[3][:4], "x", *rows[3][5:]), *rows[4:]], "not_numbers", 4),
        (lambda rows: rows[:20], "bad_value", None),
        (lambda rows: [*rows[:51], (*rows[51][:3], "140", *rows[51][4:]), *rows[52:]], "bad_value", None),
        (
            lambda rows: [rows[0], ("stride_time", "", "ms", "", "1050", "60", "20"), *rows[1:]],
            "bad_value",
            2,
        ),
        (lambda rows: [rows[0], ("cadance", "", "1/min", "", "110", "8", "20"), *rows[1:]], "bad_value", 2),
        (lambda rows: [(";".join(row),) for row in rows], "bad_value", 1),
    ],
)
def test_a_wrong_norm_file_is_refused_with_its_line(tmp_path, change, code, where):
    rows = change(list(table_of(CHILDREN, 83)))
    with refused(code) as caught:
        read_norms(written(tmp_path, rows))
    if where is not None:
        assert str(where) in str(caught.value)


def test_loads_of_a_model_show_its_strides(stride):
    """A result on a model has no events of a recording: the forces of its feet show when they strike."""
    bare = stride.drop_dims("stride").assign_attrs({MODEL: "leg.osim"})
    (own,) = [each for each in Facts(bare).strides if each.side == "r"]
    (measured,) = Facts(stride).strides
    assert (own.start, own.end) == pytest.approx((measured.start, measured.end), abs=0.02)
    assert own.measures["cadence"] == pytest.approx(measured.measures["cadence"], rel=0.02)
    assert not Facts(bare.drop_vars("ground_reaction_force")).strides
