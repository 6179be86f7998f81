"""Joint reactions with muscle forces as CasADi functions (`JointLoads` in models/body.py has the numbers).

A joint carries the load that the bodies beyond it need, less the pull of the muscles at these bodies. A small shift s
and turn t of these bodies about the center of the joint changes the length of a path by dL, so that with tensions F

    force = net force + (dL/ds)^T F,      moment = net moment + (dL/dt)^T F.

Where coordinates of the joint move points of a path on their bodies, or other bodies, too, the length changes by more
than the joint turns: a couple g about its axes A (rows), A x = g with the smallest x, guides them and is carried by the
joint. At a knee the quadriceps pulls at the shank through the patellar ligament (models/knee.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, grouped
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.casadi_module import casadi as ca
from musclesolve._util.checks import check_number, check_type
from musclesolve._util.messages import with_sizes
from musclesolve._util.sides import SIDES, side_of
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error
from musclesolve.models.knee import Ligament, quadriceps
from musclesolve.models.opensim.geometry import path_pulls, path_system
from musclesolve.models.opensim.kinematics import body_motion, coordinate_values
from musclesolve.models.opensim.model import Joint, OpenSimModel
from musclesolve.models.opensim.segments import Segments, segments
from musclesolve.muscles.paths.paths import Paths
from musclesolve.symbolic.device_forces import displaced
from musclesolve.symbolic.motion_program import checked_chains
from musclesolve.symbolic.muscle_chain import MuscleChain
from musclesolve.symbolic.path_length import (
    IteratedPulls,
    Pose,
    iterated_muscles,
    of_coordinates,
    path_length,
    places_of_model,
    places_of_set,
    tree_poses,
)
from musclesolve.symbolic.skeleton import Mechanics, Skeleton, net_reactions


@dataclass(frozen=True, eq=False)
class JointReactions:
    """The reactions of J joints with n muscles.

    joints, muscles: names. reactions(c, cd, cdd, w, F) (6, J): force [N] and moment about the center of the joint [N m]
    on the distal body of each joint, at tendon forces F (n,) [N], in the axes of the laboratory of a subject, or of the
    ground of a model.
    """

    joints: tuple[str, ...]
    muscles: tuple[str, ...]
    reactions: Any
    _engine: Any = field(default=None, repr=False)  # CasADi does not keep it alive

    __repr__ = with_sizes


def joint_reactions(body: Skeleton, muscles: MuscleChain, *, ligament: float = 1.0) -> JointReactions:
    """Joint reactions with muscle forces, as functions of the motion, the loads and the tendon forces.

    The joints are those that the muscles cross, without the joints of closed loops. The numbers equal the joint
    reactions of `run` and `share`.

    Args:
        body: `ms.symbolic.skeleton(...)`.
        muscles: `ms.symbolic.muscle_chain` of the same subject or model, without factors.
        ligament: factor on the arm of the patellar ligaments.

    Raises:
        InputError: muscles of another body, or with factors.

    Examples:
        >>> subject = ms.dynamics.human_model()
        >>> body = ms.symbolic.skeleton(subject)
        >>> chain = ms.symbolic.muscle_chain(subject, "silva_2003", side="r")
        >>> ms.symbolic.joint_reactions(body, chain).joints
        ('hip_r', 'knee_r', 'ankle_r')
    """
    check_type(body, Skeleton, "body", "ms.symbolic.skeleton(...)")
    (chain,) = checked_chains(body, check_type(muscles, MuscleChain, "muscles", "one muscle_chain(...)"))
    check_number(ligament, "ligament", "a factor, such as 1", above=0.0)
    mechanics, paths = body._mechanics, chain.paths
    assert paths is not None
    if not _same(mechanics.body, paths.body):
        raise input_error(
            "bad_value",
            where="muscles",
            problem="the muscles are of another subject or model than the body",
            expected="skeleton and muscle_chain of the same subject or model",
            remedy="model = ms.read_osim(...); ms.symbolic.skeleton(model); ms.symbolic.muscle_chain(model)",
        )
    if isinstance(paths.body, OpenSimModel):
        pulls = _of_model(mechanics, body, chain, paths.body, ligament)
    else:
        assert isinstance(paths.source, Paths)
        pulls = _of_set(mechanics, chain, paths.body, paths.source, ligament)
    return _assembled(body, chain, mechanics, pulls)


def _same(one: Model | OpenSimModel, other: Model | OpenSimModel) -> bool:
    """Whether two bodies have the same joints and bones."""
    if isinstance(one, OpenSimModel) and isinstance(other, OpenSimModel):
        return one.joints is other.joints
    if isinstance(one, OpenSimModel) or isinstance(other, OpenSimModel):
        return False
    return one.topology.dof_names == other.topology.dof_names and np.array_equal(one.standing, other.standing)


@dataclass(frozen=True, eq=False)
class _Joint:
    """A joint: the bodies beyond it in the tree, its center, and the distal bodies, which are the others if sense = -1.

    frame: rotation of the axes in which the engine gives pulls at it.
    """

    name: str
    beyond: frozenset[str]
    center: Any
    frame: Any
    distal: frozenset[str]
    sense: float = 1.0


@dataclass(frozen=True, eq=False)
class _Pulls:
    """Lengths of the paths of n muscles on displaced bodies, and what else determines the pulls at joints.

    lengths: of displaced poses -> lengths (n,) that follow; zero for muscles of the engine. further: symbols (D,) of
    which these depend beside z, and their values. whole: lengths (n,) in a pose z; zero for muscles of the engine.
    guides: joint -> the moment (3,) of its couple, a function of z, sums (6,), slopes by further symbols and by z.
    levers: knee -> number of its flexion in z, and load (6,) of one newton meter of the quadriceps. iterated: numbers
    of the k muscles of the engine; moving: numbers in z of the m coordinates on which it depends; engine: of these
    (T, m), its sums (6 J), slopes by further symbols (D) and slopes by z (m), (T, (6 J + D + m) k).
    """

    joints: list[_Joint]
    lengths: Callable[[Mapping[str, Pose]], Any]
    further: tuple[Any, Any]
    whole: Any
    guides: Mapping[str, Any]
    levers: Mapping[str, tuple[int, Any]]
    iterated: list[int]
    moving: list[int]
    engine: Callable[[Array], tuple[Array, Array]]


def _of_set(mechanics: Mechanics, chain: MuscleChain, model: Model, paths: Paths, ligament: float) -> _Pulls:
    """The pulls of a set at the joints of a subject (`MuscleJoints`)."""
    tree, names = model.tree, [body.name for body in model.topology.bodies]
    z, poses = mechanics.z, mechanics.poses
    frames = tree_poses(model, dict(mechanics.values), poses[names[tree.root]])
    pivots = {dof.name: dof.pivot for dof in model.topology.dofs}
    served = grouped((pivots[dof], dof) for dof in chain.dofs)
    moving = paths.moving_dofs.tolist()
    symbols = ca.SX.sym("theta", len(moving))
    turns = dict(mechanics.values) | dict(zip(moving, ca.vertsplit(symbols), strict=True))
    iterated = np.flatnonzero(iterated_muscles(paths.layout)).tolist()

    def lengths(moved: Mapping[str, Pose]) -> Any:
        places = places_of_set(model, paths, turns, {k: moved[name] for k, name in enumerate(names)})
        return _each(len(chain.muscles), {k: path_length(paths.layout, k, places) for k in drawn})

    drawn = [k for k in range(len(chain.muscles)) if k not in iterated]
    whole = ca.substitute(lengths(poses), symbols, z[moving]) if moving else lengths(poses)
    axes = tree.axes(model.standing[None])[0]

    def axis(number: int) -> Any:
        return frames[int(tree.parent[number])][0] @ axes[number]

    joints, guides, levers = list[_Joint](), dict[str, Any](), dict[str, tuple[int, Any]]()
    heads = quadriceps(chain.muscles)
    for name, dofs in served.items():
        number = model.joint(dofs[0])
        slot = int(tree.pivot[number])
        rotation, shift = frames[int(tree.owner[slot])]
        center = shift + rotation @ model.standing[slot]
        beyond = frozenset(names[k] for k in model.distal_bodies(dofs[0]))
        joints.append(_Joint(name, beyond, center, poses[names[tree.root]][0], beyond))
        numbers = sorted(model.dof(dof) for dof in dofs)
        if set(numbers) & set(moving):
            rows = ca.horzcat(*(axis(k) for k in numbers)).T
            select = np.array([[float(k == column) for column in moving] for k in numbers])
            column, explicit, slope = (
                ca.SX.sym("s", 6),
                ca.SX.sym("e", len(moving)),
                ca.SX.sym("g", z.numel()),
            )
            couple = _least(rows, min(len(numbers), 3)) @ (select @ explicit)
            guides[name] = ca.Function("guide", [z, column, explicit, slope], [couple])
        flexions = [dof for dof in dofs if dof in {f"knee_flexion_{side}" for side in SIDES}]
        if flexions and heads.size:
            side = side_of(flexions[0])
            ends = [model.standing[model.slot(f"{end}_{side}")] for end in ("knee", "ankle")]
            band = Ligament.from_shank_length(side, float(np.linalg.norm(ends[1] - ends[0])), ligament)
            shank, flexion = poses[f"shank_{side}"][0], model.dof(flexions[0])
            load = _lever(band, z[flexion], shank[:, 2], shank[:, 1], axis(flexion), None)
            levers[name] = flexion, load

    some = paths.subset(np.array(iterated, np.intp)) if iterated else None
    served_numbers = [model.joint(dof) for dof in chain.dofs]

    def engine(q: Array) -> tuple[Array, Array]:
        assert some is not None
        coordinates = np.zeros((len(q), len(model.topology.dof_names)))
        coordinates[:, served_numbers] = q
        still = np.zeros((len(q), 3)), np.broadcast_to(np.eye(3), (len(q), 3, 3))
        natural = tree.pose(coordinates[:, : tree.joint_count], *still)
        state = some.evaluate(natural, coordinates)
        on = np.stack([some.groups_on(model.distal_bodies(dofs[0])) for dofs in served.values()])
        centers = natural[:, [tree.pivot[model.joint(dofs[0])] for dofs in served.values()]]
        pulls = np.concatenate(state.pulls(on, centers), axis=3)  # (T, J, k, 6)
        further = np.zeros((len(q), len(moving), len(iterated)))
        for k, dof in enumerate(some.moving_dofs.tolist()):
            further[:, moving.index(dof)] = state.explicit[:, :, k]
        slopes = -state.moment_arms(np.array(served_numbers), tree, tree.axes(natural))
        rows = pulls.transpose(0, 1, 3, 2).reshape(len(q), -1, len(iterated))
        return _columns(np.concatenate([rows, further, slopes], axis=1)), slopes

    of_engine = iterated, served_numbers, engine
    return _Pulls(joints, lengths, (symbols, z[moving]), whole, guides, levers, *of_engine)


def _of_model(
    mechanics: Mechanics, body: Skeleton, chain: MuscleChain, model: OpenSimModel, ligament: float
) -> _Pulls:
    """The pulls of muscles at the joints of an OpenSim model (`LoadDynamics.pulls`)."""
    z, poses, parts = mechanics.z, mechanics.poses, segments(model)
    names = (*body.dofs, *body.dependent)  # of z
    source = chain.paths.source if chain.paths is not None else ()
    assert not isinstance(source, Paths)
    drawn = [k for k, muscle in enumerate(source) if muscle.points]
    system = path_system(model, tuple(source[k] for k in drawn)) if drawn else None
    by_engine = np.zeros(0, bool) if system is None else iterated_muscles(system.layout)
    iterated = [k for k, one in zip(drawn, by_engine.tolist(), strict=True) if one]
    by_function = {
        k: of_coordinates(path.function, [mechanics.values[name] for name in path.coordinates])
        for k, path in enumerate(muscle.by_function for muscle in source)
        if path is not None
    }

    def lengths(moved: Mapping[str, Pose]) -> Any:
        found = {}
        if system is not None:
            places = places_of_model(system, mechanics.values, moved)
            for place, k in enumerate(drawn):
                if k not in iterated:
                    found[k] = path_length(system.layout, place, places)
        return _each(len(source), found)

    whole = lengths(poses)
    for k, value in by_function.items():
        whole[k] = value
    heads, crossed = quadriceps(chain.muscles), set(chain.dofs)
    by_joint = {joint.name: model.independent(joint.moved_by) for joint in model.joints}
    moving = any(muscle.by_function or any(p.moving for p in muscle.points) for muscle in source)
    chosen = [
        joint
        for joint in model.joints
        if joint.outboard.body in body.joints and by_joint[joint.name] & crossed
    ]
    joints, guides, levers = list[_Joint](), dict[str, Any](), dict[str, tuple[int, Any]]()
    for joint in chosen:
        outer = {joint.outboard.body}
        for other in model.joints:  # ordered from the base
            if other.inboard.body in outer:
                outer.add(other.outboard.body)
        outward, frame = parts.is_outward(joint), parts.distal(joint)
        rotation, shift = poses[frame.body]
        center, sense = shift + rotation @ frame.position, 1.0 if outward else -1.0
        distal = frozenset(outer if outward else {*model.bodies} - outer)
        joints.append(_Joint(joint.name, frozenset(outer), center, rotation, distal, sense))
        columns = [names.index(name) for name in sorted(by_joint[joint.name]) if name in names]
        across = ca.horzcat(*(sense * _twist(poses, joint, center, z, k) for k in columns))  # (6, k)
        shared = any(
            by_joint[joint.name] & by_joint[other.name] for other in model.joints if other is not joint
        )
        if moving or shared:
            guides[joint.name] = _guide(z, across, columns, joint.name)
        if joint in parts.knees and heads.size:
            left = -_axes(parts, poses, parts.distal_segment(joint))[:, 2]
            by_turn = ca.Function("turn", [z], [left.T @ across[:3, :]])(_defaults(model, names))
            flexing = int(np.abs(np.array(by_turn)).argmax())
            load = _model_lever(parts, poses, joint, across[:, flexing], ligament)
            levers[joint.name] = columns[flexing], load

    beyond = np.array([[float(name in joint.distal) for name in model.bodies] for joint in joints])
    ends = [parts.distal(joint) for joint in chosen]
    wrapped = frozenset[str]().union(*(model.crossing[chain.muscles[k]] for k in iterated))
    moving_names = [name for name in body.dofs if name in wrapped]

    def engine(q: Array) -> tuple[Array, Array]:
        values = coordinate_values(model, dict(zip(moving_names, q.T, strict=True)))
        pose = body_motion(model, values, moving_names)
        wound = [chain.muscles[k] for k in iterated]
        sums, arms = path_pulls(model, values, wound, beyond, moving_names, pose)
        rows = np.empty((len(q), len(joints), 6, len(iterated)))
        for j, frame in enumerate(ends):
            number = model.body_number[frame.body]
            rotation = pose.rotation[:, number]
            center = (rotation @ frame.position) + pose.position[:, number]
            force, moment = sums[:, :, j, 3:], sums[:, :, j, :3]
            about = moment - np.cross(center[:, None], force)
            rows[:, j, :3] = (force @ rotation).swapaxes(1, 2)
            rows[:, j, 3:] = (about @ rotation).swapaxes(1, 2)
        slopes = np.where([k in by_function for k in iterated], 0.0, -arms)  # these are expressions
        return _columns(np.concatenate([rows.reshape(len(q), -1, len(iterated)), slopes], axis=1)), slopes

    further = ca.SX(0, 1), ca.SX(0, 1)
    of_engine = iterated, [names.index(name) for name in moving_names], engine
    return _Pulls(joints, lengths, further, whole, guides, levers, *of_engine)


def _columns(rows: Array) -> Array:
    """Arrays (T, r, k) as CasADi's numbers (T, r k), column after column."""
    return rows.swapaxes(1, 2).reshape(len(rows), -1)


