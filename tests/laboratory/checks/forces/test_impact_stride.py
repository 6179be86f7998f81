"""A walk with impacts whose truth is known: it obeys the laws, and tells which cut-offs belong together."""

from __future__ import annotations

import numpy as np
import pytest
from impact_stride import IMPACT, PUSH, ImpactStride, course

from musclesolve.studies.synthetic import reference_stride


@pytest.fixture(scope="module")
def stride() -> ImpactStride:
    base = reference_stride()
    return ImpactStride(base.layout, base.coefficients)


def test_the_impact_leaves_no_trace_and_its_derivatives_agree() -> None:
    time = np.linspace(-0.01, 0.5, 5101)
    assert max(abs(course(np.array([-1e-3, 0.5]), order)).max() for order in range(3)) < 1e-12
    for order in (0, 1):
        slope = np.gradient(course(time, order), time)
        assert np.abs(slope - course(time, order + 1))[1:-1].max() < 1e-3 * np.abs(slope).max()


def test_nothing_is_left_at_the_pelvis(stride: ImpactStride) -> None:
    assert np.abs(stride.pelvis_residual(np.linspace(0.0, stride.period, 301))).max() < 1e-9


def test_the_ground_pushes_and_the_moments_of_the_leg_hardly_change(stride: ImpactStride) -> None:
    time = np.array([0.5 * sum(IMPACT)])
    pushed = (stride.wrenches(time)[0].force - stride.base.wrenches(time)[0].force)[0] / stride.person.weight
    np.testing.assert_allclose(pushed[[0, 2]], [PUSH[0], PUSH[2]], rtol=0.5)
    changed = (stride.joint_moments(time) - stride.base.joint_moments(time))[0] / stride.person.subject.mass
    for joint in ("hip_flexion_r", "knee_flexion_r"):
        assert abs(changed[stride.dof_names.index(joint)]) < 0.06
