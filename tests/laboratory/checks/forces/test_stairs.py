"""Stairs with a plate in each of four steps: moments as they truly are, no false finding, and wrong heights named."""

from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms
from musclesolve.laboratory.analysis.mechanics import measured_moments
from musclesolve.laboratory.forces import mechanics
from tests.support.examined import examined
from tests.support.stairs import MARGIN, record, stairs

NEWTON_METERS = 10.0


@pytest.mark.in_part(2)
@pytest.mark.parametrize("rise", [0.12, -0.12], ids=["up", "down"])
def test_moments_and_findings_on_stairs(rise: float, tmp_path: Path) -> None:
    path = record(tmp_path, rise)
    assert not [each for each in examined(path).all_findings if each.severity != "note"]
    trial = ms.read_trial(path)
    found = mechanics(trial)
    true = stairs(rise).joint_moments(found.motion.time - MARGIN)
    moments = measured_moments(trial, found.model, found.motion, found.wrenches)[:, : true.shape[1]]
    legs = [k for k, name in enumerate(stairs(rise).dof_names) if name.startswith(("hip", "knee", "ankle"))]
    known = np.isfinite(moments[:, legs])
    assert (known.mean(axis=0) > 0.8).all()
    assert np.abs(moments - true)[:, legs][known].max() < NEWTON_METERS


def test_center_of_pressure_is_at_the_height_of_the_step(tmp_path: Path) -> None:
    found = mechanics(ms.read_trial(record(tmp_path, 0.12)))
    for ground, steps in zip(found.reactions, ((0, 2), (1, 3)), strict=True):
        height = ground.center_of_pressure[ground.force[:, 2] > 100.0, 2]
        np.testing.assert_allclose(np.unique(height.round(6)), [0.12 * step for step in steps])


def test_unstated_heights_of_the_plates_are_named(tmp_path: Path) -> None:
    report = examined(record(tmp_path, 0.12, stated_rise=0.0))
    errors = [each for each in report.all_findings if each.severity == "error"]
    assert "force_without_contact" in {each.code for each in errors}, str(report)
    assert any("higher than in its other contacts" in str(each) for each in errors)
