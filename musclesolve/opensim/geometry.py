"""Musculotendon lengths and moment arms of an OpenSim model over poses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.muscles.paths.layout import PathLines, PathNodes
from musclesolve.muscles.paths.solve import solve_paths, trace_paths
from musclesolve.opensim.kinematics import BodyMotion, body_motion, coordinate_values
from musclesolve.opensim.model import OpenSimModel
from musclesolve.opensim.path_system import PathSystem, path_system

_BLOCK = 256
"""Most poses worked on at once, for memory."""


@dataclass(frozen=True, eq=False)
class OpenSimGeometry:
    """Muscles (n) over poses (T): length (T, n) [m]; moment_arm (T, m, n), -dL/dq of m coordinates [m; 1 if lengths].

    coordinates, muscles: their names. opensim_length, opensim_arm: what OpenSim 4 reports for the same paths. For
    muscles without wraps it is the same. With wraps its tangent points are not those of a shortest path, so its arms
    are not the derivatives of its lengths, and over several objects its lengths belong to no path (`solve_paths`).
    """

    coordinates: tuple[str, ...]
    muscles: tuple[str, ...]
    length: Array
    moment_arm: Array
    opensim_length: Array
    opensim_arm: Array


def opensim_geometry(
    model: OpenSimModel,
    values: Mapping[str, Array],
    coordinates: Sequence[str] | None = None,
    muscles: Sequence[str] | None = None,
) -> OpenSimGeometry:
    """Lengths and moment arms of muscles of a model.

    Args:
        model: from `read_osim`.
        values: (T,) [rad or m] of coordinates by name; others have their default, coupled ones follow.
        coordinates: those whose moment arms are wanted, of `values` by default. What a coupler drives moves with
            them.
        muscles: names; all by default.

    Raises:
        InputError: a name is unknown, or a muscle needs something that is not supported.
    """
    chosen = model.chosen(muscles)
    names = tuple(values if coordinates is None else coordinates)
    every = coordinate_values(model, values)
    system = path_system(model, chosen)
    wrapped = bool(system.layout.wraps)
    found: list[list[Array]] = [[], [], [], []]
    for start in range(0, len(every), _BLOCK):
        block = every[start : start + _BLOCK]
        motion = body_motion(model, block, names)
        position, center, rotation = system.placed(motion, block)
        places = system.layout, position, system.on(block), center, rotation
        nodes = solve_paths(*places)
        arms = _moment_arms(system, motion, block, nodes, names)
        other, other_arms = nodes, arms
        if wrapped:
            other = solve_paths(*places, as_opensim=True)
            other_arms = _moment_arms(system, motion, block, other, names)
        for blocks, values_of_block in zip(
            found, (nodes.length, arms, other.length, other_arms), strict=True
        ):
            blocks.append(values_of_block)
    length, moment_arm, opensim_length, opensim_arm = map(np.concatenate, found)
    return OpenSimGeometry(
        coordinates=names,
        muscles=tuple(muscle.name for muscle in chosen),
        length=length,
        moment_arm=moment_arm,
        opensim_length=opensim_length,
        opensim_arm=opensim_arm,
    )


def path_lines(model: OpenSimModel, values: Array, muscles: Sequence[str]) -> PathLines:
    """Paths as lines, for drawing, for values (T, K) of all coordinates.

    Raises:
        InputError: a name is unknown, or a muscle needs something that is not supported.
    """
    system = path_system(model, model.chosen(muscles))
    blocks = []
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        position, center, rotation = system.placed(body_motion(model, block), block)
        blocks.append(trace_paths(system.layout, position, system.on(block), center, rotation))
    positions = np.concatenate([block.position for block in blocks])
    return PathLines(blocks[0].muscle, positions, np.concatenate([block.used for block in blocks])).trimmed()


def path_wrenches(model: OpenSimModel, values: Array, muscles: Sequence[str], tendon_force: Array) -> Array:
    """What tendon forces (T, n) [N] do to the bodies (B): moment about the origin of the ground and force, (T, B, 6).

    A node pulls its body with -F dL/dr.

    Raises:
        InputError: a name is unknown, or a muscle needs something that is not supported.
    """
    found = np.zeros((len(values), len(model.bodies), 6))
    if not muscles:
        return found
    system = path_system(model, model.chosen(muscles))
    for start in range(0, len(values), _BLOCK):
        part = slice(start, start + _BLOCK)
        motion = body_motion(model, values[part])
        position, center, rotation = system.placed(motion, values[part])
        nodes = solve_paths(system.layout, position, system.on(values[part]), center, rotation)
        bodies, wrench = _unit_wrenches(system, nodes)
        found[part, bodies] = -np.einsum("tn,tnbk->tbk", tendon_force[part], wrench)
    return found


def path_pulls(model: OpenSimModel, values: Array, muscles: Sequence[str], beyond: Array) -> Array:
    """Sums of dL/dr over the nodes on some bodies, (T, n, J, 3): minus the forces of unit tension on them.

    Args:
        values: (T, K) [rad or m] of all coordinates.
        muscles: names of the n muscles.
        beyond: (J, B), one where a body belongs to a sum.
    """
    system = path_system(model, model.chosen(muscles))
    pulls = np.empty((len(values), len(muscles), len(beyond), 3))
    for start in range(0, len(values), _BLOCK):
        part = slice(start, start + _BLOCK)
        position, center, rotation = system.placed(body_motion(model, values[part]), values[part])
        nodes = solve_paths(system.layout, position, system.on(values[part]), center, rotation)
        bodies, wrench = _unit_wrenches(system, nodes)
        pulls[part] = np.einsum("jb,tnbk->tnjk", beyond[:, bodies], wrench[..., 3:])
    return pulls


def _unit_wrenches(system: PathSystem, nodes: PathNodes) -> tuple[Indices, Array]:
    """Bodies (b) of the nodes, and moment about the origin and force of dL/dr on them, (T, n, b, 6)."""
    bodies, place = np.unique(system.node_body, return_inverse=True)
    count, frames = system.layout.muscles, len(nodes.length)
    wrench = np.concatenate([np.cross(nodes.position, nodes.gradient), nodes.gradient], axis=2)
    group = system.layout.node_muscle * len(bodies) + place
    order = np.argsort(group, kind="stable")
    groups, first = np.unique(group[order], return_index=True)
    total = np.zeros((frames, count * len(bodies), 6))
    total[:, groups] = np.add.reduceat(wrench[:, order], first, axis=1)
    return bodies, total.reshape(frames, count, len(bodies), 6)


def _moment_arms(
    system: PathSystem, motion: BodyMotion, values: Array, nodes: PathNodes, names: Sequence[str]
) -> Array:
    """-dL/dq (T, m, n): minus the power of unit tension at the nodes, for unit rates of the coordinates."""
    bodies, wrench = _unit_wrenches(system, nodes)
    frames, count = wrench.shape[:2]
    by_muscle = wrench.reshape(frames, count, len(bodies) * 6)
    twist = motion.twist[:, :, bodies].reshape(frames, len(names), len(bodies) * 6)
    arms = -twist @ by_muscle.transpose(0, 2, 1)
    return arms - _of_moving_points(system, motion, values, nodes, names)


def _of_moving_points(
    system: PathSystem, motion: BodyMotion, values: Array, nodes: PathNodes, names: Sequence[str]
) -> Array:
    """dL/dq (T, m, n) from points that move in their bodies."""
    model = system.model
    chain = coordinate_chain(model, values, names)
    found = np.zeros((len(values), len(names), system.layout.muscles))
    for point, coordinate, slope in system.local_slopes(values):
        rotated = motion.rotation[:, system.node_body[point]] @ slope[..., None]
        rate = (nodes.gradient[:, point] * rotated[..., 0]).sum(axis=1)
        found[:, :, system.layout.point_muscle[point]] += chain[:, coordinate] * rate[:, None]
    return found


def coordinate_chain(model: OpenSimModel, values: Array, names: Sequence[str]) -> Array:
    """d(every coordinate)/d(named coordinates), (T, K, m), by the couplers."""
    number = model.coordinate_number
    chain = np.zeros((len(values), values.shape[1], len(names)))
    chain[:, [number[name] for name in names], np.arange(len(names))] = 1.0
    for coupler in model.couplers:
        columns = [number[name] for name in coupler.independent]
        slope = coupler.function.derivative(values[:, columns])
        chain[:, number[coupler.dependent]] = (slope[:, :, None] * chain[:, columns]).sum(axis=1)
    return chain
