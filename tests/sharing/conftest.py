from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sharing_cases import equipped

from musclesolve.sharing.problem import Problem


def leg(frames: int, seed: int = 0, effort: float = 0.4, dofs: int = 7, muscles: int = 43) -> Problem:
    """Feasible moments of a leg: arms of centimetres, capacities of some hundred newtons, known activations."""
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


@pytest.fixture(scope="session")
def make_leg() -> Callable[..., Problem]:
    return leg
