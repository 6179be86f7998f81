"""The force-sharing problem of a whole motion, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.checks import check_array, check_increasing, check_real_array
from musclesolve.errors import InputError
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.sharing.arguments import check_type
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.rate_limits import ActivationLimits, RateLimits
from musclesolve.trajectory.local_equilibrium import Equilibrium, equilibrium
from musclesolve.trajectory.time_basis import TimeBasis

FEWEST_FRAMES = 4
"""Of which a cubic spline through the frames has velocities."""
LONGEST_STEP = 0.05
"""Between frames [s]: in more time than this muscles activate and fall silent unseen."""
LARGEST_COORDINATE = 2.5
"""Two and a half times the strain at one maximum isometric force: no muscle pulls as hard."""
_USUAL = RateLimits()


@dataclass(frozen=True, eq=False)
class MotionProblem:
    """Which activations produce the joint moments of a motion, with elastic tendons and activation dynamics?

    Minimise the integral of the cost over time subject to

        sum_i r_tki F_ti + s_tk = M_tk                     moments, in every frame
        F_T(z) = (a f_l(l) f_v(v) F0 + F_p f_p(l)) cos(alpha)    balance of tendon and fiber, in every frame
        v = dl/dt                                          (time_basis.py)
        e_d a(t) <= a(t + h) <= 1 - e_a (1 - a(t))         activation dynamics (sharing/rate_limits.py)
        lower <= a <= upper

    with a reserve s, that costs 1/2 w s^2, only where there is a reserve weight w. Frames follow each other without
    gaps: each run of valid frames is a motion by itself.

    Args:
        time: (T,) [s], increasing.
        moment_arm: (T, m, n) [m], positive when tension increases the coordinate.
        moment: (T, m) [N m], the net joint moments: whole tendon forces produce them, passive parts included.
        musculotendon_length: (T, n) [m].
        musculotendon_velocity: (T, n) [m/s].
        muscles: their parameters.
        dof: m names.
        lower, upper: bounds of the activation, broadcast to (T, n).
        limits: time constants of activation; None: activation may jump.
        reserve_weight: broadcast to (T, m) [cost per (N m)^2]; None: moments are met exactly.
        emg: (T, n) measured activations, NaN where not measured, for the cost that tracks them.

    Raises:
        InputError: shapes that do not fit, numbers that are not finite, too few frames, or frames too far apart.
    """

    time: Array
    moment_arm: Array
    moment: Array
    musculotendon_length: Array
    musculotendon_velocity: Array
    muscles: ElasticMuscles
    dof: tuple[str, ...]
    lower: Array = 0.0  # type: ignore[assignment]
    upper: Array = 1.0  # type: ignore[assignment]
    limits: RateLimits | None = _USUAL
    reserve_weight: Array | None = None
    emg: Array | None = None

    def __post_init__(self) -> None:
        check_type(self.muscles, ElasticMuscles, "muscles", "ElasticMuscles")
        if self.limits is not None:
            check_type(self.limits, RateLimits, "limits", "RateLimits, or None: activation may jump")
        time = check_increasing(self.time, where="time")
        frames, muscles, moments = len(time), len(self.muscles.names), len(self.dof)
        _check_steps(time)
        shapes: dict[str, tuple[int | str, ...]] = {
            "moment_arm": (frames, moments, muscles),
            "moment": (frames, moments),
            "musculotendon_length": (frames, muscles),
            "musculotendon_velocity": (frames, muscles),
        }
        object.__setattr__(self, "time", time)
        for name, shape in shapes.items():
            object.__setattr__(self, name, check_array(getattr(self, name), name, shape, real=True))
        for name in ("lower", "upper"):
            bound = _over_time(getattr(self, name), name, (frames, muscles))
            object.__setattr__(self, name, check_array(bound, name, (frames, muscles), real=True))
        if self.emg is not None:
            object.__setattr__(self, "emg", _over_time(self.emg, "emg", (frames, muscles)))
        if self.reserve_weight is not None:
            weight = _over_time(self.reserve_weight, "reserve_weight", (frames, moments))
            object.__setattr__(self, "reserve_weight", weight)

    @property
    def n_frames(self) -> int:
        """T."""
        return len(self.time)

    @property
    def coordinate_range(self) -> tuple[Array, Array]:
        """From where the tendons have no force to where no muscle pulls as hard, (T, n) each."""
        shape = self.musculotendon_length.shape
        return np.broadcast_to(self.muscles.start, shape), np.full(shape, LARGEST_COORDINATE)

    @cached_property
    def basis(self) -> TimeBasis:
        """Of the tendon coordinates."""
        return TimeBasis.of(self.time)

    @property
    def mean_step(self) -> float:
        """Between frames [s]."""
        return float(np.diff(self.time).mean())

    @cached_property
    def activation_limits(self) -> ActivationLimits:
        """Between neighboring frames."""
        return ActivationLimits.of(self.limits, self.time)

    def state(self, z: Array, y: Array) -> Equilibrium:
        """Muscles where the tendon coordinates are z and their rates y [1/s], (T, n)."""
        return equilibrium(self.muscles, self.musculotendon_length, self.musculotendon_velocity, z, y)

    @cached_property
    def lever(self) -> Array:
        """Moment of each muscle for one maximum isometric force, (T, m, n) [N m]."""
        return self.moment_arm * self.muscles.parameters.max_isometric_force

    @cached_property
    def compliance(self) -> Array:
        """One over the weight of a reserve in the integral, (T, m); zero where there is none."""
        if self.reserve_weight is None:
            return np.zeros_like(self.moment)
        return 1.0 / (self.weight[:, None] * self.reserve_weight)

    @cached_property
    def weight(self) -> Array:
        """(T,) of the frames in the integral over time by the trapezoid rule, over the mean time between frames."""
        steps = np.diff(self.time)
        total = np.zeros(self.n_frames)
        total[1:] += 0.5 * steps
        total[:-1] += 0.5 * steps
        return total / steps.mean()

    @cached_property
    def isometric(self) -> Problem:
        """The frames as a problem in which every muscle bears its maximum isometric force at activation 1.

        So a cost of forces takes the active tendon force over F0 for the activation.
        """
        strongest = self.muscles.parameters.max_isometric_force
        return Problem(
            moment_arm=self.moment_arm,
            moment=self.moment,
            force_capacity=np.broadcast_to(strongest, self.musculotendon_length.shape),
            max_isometric_force=strongest,
            lower=self.lower,
            upper=self.upper,
            reserve_weight=self.reserve_weight,
            muscle=self.muscles.names,
            dof=self.dof,
            optimal_fiber_length=self.muscles.parameters.optimal_fiber_length,
            emg=self.emg,
        )

    def frames(self, which: Indices | slice) -> MotionProblem:
        """Some of the frames as a motion by itself."""
        per_frame = (
            *("time", "moment_arm", "moment", "musculotendon_length", "musculotendon_velocity"),
            *("lower", "upper", "reserve_weight", "emg"),
        )
        given = {name: getattr(self, name) for name in self.__dataclass_fields__}
        parts = {name: None if given[name] is None else given[name][which] for name in per_frame}
        return MotionProblem(**(given | parts))


def _check_steps(time: Array) -> None:
    """Refuse motions of which no fiber velocity can be made, and those that miss what muscles do."""
    if len(time) < FEWEST_FRAMES:
        raise InputError(
            f"{len(time)} frame{'s' if len(time) > 1 else ''} in a row",
            code="too_few_frames",
            where="time",
            expected=f"at least {FEWEST_FRAMES} frames without a gap: fiber velocities are made of them",
            remedy='use rigid tendons (tendon = "rigid") for single frames',
        )
    steps = np.diff(time)
    worst = int(steps.argmax())
    if steps[worst] > LONGEST_STEP:
        raise InputError(
            f"{1e3 * steps[worst]:.4g} ms between the frames at {time[worst]:g} and {time[worst + 1]:g} s",
            code="uneven_sampling",
            where="time",
            expected=f"at most {1e3 * LONGEST_STEP:g} ms, in which activation can follow",
            remedy='resample the motion, or use rigid tendons (tendon = "rigid")',
        )


def _over_time(given: object, name: str, shape: tuple[int, int]) -> Array:
    expected = f"numbers that broadcast to {shape}"
    array = check_real_array(given, name, expected)
    try:
        return np.broadcast_to(array, shape)
    except ValueError as error:
        raise InputError(
            f"{name} has the shape {array.shape}", code="bad_shape", where=name, expected=expected
        ) from error
