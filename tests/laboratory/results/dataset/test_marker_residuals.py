"""The summary says how the motion was made consistent and what that moved, by how much."""

from __future__ import annotations

import numpy as np
from said import about, summary
from synthetic_result import result

from musclesolve.laboratory.results.dataset.result_quantities import moved_points


def moved(**shift_mm: float):
    """A result whose points were moved by constant amounts."""
    data = result().drop_vars(["consistency_shift", "point"])
    shift = np.tile(0.001 * np.array(list(shift_mm.values())), (data.sizes["time"], 1))
    data["consistency_shift"] = (("time", "point"), shift)
    return data.assign_coords(point=list(shift_mm))


def test_the_most_moved_points_come_first():
    data = moved(toe_r=3.0, heel_r=1.0, knee_l=12.0, back=4.0)
    data["consistency_shift"][5, 0] = 0.02
    (text,) = about(data, "consistency")
    rms = np.sqrt(np.mean([(59 * 9 + 400) / 60, 1.0, 144.0, 16.0]))
    assert f"nearest pose, {rms:.1f} mm rms" in text and "(worst 20.0 mm)" in text
    assert text.endswith(f"knee_l 12.0, back 4.0, toe_r {np.sqrt((59 * 9 + 400) / 60):.1f} mm rms")
    assert f"consistency       {text}" in summary(data).splitlines()


def test_root_mean_square_and_largest_are_per_point():
    data = moved(toe_r=3.0, back=1.0)
    data["consistency_shift"][0] = [0.004, 0.0]
    names, rms, worst = moved_points(data)
    assert names == ["toe_r", "back"]
    np.testing.assert_allclose(rms, np.sqrt([(59 * 9e-6 + 16e-6) / 60, 59e-6 / 60]))
    np.testing.assert_allclose(worst, [0.004, 0.001])


def test_what_is_not_as_usual_is_said():
    data = moved(toe_r=3.0)
    data["velocity_violation"] = ("time", np.full(60, 2e-5))
    data["acceleration_violation"] = ("time", np.full(60, 0.01))
    data.attrs |= {"consistency_method": "joint_angles", "consistency_derivatives": "splines"}
    data.attrs |= {
        "consistency_weights": ["toe_r 2"],
        "borrowed_dofs": ["wrist_flexion_r", "wrist_flexion_l"],
    }
    first, *rest = about(data, "consistency")
    assert first.startswith("driven by measured joint angles, 3.0 mm rms")
    assert any("toe_r 2" in text for text in rest)
    assert any("wrist_flexion_r, wrist_flexion_l" in text for text in rest)
    assert any("2e-05 m/s and 0.01 m/s2" in text for text in rest)


def test_an_older_result_says_nothing_of_it():
    assert "consistency" not in summary(result().drop_vars(["consistency_shift", "point"]))
