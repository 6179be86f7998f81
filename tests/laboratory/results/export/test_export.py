"""Results as STO, MOT, CSV, MAT and Parquet files: names, signs, axes, units and the same numbers."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from opensim_reader import read_by_opensim
from packages import imported
from refusals import refused
from scipy.io import loadmat
from stored_results import write_result
from synthetic_result import few_muscles, result, with_troubles

import musclesolve as ms
from musclesolve.dynamics.rotations import from_cardan, rotation_about
from musclesolve.laboratory.results.export.time_series import activation_csv, columns, find_naming


@pytest.fixture
def data() -> xr.Dataset:
    """A run with the muscles of 2003, whose short names are those of gait2392."""
    own = few_muscles(result()).assign_attrs(muscle_database="gait2392")
    generator = np.random.default_rng(3)
    shape = (own.sizes["time"], 3)
    own["pelvis_position"] = (("time", "axis"), generator.normal(size=shape))
    own["pelvis_angle"] = (("time", "pelvis_rotation"), generator.uniform(-0.5, 0.5, shape))
    ones = np.ones(own.sizes["muscle"])
    own["fiber_length"] = (("time", "muscle"), 0.05 * own.activation.values)
    own["optimal_fiber_length"] = ("muscle", 0.05 * ones)
    arm = generator.normal(size=(own.sizes["time"], own.sizes["dof"], own.sizes["muscle"]))
    own["moment_arm"] = (("time", "dof", "muscle"), arm, {"units": "m"})
    return own.assign_coords(pelvis_rotation=["tilt", "list", "rotation"])


def names_of(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def test_a_sto_file_for_each_of_the_series_of_most_use(data: xr.Dataset, tmp_path: Path) -> None:
    paths = ms.export(data, tmp_path / "walk.sto")
    parts = (
        "activation",
        "force",
        "normalized_fiber_length",
        "inverse_dynamics",
        "reserve",
        "joint_reaction",
    )
    assert {f"walk_{part}.sto" for part in parts} <= set(names_of(paths))
    forces = ms.tables.read_mot(tmp_path / "walk_force.sto")
    assert forces.names == ("glut_med1_r", "soleus_r", "glut_med1_l", "soleus_l")
    np.testing.assert_array_equal(forces.values, data.muscle_force.values)
    np.testing.assert_array_equal(forces.time, data.time.values)
    np.testing.assert_allclose(
        ms.tables.read_mot(tmp_path / "walk_normalized_fiber_length.sto").values,
        data.activation.values,
        rtol=1e-12,
    )


def test_a_result_without_frames_is_refused(data: xr.Dataset, tmp_path: Path) -> None:
    with refused("bad_result", "no series"):
        ms.export(data.isel(time=[]), tmp_path / "walk.csv")


def test_signs_are_those_of_the_model(data: xr.Dataset, tmp_path: Path) -> None:
    """Knee flexion is negative in gait2392 only; the moment turns with it, and so does the arm."""
    knee = {"gait2392": -1.0, "rajagopal": 1.0}
    for names, sign in knee.items():
        ms.export(data, tmp_path / "walk.sto", names=names)
        moments = ms.tables.read_mot(tmp_path / "walk_inverse_dynamics.sto")
        ours = data.joint_moment.sel(dof="knee_flexion_r").values
        np.testing.assert_array_equal(moments["knee_angle_r_moment"], sign * ours)
        hip = data.joint_moment.sel(dof="hip_internal_rotation_l").values
        np.testing.assert_array_equal(moments["hip_rotation_l_moment"], hip)
        assert "ankle_adduction_r_moment" in moments.names  # no coordinate of these models: its own name
        ms.export(data, tmp_path / "arm.sto", variables=["moment_arm"], names=names)
        arm = ms.tables.read_mot(tmp_path / "arm.sto")["knee_angle_r.soleus_r"]
        np.testing.assert_array_equal(
            arm, sign * data.moment_arm.sel(dof="knee_flexion_r", muscle="soleus_r").values
        )


def test_power_does_not_depend_on_the_names(data: xr.Dataset, tmp_path: Path) -> None:
    """Moment times angle is the same number under every naming: no sign is turned alone."""
    for names in ("gait2392", "rajagopal", "own"):
        ms.export(data, tmp_path / "walk.sto", names=names)
        ms.export(data, tmp_path / "walk.mot", names=names)
        moments, angles = (
            ms.tables.read_mot(tmp_path / each) for each in ("walk_inverse_dynamics.sto", "walk.mot")
        )
        total = sum(
            moments[name] * np.radians(angles[name.removesuffix("_moment")]) for name in moments.names
        )
        ours = (data.joint_moment * data.joint_angle).sum("dof").values
        np.testing.assert_allclose(total, ours, rtol=1e-9)


def test_vectors_are_in_the_axes_of_opensim(data: xr.Dataset, tmp_path: Path) -> None:
    """x forward, y up, z right; the axes of this project under its own names."""
    ms.export(data, tmp_path / "walk.sto", variables="joint_reaction")
    force, ours = ms.tables.read_mot(tmp_path / "walk.sto"), data.joint_reaction.sel(joint="knee_r")
    for axis, (own, sign) in {"x": ("x", 1.0), "y": ("z", 1.0), "z": ("y", -1.0)}.items():
        column = force[f"knee_r_on_tibia_r_in_ground_f{axis}"]
        np.testing.assert_array_equal(column, sign * ours.sel(axis=own).values)
    ms.export(data, tmp_path / "own.sto", variables="joint_reaction", names="own")
    np.testing.assert_array_equal(
        ms.tables.read_mot(tmp_path / "own.sto")["knee_r_fz"], ours.sel(axis="z").values
    )


def test_translations_among_the_angles_are_refused(data: xr.Dataset, tmp_path: Path) -> None:
    angle = data["joint_angle"].assign_attrs(units="rad; m of a translation")
    with refused("conflict", "translation"):
        ms.export(data.assign(joint_angle=angle), tmp_path / "walk.mot")


def test_the_motion_puts_the_pelvis_where_it_was(data: xr.Dataset, tmp_path: Path) -> None:
    """R = Rz(tilt) Rx(list) Ry(rotation) in OpenSim's axes; the middle of the hips of the model is where ours is."""
    ms.export(data, tmp_path / "walk.mot")
    motion = ms.tables.read_mot(tmp_path / "walk.mot")
    assert motion.in_degrees
    x, y, z = np.eye(3)
    tilt, list_, turn = (np.radians(motion[f"pelvis_{name}"]) for name in ("tilt", "list", "rotation"))
    rotation = rotation_about(z, tilt) @ rotation_about(x, list_) @ rotation_about(y, turn)
    ours_from_opensim = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    ours = from_cardan(*data.pelvis_angle.values.T)
    np.testing.assert_allclose(ours_from_opensim @ rotation @ ours_from_opensim.T, ours, atol=1e-12)
    origin = np.stack([motion[f"pelvis_t{axis}"] for axis in "xyz"], axis=1)
    hips = origin + rotation @ np.array([-0.0707, -0.0661, 0.0])  # of gait2392, between the hips
    np.testing.assert_allclose(hips @ ours_from_opensim.T, data.pelvis_position.values, atol=1e-12)


