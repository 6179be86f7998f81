"""Tables of a report: rows of every coordinate that was shared, and numbers as they are read."""

from __future__ import annotations

from report_inputs import small

from musclesolve._util.sides import joint_titles
from musclesolve.laboratory.report.content.pieces import cell
from musclesolve.laboratory.report.content.trial_sections import contact, joints
from musclesolve.laboratory.report.inputs import RESULT, TrialFiles
from musclesolve.laboratory.results.fact_table import number


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


def test_joints_of_a_model_have_the_words_of_a_reader(tmp_path):
    data = small()
    renamed = {"knee_r": "walker_knee_r", "knee_l": "walker_knee_l"}
    data = data.assign_coords(joint=[renamed.get(str(joint), str(joint)) for joint in data["joint"].values])
    for table in contact(TrialFiles(data, RESULT, tmp_path / "result.nc"))["tables"]:
        assert not any("walker" in row[0] for row in table.rows)
    assert joint_titles(["hip", "walker_knee", "knee_of_patella"]) == {
        "hip": "hip",
        "walker_knee": "walker knee",
        "knee_of_patella": "knee of patella",
    }


def test_powers_of_a_model_are_per_mass_as_in_their_figure(tmp_path):
    of_model, without = small(model_file="model.osim"), small(model_file="model.osim")
    without.attrs.pop("subject_mass_kg")
    ends = []
    for data in (of_model, without):
        tables = joints(TrialFiles(data, RESULT, tmp_path / "result.nc"))["tables"]
        (table,) = [each for each in tables if "power" in each.caption.lower()]
        ends.append(
            (
                table.caption[-7:],
                max(abs(float(cell)) for row in table.rows for cell in row[1:] if cell != "–"),
            )
        )
        assert any("moment" in each.caption and "[N m]" in each.caption for each in tables)
    assert ends[0][0].endswith("[W/kg]") and ends[1][0].endswith("[W]")
    assert abs(ends[0][1] - ends[1][1] / of_model.attrs["subject_mass_kg"]) < 0.01