def _each(count: int, values: Mapping[int, Any]) -> Any:
    """A column (n,) of values by number, zero for others."""
    return ca.vertcat(*(values.get(k, ca.SX(0.0)) for k in range(count)))


def _least(rows: Any, rank: int) -> Any:
    """The pseudo-inverse of axes (k, 3) of this rank: the smallest couple whose parts along the axes are given."""
    if rank == rows.shape[0]:
        return rows.T @ ca.inv(rows @ rows.T)
    if rank == 1:
        return rows.T / ca.sumsqr(rows)
    return ca.inv(rows.T @ rows) @ rows.T


def _guide(z: Any, across: Any, columns: Sequence[int], where: str) -> Any:
    """The couple that guides points and bodies by the coordinates of a joint; across (6, k): its twists by them."""
    column, none, slope = ca.SX.sym("s", 6), ca.SX.sym("e", 0), ca.SX.sym("g", z.numel())
    some = np.random.default_rng(1).uniform(0.1, 0.4, z.numel())
    turns = np.array(ca.Function("turns", [z], [ca.densify(across[:3, :])])(some))
    turning = np.flatnonzero(np.abs(turns).max(axis=0, initial=0.0) > 1e-9).tolist()
    rank = int(np.linalg.matrix_rank(turns[:, turning])) if turning else 0
    if rank == 2 and len(turning) > 2:
        raise input_error(
            "unsupported",
            where=f"joint {where}",
            problem="three coordinates turn the joint about two axes",
            expected="as many axes as coordinates",
            remedy="take the numeric joint reactions of ms.share_model",
        )
    couple = ca.SX.zeros(3)
    if turning:
        along = across[:, turning]
        change = (
            slope[[columns[k] for k in turning]] - along[:3, :].T @ column[3:] - along[3:, :].T @ column[:3]
        )
        couple = _least(along[:3, :].T, rank) @ change
    return ca.Function("guide", [z, column, none, slope], [couple])


