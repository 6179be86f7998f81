"""The parameter estimation of MuscleRedundancySolver (KU Leuven), rebuilt in CasADi and solved by Ipopt.

The problem stands in the public repository KULeuvenNeuromechanics/MuscleRedundancySolver as it is documented there
(De Groote et al. 2016, Ann Biomed Eng 44:2922-36; Delabastita et al. 2020, Ann Biomed Eng 48:3097-107): all trials and
the free parameters in one program. States are the activation a and the normalized fiber length l, controls the
excitation e and the rate v = dl/dt [L0/s]; p is the fiber length along the tendon. In every mesh point, with forward
Euler and the step h = 10 ms,

    a+ = a + h da/dt(e, a)        l+ = l + h v                 dynamics
    (l L0)^2 = p^2 + (L0 sin alpha0)^2                         constant thickness
    (a f_l(l) f_v(v / v_max) + f_p(l)) p / (l L0) = f_t((L_MT - p) / L_s)    balance of fiber and tendon
    sum_i r_i F0_i f_t_i + 150 N m s = M                       moments, with reserves s

    J = sum over trials of  w_l mean (l - l_measured)^2 + 1/2 mean e^2 + 1/2 mean a^2 + 1000 mean s^2 + 0.01 mean v^2

The tendon is f_t(x) = (exp(k (x - 0.995)) + exp(0.175) - exp(0.005 k)) / 5 - 0.25 with k = 35 times the free factor of
stiffness: all stiffnesses have the same force at slack length. Of the muscles of a model this takes F0, L0, L_s and
alpha0 alone; the curves are by De Groote et al. (2016) whatever the model has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any, NamedTuple

import casadi
import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.locks import CASADI
from musclesolve.constants import USUAL_COST
from musclesolve.muscles import ElasticMuscles, MuscleParameters
from musclesolve.pipeline.body import SharingGroup
from musclesolve.pipeline.share import motion_problem
from musclesolve.trajectory.motion_problem import MotionCost
from musclesolve.trajectory.solve_motion import static_start

RESERVE = 150.0  # [N m] of a reserve actuator at 1
WEIGHT_RESERVE, WEIGHT_RATE = 1000.0, 0.01
ACTIVATION_TIME, DEACTIVATION_TIME, SMOOTHNESS = 0.015, 0.06, 0.1  # [s], [s], of the tanh
STIFFNESS, STIFFNESS_OFFSET = 35.0, 0.995
LENGTHS, RATES = (0.1, 1.7), (-10.0, 10.0)  # of fibers [L0], [L0/s]
SHORTEST = 1e-4  # of a fiber along the tendon [m]
STARTING_ACTIVATION, STARTING_LENGTH = (0.01, 0.99), 0.1  # of the first guess: within, and at least [L0]
BOUNDS = {
    "optimal_fiber_length": (0.7, 1.5),
    "tendon_slack_length": (0.7, 1.5),
    "tendon_stiffness": (0.2, 1.2),
    "max_isometric_force": (0.5, 2.0),  # not free there
}
"""The bounds of free factors, by quantity."""
SETTINGS = {"tol": 1e-6, "max_iter": 10_000, "linear_solver": "mumps", "print_level": 0, "sb": "yes"}


@dataclass(frozen=True)
class Free:
    """A factor on a quantity (`BOUNDS`) that some muscles share."""

    quantity: str
    muscles: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class LeuvenTrial:
    """A motion of T frames, n muscles and m degrees of freedom.

    time (T,) [s], evenly spaced; length: of muscle and tendon (T, n) [m]; arm (T, m, n) [m]; moment (T, m) [N m];
    muscles: of the model; fascicle: measured lengths (T,) [m] by muscle; start: activation and length of the tendon
    (T, n) [m] of single frames, the first guess.
    """

    time: Array
    length: Array
    arm: Array
    moment: Array
    muscles: MuscleParameters
    fascicle: dict[str, Array]
    start: tuple[Array, Array]

    @classmethod
    def from_group(cls, part: SharingGroup, dofs: Sequence[str], fascicle: dict[str, Array]) -> LeuvenTrial:
        """The part of a body, whose named degrees of freedom the muscles serve."""
        rows = [part.dofs.index(name) for name in dofs]
        muscles = ElasticMuscles.from_parameters(part.state.parameters)
        problem = motion_problem(part, slice(None), muscles, reserve_weight=0.01)
        z, activation, *_ = static_start(problem, MotionCost.from_cost(problem, USUAL_COST).cost)
        return cls(
            part.time,
            part.state.musculotendon_length,
            part.state.moment_arm[:, rows],
            part.moment[:, rows],
            part.state.parameters,
            fascicle,
            (activation, muscles.rest + muscles.stretch * z),
        )


@dataclass(frozen=True, eq=False)
class LeuvenCourse:
    """The solution of a trial: activation, fiber_length [m], tendon_strain (T, n), reserve (T - 1, m) [N m]."""

    activation: Array
    fiber_length: Array
    tendon_strain: Array
    reserve: Array


@dataclass(frozen=True, eq=False)
class LeuvenFit:
    """The optimum: factors of the free parameters, courses of the trials, and what it took.

    seconds, setup: processor time of Ipopt, and of making the program [s]; status: what Ipopt says.
    """

    factor: Array
    courses: tuple[LeuvenCourse, ...]
    cost: float
    seconds: float
    setup: float
    iterations: int
    status: str


def estimate(
    trials: Sequence[LeuvenTrial],
    free: Sequence[Free],
    weight: float = 1.0,
    fixed: Array | None = None,
    max_seconds: float = 1e6,
) -> LeuvenFit:
    """Solve all trials together.

    Args:
        trials: with the same muscles.
        free: the parameters to find.
        weight: w_l; 0: measured lengths are not looked at.
        fixed: factors (len(free),) to hold instead of finding them.
        max_seconds: of Ipopt.
    """
    with CASADI:
        begin = process_time()
        theta = casadi.MX.sym("theta", len(free))
        low, high = (np.array([BOUNDS[each.quantity][end] for each in free]) for end in (0, 1))
        if fixed is not None:
            low = high = fixed
        blocks = [Block([theta], casadi.MX(0.0), casadi.MX(0, 1), np.clip(1.0, low, high), low, high)]
        blocks += [_transcribed(trial, free, theta, weight) for trial in trials]
        symbols, cost, equations, start, lower, upper = zip(*blocks, strict=True)
        unknowns = [symbol for block in symbols for symbol in block]
        program = {
            "x": casadi.vertcat(*map(casadi.vec, unknowns)),
            "f": sum(cost),
            "g": casadi.vertcat(*equations),
        }
        options = {"print_time": False, "error_on_fail": False, "show_eval_warnings": False}
        solver = casadi.nlpsol(
            "leuven", "ipopt", program, options | {"ipopt": SETTINGS | {"max_wall_time": max_seconds}}
        )
        ready = process_time()
        result = solver(
            x0=np.concatenate(start), lbx=np.concatenate(lower), ubx=np.concatenate(upper), lbg=0.0, ubg=0.0
        )
        done = process_time()
        statistics = solver.stats()
        values = casadi.Function("blocks", [program["x"]], unknowns)(result["x"])
    factor, *states = (np.asarray(value) for value in values)
    courses = tuple(
        _course(trial, free, factor[:, 0], states[6 * k : 6 * k + 6]) for k, trial in enumerate(trials)
    )
    return LeuvenFit(
        factor[:, 0],
        courses,
        float(result["f"]),
        done - ready,
        ready - begin,
        statistics["iter_count"],
        statistics["return_status"],
    )


def _factors(names: tuple[str, ...], free: Sequence[Free], theta: Any, quantity: str) -> Any:
    """The factor of each muscle on a quantity, (n,) or (n, 1)."""
    one: list[Any] = [1.0] * len(names)
    for k, each in enumerate(free):
        if each.quantity == quantity:
            for name in each.muscles:
                one[names.index(name)] = theta[k]
    return casadi.vertcat(*one) if isinstance(theta, casadi.SX | casadi.MX) else np.array(one, dtype=float)


def _tendon_force(strained: Any, stiffness: Any) -> Any:
    """f_t at tendon lengths over slack length."""
    zero = np.exp(STIFFNESS * (1.0 - STIFFNESS_OFFSET))
    shift = (zero - casadi.exp(stiffness * (1.0 - STIFFNESS_OFFSET))) / 5.0
    return casadi.exp(stiffness * (strained - STIFFNESS_OFFSET)) / 5.0 - 0.25 + shift


def _fiber_forces(length: Any, rate: Any) -> tuple[Any, Any, Any]:
    """Active force by length, factor by velocity (of v_max) and passive force, over F0 (De Groote et al. 2016)."""
    active = sum(
        height * casadi.exp(-0.5 * ((length - center) / (width + growth * length)) ** 2)
        for height, center, width, growth in (
            (0.814483478343008, 1.05503342897057, 0.162384573599574, 0.0633034484654646),
            (0.433004984392647, 0.716775413397760, -0.0299471169706956, 0.200356847296188),
            (0.1, 1.0, np.sqrt(0.125), 0.0),
        )
    )
    d1, d2 = -0.215812499592629 * 1.475, -32.5966241739010 * 0.25
    d3, d4 = -1.12412150864786 + 0.75, 0.912644059915004 - 0.027
    x = d2 * rate + d3
    velocity = d1 * casadi.log(x + casadi.sqrt(x**2 + 1.0)) + d4
    stiff, strain = 4.0, 0.6
    begin = np.exp(stiff * (0.2 - 1.0) / strain)
    passive = (casadi.exp(stiff * (length - 1.0) / strain) - begin) / (np.exp(stiff) - 1.0)
    return active, velocity, passive


def _mesh_point(trial: LeuvenTrial, free: Sequence[Free], step: float) -> Any:
    """The equations of one mesh point as a function of the states there and in the next one, and of the parameters."""
    _, dofs, n = trial.arm.shape
    names, sizes = trial.muscles.names, trial.muscles
    a, fiber, along, excitation, rate = (casadi.SX.sym(name, n) for name in ("a", "l", "p", "e", "v"))
    reserve, a_next, fiber_next = casadi.SX.sym("s", dofs), casadi.SX.sym("a1", n), casadi.SX.sym("l1", n)
    theta, length = casadi.SX.sym("theta", len(free)), casadi.SX.sym("L", n)
    arm, moment = casadi.SX.sym("r", dofs * n), casadi.SX.sym("M", dofs)

    strength = sizes.max_isometric_force * _factors(names, free, theta, "max_isometric_force")
    optimal = sizes.optimal_fiber_length * _factors(names, free, theta, "optimal_fiber_length")
    slack = sizes.tendon_slack_length * _factors(names, free, theta, "tendon_slack_length")
    stiffness = STIFFNESS * _factors(names, free, theta, "tendon_stiffness")

    slower = 0.5 + 1.5 * a
    rising = 0.5 * casadi.tanh(SMOOTHNESS * (excitation - a))
    speed = (rising + 0.5) / (ACTIVATION_TIME * slower) + (0.5 - rising) * slower / DEACTIVATION_TIME
    tendon = _tendon_force((length - along) / slack, stiffness)
    active, velocity, passive = _fiber_forces(fiber, rate / sizes.max_shortening_velocity)
    equations = casadi.vertcat(
        a_next - a - step * speed * (excitation - a),
        fiber_next - fiber - step * rate,
        (a * active * velocity + passive) * along / (fiber * optimal) - tendon,
        casadi.reshape(arm, n, dofs).T @ (strength * tendon) + RESERVE * reserve - moment,
    )
    return casadi.Function(
        "mesh_point",
        [a, fiber, along, excitation, rate, reserve, a_next, fiber_next, theta, length, arm, moment],
        [equations],
    )


class Block(NamedTuple):
    """Symbols, cost and equations of a part of the program, with the first guess and bounds of all its symbols."""

    symbols: list[Any]
    cost: Any
    equations: Any
    start: Array
    lower: Array
    upper: Array


def _transcribed(trial: LeuvenTrial, free: Sequence[Free], theta: Any, weight: float) -> Block:
    """A trial: a, l, p in all mesh points, and e, v, s in all but the last."""
    frames, dofs, n = trial.arm.shape
    count, step = frames - 1, float(np.diff(trial.time).mean())
    names, sizes = trial.muscles.names, trial.muscles
    shapes = {"a": (n, frames), "l": (n, frames), "p": (n, frames), "e": (n, count), "v": (n, count)}
    shapes["s"] = (dofs, count)
    blocks = [casadi.MX.sym(name, *shape) for name, shape in shapes.items()]
    a, fiber, along, excitation, rate, reserve = blocks

    of_point = _mesh_point(trial, free, step).map(count)
    data = trial.length[:-1].T, trial.arm[:-1].reshape(count, -1).T, trial.moment[:-1].T
    of_points = of_point(
        *(a[:, :-1], fiber[:, :-1], along[:, :-1], excitation, rate, reserve, a[:, 1:], fiber[:, 1:]),
        casadi.repmat(theta, 1, count),
        *(casadi.DM(values) for values in data),
    )
    optimal = sizes.optimal_fiber_length * _factors(names, free, theta, "optimal_fiber_length")
    thickness = optimal * np.sin(sizes.pennation_angle)
    every = casadi.repmat(optimal, 1, frames)
    size = sizes.optimal_fiber_length[:, None] ** 2
    projection = ((fiber * every) ** 2 - casadi.repmat(thickness**2, 1, frames) - along**2) / np.tile(
        size, frames
    )

    cost = (
        0.5 * casadi.sumsqr(excitation) / count / n
        + 0.5 * casadi.sumsqr(a) / count / n
        + WEIGHT_RESERVE * casadi.sumsqr(reserve) / count / dofs
        + WEIGHT_RATE * casadi.sumsqr(rate) / count / n
    )
    if weight:
        for name, measured in trial.fascicle.items():
            k = names.index(name)
            off = fiber[k, :] - casadi.DM(measured[None, :]) / optimal[k]
            cost += weight * casadi.sumsqr(off) / len(trial.fascicle) / count

    # activations and tendons of single frames
    activation, tendon = trial.start
    activation = np.clip(activation, *STARTING_ACTIVATION)
    p = np.maximum(trial.length - tendon, STARTING_LENGTH * sizes.optimal_fiber_length)
    l_norm = (
        np.hypot(p, sizes.optimal_fiber_length * np.sin(sizes.pennation_angle)) / sizes.optimal_fiber_length
    )
    v = np.diff(l_norm, axis=0) / step
    guess = [activation, l_norm, p, activation[:-1], v, np.zeros((count, dofs))]
    ranges = [(0.0, 1.0), LENGTHS, (SHORTEST, np.inf), (0.0, 1.0), RATES, (-1.0, 1.0)]
    lower, upper = (
        np.concatenate([np.full(part.size, ends[k]) for part, ends in zip(guess, ranges, strict=True)])
        for k in (0, 1)
    )
    equations = casadi.vertcat(casadi.vec(of_points), casadi.vec(projection))
    return Block(blocks, cost, equations, np.concatenate([part.ravel() for part in guess]), lower, upper)


def _course(trial: LeuvenTrial, free: Sequence[Free], factor: Array, states: Sequence[Array]) -> LeuvenCourse:
    """The states (n, T) of a trial in the terms of muscles."""
    a, fiber, along, _, _, reserve = states
    names, sizes = trial.muscles.names, trial.muscles
    optimal = sizes.optimal_fiber_length * _factors(names, free, factor, "optimal_fiber_length")
    slack = sizes.tendon_slack_length * _factors(names, free, factor, "tendon_slack_length")
    return LeuvenCourse(a.T, fiber.T * optimal, (trial.length - along.T) / slack - 1.0, RESERVE * reserve.T)
