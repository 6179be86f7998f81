"""Activation dynamics: the activation that follows an excitation, fast up and slowly down.

With the time constants t_a of activation and t_d of deactivation and z = 1/2 + 3/2 a,

    thelen_2003        da/dt = (e - a) / (t_a z)  where e > a,   (e - a) z / t_d  where not      (Thelen 2003, 1-2)
    de_groote_2016     da/dt = (e - a) ((1/2 + f) / (t_a z) + (1/2 - f) z / t_d),  f = 1/2 tanh(b (e - a))
                                                                        (De Groote et al. 2016, 1-2; b = 0.1)

The first is the second with a switch instead of the hyperbolic tangent. Both rest at a = e. With b = 0.1, as published,
f stays below 0.05: activation and deactivation are then nearly equally fast, between the two constants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice, check_number
from musclesolve.errors import InputError
from musclesolve.muscles.driving.muscle_course import ACTIVATION, Course, Sampling, muscle_course

SMOOTHNESS = 0.1
"""b of De Groote et al. (2016)."""

_TOLERANCE = 1e-8

Rate = Callable[[Array, Array, float, float], Array]


def thelen_2003(excitation: Array, activation: Array, rise: float, fall: float) -> Array:
    """da/dt [1/s] of excitations and activations (...,), time constants [s]."""
    z = 0.5 + 1.5 * activation
    return (excitation - activation) * np.where(excitation > activation, 1.0 / (rise * z), z / fall)


def de_groote_2016(excitation: Array, activation: Array, rise: float, fall: float) -> Array:
    """da/dt [1/s] of excitations and activations (...,), time constants [s]."""
    z = 0.5 + 1.5 * activation
    f = 0.5 * np.tanh(SMOOTHNESS * (excitation - activation))
    return (excitation - activation) * ((0.5 + f) / (rise * z) + (0.5 - f) * z / fall)


EQUATIONS: dict[str, Rate] = {"thelen_2003": thelen_2003, "de_groote_2016": de_groote_2016}
"""Equations of activation dynamics by name."""


@dataclass(frozen=True)
class ActivationDynamics:
    """How activation follows excitation: the equation by name, its time constants [s], and the activation at the start.

    start: a number or (n,); the excitation at the start, in which activation rests, unless given.
    """

    equation: str = "thelen_2003"
    activation_time: float = 0.010
    deactivation_time: float = 0.040
    start: float | Array | None = None

    def __post_init__(self) -> None:
        """Refuse unknown equations and times that are not positive."""
        check_choice(self.equation, "the equation of activation dynamics", tuple(EQUATIONS))
        for name in ("activation_time", "deactivation_time"):
            check_number(getattr(self, name), name, "a positive number of seconds", above=0.0)

    def rate(self, excitation: Array, activation: Array) -> Array:
        """da/dt [1/s]."""
        return EQUATIONS[self.equation](excitation, activation, self.activation_time, self.deactivation_time)

    def activation(self, names: tuple[str, ...], excitation: Course, time: Array | None) -> Course:
        """The activation of muscles (n) from the first to the last of some times [s].

        It depends on the excitation alone, not on the motion: it is integrated here, before the simulation, by
        a Runge-Kutta method with its own steps (relative error 1e-8), and is then a function of time.
        """
        from scipy.integrate import solve_ivp

        if time is None:
            raise InputError(
                "an excitation without times",
                code="missing_argument",
                where="time",
                expected="the times [s] between which its activation is wanted",
            )
        first = excitation(time[:1])[0] if self.start is None else self.start
        start = muscle_course(names, first, Sampling(), ACTIVATION)(time[:1])[0]
        found = solve_ivp(
            lambda t, a: self.rate(excitation(np.array([t]))[0], a),
            (time[0], time[-1]),
            start,
            method="DOP853",
            rtol=_TOLERANCE,
            atol=_TOLERANCE,
            max_step=min(self.activation_time, self.deactivation_time),
            dense_output=True,
        )
        return muscle_course(names, _within(found.sol, time), Sampling(), ACTIVATION)


def _within(solution: Callable[[Array], Array], time: Array) -> Course:
    """The solution (n, T) of a solver as a course (T, n), within the times for which it was found."""
    first, last = float(time[0]), float(time[-1])

    def values(at: Array) -> Array:
        if at.min() < first - 1e-12 or at.max() > last + 1e-12:
            raise InputError(
                f"the excitation is given from {first:g} to {last:g} s, but its activation wanted at "
                f"{float(at.min() if at.min() < first else at.max()):g} s",
                code="bad_range",
                remedy="simulate within these times, or give later ones",
            )
        return np.asarray(solution(np.clip(at, first, last)).T)

    return values