def _twist(poses: Mapping[str, Pose], joint: Joint, point: Any, z: Any, k: int) -> Any:
    """Turn and shift at a point (6,) of the outer body of a joint relative to the inner one, by a coordinate."""
    twists = []
    for name in (joint.outboard.body, joint.inboard.body):
        rotation, shift = poses[name]
        spin = ca.inv_skew(ca.reshape(ca.jacobian(ca.vec(rotation), z[k]), 3, 3) @ rotation.T)
        velocity = ca.jacobian(shift, z[k]) + ca.cross(spin, point - shift)
        twists.append(ca.vertcat(spin, velocity))
    return ca.densify(twists[0] - twists[1])


def _defaults(model: OpenSimModel, names: Sequence[str]) -> Array:
    return np.array([model.coordinates[name].default for name in names])


def _axes(parts: Segments, poses: Mapping[str, Pose], body: str) -> Any:
    """Axes of a body forward, up and right as columns (`Segments.axes`)."""
    return poses[body][0] @ parts.axes(np.eye(3)[None, None].repeat(len(parts.model.bodies), axis=1), body)[0]


def _model_lever(
    parts: Segments, poses: Mapping[str, Pose], knee: Joint, across: Any, ligament: float
) -> Any:
    """See `knee_lever` in models/opensim/load_dynamics.py; across (6,): twist by the flexion at the center."""
    thigh, shank = (_axes(parts, poses, of(knee)) for of in (parts.proximal_segment, parts.distal_segment))
    up, left, turned = shank[:, 1], -shank[:, 2], thigh.T @ shank
    flexion = ca.atan2(turned[0, 1], turned[1, 1])
    band = Ligament.from_shank_length(side_of(knee.name), parts.length(knee), ligament)
    return _lever(band, flexion, up, left, across[:3], across[3:])


