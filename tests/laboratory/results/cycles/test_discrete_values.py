"""Values of curves by their laws: the impulse of a constant, work as the integral of power, peaks where they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from synthetic_result import few_muscles, result

import musclesolve as ms
from musclesolve import export
from musclesolve.laboratory import discrete_values, normalized


@pytest.fixture
def cycles():
    data = few_muscles(result(251))
    data.attrs |= {"heel_strike_times_r": [0.2, 1.4, 2.2], "cost": "stress_cubed"}
    units = {"joint_moment": "N m", "joint_power": "W", "joint_angle": "rad", "ground_reaction_force": "N"}
    for name, unit in units.items():
        data[name].attrs["units"] = unit
    return ms.laboratory.cycles(data, "r", without_side=True)


def pick(table: pd.DataFrame, **columns: object) -> pd.DataFrame:
    for name, value in columns.items():
        table = table[table[name] == value]
    return table


def test_mean_and_impulse_of_a_constant(cycles):
    cycles["joint_moment"][:] = 7.0
    cycles["stance_percent"] = ("cycle", [60.0, 55.0])
    table = pick(discrete_values(cycles), variable="joint_moment", name="knee_flexion")
    for measure, whole, stance in (("mean", [7.0, 7.0], [7.0, 7.0]), ("impulse", [8.4, 5.6], [5.04, 3.08])):
        np.testing.assert_allclose(pick(table, measure=measure, phase="cycle")["value"], whole)
        np.testing.assert_allclose(pick(table, measure=measure, phase="stance")["value"], stance)
    assert set(pick(table, measure="impulse")["unit"]) == {"N m s"}


def test_works_add_up_to_the_integral_of_the_power(cycles):
    table = pick(discrete_values(cycles), variable="joint_power", phase="cycle")
    positive, negative = (
        pick(table, measure=f"{sign}_work")["value"].values for sign in ("positive", "negative")
    )
    time = (cycles["cycle_end"] - cycles["cycle_start"]).values[:, None]
    integral = np.trapezoid(cycles["joint_power"].values, dx=0.01, axis=1) * time
    np.testing.assert_allclose((positive + negative).reshape(integral.shape), integral, atol=1e-9)
    assert (positive >= 0.0).all() and (negative <= 0.0).all() and positive.max() > 1.0
    # 100 W times a sine over one stride of the synthetic result: 100 T / pi
    regular = pick(table, cycle=0, name="hip_flexion", measure="positive_work")["unit"]
    assert regular.tolist() == ["J"]


def test_a_whole_sine_of_power():
    data = few_muscles(result(251))
    data.attrs["heel_strike_times_r"] = [0.2, 1.2]
    table = pick(
        discrete_values(ms.laboratory.cycles(data, "r")), variable="joint_power", name="hip_flexion_r"
    )
    works = {row.measure: row.value for row in pick(table, phase="cycle").itertuples()}
    assert works["positive_work"] == pytest.approx(100.0 / np.pi, rel=2e-3)
    assert works["negative_work"] == pytest.approx(-100.0 / np.pi, rel=2e-3)


def test_peaks_and_where_they_are(cycles):
    cycles["joint_angle"][:] = 0.0
    cycles["joint_angle"][:, 73, 1] = 1.2
    cycles["joint_angle"][:, 12, 1] = -0.3
    name = str(cycles["dof"].values[1])
    table = pick(discrete_values(cycles, ["joint_angle"]), name=name, phase="cycle")
    found = {row.measure: (row.value, row.percent) for row in pick(table, cycle=1).itertuples()}
    assert found["max"] == (1.2, 73.0) and found["min"] == (-0.3, 12.0)
    assert found["range"][0] == pytest.approx(1.5) and np.isnan(found["range"][1])


def test_vectors_have_a_resultant(cycles):
    table = pick(
        discrete_values(cycles, ["ground_reaction_force", "joint_reaction"]), measure="max", phase="cycle"
    )
    force = np.linalg.norm(cycles["ground_reaction_force"].values, axis=2).max(axis=1)
    np.testing.assert_allclose(
        pick(table, variable="ground_reaction_force", name="resultant")["value"], force
    )
    knee = np.linalg.norm(cycles["joint_reaction"].sel(joint="knee").values, axis=2).max(axis=1)
    np.testing.assert_allclose(pick(table, variable="joint_reaction", name="knee resultant")["value"], knee)
    assert len(pick(table, name="knee x")) == 2


def test_a_phase_that_was_not_measured_has_no_value_and_the_stance_has(cycles):
    """The plate ends at 65 %: no value of the cycle, where a peak may be missing, but those of the stance."""
    cycles["joint_moment"][0, 66:] = np.nan
    cycles["stance_percent"] = ("cycle", [60.0, np.nan])
    table = pick(discrete_values(cycles), variable="joint_moment", measure="max", name="hip_flexion")
    assert np.isnan(pick(table, cycle=0, phase="cycle")["value"].item())
    stance = pick(table, phase="stance")
    assert stance["cycle"].tolist() == [0]
    assert stance["value"].item() == float(cycles["joint_moment"].sel(dof="hip_flexion")[0, :61].max())
    assert np.isfinite(pick(table, cycle=1, phase="cycle")["value"].item())
    cycles["joint_moment"][1, 97:] = np.nan  # 4 % are little
    found = pick(
        discrete_values(cycles), variable="joint_moment", measure="impulse", name="hip_flexion", cycle=1
    )
    assert np.isfinite(found["value"].item())


def test_the_measures_of_strides_and_units(cycles):
    cycles.attrs["subject_mass_kg"] = 70.0
    table = discrete_values(normalized(cycles))
    time = pick(table, variable="stride_time")
    np.testing.assert_allclose(time["value"], [1.2, 0.8])
    assert set(time["measure"]) == {"value"} and set(time["unit"]) == {"s"}
    units = {(row.variable, row.measure): row.unit for row in table.itertuples()}
    assert units["joint_moment", "impulse"] == "N m s/kg" and units["joint_power", "positive_work"] == "J/kg"
    assert units["ground_reaction_force", "max"] == "BW" and units["muscle_force", "max"] == "%"


def test_every_row_says_whose_it_is_and_files_hold_them(cycles, tmp_path):
    cycles = cycles.assign_coords(subject=("cycle", ["S1", "S2"]), condition=("cycle", ["slow", "fast"]))
    table = discrete_values(cycles)
    assert (pick(table, cycle=1)["subject"] == "S2").all() and (
        pick(table, cycle=0)["condition"] == "slow"
    ).all()
    keys = ["cycle", "variable", "name", "phase", "measure"]
    assert not table.duplicated(keys).any()
    for file, read in (("values.csv", pd.read_csv), ("values.parquet", pd.read_parquet)):
        back = read(*export(table, tmp_path / file))
        assert back.columns.tolist() == table.columns.tolist()
        np.testing.assert_allclose(back["value"], table["value"], rtol=1e-7)
        assert back["subject"].astype(str).tolist() == table["subject"].astype(str).tolist()
    with refused("bad_format"):
        export(table, tmp_path / "values.xlsx")
    with refused("conflict", "suffix"):
        export(table, tmp_path / "values.csv", format="parquet")
    with refused("unknown_name", "joint_moments"):
        discrete_values(cycles, ["joint_moments"])


def test_no_cycle_gives_an_empty_table(cycles):
    assert len(discrete_values(cycles.isel(cycle=[]))) == 0