def test_short_names_of_one_set_become_those_of_another(data: xr.Dataset) -> None:
    muscles = find_naming(data, "rajagopal", opensim=True).muscles
    assert muscles["gluteus_medius_anterior_l"] == "glmed1_l"
    assert find_naming(data, None, opensim=True).muscles["gluteus_medius_anterior_l"] == "glut_med1_l"
    assert find_naming(data, None, opensim=False).muscles == {}


def test_a_set_of_a_model_has_the_names_of_that_model(data: xr.Dataset) -> None:
    pairs = ["knee_flexion -kneeFlex", "hip_flexion hip_flex"]
    own = data.assign_attrs(muscle_database="/somewhere/my.osim", muscle_coordinates=pairs)
    naming = find_naming(own, None, opensim=True)
    assert naming.label == "my.osim"
    assert naming.coordinate("knee_flexion_l") == ("kneeFlex_l", -1.0)
    assert naming.coordinate("trunk_flexion") == ("trunk_flexion", 1.0)


def test_a_result_with_the_names_of_a_model_keeps_them(data: xr.Dataset) -> None:
    """Its knee angle has the sign of that model: no other name may be put on it."""
    own = data.assign_attrs(muscle_database="my.osim", model_file="/somewhere/my.osim")
    naming = find_naming(own, None, opensim=True)
    assert naming.coordinate("knee_flexion_r") == ("knee_flexion_r", 1.0)
    assert not naming.opensim and "my.osim" in naming.sentence
    up = own.assign(up=(("time", "axis"), np.tile([1.0, 2.0, 3.0], (own.sizes["time"], 1))))
    assert columns(up, "up", naming).values[0].tolist() == [1.0, 3.0, -2.0]  # as OpenSim reads it
    as_it_is = find_naming(own, "own", opensim=True), find_naming(own, None, opensim=False)
    assert all(columns(up, "up", each).values[0].tolist() == [1.0, 2.0, 3.0] for each in as_it_is)
    simulated = own.assign_attrs(model_file="/somewhere/my.xml")  # z up, as in the simulator
    assert not find_naming(simulated, None, opensim=True).y_up
    with refused("conflict", "my.osim", "--names"):
        find_naming(own, "gait2392", opensim=True)


