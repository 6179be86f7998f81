"""Problems that have whatever any cost needs, and lists of costs by what can be said of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve import Problem, costs
from musclesolve.sharing.cost.sum_of_terms import SumOfTerms


def has_targets(name: str) -> bool:
    """Whether a registered cost is of distances from targets, and so not least at rest."""
    kind = costs()[name].kind
    return issubclass(kind, SumOfTerms) and kind.target is not SumOfTerms.target


SMOOTH = [name for name, kind in costs().items() if kind().needs <= {"separable", "rows"}]
"""Costs that have slopes."""

RESTING = [name for name in SMOOTH if costs()[name]().needs == {"separable"} and not has_targets(name)]
"""Costs that are least at rest: without soft rows and targets."""

REACTIONS = tuple(f"{joint}_r_{axis}" for joint in ("hip", "knee") for axis in "xyz")


def equipped(problem: Problem, alike: bool = False, seed: int = 3) -> Problem:
    """The problem with fibers, reactions and measured activations of some plausible kind, or alike in all muscles."""
    random = np.random.default_rng(seed)
    frames, _, muscles = problem.moment_arm.shape
    across = random.random((frames, 6, muscles)) < 0.5
    data = {
        "fiber_velocity": random.uniform(-0.5, 0.5, (frames, muscles)),
        "optimal_fiber_length": random.uniform(0.03, 0.2, muscles),
        "joints_crossed": 1.0 + np.arange(muscles) % 2,
        "reaction_matrix": random.uniform(-1.0, 1.0, (frames, 6, muscles)) * across,
        "reaction_offset": random.uniform(-800.0, 800.0, (frames, 6)),
        "emg": np.where(
            random.random((frames, muscles)) < 0.5, random.uniform(0.0, 1.0, (frames, muscles)), np.nan
        ),
    }
    if alike:
        data = {
            "fiber_velocity": np.full((frames, muscles), -0.1),
            "optimal_fiber_length": np.full(muscles, 0.1),
            "joints_crossed": np.ones(muscles),
            "reaction_matrix": np.ones((frames, 6, muscles)),
            "reaction_offset": np.full((frames, 6), -100.0),
            "emg": np.full((frames, muscles), 0.2),
        }
    if not problem.single_frame:
        return replace(problem, **data, reaction=REACTIONS)
    per_frame = {
        name: None if getattr(problem, name) is None else getattr(problem, name)[0]
        for name in ("moment_arm", "moment", "force_capacity", "lower", "upper", "reserve_weight")
    }
    for name in ("fiber_velocity", "reaction_matrix", "reaction_offset", "emg"):
        data[name] = data[name][0]
    return replace(problem, **per_frame, **data, reaction=REACTIONS)


def pennate(problem: Problem) -> Problem:
    """The problem of muscles whose fibers pull at up to 30 degrees, as strong along them as before at the tendon."""
    cosine = np.cos(np.linspace(0.0, np.pi / 6.0, problem.n_muscles))
    along_fibers = problem.force_capacity / (cosine * np.linspace(1.0, 0.98, problem.n_frames)[:, None])
    return problem.with_arrays(
        fiber_force_capacity=along_fibers, max_isometric_force=problem.max_isometric_force / (0.98 * cosine)
    )


def leg(frames: int, seed: int = 0, effort: float = 0.4, dofs: int = 7, muscles: int = 43) -> Problem:
    """Feasible moments of a leg: arms of centimeters, capacities of some hundred newtons, known activations."""
    random = np.random.default_rng(seed)
    crosses = random.random((dofs, muscles)) < 0.4
    crosses[random.integers(dofs, size=muscles), np.arange(muscles)] = True
    arms = random.uniform(-0.06, 0.06, (dofs, muscles)) * crosses
    arms = arms * (1.0 + 0.1 * random.standard_normal((frames, dofs, muscles)))
    strongest = random.uniform(100.0, 2500.0, muscles)
    capacity = strongest * random.uniform(0.05, 1.3, (frames, muscles))
    activation = random.uniform(0.0, effort, (frames, muscles)) ** 1.5
    # where the capacity exceeds F0 an activation of one is out of the domain of soft saturation
    activation = np.minimum(activation, 0.99 * strongest / capacity)
    moment = np.einsum("tmn,tn->tm", arms * capacity[:, None], activation)
    return equipped(Problem(arms, moment, capacity, strongest))
