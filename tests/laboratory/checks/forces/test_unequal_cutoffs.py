"""Forces that are filtered less than the markers: reported where a foot strikes with an impact, with what it makes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from examined import examined
from impact_stride import ImpactStride, moments

from musclesolve.laboratory.forces import recording_of
from musclesolve.studies import synthetic_recording
from musclesolve.studies.synthetic import reference_stride


def found(folder: Path, size: float, cutoff_hz: float, force_cutoff_hz: float | None) -> list[float]:
    """The moments [N m/kg] that are reported of a walk with impacts."""
    base = reference_stride()
    stride = ImpactStride(base.layout, base.coefficients, size)
    how = {"cutoff_hz": cutoff_hz, "force_cutoff_hz": force_cutoff_hz, "force_rate_hz": 600.0}
    report = examined(synthetic_recording(folder, stride, truth=False, **how))
    return [
        float(each.what.split(" N m/kg")[0].split()[-1])
        for each in report.findings
        if each.code == "force_cutoff"
    ]


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("size", "cutoff_hz", "force_cutoff_hz"),
    [(0.0, 6.0, 25.0), (1.0, 6.0, None), (1.0, 10.0, 10.0), (1.0, 25.0, 6.0)],
)
def test_equal_cut_offs_and_soft_steps_are_no_fault(tmp_path, size, cutoff_hz, force_cutoff_hz) -> None:
    assert found(tmp_path, size, cutoff_hz, force_cutoff_hz) == []


def test_it_reports_by_how_much_the_hip_is_off(tmp_path) -> None:
    """The reported moment bounds what is wrong at the hip after heel strikes, and by no more than a half."""
    (reported,) = found(tmp_path, 1.0, 6.0, 25.0)
    base = reference_stride()
    stride = ImpactStride(base.layout, base.coefficients)
    trial = recording_of(tmp_path / "trial.toml", "this test")
    computed, forces = moments(trial, 6.0, 25.0)
    time = computed.motion.time - trial.time_range[0]
    flexion = forces[:, computed.model.dof("hip_flexion_r")]
    off = flexion - stride.joint_moments(time)[:, stride.dof_names.index("hip_flexion_r")]
    largest = np.abs(off[time % stride.period < 0.08]).max() / trial.subject.mass
    assert largest / 1.1 < reported < 1.5 * largest
