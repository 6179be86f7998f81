"""Tables of subjects: every number is that of the means, units stand in the names of the columns."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from synthetic_study import cycles, smooth

from musclesolve.studies import subject_means
from musclesolve.studies.study.means import column, csv_of, curves_table, values_table


@pytest.mark.parametrize(
    ("parts", "unit", "name"),
    [
        (("joint_moment", "knee_flexion", "max"), "N m/kg", "joint_moment_knee_flexion_max_N_m_per_kg"),
        (("muscle_force", "soleus"), "%", "muscle_force_soleus_percent"),
        (("activation", "soleus"), "1", "activation_soleus"),
        (("contact_force_component", "knee axial"), "BW", "contact_force_component_knee_axial_BW"),
    ],
)
def test_names_of_columns(parts, unit, name):
    assert column(*parts, unit=unit) == name


@pytest.mark.parametrize("legs", [(), ("right", "left")])
def test_a_row_for_each_subject_condition_leg_and_percentage(legs):
    data = cycles(
        smooth(np.random.default_rng(1), 4, 2, 2), conditions=["slow", "fast"], groups=list("aabb"), noise=0.2
    )
    data = data.assign_coords(cycle_leg=("cycle", np.where(data["cycle_side"] == "r", "right", "left")))
    means = subject_means(data, legs=legs)
    table = pd.read_csv(io.BytesIO(csv_of(curves_table(means))))
    assert len(table) == 4 * 2 * max(len(legs), 1) * 101
    rows = table[(table["subject"] == "S03") & (table["condition"] == "fast")]
    own = means["joint_moment"].sel(subject="S03", condition="fast", dof="dof_1")
    if legs:
        rows, own = rows[rows["leg"] == "left"], own.sel(leg="left")
    assert rows["group"].unique().tolist() == ["b"]
    np.testing.assert_allclose(rows["joint_moment_dof_1_N_m_per_kg"], own, rtol=1e-5)


def test_values_have_a_column_each():
    values = pd.DataFrame(
        [
            ("S1", "a", "slow", "joint_angle", "knee", "stance", "max", "deg", 20.0),
            ("S1", "a", "slow", "stride_time", "", "cycle", "value", "s", 1.1),
            ("S2", "a", "slow", "joint_angle", "knee", "stance", "max", "deg", 30.0),
        ],
        columns=["subject", "group", "condition", "variable", "name", "phase", "measure", "unit", "value"],
    )
    table = values_table(values)
    assert table.columns.tolist() == [
        "subject",
        "group",
        "condition",
        "joint_angle_knee_stance_max_deg",
        "stride_time_s",
    ]
    assert table["joint_angle_knee_stance_max_deg"].tolist() == [20.0, 30.0]
    assert np.isnan(table["stride_time_s"][1])
