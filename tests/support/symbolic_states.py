"""The symbolic chain beside the numeric one on random poses: largest differences of what both compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from fiber_dynamics import FiberDynamics
from poses import motion_through

from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.inverse_dynamics import ModelMotion
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.muscles import ElasticMuscles, muscle_state
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.symbolic.path_length import all_coordinates

SETS = "silva_2003", "silva_2003_wrapped", "gait2392", "gait2392_hip", "rajagopal_2023"
FAMILIES = "silva_2003", "thelen_2003", "millard_2013", "millard_2013_rajagopal", "de_groote_2016"
MODELS = Path(__file__).parents[3] / "shared" / "data" / "opensim_models"


class States(NamedTuple):
    """Poses (T, m) [rad or m], rates (T, m) and activations (T, n)."""

    q: np.ndarray
    qd: np.ndarray
    activation: np.ndarray


def random_states(chain, poses: int, body: Any = None, seed: int = 1) -> States:
    """Random states: knees bent by 0 to 110 degrees, other joints by up to 40; of an OpenSim model in its ranges."""
    rng = np.random.default_rng(seed)
    low, high = -np.radians(40.0) * np.ones(len(chain.dofs)), np.radians(40.0) * np.ones(len(chain.dofs))
    for k, name in enumerate(chain.dofs):
        if isinstance(body, OpenSimModel):
            coordinate = body.coordinates[name]
            low[k], high[k] = max(coordinate.lower, -1.0), min(coordinate.upper, 2.0)
        elif name.startswith("knee"):
            low[k], high[k] = 0.0, np.radians(110.0)
    q = low + (high - low) * rng.random((poses, len(low)))
    return States(q, rng.normal(0.0, 2.0, q.shape), rng.random((poses, len(chain.muscles))))


def symbolic(function: Any, *arguments: np.ndarray) -> tuple[np.ndarray, ...]:
    """All results (T, ...) of a function in states (T, ...)."""
    rows = [function(*row) for row in zip(*arguments, strict=True)]
    results = zip(*(row if isinstance(row, tuple) else (row,) for row in rows), strict=True)
    return tuple(
        np.array(
            [np.squeeze(np.array(each), axis=1) if each.shape[1] == 1 else np.array(each) for each in of]
        )
        for of in results
    )


def numeric_state(body: Any, muscles: Any, chain, states: States) -> MuscleState:
    """The state of the muscles by the numeric chain."""
    if isinstance(body, OpenSimModel):
        values = dict(zip(chain.dofs, states.q.T, strict=True))
        geometry = opensim_geometry(body, values, chain.dofs, chain.muscles, reported=False)
        rate = -np.einsum("tmn,tm->tn", geometry.moment_arm, states.qd)
        return MuscleState.from_lengths(chain.muscle_parameters, geometry.length, rate, geometry.moment_arm)
    coordinates = np.zeros((len(states.q), len(body.topology.dof_names)))
    rates = np.zeros_like(coordinates)
    numbers = [body.dof(name) for name in chain.dofs]
    coordinates[:, numbers], rates[:, numbers] = states.q, states.qd
    time = np.arange(len(states.q), dtype=float)
    return muscle_state(body, muscles, motion_through(body, coordinates, rates, time=time))


def differences(chain, states: States, state: MuscleState) -> dict[str, float]:
    """Largest differences of the chain from a numeric state of rigid tendons, by quantity."""
    q, qd, a = states
    force = a * state.force_capacity + state.passive_force
    fiber = symbolic(chain.fiber, q, qd)
    pairs = {
        "length": (symbolic(chain.length, q)[0], state.musculotendon_length),
        "velocity": (symbolic(chain.velocity, q, qd)[0], state.musculotendon_velocity),
        "arm": (symbolic(chain.moment_arm, q)[0], state.moment_arm),
        "fiber": (fiber[0], state.fiber_length),
        "capacity": (symbolic(chain.capacity, q, qd)[0], state.force_capacity),
        "passive": (symbolic(chain.passive, q, qd)[0], state.passive_force),
        "force": (symbolic(chain.force, *states)[0], force),
        "moment": (symbolic(chain.moment, *states)[0], np.einsum("tmn,tn->tm", state.moment_arm, force)),
    }
    return {name: float(np.abs(one - other).max()) for name, (one, other) in pairs.items()}


def elastic_differences(chain, states: States, state: MuscleState) -> dict[str, float]:
    """Largest differences of tendon forces [N] and moments [N m] of elastic tendons from bisection."""
    muscles = ElasticMuscles.from_parameters(chain.muscle_parameters)
    dynamics, length = FiberDynamics(muscles), state.musculotendon_length
    z = dynamics.equilibrium(length, states.activation, state.musculotendon_velocity)
    force = dynamics.forces(length, z).tendon * chain.muscle_parameters.max_isometric_force
    moment = np.einsum("tmn,tn->tm", state.moment_arm, force)
    pairs = ("force", force, chain.force), ("moment", moment, chain.moment)
    return {name: float(np.abs(symbolic(f, *states)[0] - value).max()) for name, value, f in pairs}


def derivative_differences(chain, states: States) -> dict[str, float]:
    """Largest differences of first and second derivatives from central differences.

    By the pose, of a sum of the lengths with random weights [m/rad, m/rad^2] and of a sum of moments [N m/rad].
    Differences across a jump, where a point joins the path or a tendon becomes taut, are not counted: these are poses
    with other differences for half the step. Second derivatives of moments need third derivatives of lengths, which
    for iterated paths are differences of differences: they are not compared.
    """
    step, alike = 1e-5, 1e-5
    rng, m = np.random.default_rng(0), len(chain.dofs)
    q, qd, a = (ca.MX.sym(name, size) for name, size in (("q", m), ("qd", m), ("a", len(chain.muscles))))
    weights = rng.random(len(chain.muscles))
    length, moment = ca.dot(weights, chain.length(q)), ca.dot(np.ones(m), chain.moment(q, qd, a))
    found = {}
    for name, value in (("d length", length), ("d moment", moment)):
        slope = ca.gradient(value, q)
        orders = [(1, value, slope)]
        if not (chain.iterated and name == "d moment"):
            orders.append((2, slope, ca.jacobian(slope, q)))
        for order, below, above in orders:
            low, high = (ca.Function("f", [q, qd, a], [ca.densify(each)]) for each in (below, above))
            exact = np.array([np.array(high(*state)).reshape(m, -1) for state in zip(*states, strict=True)])
            quotients = [_quotients(low, states, h) for h in (step, 0.5 * step)]
            scale = np.abs(exact).max(axis=(1, 2), initial=1.0)[:, None, None]
            smooth = (np.abs(quotients[0] - quotients[1]) < alike * scale).all(axis=(1, 2))
            assert smooth.mean() > 0.5, name
            found[f"{name}, order {order}"] = float((np.abs(exact - quotients[1]) / scale)[smooth].max())
    return found


def _quotients(function: Any, states: States, step: float) -> np.ndarray:
    """Central differences (T, m, ...) by the pose."""
    rows = []
    for q, qd, a in zip(*states, strict=True):
        ends = [[np.array(function(q + s * d, qd, a)).ravel() for s in (step, -step)] for d in np.eye(len(q))]
        rows.append([(after - before) / (2.0 * step) for after, before in ends])
    return np.array(rows)


def drawn_motion(model, dofs, seed=1, frames=6):
    """Random values, rates and accelerations of the free coordinates, and of all of them by the couplers."""
    draw = np.random.default_rng(seed)
    free = [size * draw.normal(size=(frames, len(dofs))) for size in (0.3, 1.0, 5.0)]
    symbols = [ca.SX.sym(name, len(dofs)) for name in ("c", "cd", "cdd")]
    whole = ca.vertcat(
        *all_coordinates(model, dict(zip(dofs, ca.vertsplit(symbols[0]), strict=True))).values()
    )
    rate = ca.jtimes(whole, symbols[0], symbols[1])
    second = ca.jtimes(rate, symbols[0], symbols[1]) + ca.jtimes(whole, symbols[0], symbols[2])
    every = ca.Function("every", symbols, [whole, rate, second])
    rows = [[np.array(part).ravel() for part in every(*(array[t] for array in free))] for t in range(frames)]
    arrays = [np.stack(part) for part in zip(*rows, strict=True)]
    return free, ModelMotion(0.1 * np.arange(frames), *arrays)
