"""A stage of the road from a recording to forces is replaced: the moments that muscles produce."""

from __future__ import annotations

import doctest
from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

import musclesolve as ms
from musclesolve.laboratory import forces
from musclesolve.laboratory.bodies.mechanics import measured_moments
from musclesolve.laboratory.results.dataset.assemble import assemble

BRACE = 20.0
"""Stiffness of a brace about the knee [N m/rad]."""


@pytest.fixture(scope="module")
def bodies():
    """The stride, and the stride with a brace that pulls the right knee straight."""
    trial = ms.read_trial(ms.data.reference_stride())
    recorded = forces.mechanics(trial)
    moments = measured_moments(trial, recorded.model, recorded.motion, recorded.wrenches)
    knee = recorded.model.dof("knee_flexion_r")
    moments[:, knee] += BRACE * recorded.motion.coordinates[:, knee]
    options = forces.find_options(trial, side="r")
    return (
        forces.recorded_body(trial, options, recorded),
        forces.recorded_body(trial, options, recorded, moments=moments),
    )


def test_muscles_produce_the_moments_that_are_given(bodies):
    free, braced = (forces.share(body).parts[0] for body in bodies)
    knee = bodies[0].parts[0].dofs.index("knee_flexion_r")
    produced = [
        np.einsum(
            "tn,tn->t",
            part.part.state.moment_arm[:, knee],
            part.solution.force + part.part.state.passive_force,
        )
        for part in (free, braced)
    ]
    flexion = bodies[0].angle[:, bodies[0].dofs.index("knee_flexion_r")]
    assert np.ptp(flexion) > 0.5
    assert produced[1] - produced[0] == pytest.approx(BRACE * flexion, abs=1e-6)


def test_valid_frames_do_not_depend_on_the_moments_that_are_given(bodies):
    free, braced = bodies
    for residual in (0.0, 1e4, np.nan):
        moments = braced.moments.copy()
        moments[:, -6:] = residual
        body = forces.recorded_body(free.trial, free.options, free.mechanics, moments=moments)
        np.testing.assert_array_equal(body.parts[0].usable, free.parts[0].usable)


def test_a_result_says_that_its_moments_were_given(bodies):
    said = ["were given in place" in " ".join(assemble(forces.share(body)).attrs["notes"]) for body in bodies]
    assert said == [False, True]


def test_a_body_has_the_moments_of_its_parts(bodies):
    free, braced = bodies
    with refused("conflict", "different moments", "recorded_body"):
        replace(free, moments=braced.moments)
    with refused("bad_shape", "(66, 3)", "(66, 44)"):
        forces.recorded_body(free.trial, free.options, free.mechanics, moments=free.moments[:, :3])
    with refused("not_numbers", "moments"):
        forces.recorded_body(free.trial, free.options, free.mechanics, moments=[["a"]])


def test_the_example_of_the_road_prints_what_it_shows():
    names = {"ms": ms, "np": np}
    (example,) = doctest.DocTestFinder(recurse=False).find(forces, extraglobs=names)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
