"""Musculotendon lengths and moment arms of an OpenSim model over poses.

Over several wrap objects the lengths that OpenSim reports do not belong to a path (muscles/paths/kernel/wrapping.py):
for the gastrocnemii of the Rajagopal models they are 2 to 9 mm less with the knee straight and equal beyond 60 degrees
of flexion. Optimal fiber and tendon slack lengths of a model were chosen with these lengths, and 8 mm are 0.12 optimal
lengths of a gastrocnemius. With independent frames (rigid tendons) fibers have OpenSim's lengths, and velocities are of
the path, as in OpenSim. If the rate of a length must be its velocity (elastic tendons), and on another skeleton (a
muscle set from the model), the length is of the path and the tendon slack length is greater by the difference in the
neutral pose, all coordinates zero: in this pose normalized fiber lengths are OpenSim's, with the knee flexed they are
less by up to the same difference.

If a length of OpenSim is NaN or an optimal fiber length away from the length of the path, because its search for
tangent points failed, the length of the path is used.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, contiguous
from musclesolve._util.checks import check_type, one_or_several
from musclesolve._util.messages import check_known
from musclesolve.errors import file_error, input_error
from musclesolve.models.opensim.functions import Function
from musclesolve.models.opensim.kinematics import BodyMotion, body_motion, coordinate_values, joint_axes
from musclesolve.models.opensim.model import OpenSimModel, OpenSimMuscle, OpenSimPath, OpenSimPoint
from musclesolve.muscles.paths.engine import PathLayout, PathLines, PathNodes, solve_paths, trace_paths

if TYPE_CHECKING:
    from musclesolve.models.opensim.joint_kernel import MuscleGroups

FULL_TURN = 2.0 * np.pi
"""Angle [rad] that no joint exceeds; in degrees the angles of a step do."""
_BLOCK = 256
"""Largest number of poses in one block, for memory."""


@dataclass(frozen=True, eq=False)
class OpenSimGeometry:
    """Muscles (n) over poses (T): length (T, n) [m]; moment_arm (T, m, n), -dL/dq of m coordinates [m; 1 if lengths].

    coordinates, muscles: their names. opensim_length, opensim_arm: lengths and moment arms that OpenSim 4 reports,
    equal for muscles without wraps. With wraps, OpenSim's tangent points do not belong to a shortest path, so that its
    arms are not the derivatives of its lengths, and over several objects its lengths belong to no path (`solve_paths`).
    """

    coordinates: tuple[str, ...]
    muscles: tuple[str, ...]
    length: Array
    moment_arm: Array
    opensim_length: Array
    opensim_arm: Array


def beyond_a_turn(
    model: OpenSimModel, muscles: Iterable[str], names: Iterable[str], values: Array
) -> Iterator[tuple[str, Array]]:
    """Yield coordinates (K) that turn a joint under a muscle by more than a full turn, with these angles [rad]."""
    crossed = frozenset().union(*(model.crossing[muscle] for muscle in muscles))
    for name, column in zip(names, values.T, strict=True):
        beyond = column[np.abs(column) > FULL_TURN]
        if beyond.size and name in crossed and model.coordinates[name].rotational:
            yield name, beyond


def opensim_geometry(
    model: OpenSimModel,
    values: Mapping[str, Array],
    coordinates: Sequence[str] | None = None,
    muscles: Sequence[str] | None = None,
    reported: bool = True,
) -> OpenSimGeometry:
    """Lengths and moment arms of muscles of a model.

    Args:
        model: from `read_osim`.
        values: (T,) [rad or m] of coordinates by name; others have their default, coupled ones follow.
        coordinates: coordinates of the moment arms, by default all in `values`; coupled coordinates move with them.
        muscles: names; all by default.
        reported: whether OpenSim's moment arms are computed, and its lengths of muscles over a single object; if not,
            they are the derivatives and lengths of the shortest paths.

    Raises:
        InputError: a name is unknown, values are no numbers, or more than 360 degrees of a joint that a muscle crosses;
            no muscle is named, or one needs something that is not supported.
    """
    check_type(model, OpenSimModel, "model", "an OpenSim model, from read_osim()")
    chosen = model.chosen(None if muscles is None else one_or_several(muscles))
    if not chosen:
        raise input_error("models.opensim.no_muscle_named", file=model.file)
    all_values = coordinate_values(model, values)
    for name, angles in beyond_a_turn(
        model, [muscle.name for muscle in chosen], model.coordinates, all_values
    ):
        raise input_error("dynamics.angle_beyond_a_turn", where=name, angle=angles[0])
    names = tuple(values if coordinates is None else one_or_several(coordinates))
    check_known(names, "coordinate", model.coordinates, f" in {model.name!r}")
    drawn = [muscle for muscle in chosen if muscle.by_function is None]
    of_functions = _by_functions(model, all_values, names, chosen)
    of_muscles = tuple(muscle.name for muscle in chosen)
    if not drawn:
        return OpenSimGeometry(names, of_muscles, *of_functions, *of_functions)
    system = path_system(model, tuple(drawn))
    # the muscles of which OpenSim reports other numbers
    wrapped = np.unique(system.layout.wrap_muscle)
    differs = [not drawn[k].is_geodesic if reported else over_several(model, drawn[k].name) for k in wrapped]
    others = wrapped[np.array(differs, bool)]
    theirs, blocks = path_system(model, tuple(drawn[k] for k in others)) if others.size else system, []
    layout, points = system.layout.picked(others) if others.size else (system.layout, others)
    for _, motion, paths in path_blocks(system, all_values):
        nodes = solve_paths(*paths)
        results = [nodes.length, system.arms(nodes, motion, names)]
        if others.size:
            _, position, on, *objects = paths
            nodes = solve_paths(layout, position[:, points], on[:, points], *objects, as_opensim=True)
            results.append(results[0].copy())
            results[2][:, others] = nodes.length
            if reported:
                results.append(results[1].copy())
                results[3][:, :, others] = theirs.arms(nodes, motion, names, as_opensim=True)
        blocks.append(results)
    columns = np.array([muscle.by_function is None for muscle in chosen])
    results = blocks[0]
    if len(blocks) > 1:
        results = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
    for k, column in enumerate(results if len(drawn) < len(chosen) else ()):
        results[k] = of_functions[k % 2].copy()
        results[k][..., columns] = column
    ours, of_opensim = results[:2], results[2:]
    # what OpenSim reports alike is the same array
    return OpenSimGeometry(names, of_muscles, *ours, *of_opensim, *ours[len(of_opensim) :])


def _by_functions(
    model: OpenSimModel, values: Array, names: Sequence[str], muscles: Sequence[OpenSimMuscle]
) -> tuple[Array, Array]:
    """Lengths (T, n) [m] and moment arms -dL/dq (T, m, n) by functions of paths; zero for other muscles."""
    length = np.zeros((len(values), len(muscles)))
    arm = np.zeros((len(values), len(names), len(muscles)))
    if any(muscle.by_function for muscle in muscles):
        chain, number = coordinate_chain(model, values, names), model.coordinate_number
        for k, muscle in enumerate(muscles):
            if (path := muscle.by_function) is not None:
                columns = [number[name] for name in path.coordinates]
                length[:, k] = path.function.value(values[:, columns])
                slope = path.function.derivative(values[:, columns])
                arm[:, :, k] = -np.einsum("tc,tcm->tm", slope, chain[:, columns])
    return length, arm


def path_blocks(
    system: "PathSystem", values: Array, known: BodyMotion | None = None
) -> Iterator[tuple[slice, BodyMotion, tuple[PathLayout, Array, Mask, Array, Array]]]:
    """Blocks of poses (T, K): their slice, the poses of the bodies, the arguments of `solve_paths`; known: these poses,
    if they were computed before.
    """
    for start in range(0, max(len(values), 1), _BLOCK):
        part = slice(start, start + _BLOCK)
        motion = body_motion(system.model, values[part]) if known is None else known.poses(part)
        position, center, rotation = system.placed(motion)
        yield part, motion, (system.layout, position, system.on(values[part]), center, rotation)


def path_lines(model: OpenSimModel, values: Array, muscles: Sequence[str]) -> PathLines:
    """Paths as lines, for drawing, for values (T, K) of all coordinates."""
    system = path_system(model, tuple(model.chosen(muscles)))
    blocks = (trace_paths(*paths) for _, _, paths in path_blocks(system, values))
    return PathLines.joined(blocks, len(values))


def path_pulls(
    model: OpenSimModel,
    values: Array,
    muscles: Sequence[str],
    beyond: Array,
    coordinates: Sequence[str],
    motion: BodyMotion,
    groups: Array | None = None,
) -> tuple[Array, Array]:
    """Return the effect of unit tension on some bodies and coordinates.

    Args:
        values: (T, K) [rad or m] of all coordinates.
        muscles: names of the n muscles.
        beyond: (J, B), 1 if a body belongs to a sum, else 0.
        coordinates: names of m coordinates.
        motion: of the bodies in these poses, by these coordinates.
        groups: tensions (T, G, n) [N]: then the effects of G such groups take the place of n muscles.

    Returns:
        Sums over the nodes on the bodies of r x dL/dr [m] about the origin of the ground and of dL/dr, (T, n, J, 6):
        minus moment and force of unit tension on them, zero without points; moment arms (T, m, n).
    """
    chosen = model.chosen(muscles)
    drawn = [k for k, muscle in enumerate(chosen) if muscle.points]
    count = len(muscles) if groups is None else groups.shape[1]
    pulls = np.zeros((len(values), count, len(beyond), 6))
    arms = np.zeros((len(values), len(coordinates), len(muscles)))
    system = path_system(model, tuple(chosen[k] for k in drawn)) if drawn else None
    for part, moved, paths in () if system is None else path_blocks(system, values, motion):
        assert system is not None
        nodes = solve_paths(*paths)
        wrench = system.wrenches(nodes)
        if groups is None:
            pulls[part][:, drawn] = system.sums(wrench, beyond)
        else:
            pulls[part] = system.sums(wrench, beyond, groups[part][:, :, drawn])
        arms[part][:, :, drawn] = system.arms(nodes, moved, coordinates)
    fitted = [muscle.by_function is not None for muscle in chosen]
    if any(fitted):
        arms[:, :, fitted] = _by_functions(model, values, coordinates, chosen)[1][:, :, fitted]
    return pulls, arms if groups is None else arms @ groups.swapaxes(1, 2)


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


@dataclass(frozen=True, eq=False)
class PathSystem:
    """Paths of n muscles with points (P) and wrap objects (O) in frames of bodies; nodes (N) as in `PathNodes`.

    node_body (N,) and object_body (O,): index of the body; local (P, 3) [m]: place in it, of fixed points;
    center (O, 3), axes (O, 3, 3): of the wrap objects in it. moving: point, axis of its frame, coordinate and function
    of each component of a moving point. node_group (N,): the group of each node; groups: with the joints between their
    bodies, as the compiled code takes them; moved_groups: with all joints that move them; beyond (J, B): 1 for the
    bodies that a joint moves, -1 if it moves its parent, else 0.
    """

    model: OpenSimModel
    muscles: tuple[str, ...]
    layout: PathLayout
    points: tuple[OpenSimPoint, ...]
    node_body: Indices
    object_body: Indices
    local: Array
    center: Array
    axes: Array
    moving: list[tuple[int, int, int, Function]]
    node_group: Indices
    groups: "MuscleGroups"
    moved_groups: "MuscleGroups"
    beyond: Array

    def on(self, values: Array) -> Mask:
        """Return a mask (T, P) of the points on the path."""
        on = np.ones((len(values), len(self.points)), dtype=bool)
        for p, point in enumerate(self.points):
            if point.condition is not None:
                name, lower, upper = point.condition
                angle = values[:, self.model.coordinate_number[name]]
                on[:, p] = (angle >= lower) & (angle <= upper)
        first = np.searchsorted(self.layout.point_muscle, np.arange(self.layout.muscles))
        short = np.argwhere(np.add.reduceat(on, first, axis=1, dtype=np.intp) < 2)
        if short.size:
            raise file_error(
                "bad_model",
                self.model.file,
                f"muscle {self.muscles[short[0, 1]]} has fewer than two points in pose {short[0, 0]}",
                "origin and insertion at every angle",
                "correct the ranges of its conditional points",
            )
        return on

    def placed(self, motion: BodyMotion) -> tuple[Array, Array, Array]:
        """Points (T, P, 3) [m], centers (T, O, 3) [m] and axes (T, O, 3, 3) of the wrap objects in the ground."""
        from musclesolve.models.opensim.joint_kernel import POINTS

        values, count, pose = motion.value, len(motion.value), (motion.rotation, motion.position)
        place, points = POINTS.load(), self.node_body[: len(self.points)].copy()
        position, center = np.empty((count, *self.local.shape)), np.empty((count, *self.center.shape))
        place(*pose, points, self.local, position)
        place(*pose, self.object_body, self.center, center)
        for p in {p for p, *_ in self.moving}:
            places, body = np.zeros((count, 3)), self.node_body[p]
            for _, axis, coordinate, function in (moving for moving in self.moving if moving[0] == p):
                places[:, axis] = function.value(values[:, [coordinate]])
            places = self.points[p].frame.place(places)
            position[:, p] = (motion.rotation[:, body] @ places[..., None])[..., 0] + motion.position[:, body]
        return position, center, motion.rotation[:, self.object_body] @ self.axes

    def wrenches(self, nodes: PathNodes) -> Array:
        """Sums (T, G, 6) of (r x dL/dr, dL/dr) over the nodes of each group."""
        from musclesolve.muscles.paths.kernel.entry import WRENCHES

        wrench = np.empty((len(nodes.length), len(self.groups.body), 6))
        WRENCHES.load()(nodes.position, nodes.gradient, self.node_group, wrench)
        return wrench

    def sums(self, wrench: Array, on: Array, tension: Array | None = None) -> Array:
        """Sums (T, n, S, 6) of `wrenches` on sets (S, B) of bodies.

        tension: (T, H, n) [N]: then sums (T, H, S, 6) of all muscles with each of H choices of tensions.
        """
        from musclesolve.models.opensim.joint_kernel import SUMS, TENSIONS

        if tension is not None:
            sums = np.empty((*tension.shape[:2], on.shape[1], 6))
            TENSIONS.load()(self.groups, wrench, contiguous(tension), sums)
            return np.asarray(on @ sums)
        sums = np.empty((len(wrench), len(self.muscles), len(on), 6))
        SUMS.load()(self.groups, contiguous(on), wrench, sums)
        return sums

    def arms(
        self, nodes: PathNodes, motion: BodyMotion, names: Sequence[str], as_opensim: bool = False
    ) -> Array:
        """-dL/dq (T, m, n): minus the power of unit tension at the nodes, for unit rates of the coordinates.

        as_opensim: of nodes of OpenSim, whose forces are not in equilibrium, so that joints beyond the muscle move it.
        """
        from musclesolve.models.opensim.joint_kernel import ARMS

        values, arms = motion.value, np.empty((len(nodes.length), len(names), len(self.muscles)))
        terms = joint_axes(self.model).terms(values, names)
        groups = self.moved_groups if as_opensim else self.groups
        ARMS.load()(groups, self.beyond, self.wrenches(nodes), terms, motion.unit, arms, np.empty(6))
        if self.moving:  # points that move in their bodies
            chain = coordinate_chain(self.model, values, names)
        for p, axis, coordinate, function in self.moving:
            slope = function.derivative(values[:, [coordinate]]) * self.points[p].frame.rotation[:, axis]
            moved = (motion.rotation[:, self.node_body[p]] @ slope[..., None])[..., 0]
            rate = (nodes.gradient[:, p] * moved).sum(axis=1)
            arms[:, :, self.layout.point_muscle[p]] -= chain[:, coordinate] * rate[:, None]
        return arms


@lru_cache(maxsize=8)
def path_system(model: OpenSimModel, muscles: tuple[OpenSimPath, ...]) -> PathSystem:
    """The paths of some muscles of a model."""
    from musclesolve.models.opensim.joint_kernel import MuscleGroups

    points = tuple(point for muscle in muscles for point in muscle.points)
    wraps = [
        (m, wrap)
        for m, muscle in enumerate(muscles)
        for wrap in muscle.wraps
        if model.surfaces[wrap.surface].active
    ]
    names = list(dict.fromkeys(wrap.surface for _, wrap in wraps))
    surfaces = [model.surfaces[name] for name in names]
    body = np.array([model.body_number[point.frame.body] for point in points])
    object_body = np.array([model.body_number[surface.frame.body] for surface in surfaces], dtype=np.intp)
    layout = PathLayout.from_points(
        np.repeat(np.arange(len(muscles)), [len(muscle.points) for muscle in muscles]),
        [(surface.kind, surface.radii, surface.length, surface.side) for surface in surfaces],
        [(m, names.index(wrap.surface), wrap.first, wrap.last, wrap.method) for m, wrap in wraps],
    )
    node_body = np.concatenate([body, np.repeat(object_body[layout.wrap_object], 2)])
    carriers = [np.unique(node_body[layout.node_muscle == m]) for m in range(len(muscles))]
    first_group, group_body = _joined(carriers)
    node_group = [
        first_group[m] + np.searchsorted(carriers[m], body)
        for m, body in zip(layout.node_muscle, node_body, strict=True)
    ]
    joints = joint_axes(model).arrays
    beyond = np.eye(len(model.bodies))
    for inner, outer in zip(joints.inner[::-1], joints.outer[::-1], strict=True):
        beyond[inner] += beyond[outer]
    beyond = beyond[joints.outer]
    between = [np.flatnonzero(np.ptp(beyond[:, some], axis=1)) for some in carriers]
    inward = [np.flatnonzero(beyond[:, some].any(axis=1)) for some in carriers]
    beyond[joints.backward] *= -1.0
    return PathSystem(
        model=model,
        muscles=tuple(muscle.name for muscle in muscles),
        layout=layout,
        points=points,
        node_body=node_body,
        object_body=object_body,
        local=np.array(
            [np.zeros(3) if point.location is None else point.frame.place(point.location) for point in points]
        ),
        center=np.array([surface.frame.position for surface in surfaces]).reshape(-1, 3),
        axes=np.array([surface.frame.rotation for surface in surfaces]).reshape(-1, 3, 3),
        moving=[
            (p, axis, model.coordinate_number[name], function)
            for p, point in enumerate(points)
            if (moving := point.moving) is not None
            for axis, (name, function) in enumerate(zip(moving.coordinates, moving.functions, strict=True))
        ],
        node_group=np.array(node_group, np.intp),
        groups=MuscleGroups(first_group, group_body, *_joined(between)),
        moved_groups=MuscleGroups(first_group, group_body, *_joined(inward)),
        beyond=beyond,
    )


def _joined(parts: Sequence[Indices]) -> tuple[Indices, Indices]:
    """The places at which each of some parts begins and the last one ends, and the parts one after the other."""
    return np.cumsum([0, *map(len, parts)]), np.concatenate([*parts, np.zeros(0, np.intp)])


NEGLIGIBLE = 1e-3
"""Largest difference of lengths and moment arms that is not corrected or reported [m]."""
LONG = 3e-3
"""Difference of lengths above which its pose is reported: the legs of public models have less [m]."""


def tendon_shifts(model: OpenSimModel, muscles: Sequence[str]) -> Array:
    """Return the corrections of tendon slack lengths (n,) [m]: path length minus OpenSim's, all coordinates zero.

    The correction is zero for muscles without several wrap objects, and for a negligible difference.
    """
    several = [name for name in muscles if over_several(model, name)]
    shift = np.zeros(len(muscles))
    if several:
        neutral = opensim_geometry(model, {name: np.zeros(1) for name in model.coordinates}, (), several)
        difference = (neutral.length - fiber_path_lengths(model, neutral))[0]
        shift[[muscles.index(name) for name in several]] = np.where(
            np.abs(difference) > NEGLIGIBLE, difference, 0.0
        )
    return shift


def fiber_path_lengths(model: OpenSimModel, geometry: OpenSimGeometry) -> Array:
    """Lengths (T, n) [m] of the paths, but OpenSim 4's lengths over several wrap objects."""
    optimal = np.array([model.muscles[name].optimal_fiber_length for name in geometry.muscles])
    several = np.array([over_several(model, name) for name in geometry.muscles], dtype=bool)
    usable = np.abs(geometry.opensim_length - geometry.length) < optimal
    return np.where(several & usable, geometry.opensim_length, geometry.length)


