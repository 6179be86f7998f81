"""Tables of a report: rows of every coordinate that was shared, and numbers as they are read."""

from __future__ import annotations

from report_inputs import small

from musclesolve.report.content.pieces import cell
from musclesolve.report.content.trial_sections import joints
from musclesolve.report.inputs import RESULT, TrialFiles
from musclesolve.results.statements import number


def test_zero_has_no_sign():
    assert cell(-0.004, 2) == "0.00"
    assert cell(-0.3, 0) == "0"
    assert cell(-0.006, 2) == "-0.01"
    assert number("x", -0.01, ".1f").text == "0.0"


def test_coordinates_of_a_model_are_all_there(tmp_path):
    data = small(model_file="model.osim")
    renamed = {"knee_flexion_r": "knee_angle_r", "knee_flexion_l": "knee_angle_l"}
    data = data.assign_coords(dof=[renamed.get(str(dof), str(dof)) for dof in data["dof"].values])
    table = joints(TrialFiles(data, RESULT, tmp_path / "result.nc"))["tables"][0]
    assert {"knee angle", "hip flexion (–: extension)"} <= {row[0] for row in table.rows}
