"""Forces from outside: wrenches on bodies as generalized forces (Silva 2003, 2.72-2.82)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve.dynamics.model import Model

Array = np.ndarray


@dataclass(frozen=True)
class Wrench:
    """A force (T, 3) [N] and its moment about the global origin (T, 3) [N m] on one body.

    Moment about the origin = point of application x force + free moment. Given this way an unloaded plate, whose
    centre of pressure is meaningless, is simply zero.
    """

    body: str
    force: Array
    moment: Array

    def about(self, point: Array) -> Array:
        """Moment about a moving point (T, 3) [N m]."""
        return self.moment - np.cross(point, self.force)


def external_force(model: Model, q: Array, wrenches: list[Wrench]) -> Array:
    """Generalized force (T, N, 3) of wrenches on bodies."""
    elements = model.elements
    force = np.zeros((len(q), len(elements.slots), 4, 3), q.dtype)
    couple = np.zeros((len(q), len(elements.slots), 3), q.dtype)
    for wrench in wrenches:
        body = model.body(wrench.body)
        force[:, body, 0] += wrench.force
        couple[:, body] += wrench.about(q[:, elements.slots[body, 0]])
    return elements.generalized(q, force + elements.moment_forces(q, couple))