def _lever(band: Ligament, flexion: Any, up: Any, left: Any, spin: Any, velocity: Any) -> Any:
    """Force and moment (6,) of the shank on the ligament for one newton meter: `PatellarLever.from_flexion`."""
    table = bundled_toml("musclesolve.models", "patella.toml")
    at, angle = np.radians(table["flexion"]), np.radians(table["angle"])
    lean = ca.pw_lin(ca.fmin(ca.fmax(flexion, at[0]), at[-1]), at, angle)
    speed = ca.norm_2(spin)
    speed = ca.if_else(ca.dot(spin, left) < 0.0, -speed, speed)
    axis = spin / speed
    straight = up - ca.dot(up, axis) * axis
    straight = straight / ca.norm_2(straight)
    across, cosine, sine = ca.cross(axis, straight), ca.cos(lean), ca.sin(lean)
    along = cosine * straight + sine * across
    glide = 0.0 if velocity is None else ca.dot(velocity, along) / speed
    moment = float(band.left) * (cosine * across - sine * straight) - (float(band.arm) + glide) * axis
    return ca.vertcat(along, moment) / (float(band.arm) * speed)


def _assembled(body: Skeleton, chain: MuscleChain, mechanics: Mechanics, pulls: _Pulls) -> JointReactions:
    """The function of a body, its joints and the pulls of the muscles at them."""
    joints, z, count = pulls.joints, mechanics.z, len(chain.muscles)
    net = net_reactions(
        mechanics.parts,
        {joint.name: (joint.beyond & mechanics.parts.keys(), joint.center) for joint in joints},
    )
    net = net @ np.diag([joint.sense for joint in joints])
    net_of = ca.Function("net", [z, mechanics.zd, mechanics.zdd, mechanics.w], [net])

    # for tensions: sums (6, J), slopes by further symbols, slopes by z
    by, tension = ca.SX.sym("by", 6, len(joints)), ca.SX.sym("F", count)
    moved = displaced(
        mechanics.poses, [(joint.distal, by[:, k], joint.center) for k, joint in enumerate(joints)]
    )
    length, (symbols, values) = pulls.lengths(moved), pulls.further
    slopes = [ca.jtimes(length, x, tension, True) for x in (by, symbols)]
    slopes = ca.substitute(slopes, [by, symbols], [ca.SX.zeros(by.shape), values])
    slopes.append(ca.jtimes(pulls.whole, z, tension, True))
    pulls_of = ca.Function("pulls", [z, tension], list(map(ca.densify, slopes)))

    engine, split = None, np.cumsum([0, 6 * len(joints), symbols.numel(), len(pulls.moving)]).tolist()
    if pulls.iterated:
        engine = IteratedPulls(pulls.engine, (split[-1] * len(pulls.iterated), len(pulls.moving)))
    turn = ca.Function("turn", [z], [ca.horzcat(ca.SX(3, 0), *(joint.frame for joint in joints))])
    # expressions of scalars where every muscle has one
    kind: Any = ca.SX if mechanics.closed is None and engine is None else ca.MX
    given, at = mechanics.inputs(kind, len(body.dofs))
    force = given["F"] = kind.sym("F", count)

    def pulled(tensions: Any) -> tuple[Any, Any, Any]:
        """Sums (6, J), slopes by further symbols, and slopes by z."""
        sums, further, slope = pulls_of(at[0], tensions)
        if engine is not None:
            rows = ca.reshape(engine(at[0][pulls.moving]), split[-1], len(pulls.iterated))
            own_sums, explicit, by_pose = ca.vertsplit(rows @ tensions[pulls.iterated], split)
            local: Any = ca.reshape(own_sums, 6, len(joints))
            axes, turned = turn(at[0]), []
            for k in range(len(joints)):
                own = axes[:, 3 * k : 3 * k + 3]
                turned.append(ca.vertcat(own @ local[:3, k], own @ local[3:, k]))
            into = np.zeros((z.numel(), len(pulls.moving)))
            into[pulls.moving, np.arange(len(pulls.moving))] = 1.0
            sums, further = sums + ca.horzcat(*turned), further + explicit
            slope = slope + ca.sparsify(ca.DM(into)) @ by_pose
        return sums, further, slope

    without = np.ones(count)
    without[quadriceps(chain.muscles)] = 0.0
    every = pulled(force)
    others = pulled(force * without) if pulls.levers else every
    columns, net = [], net_of(*at)
    for k, joint in enumerate(joints):
        sums, further, slope = others if joint.name in pulls.levers else every
        column = sums[:, k]
        if joint.name in pulls.guides:
            couple = pulls.guides[joint.name](at[0], column, further, slope)
            column = column + ca.vertcat(kind.zeros(3), couple)
        if joint.name in pulls.levers:
            flexion, load = pulls.levers[joint.name]
            arm = others[2][flexion] - every[2][flexion]  # of the quadriceps
            column = column + arm * ca.Function("lever", [z], [load])(at[0])
        columns.append(net[:, k] + column)
    value = ca.densify(ca.horzcat(kind(6, 0), *columns))
    function = ca.Function("reactions", [*given.values()], [value], [*given], ["reactions"])
    named = body.named(function, "joint_reactions", {"F": chain.muscles})
    return JointReactions(tuple(joint.name for joint in joints), chain.muscles, named, engine)
