"""Strength tests: measured maximal voluntary moments, and the largest moments of the muscles in the same poses.

In a test of the degree of freedom q in the direction s (1 or -1) the agonists, whose moment arm r has the sign of s,
are at activation a = 1, all others at a = 0 with their passive force alone:

    M = sum_i r_i F_i.

Behind a rigid tendon F_i follows from the length and the rate of the path (hill_model.py). An elastic tendon is at
constant length, dz/dt = 0, with the coordinate z (elastic_muscles.py) at which

    G(z) = f_T(z) - [a f_l(l / L0) f_v(dL_MT/dt cos(alpha) / v_max) + F_p / F0 f_p(s)] cos(alpha) = 0,    F = F0 f_T(z).

By a parameter p the balance moves by dz/dp = -G_p / G_z, so that dF/dp = dF0/dp f_T - F0 f_T' G_p / G_z.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array
from musclesolve.muscles.elastic.elastic_muscles import LEAST_ALONG, ElasticMuscles
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.muscles.path_point_derivatives import muscle_change
from musclesolve.muscles.person import QUANTITIES
from musclesolve.muscles.settings import StrengthSettings
from musclesolve.tables.document import Document, validated

_BISECTIONS = 60


@dataclass(frozen=True)
class StrengthTest:
    """A maximal voluntary moment that was measured in one pose.

    dof: the degree of freedom; moment [N m] of the muscles, positive in its direction; error: its standard deviation [N
    m];
    velocity: rate of the dof [rad/s]; angles: of the pose by name [rad], the others are zero.
    """

    dof: str
    moment: float
    error: float
    velocity: float
    angles: Mapping[str, float]


@dataclass(frozen=True)
class StrengthTests:
    """The strength tests of a file, with its path for errors."""

    document: Document
    tests: tuple[StrengthTest, ...]

    @property
    def sign(self) -> Array:
        """Direction (P,) of each measured moment, 1 or -1."""
        return np.sign([test.moment for test in self.tests])


def read_strength_tests(path: str | Path) -> StrengthTests:
    """Read strength tests from a TOML file, one table [[test]] each (docs/muscles.md)."""
    document = Document(Path(path), StrengthSettings)
    tests: list[StrengthTest] = []
    for number, stated in enumerate(validated(document, StrengthSettings).test):
        if stated.moment_N_m == 0.0:
            raise document.fault(
                "bad_value",
                ("test", "moment_N_m", number),
                "a moment of zero has no direction",
                "the moment that was measured, with its sign",
                "state the moment, negative against the direction of the degree of freedom",
            )
        angles = {name: float(np.radians(angle)) for name, angle in stated.angles_deg.items()}
        test = StrengthTest(
            stated.dof, stated.moment_N_m, stated.error_N_m, float(np.radians(stated.velocity_deg_s)), angles
        )
        tests.append(test)
    return StrengthTests(document, tuple(tests))


class StrengthMoments(NamedTuple):
    """Moments and tendon forces of n muscles in P strength tests.

    moment (P,) [N m]; by_log (P, 4, n): its derivatives by the natural logarithm of the `QUANTITIES` of every muscle
    [N m]; tendon_force (P, n) [N].
    """

    moment: Array
    by_log: Array
    tendon_force: Array


def strength_moments(
    parameters: MuscleParameters,
    length: Array,
    velocity: Array,
    moment_arm: Array,
    sign: Array,
    elastic: bool,
) -> StrengthMoments:
    """The largest moments of muscles in the poses of strength tests, and their derivatives by the muscle parameters.

    Args:
        parameters: of n muscles.
        length: (P, n) musculotendon lengths [m] in the pose of each test.
        velocity: (P, n) their rates [m/s].
        moment_arm: (P, n) about the degree of freedom of each test [m], positive when tension increases it.
        sign: (P,) direction of the moment, 1 or -1.
        elastic: whether the tendons stretch. Results for rigid tendons do not depend on `tendon_strain`.
    """
    shape = len(sign), len(parameters.names)
    length = check_array(length, "length", shape)
    velocity = check_array(velocity, "velocity", shape)
    moment_arm = check_array(moment_arm, "moment_arm", shape)
    activation = (moment_arm * np.asarray(sign)[:, None] > 0.0).astype(float)
    forces = _elastic_forces if elastic else _rigid_forces
    force, by_log = forces(parameters, length, velocity, activation)
    return StrengthMoments((moment_arm * force).sum(axis=1), (moment_arm * by_log).transpose(1, 0, 2), force)


def _rigid_forces(
    parameters: MuscleParameters, length: Array, velocity: Array, activation: Array
) -> tuple[Array, Array]:
    """Tendon forces (P, n) [N] behind rigid tendons, and their derivatives (4, P, n) by the logarithms."""
    state = MuscleState.from_lengths(
        parameters, length, velocity, np.zeros((len(length), 0, length.shape[1]))
    )
    by_log = np.zeros((len(QUANTITIES), *length.shape))
    for number, name in enumerate(QUANTITIES):
        if name != "tendon_strain":
            change = muscle_change(state, **{name: getattr(parameters, name)})
            by_log[number] = activation * change.force_capacity + change.passive_force
    return activation * state.force_capacity + state.passive_force, by_log


def _elastic_forces(
    parameters: MuscleParameters, length: Array, velocity: Array, activation: Array
) -> tuple[Array, Array]:
    """Tendon forces (P, n) [N] in balance with fibers at constant tendon length, and their derivatives (4, P, n)."""
    muscles = ElasticMuscles.from_parameters(parameters)
    curves, optimal, element = muscles.curves, parameters.optimal_fiber_length, parameters.passive
    strength = element.force / parameters.max_isometric_force
    span = element.at_one - element.at_zero
    fastest = parameters.max_shortening_velocity * optimal
    thickness, width = muscles.thickness, LEAST_ALONG * optimal

    def geometry(z: Array) -> tuple[Array, Array, Array]:
        """Length along the tendon, fiber length [m], and cosine of the pennation angle."""
        along = muscles.along(length, z)
        fiber = np.hypot(along, thickness)
        return along, fiber, along / fiber

    def borne(z: Array) -> Array:
        """Return the fiber force along the tendon over F0."""
        _, fiber, cosine = geometry(z)
        active = (
            activation
            * curves.active(fiber / optimal).value
            * curves.velocity(velocity * cosine / fastest).value
        )
        share = (fiber / optimal - 1.0 - element.at_zero) / span
        return (active + strength * curves.passive(share).value) * cosine

    # between the slack tendon, which bears less than the fiber, and the fiber of no length, which bears less
    most = np.divide(length - muscles.rest, muscles.stretch, out=np.zeros_like(length), where=muscles.elastic)
    low = np.broadcast_to(muscles.start, length.shape)
    high = np.maximum(most, low) + 0.5
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        above = curves.tendon(middle).value > borne(middle)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    z = np.where(muscles.elastic, 0.5 * (low + high), borne(np.zeros_like(length)))

    # how the imbalance changes while the room of the fiber changes by `room` [m], and L0 by the share `longer`
    tendon = curves.tendon(z)
    along, fiber, cosine = geometry(z)
    active, factor = curves.active(fiber / optimal), curves.velocity(velocity * cosine / fastest)
    passive = curves.passive((fiber / optimal - 1.0 - element.at_zero) / span)
    root = np.hypot(length - muscles.rest - muscles.stretch * z, width)

    def borne_change(room: Array, longer: float) -> Array:
        along_change = along / root * room + 0.5 * width / root * width * longer
        fiber_change = cosine * along_change + thickness / fiber * thickness * longer
        cosine_change = (along_change - cosine * fiber_change) / fiber
        normal_change = fiber_change / optimal - fiber / optimal * longer
        rate_change = velocity / fastest * (cosine_change - cosine * longer)
        force = activation * active.value * factor.value + strength * passive.value
        force_change = activation * (
            active.slope * normal_change * factor.value + active.value * factor.slope * rate_change
        )
        return (
            force_change + strength * passive.slope * normal_change / span
        ) * cosine + force * cosine_change

    stretched = parameters.tendon_slack_length * parameters.tendon_strain * z * muscles.elastic
    borne_by = {
        "max_isometric_force": -strength * passive.value * cosine,  # F_p stays
        "optimal_fiber_length": borne_change(np.zeros_like(length), 1.0),
        "tendon_slack_length": borne_change(-muscles.rest - muscles.stretch * z, 0.0),
        "tendon_strain": borne_change(-stretched, 0.0),
    }
    moved = tendon.slope - borne_change(np.broadcast_to(-muscles.stretch, length.shape), 0.0)
    force = parameters.max_isometric_force * tendon.value
    by_log = np.stack(
        [parameters.max_isometric_force * tendon.slope * borne_by[name] / moved for name in QUANTITIES]
    )
    by_log[QUANTITIES.index("max_isometric_force")] += force
    return force, by_log
