"""The sides in the words on contact forces are those whose numbers follow."""

from types import SimpleNamespace

import pytest
import xarray as xr

from musclesolve.laboratory.results.result_facts import contact_forces


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
