"""Defects of the states of a solution of direct collocation, at its nodes and in the middles of its intervals.

A solver of direct collocation meets the equations of motion at its nodes only. Between the nodes the states are
splines. With the cubic splines q(t), u(t), a(t) and e(t) through the positions, speeds, activations and excitations,

    positions    dq/dt - u              [rad/s or m/s]
    activations  da/dt - rate(e, a)     [1/s]

are zero for a motion that obeys its own equations (rate: muscles/driving/muscle_forces.py, by the kind of the muscle).
The spline has an error of its own, of third order in the length of an interval for its slope.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.splines import spline_through
from musclesolve.models.opensim.foreign_solution import ForeignSolution
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.muscles.driving.muscle_forces import de_groote_2016, thelen_2003

FEWEST_NODES = 4
"""Rows of a table from which a cubic spline goes through them."""


@dataclass(frozen=True)
class Defect:
    """The largest defects of one state: kind "position" or "activation", name, unit, size and time [s].

    largest_rate: of the state in the table, to compare with.
    """

    kind: str
    name: str
    unit: str
    at_node: float
    node_s: float
    at_middle: float
    middle_s: float
    largest_rate: float


def solution_defects(solution: ForeignSolution, model: OpenSimModel) -> list[Defect]:
    """The defects of all coordinates with position and speed, and of all muscles with activation and excitation."""
    if len(solution.time) < FEWEST_NODES:
        return []
    return [*_of_positions(solution, model), *_of_activations(solution, model)]


def _of_positions(solution: ForeignSolution, model: OpenSimModel) -> Iterator[Defect]:
    time = solution.time
    for name, value in solution.value.items():
        if name in solution.speed:
            speed = solution.speed[name]
            unit = "rad/s" if model.coordinates[name].rotational else "m/s"
            curve, rate = (spline_through(time, values) for values in (value, speed))
            nodes, between = (np.abs(curve(at, 1) - rate(at)) for at in (time, _middles(time)))
            yield _defect("position", name, unit, time, nodes, between, speed)


def _of_activations(solution: ForeignSolution, model: OpenSimModel) -> Iterator[Defect]:
    time = solution.time
    for name, excitation in solution.control.items():
        activation, muscle = solution.activation[name], model.muscles[name]
        if activation is excitation or muscle.time_constants is None:
            continue
        smooth = {} if muscle.smoothness is None else {"smoothness": muscle.smoothness}
        rate = de_groote_2016 if smooth else thelen_2003
        driving, driven = (spline_through(time, values) for values in (excitation, activation))
        nodes, between = (
            np.abs(driven(at, 1) - rate(driving(at), driven(at), *muscle.time_constants, **smooth))
            for at in (time, _middles(time))
        )
        yield _defect("activation", name, "1/s", time, nodes, between, driven(time, 1))


def _middles(time: Array) -> Array:
    return np.asarray(0.5 * (time[1:] + time[:-1]))


def _defect(
    kind: str, name: str, unit: str, time: Array, nodes: Array, between: Array, rate: Array
) -> Defect:
    """The largest of the sizes of defects at the nodes (T,) and between them (T - 1,), and the largest rate (T,)."""
    k, j = int(nodes.argmax()), int(between.argmax())
    sizes = float(nodes[k]), float(time[k]), float(between[j]), float(_middles(time)[j])
    return Defect(kind, name, unit, *sizes, float(np.abs(rate).max()))