def over_several(model: OpenSimModel, muscle: str) -> bool:
    """Return whether OpenSim's path of a muscle, no function and not the shortest, has several active wrap objects."""
    if model.muscles[muscle].by_function is not None or model.muscles[muscle].is_geodesic:
        return False
    return sum(model.surfaces[wrap.surface].active for wrap in model.muscles[muscle].wraps) > 1


def shift_note(muscles: Sequence[str], shift: Array) -> str:
    """A sentence on the tendons that are longer or shorter than in the file; empty without such tendons."""
    parts = [f"{name} {1e3 * change:+.1f} mm" for name, change in zip(muscles, shift, strict=True) if change]
    if not parts:
        return ""
    return (
        "Tendon slack lengths differ from the model's by the difference between the length of the path and the one "
        f"that OpenSim 4 reports, all coordinates zero: {', '.join(parts)}."
    )


def difference_note(
    geometry: OpenSimGeometry, poses: tuple[OpenSimModel, Mapping[str, Array]] | None = None
) -> str:
    """A sentence on the muscles with other lengths or moment arms in OpenSim; empty without such muscles.

    poses: the model and values (T,) of its coordinates by name; the sentence then has the pose of a long difference.
    """
    by_pose = np.nan_to_num(np.abs(geometry.length - geometry.opensim_length), nan=np.inf)
    length = by_pose.max(axis=0)
    arm = np.nan_to_num(np.abs(geometry.moment_arm - geometry.opensim_arm), nan=np.inf)
    arm = arm.max(axis=(0, 1), initial=0.0)
    parts = []
    for k, (name, dl, dr) in enumerate(zip(geometry.muscles, length, arm, strict=True)):
        where = "" if poses is None or dl <= LONG else _pose_text(*poses, name, int(by_pose[:, k].argmax()))
        off = [
            f"{what} {f'{1e3 * by:.1f} mm' if np.isfinite(by) else 'not found there'}{at}"
            for what, by, at in (("length", dl, where), ("moment arm", dr, ""))
            if by > NEGLIGIBLE
        ]
        if off:
            parts.append(f"{name} ({', '.join(off)})")
    if not parts:
        return ""
    return (
        f"For wrapped paths OpenSim 4 reports other numbers than the path has, by up to: {', '.join(parts)}."
    )


def _pose_text(model: OpenSimModel, values: Mapping[str, Array], muscle: str, frame: int) -> str:
    """The coordinates under a muscle in a frame, as words."""
    parts = []
    for name, column in values.items():
        if name in model.crossing[muscle] and not model.coordinates[name].locked:
            is_angle, value = model.coordinates[name].rotational, float(column[frame])
            parts.append(f"{name} {np.degrees(value):.0f}°" if is_angle else f"{name} {value:.3g}")
    return f" at {' '.join(parts)}" if parts else ""
