"""Simulation of muscles with elastic tendons: fiber lengths from activation and musculotendon length over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_increasing, check_type
from musclesolve.errors import MuscleSolveError, input_error
from musclesolve.muscles.driving.activation_dynamics import (
    ActivationDynamics,
    Course,
    Given,
    Sampling,
    driving_course,
)
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles, tendon_energy
from musclesolve.muscles.elastic.fiber_dynamics import FiberDynamics

TOLERANCE = 1e-8
"""Error allowed in a step, of z and of work over F0 L0."""
LARGEST_STEP = 0.005
"""Largest step [s], so that no pulse of activation is missed."""
_DIFFERENCE = 1e-7


def simulate_muscles(
    muscles: ElasticMuscles,
    time: Array,
    length: GivenLength,
    activation: Given | None = None,
    *,
    excitation: Given | None = None,
    velocity: GivenLength | None = None,
    dynamics: ActivationDynamics | None = None,
    damping: float = 0.0,
) -> MuscleMotion:
    """Fiber length, velocity and force of muscles whose activation and musculotendon length are known over time.

    Fiber length is a state. At its rate v fiber and tendon bear the same force (fiber_dynamics.py: the equations, their
    sources, small activations and velocities beyond the maximum), over F0

        f_T(l_T) = [a f_l(l / L0) f_v(v / v_max) + b v / v_max + p(l)] cos(alpha),    l_T = L_MT - l cos(alpha).

    At the start fiber and tendon are in balance at constant tendon length. Fibers follow their tendons with time
    constants below a millisecond: Radau's implicit method of order five takes the steps, with an error of 1e-8 allowed
    in each. A rigid tendon has no state: fiber and force follow from path and activation alone.

    Args:
        muscles: n muscles.
        time: (T,) [s] of the result; the simulation runs from the first to the last.
        length: musculotendon length [m]: one for each muscle (n,), samples (T, n) with a cubic spline through them, or
            a function of times (T,) that returns (T, n).
        activation: 0 to 1: a number, (n,), samples (T, n) with straight lines between them, a function of times, or a
            mapping from names to such.
        excitation: instead of the activation, which follows by first-order dynamics.
        velocity: rate of the length [m/s], as samples (T, n) or a function; needed where `length` is a function.
        dynamics: of activation, for an excitation (10 and 40 ms by Thelen (2003) unless given).
        damping: b of the fiber, over F0 at v_max; 0.1 in Millard et al. (2013).

    Raises:
        InputError: both or none of activation and excitation; numbers that are not finite, or outside of their range;
            shapes that do not fit; a function of length without one of its rate.
        MuscleSolveError: steps that become too small; with the time.
    """
    from scipy.integrate import solve_ivp

    check_type(muscles, ElasticMuscles, "muscles", "ElasticMuscles")
    time = check_increasing(time, 2)
    fibers = FiberDynamics(muscles, damping)
    path = path_course(muscles.names, time, length, velocity)
    driving = {"activation": activation, "excitation": excitation}
    course = driving_course(muscles.names, Sampling(time), dynamics, driving)
    equations, first = _Equations(fibers, path, course), time[:1]
    start_length, start_velocity = path(first)
    z = fibers.equilibrium(start_length, course(first), start_velocity)
    solved = solve_ivp(
        equations.derivative,
        (time[0], time[-1]),
        np.concatenate([z, np.zeros((2, z.shape[1]))]).ravel(),
        method="Radau",
        t_eval=time,
        rtol=TOLERANCE,
        atol=TOLERANCE,
        max_step=LARGEST_STEP,
        jac=equations.jacobian,
    )
    if not solved.success:
        reached = solved.t[-1] if solved.t.size else time[0]
        raise MuscleSolveError(f"the simulation of the muscles stops after {reached:.4f} s: {solved.message}")
    return equations.motion(time, solved.y.T.reshape(len(time), 3, -1))


@dataclass(frozen=True, eq=False)
class _Equations:
    """Equations of the state (3, n): z, then the work on the skeleton and the work of the fiber, over F0 L0."""

    fibers: FiberDynamics
    path: PathCourse
    course: Course

    def derivative(self, time: float, state: Array) -> Array:
        """Rate of the state (3n,) [1/s] at a time [s]."""
        at = np.array([time])
        (length, velocity), activation = self.path(at), self.course(at)
        z = self._coordinate(length, velocity, activation, state.reshape(3, -1)[:1])
        muscles, forces = self.fibers.muscles, self.fibers.forces(length, z)
        rate = self.fibers.rate(forces, velocity, activation)
        tendon = forces.tendon / muscles.parameters.optimal_fiber_length
        return np.concatenate(
            [rate, -tendon * velocity, -tendon * (velocity - muscles.stretch * rate)]
        ).ravel()

    def jacobian(self, time: float, state: Array) -> Any:
        """Derivative (3n, 3n) of the rate by the state, by forward differences: a muscle depends on its own z alone."""
        from scipy.sparse import csc_array

        size, count = len(state), len(state) // 3
        moved = state + np.where(np.arange(size) < count, _DIFFERENCE, 0.0)
        slope = (self.derivative(time, moved) - self.derivative(time, state)) / _DIFFERENCE
        rows = np.arange(size)
        return csc_array((slope, (rows, rows % count)), shape=(size, size))

    def motion(self, time: Array, states: Array) -> MuscleMotion:
        """Return the motion of the muscles that the states (T, 3, n) describe."""
        (length, velocity), activation = self.path(time), self.course(time)
        fibers, muscles = self.fibers, self.fibers.muscles
        z = self._coordinate(length, velocity, activation, states[:, 0])
        forces = fibers.forces(length, z)
        along = velocity - muscles.stretch * fibers.rate(forces, velocity, activation)
        norm = muscles.parameters.max_isometric_force
        return MuscleMotion(
            muscles=muscles,
            time=time,
            activation=fibers.effective(activation),
            coordinate=z,
            musculotendon_length=length,
            musculotendon_velocity=velocity,
            fiber_length=forces.fiber_length,
            fiber_velocity=along * forces.cos_pennation,
            cos_pennation=forces.cos_pennation,
            force=norm * forces.tendon,
            passive_force=norm * forces.passive * forces.cos_pennation,
            fiber_work=norm * muscles.parameters.optimal_fiber_length * states[:, 2],
            skeleton_work=norm * muscles.parameters.optimal_fiber_length * states[:, 1],
        )

    def _coordinate(self, length: Array, velocity: Array, activation: Array, z: Array) -> Array:
        """Coordinate z (T, n); where the tendon is rigid, the force of the fiber over F0."""
        rigid = ~self.fibers.muscles.elastic
        if not rigid.any():
            return z
        return np.where(rigid, self.fibers.fiber_force(length, velocity, z, activation), z)


GivenLength = Array | Course
"""Lengths (n,), samples (T, n), or a function of times (T,) that returns (T, n)."""

PathCourse = Callable[[Array], tuple[Array, Array]]
"""Lengths [m] and their rates [m/s], (T, n), at times (T,) [s]."""


def path_course(
    names: tuple[str, ...], time: Array, length: GivenLength, velocity: GivenLength | None = None
) -> PathCourse:
    """Lengths of muscles and their rates through time.

    Samples of both define a cubic Hermite spline. Samples of lengths alone define the cubic spline whose third
    derivative is continuous next to the ends.
    """
    from scipy.interpolate import CubicHermiteSpline, CubicSpline

    count, samples_shape = len(names), (len(time), len(names))

    def lengths(values: object, shape: tuple[int, ...], entries: tuple[str, ...] = ()) -> Array:
        return check_array(values, "the musculotendon length", shape, entries, real=True, where="length")

    def rates(values: object, shape: tuple[int, ...], entries: tuple[str, ...] = ()) -> Array:
        what = "the rate of the musculotendon length"
        return check_array(values, what, shape, entries, real=True, where="velocity")

    if callable(length) != callable(velocity) and (callable(length) or velocity is not None):
        raise input_error(
            "muscles.musculotendon_length_function_time"
            if callable(length)
            else "muscles.rate_musculotendon_length_function",
            where="velocity",
            code="missing_argument" if velocity is None else "conflict",
        )
    if callable(length):
        assert callable(velocity)
        return lambda at: (lengths(length(at), (len(at), count)), rates(velocity(at), (len(at), count)))
    if np.ndim(length) < 2:
        constant = lengths(length, (count,))
        if velocity is not None:
            raise input_error(
                "conflict",
                where="velocity",
                problem="a rate of musculotendon lengths that are constant",
                remedy="pass samples (T, n) of the length, or leave the rate out",
            )
        return lambda at: (np.tile(constant, (len(at), 1)), np.zeros((len(at), count)))
    samples = lengths(length, samples_shape, names)
    if velocity is None:
        spline = CubicSpline(time, samples)
    else:
        spline = CubicHermiteSpline(time, samples, rates(velocity, samples_shape, names))
    rate = spline.derivative()
    return lambda at: (spline(at), rate(at))


@dataclass(frozen=True, eq=False)
class MuscleMotion:
    """Muscles (n) at times (T,) [s]; arrays (T, n).

    Attributes:
        muscles: their parameters.
        time: (T,) [s].
        activation: of the forces, raised to the least activation without damping.
        coordinate: z of the tendon (elastic_muscles.py).
        musculotendon_length, musculotendon_velocity: of the path [m], [m/s].
        fiber_length, fiber_velocity: [m], [m/s], positive when lengthening.
        cos_pennation: cosine of the pennation angle.
        force: of the tendon [N], passive part included.
        passive_force: force of the passive element along the tendon [N].
        fiber_work: done by the fibers since the first time, contractile and passive [J].
        skeleton_work: done by the muscles on the skeleton since the first time [J].
    """

    muscles: ElasticMuscles
    time: Array
    activation: Array
    coordinate: Array
    musculotendon_length: Array
    musculotendon_velocity: Array
    fiber_length: Array
    fiber_velocity: Array
    cos_pennation: Array
    force: Array
    passive_force: Array
    fiber_work: Array
    skeleton_work: Array

    @property
    def tendon_length(self) -> Array:
        """Length of the tendon (T, n) [m]; where the tendon is slack, the distance between its ends."""
        return self.muscles.rest + self.muscles.stretch * self.coordinate

    @property
    def tendon_strain(self) -> Array:
        """Tendon strain (T, n); where the tendon is slack, below the strain at the start of the curve."""
        return self.muscles.strain(self.coordinate)

    @property
    def tendon_energy(self) -> Array:
        """Energy (T, n) [J] in the tendon; fiber_work - skeleton_work is its change."""
        return tendon_energy(self.muscles, self.coordinate)

    @property
    def fiber_power(self) -> Array:
        """Power of the fibers (T, n) [W], contractile and passive: -F v / cos(alpha)."""
        return -self.force * self.fiber_velocity / self.cos_pennation
