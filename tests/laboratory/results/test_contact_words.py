"""The words and rows on contact forces: sides are those whose numbers follow, units those that are known."""

from types import SimpleNamespace

import pytest
import xarray as xr
from synthetic_result import result

from musclesolve.laboratory.results.fact_table import ROW, chosen
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.result_facts import contact_forces, facts_of


@pytest.mark.parametrize(
    "peaks, says",
    [
        (
            {"hip": {"r": 3.7, "l": 3.6}, "back": {"other": 1.2}},
            "peaks (right, left): hip 3.70, 3.60; back 1.20 ",
        ),
        ({"knee": {"l": 2.5}}, "peaks (left): knee 2.50 "),
        ({"elbow": {"other": 0.2}}, "peaks: elbow 0.20 "),
    ],
)
def test_a_joint_without_side_is_no_side_of_the_heading(peaks, says):
    """A model with a joint of the trunk had "peaks (right, left, other)" above two numbers for each leg joint."""
    of_joints = {
        joint: {side: SimpleNamespace(body_weights=number) for side, number in each.items()}
        for joint, each in peaks.items()
    }
    facts = SimpleNamespace(
        contact_by_joint=of_joints,
        knee_peaks={},
        contact_spacing="",
        result=xr.Dataset({"joint_reaction": 0.0}),
    )
    assert next(iter(contact_forces(facts))).sentence.startswith(says)


def test_rows_state_newtons_and_body_weights_where_the_weight_is_known():
    stride = result()
    peaks = {peak.joint: peak for peak in Facts(stride).contact_peaks}
    rows = chosen(facts_of(stride), ROW, section="contact")
    assert [row.value["joint"] for row in rows] == list(peaks)
    for row in rows:
        peak = peaks[row.value["joint"]]
        assert (row.value["newton"], row.value["body_weights"]) == (peak.newton, peak.body_weights)
        assert f"{peak.newton:.0f} N, {peak.body_weights:.2f} body weights, at " in row.sentence


def test_rows_have_no_body_weights_where_the_weight_is_not_known():
    stride = result()
    del stride.attrs["subject_mass_kg"]
    rows = chosen(facts_of(stride), ROW, section="contact")
    assert [row.value["newton"] for row in rows] == [peak.newton for peak in Facts(stride).contact_peaks]
    for row in rows:
        assert row.value["body_weights"] is None and row.value["implants"]["far"] == ""
        assert f"{row.value['newton']:.0f} N, at " in row.sentence and "body weights" not in row.sentence


def test_a_damaged_force_of_the_knee_costs_no_row_of_the_joints():
    stride = result()
    whole = chosen(facts_of(stride), ROW, section="contact")
    damaged = stride.assign(knee_contact_medial=("time", stride["time"].values))
    assert whole and chosen(facts_of(damaged, damage=(ValueError, KeyError)), ROW) == whole
