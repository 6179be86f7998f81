"""The muscles of a body in the poses of strength tests: lengths, rates and moment arms.

The muscles belong to the analyzed motion, on the subject's own skeleton or model. Angles that a test does not state are
zero in its pose, and only the tested degree of freedom has a rate.
"""

from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.sides import split_side
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.models.body import Body
from musclesolve.models.opensim.geometry import fiber_path_lengths, opensim_geometry
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.muscles.scaling.fiber_lengths import RANGE_OF_MOTION_DEG
from musclesolve.muscles.scaling.scale_muscles import joined
from musclesolve.muscles.strength_tests import StrengthMoments, StrengthTest, StrengthTests, strength_moments

_TOLERANCE = np.radians(0.01)


@dataclass(frozen=True, eq=False)
class StrengthGeometry:
    """The N muscles of a body in P strength tests, in the order of `Body.muscles`.

    parameters: of the muscles. length (P, N) [m], velocity (P, N) [m/s], both of the whole path; moment_arm (P, N)
    about the degree of freedom of each test [m]; sign (P,) of its moment. elastic: whether the tendons of the body
    stretch. warnings: sentences on poses beyond the range of the body.
    """

    parameters: MuscleParameters
    length: Array
    velocity: Array
    moment_arm: Array
    sign: Array
    elastic: bool
    warnings: tuple[str, ...] = ()

    def moments(self, parameters: MuscleParameters | None = None) -> StrengthMoments:
        """Return the largest moments of the muscles in the tests, with the stated parameters or the body's."""
        muscles = self.parameters if parameters is None else parameters
        return strength_moments(muscles, self.length, self.velocity, self.moment_arm, self.sign, self.elastic)


def strength_geometry(body: Body, tests: StrengthTests) -> StrengthGeometry:
    """Compute the geometry of the muscles of a body in the poses of strength tests."""
    geometry = geometry_in_poses(body, tests)
    for number, (test, arms) in enumerate(zip(tests.tests, geometry.moment_arm, strict=True)):
        if not np.any(arms * geometry.sign[number] > 0.0):
            raise tests.document.fault(
                "conflict",
                ("test", "dof", number),
                f"no muscle of this body can produce the moment of {test.moment:g} N m about '{test.dof}'",
                "a moment of the analyzed muscles, positive in the direction of the degree of freedom",
                "correct the sign or the name, or leave the test out",
            )
    return geometry


@singledispatch
def geometry_in_poses(body: Body, tests: StrengthTests) -> StrengthGeometry:
    """Compute the geometry in the poses of the tests: one function for each kind of body."""
    raise TypeError(f"no strength tests of a {type(body).__name__}")


@geometry_in_poses.register
def _(body: RecordedBody, tests: StrengthTests) -> StrengthGeometry:
    """Compute the geometry on the skeleton of the subject with its scaled muscles."""
    model = body.mechanics.model
    muscles = joined(body.placed)
    analyzed = muscles.dof_names
    names = model.topology.dof_names[: model.tree.joint_count]
    angles, rates = np.zeros((2, len(tests.tests), len(model.topology.dof_names)))
    warnings = []
    check = tests.document.check_known
    for number, test in enumerate(tests.tests):
        check([test.dof], "the analyzed muscles have no degree of freedom", analyzed, "test", "dof", number)
        check(test.angles, "there is no joint angle", names, "test", "angles_deg", number)
        rates[number, model.dof(test.dof)] = test.velocity
        for name, angle in test.angles.items():
            angles[number, model.dof(name)] = angle
            low, high = np.radians(RANGE_OF_MOTION_DEG.get(split_side(name)[0], (-np.inf, np.inf)))
            warnings += _beyond(test, name, angle, low, high, "that the muscles of a set are placed for")
    motion = motion_from(model, np.arange(len(angles), dtype=float), angles, rates, np.zeros_like(angles))
    state = muscle_state(model, muscles, motion)
    tested = [analyzed.index(test.dof) for test in tests.tests]
    return StrengthGeometry(
        muscles.parameters,
        state.musculotendon_length,
        state.musculotendon_velocity,
        state.moment_arm[np.arange(len(tested)), tested],
        tests.sign,
        body.sharing.elastic,
        tuple(dict.fromkeys(warnings)),
    )


@geometry_in_poses.register
def _(body: ModelBody, tests: StrengthTests) -> StrengthGeometry:
    """Compute the geometry of an OpenSim model; locked coordinates stay at their default."""
    model, choice = body.model, body.choice
    driven = {coupler.dependent for coupler in model.couplers}
    free = [name for name in model.coordinates if name not in driven]
    names = (*choice.dofs, *sorted(choice.needed - set(choice.dofs)))
    angles = [name for name in free if model.coordinates[name].rotational]
    at_rest = {
        name: coordinate.default if coordinate.locked else 0.0
        for name, coordinate in model.coordinates.items()
    }
    values = {name: np.full(len(tests.tests), at_rest[name]) for name in free}
    speeds, warnings = np.zeros(len(tests.tests)), []
    shared, check = set(choice.dofs) & set(angles), tests.document.check_known
    for number, test in enumerate(tests.tests):
        check([test.dof], "the shared moments have no angle", shared, "test", "dof", number)
        check(test.angles, "the model has no independent angle", angles, "test", "angles_deg", number)
        speeds[number] = test.velocity
        for name, angle in test.angles.items():
            values[name][number] = angle
            limits = model.coordinates[name]
            warnings += _beyond(test, name, angle, limits.lower, limits.upper, "of the model")
    geometry = opensim_geometry(model, values, names, choice.names)
    tested = [names.index(test.dof) for test in tests.tests]
    crosses = np.array([[test.dof in choice.crossing[name] for name in choice.names] for test in tests.tests])
    arm = np.where(crosses, geometry.moment_arm[np.arange(len(tested)), tested], 0.0)
    elastic = body.sharing.elastic
    return StrengthGeometry(
        body.whole.state.parameters,
        geometry.length if elastic else fiber_path_lengths(model, geometry),
        -speeds[:, None] * arm,
        arm,
        tests.sign,
        elastic,
        tuple(dict.fromkeys(warnings)),
    )


def _beyond(test: StrengthTest, name: str, angle: float, low: float, high: float, whose: str) -> list[str]:
    """A sentence on an angle [rad] of a test that leaves a range [rad]; empty within the range."""
    if low - _TOLERANCE <= angle <= high + _TOLERANCE:
        return []
    return [
        f"Strength test of {test.dof}: {name} is {np.degrees(angle):g} degrees, beyond the range {whose}, "
        f"{np.degrees(low):.4g} to {np.degrees(high):.4g} degrees: moment arms there are extrapolated."
    ]
