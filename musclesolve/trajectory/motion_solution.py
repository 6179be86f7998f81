"""The solution of a motion: activations, forces, fibers and tendons, with status and certificate of every frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.status import Status


@dataclass(frozen=True, eq=False)
class MotionSolution:
    """Frames (T), muscles (n), moments (m).

    Attributes:
        time: (T,) [s].
        status: (T,) of `Status`.
        kkt_residual: (T,) the certificate, recomputed (certificate.py).
        cost: (T,) of each frame.
        activation: (T, n).
        force: (T, n) [N] of the contractile elements at the tendon; with passive_force it is the tendon force.
        passive_force: (T, n) [N] at the tendon.
        force_capacity: (T, n) [N] at activation 1 in this state of the fiber.
        fiber_length: (T, n) [m]; fiber_velocity: (T, n) [m/s], positive when fibers lengthen.
        cos_pennation: (T, n).
        tendon_length: (T, n) [m], between its ends, also where it is slack.
        tendon_strain: (T, n), of its slack length; zero for rigid tendons.
        tendon_energy: (T, n) [J] stored in the tendon.
        reserve: (T, m) [N m]; multiplier: (T, m) [cost per N m].
        falling_multiplier, rising_multiplier: (T-1, n) how much less the motion would cost if an activation could
            fall or rise by one unit more between two frames.
        defect: (T-1, n) in the middle between two frames, where nothing holds the balance of tendon and fiber: the
            activation that balances them there, less the one between the two; an error of the time between frames.
        solver: the method that found it; iterations: its steps; notes: what a user should know, sentences.
        lacks: whether a motion is not solved because the muscles cannot produce the moments.
    """

    time: Array
    status: NDArray[np.int8]
    kkt_residual: Array
    cost: Array
    activation: Array
    force: Array
    passive_force: Array
    force_capacity: Array
    fiber_length: Array
    fiber_velocity: Array
    cos_pennation: Array
    tendon_length: Array
    tendon_strain: Array
    tendon_energy: Array
    reserve: Array
    multiplier: Array
    falling_multiplier: Array
    rising_multiplier: Array
    defect: Array
    cost_name: str
    solver: str
    iterations: int
    notes: tuple[str, ...] = ()
    lacks: bool = False

    @property
    def solved(self) -> Mask:
        """(T,) which frames have a valid solution."""
        return np.asarray(np.isin(self.status, (Status.SOLVED, Status.SOLVED_WITH_RESERVE)))

    @property
    def fiber_power(self) -> Array:
        """(T, n) [W] that the fibers deliver, -F_fiber dl/dt with F_fiber = F_T / cos(alpha); positive: shortening."""
        total = self.force + self.passive_force
        return (
            -np.divide(total, self.cos_pennation, out=np.zeros_like(total), where=self.cos_pennation > 0.0)
            * self.fiber_velocity
        )