def test_a_set_without_coordinates_has_those_of_the_newest_model(data: xr.Dataset) -> None:
    naming = find_naming(data.assign_attrs(muscle_database="silva_2003"), None, opensim=True)
    assert naming.coordinate("knee_flexion_r") == ("knee_angle_r", 1.0)


def test_a_table_has_units_in_its_header_and_the_same_numbers(data: xr.Dataset, tmp_path: Path) -> None:
    data = with_troubles(data)
    data["joint_moment"].attrs["units"] = "N m"
    data["gap"].attrs["units"] = "1"
    ms.export(data, tmp_path / "walk.csv")
    with (tmp_path / "walk.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    column = [float(row["joint_moment.knee_flexion_r [N m]"]) for row in rows]
    np.testing.assert_array_equal(column, data.joint_moment.sel(dof="knee_flexion_r").values)
    assert rows[41]["status.r []"] == "INFEASIBLE"
    assert rows[41]["gap.r [1]"] == ""  # no number is an empty cell
    assert rows[41]["valid.r []"] == "0" and rows[0]["valid.r []"] == "1"


def test_a_mat_file_has_nested_names_and_cells(data: xr.Dataset, tmp_path: Path) -> None:
    data = data.assign_attrs(notes=["one", "two"], subject="Ann")
    data = data.assign_coords(
        muscle=[str(name).replace("soleus", "2 so-leus") for name in data.muscle.values]
    )
    ms.export(data, tmp_path / "walk.mat", variables=["activation", "moment_arm", "status"])
    read = loadmat(tmp_path / "walk.mat", simplify_cells=True)
    np.testing.assert_array_equal(read["activation"]["x2_so_leus_l"], data.activation.values[:, 3])
    arm = read["moment_arm"]["knee_flexion_r"]["gluteus_medius_anterior_r"]
    np.testing.assert_array_equal(arm, data.moment_arm.sel(dof="knee_flexion_r").values[:, 0])
    assert list(read["names"]["muscle"]) == [str(name) for name in data.muscle.values]
    assert list(read["provenance"]["notes"]) == ["one", "two"] and read["provenance"]["subject"] == "Ann"
    assert read["units"]["moment_arm"] == "m"
    assert "muscle_force" not in read


def test_a_parquet_file_has_units_in_its_metadata(data: xr.Dataset, tmp_path: Path) -> None:
    parquet = imported("pyarrow.parquet")
    ms.export(data, tmp_path / "walk.parquet")
    table = parquet.read_table(tmp_path / "walk.parquet")
    np.testing.assert_array_equal(
        table["muscle_force.soleus_r"].to_numpy(), data.muscle_force.sel(muscle="soleus_r").values
    )
    assert table.schema.field("moment_arm.knee_flexion_r.soleus_r").metadata[b"unit"] == b"m"


def test_a_moment_arm_that_is_zero_in_every_frame_has_no_column(data: xr.Dataset, tmp_path: Path) -> None:
    arms = data["moment_arm"].values
    arms[:, 0, 1], arms[:-1, 1, 1] = 0.0, 0.0
    dofs, muscle = data["dof"].values, data["muscle"].values[1]
    (path,) = ms.export(data, tmp_path / "walk.csv")
    heads = [name.partition(" ")[0] for name in pd.read_csv(path, nrows=1)]
    assert f"moment_arm.{dofs[0]}.{muscle}" not in heads and f"moment_arm.{dofs[1]}.{muscle}" in heads
    assert sum(name.startswith("moment_arm.") for name in heads) == arms[0].size - 1


def test_parquet_without_its_package_says_what_to_install(data, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with refused("missing_package", ".[parquet]"):
        ms.export(data, tmp_path / "walk.parquet")
    assert list(tmp_path.iterdir()) == []


def test_columns_without_numbers_are_left_out_of_sto_files(data: xr.Dataset, tmp_path: Path) -> None:
    """OpenSim's Storage would end before the first row."""
    data["reserve_moment"][:, 5] = np.nan
    ms.export(data, tmp_path / "walk.sto", variables="reserve_moment")
    table = ms.tables.read_mot(tmp_path / "walk.sto")
    assert len(table.names) == data.sizes["dof"] - 1
    assert np.isfinite(table.values).all()


def test_results_without_the_pelvis_and_averages(data: xr.Dataset, tmp_path: Path) -> None:
    write_result(data.drop_vars("pelvis_angle"), tmp_path / "walk.nc")
    ms.export(tmp_path / "walk.nc", tmp_path / "walk.mot")
    assert "pelvis_tilt" not in ms.tables.read_mot(tmp_path / "walk.mot").names
    averaged = data.drop_vars(["status", "valid"]).rename(time="percent")
    ms.export(averaged, tmp_path / "average.csv")
    assert (tmp_path / "average.csv").read_text(encoding="utf-8").startswith("percent [%],")
    with refused("conflict", "'percent'"):
        ms.export(averaged, tmp_path / "average.sto")
    with refused("conflict", "average"):
        ms.export(averaged, tmp_path / "average.sto", names="own")


def test_a_comparison_has_columns_for_each_cost(data: xr.Dataset, tmp_path: Path) -> None:
    both = xr.concat([data[["activation"]], 0.5 * data[["activation"]]], "cost")
    both = both.assign_coords(cost=["a", "b"]).assign_attrs(data.attrs)
    ms.export(both, tmp_path / "both.csv", variables="activation")
    assert "activation.b.soleus_r []" in (tmp_path / "both.csv").read_text(encoding="utf-8").splitlines()[0]
    ms.export(both, tmp_path / "both.sto", names="own", variables="activation")
    assert "b.soleus_r" in ms.tables.read_mot(tmp_path / "both.sto").names


@pytest.mark.parametrize(
    ("path", "options", "code", "parts"),
    [
        ("walk.xls", {}, "unknown_name", ("xls", "parquet")),
        ("walk.csv", {"format": "sto"}, "conflict", ("walk.csv", "walk.sto")),
        ("walk.csv", {"variables": ["activatoin"]}, "unknown_name", ("activatoin", "'activation'")),
        ("walk.csv", {"variables": ["optimal_fiber_length"]}, "unknown_name", ("optimal_fiber_length",)),
        ("walk.mot", {"variables": ["activation"]}, "conflict", ("activation", "--format sto")),
        ("walk.sto", {"names": "gait2354"}, "unknown_name", ("gait2354", "'gait2392'")),
    ],
)
def test_refusals(data, tmp_path: Path, path: str, options: dict[str, object], code: str, parts) -> None:
    with refused(code, *parts):
        ms.export(data, tmp_path / path, **options)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_result_is_refused(data: xr.Dataset, tmp_path: Path) -> None:
    with refused("bad_result"):
        ms.export(xr.Dataset({"a": ("x", [1.0])}), tmp_path / "a.csv")
    with refused("missing_file", "none.nc"):
        ms.export(tmp_path / "none.nc", tmp_path / "a.csv")
    with refused("unknown_name", "joint_angle"):
        ms.export(data.drop_vars("joint_angle"), tmp_path / "a.mot")
    with refused("bad_result", "x, z"):
        ms.export(data.isel(axis=[0, 2]), tmp_path / "a.sto", variables="joint_reaction")


def test_opensim_reads_the_same_numbers(data: xr.Dataset, tmp_path: Path) -> None:
    paths = [*ms.export(data, tmp_path / "walk.sto"), *ms.export(data, tmp_path / "walk.mot")]
    for path, (names, values, time) in zip(paths, read_by_opensim(paths, tmp_path), strict=True):
        ours = ms.tables.read_mot(path)
        assert names == ours.names and time.size == data.sizes["time"]
        np.testing.assert_array_equal(values, ours.values)


def test_activations_are_empty_where_there_is_no_number() -> None:
    values = np.array([[0.25, np.nan], [1.0, 0.5]])
    table = xr.DataArray(values, {"time": [0.0, 0.01], "muscle": ["=flexor", "b"]}, ("time", "muscle"))
    expected = b"time,'=flexor,b\n0,0.25,\n0.01,1,0.5\n"
    for order in (("time", "muscle"), ("muscle", "time")):
        assert activation_csv(xr.Dataset({"activation": table.transpose(*order)})) == expected
