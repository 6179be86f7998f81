"""Joint moments and contact forces of an OpenSim model from external loads, along its coordinates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, within
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.messages import few
from musclesolve._util.sides import side_of
from musclesolve._util.splines import HoleLimits, hole_note
from musclesolve.constants import LOADED_FROM_N, WALKING_CUTOFF_HZ
from musclesolve.dynamics.inverse.force_balance import Support, balance_limit, balanced
from musclesolve.errors import InputError, file_error
from musclesolve.models.body import JointLoads, Pulls
from musclesolve.models.knee import Ligament, PatellarLever, quadriceps
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion
from musclesolve.models.opensim.external_loads import ExternalLoad, feet_of, load_wrench
from musclesolve.models.opensim.geometry import path_pulls
from musclesolve.models.opensim.inverse_dynamics import (
    InverseDynamics,
    ModelMotion,
    body_dynamics,
    carried_by_joints,
    coupled_forces,
    device_forces,
    distal_reactions,
    inverse_dynamics,
    joint_forces,
    model_motion,
    require_masses,
)
from musclesolve.models.opensim.kinematics import BodyMotion, body_motion, joint_axes
from musclesolve.models.opensim.model import GROUND, TO_GLOBAL, Joint, OpenSimModel
from musclesolve.models.opensim.segments import segments

COLUMN_ENDINGS = ("_moment", "_force")
"""Ends of the names of columns of moments and forces."""
FREE = 6
"""Degrees of freedom of a body that no joint holds."""
_BEHIND = ("talus", "ankle", "hindfoot", "calc", "foot")
"""Beginnings of the names of hindfoot bodies, from which other bodies of the foot branch."""
NEGLIGIBLE_MOMENT = 1e-3
"""Largest moment of a device that is not mentioned [N m]."""
MISSING = 0.25
"""Upward force missing at the root when a foot stands beside the plates, as a share of the weight."""
UNDER_FOOT = 0.35
"""Distance of the missing force from the origin of a foot up to which this foot makes it [m]: a foot is 0.25 m long,
and a seat is farther behind (0.38 to 0.47 m in stanford_opencap/m_s4_STS1)."""
SEATED = 0.75
"""Height of the root over the feet up to which a body may sit, as a share of the greatest one: a seat is at half."""


@dataclass(frozen=True, eq=False)
class RootResidual:
    """Wrench at the root of a model beside the loads: force (T, 3) [N] and moment (T, 3) [N m]; NaN where unknown.

    height: of the root [m]. balance_limit: largest residual force of a balanced frame [body weights]; None where the
    body does not stand.
    """

    force: Array
    moment: Array
    height: float
    balance_limit: float | None

    def attributes(self) -> dict[str, float]:
        """Attributes of a result; empty where no frame is known."""
        known = np.isfinite(self.force).all(axis=1)
        if not known.any():
            return {}
        force, moment = ((array[known] ** 2).sum(axis=1) for array in (self.force, self.moment))
        values = {
            "root_residual_n": float(np.sqrt(force.max())),
            "root_residual_rms_n": float(np.sqrt(force.mean())),
            "root_residual_moment_rms_nm": float(np.sqrt(moment.mean())),
            "root_height_m": self.height,
        }
        return values if self.balance_limit is None else values | {"balance_limit": self.balance_limit}


@dataclass(frozen=True, eq=False)
class LoadDynamics:
    """Inverse dynamics of a model under external loads, in the frames where all loads are known."""

    model: OpenSimModel
    motion: ModelMotion
    dynamics: InverseDynamics
    loads: tuple[ExternalLoad, ...] = ()
    cutoff_hz: float | None = None
    """Cut-off frequency of the filter of the motion [Hz]; None without a filter."""

    def joint_loads(
        self, joints: Sequence[Joint], muscles: Sequence[str], ligament: float = 1.0
    ) -> JointLoads:
        """Forces and moments at some joints as a function of the tendon forces of n muscles, in axes forward, left, up.

        The joint and the muscles that cross it together give the load that the distal bodies need. Moments are about
        the origin of the joint's frame on the distal body, as in OpenSim's joint reactions. ligament: factor on the arm
        of the patellar ligaments.
        """
        rows = [self.model.joints.index(joint) for joint in joints]
        reactions = distal_reactions(self.model, self.dynamics)
        net, about = (values[:, rows] @ TO_GLOBAL.T for values in (reactions.force, reactions.moment))
        knees = segments(self.model).knees if quadriceps(muscles).size else ()
        pulls = partial(self.pulls, joints, muscles, ligament)
        return JointLoads(
            joints=tuple(joint.name for joint in joints),
            net=net,
            net_moment=about,
            pulls=pulls,
            knees=tuple(joint.name for joint in joints if joint in knees),
            under=pulls,
        )

    def pulls(
        self,
        joints: Sequence[Joint],
        muscles: Sequence[str],
        ligament: float,
        frames: slice | Indices,
        tension: Array | None = None,
    ) -> Pulls:
        """The effect of unit tension in muscles on some joints in F of the T frames, as in `joint_loads`.

        tension (F, n): then the effect of these tensions in two groups, the heads of the quadriceps and the others.
        """
        model, value = self.model, self.motion.value[frames]
        outer = [model.body_number[joint.outboard.body] for joint in joints]
        rows, parts = [model.joints.index(joint) for joint in joints], segments(model)
        outward = np.array([parts.is_outward(joint) for joint in joints])
        moved_by = [sorted(model.independent(joint.moved_by)) for joint in joints]
        moving = sorted(set().union(*moved_by))
        beyond = carried_by_joints(model, np.eye(len(model.bodies))[:, :, None])[:, outer, 0].T
        beyond = np.where(outward[:, None], beyond, 1.0 - beyond)  # distal to each joint
        heads = quadriceps(muscles)
        knees = [k for k, joint in enumerate(joints) if joint in parts.knees] if heads.size else []
        with_patella = beyond[knees]
        for row, k in zip(with_patella, knees, strict=True):
            row[[model.body_number[body] for body in parts.patella(joints[k])]] = 1.0
        pose, axes_of = body_motion(model, value), joint_axes(model)
        terms = axes_of.terms(value, moving)
        groups: Array | None = None
        if tension is not None:
            is_head = np.isin(np.arange(len(muscles)), heads)
            groups, heads = np.stack([tension * ~is_head, tension * is_head], axis=1), np.array([1])
        bodies = np.concatenate([beyond, with_patella])
        sums, arms = path_pulls(model, value, muscles, bodies, moving, pose, groups)
        patella = np.zeros((len(sums), len(knees), sums.shape[1], 3))
        force = sums[:, :, : len(joints), 3:].copy()
        moment = np.empty_like(force)
        for k, joint in enumerate(joints):
            about_origin = sums[:, :, k, :3]
            frame = parts.distal(joint)
            body = model.body_number[frame.body]
            point = (pose.rotation[:, [body]] @ frame.position[:, None])[..., 0] + pose.position[:, [body]]
            moment[:, :, k] = about_origin - np.cross(point, force[:, :, k])
            # the couples that guide moving points, and bodies driven by couplers: the part of dL/dq beyond the sums
            axes = [moving.index(name) for name in moved_by[k]]
            sense = 1.0 if outward[k] else -1.0
            across = sense * axes_of.twists_across(pose.unit, terms, rows[k], axes)
            guided = -arms[:, axes] - across @ sums[:, :, k].swapaxes(1, 2)
            moment[:, :, k] += (np.linalg.pinv(across[..., :3]) @ guided).swapaxes(1, 2)
            if k in knees:
                # the patellar ligament in place of the quadriceps
                flexing, lever = knee_lever(model, joint, pose, across, point[:, 0], ligament)
                pull = sums[:, heads, len(joints) + knees.index(k), 3:]
                loads = lever.loads(arms[:, axes[flexing], heads], pull)
                force[:, heads, k], moment[:, heads, k], at_patella = loads
                patella[:, knees.index(k), heads] = at_patella @ TO_GLOBAL.T

        def by_joint(values: Array) -> Array:
            """Values (T, J, n, 3) in the axes forward, left, up, from values (T, n, J, 3) in the axes of the model."""
            return np.ascontiguousarray(values.swapaxes(1, 2) @ TO_GLOBAL.T)

        return Pulls(by_joint(force), by_joint(moment), patella)

    @property
    def body_wrench(self) -> Array:
        """Wrench (T, bodies, 6) [N m, N] of the loads on each body, about the origin of the ground."""
        return load_wrench(self.model, self.loads, self.motion.time, self.dynamics.bodies.pose)

    @property
    def loaded_bodies(self) -> tuple[str, ...]:
        """Bodies on which loads act or should act: the bodies of the loads, and the feet."""
        return tuple(
            {**dict.fromkeys(load.body for load in self.loads), **dict.fromkeys(feet_of(self.model).values())}
        )

    def change_any(self, dofs: Iterable[str]) -> bool:
        """Whether the loads change a moment of some coordinates: on the feet they change none of trunk and arms."""
        return bool(reached(self.model, self.loaded_bodies, dofs))

    @cached_property
    def supplied(self) -> Array:
        """Force (T, 3) [N] of all loads together."""
        return self.body_wrench[:, :, 3:].sum(axis=1)

    @cached_property
    def root_wrench(self) -> Array | None:
        """Wrench (T, 6) [N m, N] on a freely moving model missing beside the loads, about the origin of the ground.

        None for a model that is fixed to the ground, and where mass properties of a body cannot be used.
        """
        if self.model.mass_faults or any(len(joint.coordinates) < FREE for joint in self.model.roots):
            return None
        ground = self.model.body_number[GROUND]
        return carried_by_joints(self.model, self.dynamics.wrench)[:, ground]

    @cached_property
    def root_origin(self) -> Array:
        """Origin (T, 3) of the body at the root [m]."""
        root = self.model.body_number[self.model.roots[0].outboard.body]
        return np.asarray(self.dynamics.bodies.pose.position[:, root])

    def about_root(self, wrench: Array) -> Array:
        """Force [N], and moment [N m] about `root_origin`, (T, 6), of a wrench about the origin of the ground."""
        moment, force = wrench[:, :3], wrench[:, 3:]
        return np.concatenate([force, moment - np.cross(self.root_origin, force)], axis=1)

    @cached_property
    def root_residual(self) -> Array | None:
        """Size (T,) [N] of the residual force at the root; None where `root_wrench` is None, NaN beside the plates."""
        if self.root_wrench is None:
            return None
        size = np.asarray(np.linalg.norm(self.root_wrench[:, 3:], axis=1))
        for standing in self.unmeasured_feet.values():
            size[standing] = np.nan  # a missing load, not a residual
        return size

    @cached_property
    def residual(self) -> RootResidual | None:
        """Residual at the root in the frames whose loads are measured; None where `root_wrench` is None.

        Also of a model without feet that its loads do not carry, such as an arm: what holds it is not measured.
        """
        if self.root_wrench is None or self.root_residual is None:
            return None
        if not (self.stands or feet_of(self.model)):
            return None
        wrench = self.about_root(self.root_wrench)
        wrench[np.isnan(self.root_residual)] = np.nan
        height = float(np.median(self.root_origin @ self.model.up))
        return RootResidual(wrench[:, :3], wrench[:, 3:], height, self.balance_limit)

    @cached_property
    def stands(self) -> bool:
        """Return whether the loads carry the body in some frame; otherwise it hangs or sits, or the state is unknown.

        A body with predicted loads always stands.
        """
        if self.root_wrench is None or not self.model.weight > 0.0:
            return False
        if self.predicted:
            return True
        up = -self.model.gravity
        supplied, lacking = self.supplied @ up, self.root_wrench[:, 3:] @ up
        return bool((supplied > (1.0 - MISSING) * (supplied + lacking)).any())

    @cached_property
    def unmeasured_feet(self) -> dict[str, Mask]:
        """Foot -> frames (T,) in which the foot stands on the ground without a measured load.

        Where the root lacks an upward force of more than `MISSING` times the weight, a foot stands beside the plates:
        the foot without a load that moves least, unless the body sits and the missing force acts elsewhere. Empty for
        a body that does not stand, because no frame shows the load of a foot, and for predicted loads, which act on
        both feet.
        """
        model, bodies, gravity = self.model, self.dynamics.bodies, self.model.gravity
        feet = list(feet_of(model).values())
        if not feet or self.predicted or self.root_wrench is None or not self.stands:
            return {}
        number = [model.body_number[foot] for foot in feet]
        missing = self.root_wrench[:, 3:] @ -gravity > MISSING * model.mass * (gravity @ gravity)
        spin, place = bodies.twist[:, number, :3], bodies.pose.position[:, number]
        speed = np.linalg.norm(bodies.twist[:, number, 3:] + np.cross(spin, place), axis=2)
        load = self.body_wrench[:, :, 3:]
        for k, foot in enumerate(feet):
            of_foot = [model.body_number[body] for body in foot_bodies(model, foot)]
            speed[np.linalg.norm(load[:, of_foot].sum(axis=1), axis=1) > LOADED_FROM_N, k] = np.inf
        # A seat carries what a low root lacks elsewhere than under a foot.
        moment, force = (part @ TO_GLOBAL.T for part in np.hsplit(self.root_wrench, 2))
        feet_at, height = place @ TO_GLOBAL.T, self.root_origin @ model.up
        floor = feet_at[:, :, 2].min(axis=1)
        under = center_of_pressure(force, moment, floor)
        away = np.linalg.norm((feet_at - under[:, None])[:, :, :2], axis=2)
        sits = height - floor < SEATED * (height - floor).max()
        speed[sits[:, None] & ~(away < UNDER_FOOT)] = np.inf
        slowest = np.where(np.isfinite(speed).any(axis=1) & missing, speed.argmin(axis=1), -1)
        return {foot: mask for k, foot in enumerate(feet) if (mask := np.asarray(slowest == k)).any()}

    @cached_property
    def balance_limit(self) -> float | None:
        """Largest residual force of a balanced frame [body weights]; None for a body that does not stand.

        The support of a body that hangs or sits is not among the loads, and acts on no part of its legs.
        """
        return balance_limit(self.supplied, self.model.weight) if self.stands else None

    @cached_property
    def balanced(self) -> Mask | None:
        """Mask (T,) of the frames in which the loads balance the motion; None where there is no limit."""
        if self.root_residual is None or self.balance_limit is None:
            return None
        if self.predicted:
            return self.support.carries
        return balanced(self.root_residual / self.model.weight, self.balance_limit)

    @property
    def predicted(self) -> bool:
        """Return whether the loads are predicted from the motion."""
        return any(load.predicted for load in self.loads)

    @cached_property
    def support(self) -> Support:
        """Loads supplied and lacking at the origin of the root; requires `root_wrench`."""
        assert self.root_wrench is not None
        lacking = self.about_root(self.root_wrench)
        return Support.from_wrenches(
            self.motion.time, lacking, self.supplied, self.model.weight, self.cutoff_hz
        )

    def residual_note(self, when: str = "") -> list[str]:
        """A sentence on the residual force at the root; empty without one. when: a clause such as " before ..."."""
        size = self.root_residual
        if size is None or not np.isfinite(size).any():
            return []
        sizes = size[np.isfinite(size)]
        rms = np.sqrt(np.mean(sizes**2))
        where = "" if sizes.size == size.size else f" in the {sizes.size} frames whose loads are complete"
        return [
            f"Residual force at the root of the model{when}{where}: {rms:.3g} N rms, at most {sizes.max():.3g} N."
        ]


def reached(model: OpenSimModel, bodies: Iterable[str], dofs: Iterable[str]) -> tuple[str, ...]:
    """The coordinates among some whose moments forces on some bodies change: those between a body and the ground.

    Forces on the feet change no moment of trunk and arms, because the motion of the pelvis is measured.
    """
    between = set[str]().union(*(model.coordinates_between([body, GROUND]) for body in {*bodies}))
    carried = model.independent(between)
    return tuple(dof for dof in dofs if dof in carried)


def foot_bodies(model: OpenSimModel, foot: str) -> tuple[str, ...]:
    """Bodies of the foot to which a named body belongs, distal to the ankle: talus, calcaneus, toes."""
    inner = {joint.outboard.body: joint.inboard.body for joint in model.joints}
    outer = {joint.inboard.body: joint.outboard.body for joint in model.joints}
    chain = [foot]
    while inner.get(chain[0], GROUND).lower().startswith(_BEHIND):
        chain.insert(0, inner[chain[0]])
    while chain[-1] in outer:
        chain.append(outer[chain[-1]])
    return tuple(chain)


def knee_lever(
    model: OpenSimModel, knee: Joint, pose: BodyMotion, twists: Array, center: Array, factor: float = 1.0
) -> tuple[int, PatellarLever]:
    """Number of the coordinate that flexes a knee most, and its lever of the patella, in the axes of the ground.

    Args:
        model: with both segments.
        knee: the joint.
        pose: of all bodies.
        twists: (T, m, 6) of the shank relative to the thigh by its m coordinates.
        center: (T, 3) of the knee [m].
        factor: on the arm of the ligament.
    """
    parts = segments(model)
    thigh = parts.axes(pose.rotation, parts.proximal_segment(knee))
    shank = parts.axes(pose.rotation, parts.distal_segment(knee))
    up, left, turned = shank[:, :, 1], -shank[:, :, 2], thigh.swapaxes(1, 2) @ shank
    flexion = np.arctan2(turned[:, 0, 1], turned[:, 1, 1])
    flexing = int(np.abs(np.einsum("tmx,tx->m", twists[..., :3], left)).argmax())
    spin, velocity = twists[:, flexing, :3], twists[:, flexing, 3:]
    ligament = Ligament.from_shank_length(side_of(knee.name), parts.length(knee), factor)
    velocity = velocity + np.cross(spin, center)
    return flexing, PatellarLever.from_flexion(ligament, flexion, up, left, spin, velocity)


def whole_motion(model: OpenSimModel, motion: CoordinateMotion) -> ModelMotion:
    """The motion of all coordinates of the model."""
    columns = [motion.by_name(array) for array in (motion.value, motion.speed, motion.acceleration)]
    return model_motion(model, motion.time, *columns)


def load_dynamics(
    model: OpenSimModel, motion: CoordinateMotion, loads: Sequence[ExternalLoad]
) -> LoadDynamics:
    """Compute inverse dynamics of a motion that lies within the times of all loads."""
    whole = whole_motion(model, motion)
    dynamics = inverse_dynamics(model, whole, loads)
    return LoadDynamics(model, whole, dynamics, tuple(loads), motion.cutoff_hz)


def device_notes(
    model: OpenSimModel, motion: CoordinateMotion, dofs: Sequence[str], stated: bool
) -> list[str]:
    """Return a sentence on what the devices of a model produce about some coordinates; stated: whether moments are."""
    if not model.devices:
        return []
    try:
        whole = whole_motion(model, motion)
    except InputError:  # moments are given for a part of the model
        parts = [f"{device.name} ({device.kind})" for device in model.devices]
    else:
        bodies, parts = body_dynamics(model, whole), []
        for device in model.devices:
            wrench, on_coordinates = device_forces(model, whole, bodies, [device])
            force = joint_forces(model, bodies.pose, wrench) + on_coordinates
            force = coupled_forces(model, whole.value, force)
            most = {name: float(np.abs(force[:, model.coordinate_number[name]]).max()) for name in dofs}
            name = max(most, key=lambda dof: most[dof] * model.coordinates[dof].rotational)
            if most[name] > NEGLIGIBLE_MOMENT:
                parts.append(f"{device.name} ({device.kind}, up to {most[name]:.3g} N m of {name})")
    if not parts:
        return []
    named = f"Springs and ligaments of the model produce a part of the moments: {few(parts, 6)}."
    return [
        f"{named} OpenSim's inverse dynamics leaves this part out with its usual setup, which excludes muscles alone; "
        "if its setup excluded all forces, give loads instead of moments."
        if stated
        else f"{named} The muscles get the rest."
    ]


INVERSE_NOTE = "Moments by inverse dynamics; external loads: {acting}."
BESIDE_NOTE = (
    "The given moments are shared. Joint forces follow from the motion and the external loads: {acting}. The "
    "difference between the given moments and the moments of motion and loads is a part of joint_reaction_moment."
)


@dataclass(frozen=True, eq=False)
class CoordinateMoments:
    """Moments (T, m) [N m; N for a translation] of coordinates at times (T,); NaN in holes too long to be filled.

    covered: mask of the frames from the first to the last time of the source.
    loads: the external loads of the inverse dynamics; None where a file or the caller gives moments.
    unmeasured: foot -> mask (T,) of the frames in which it stands without a measured load.
    dynamics: under the loads in the covered frames.
    """

    moment: Array
    covered: Mask
    file: Path | None
    notes: tuple[str, ...] = ()
    loads: tuple[ExternalLoad, ...] | None = None
    unmeasured: Mapping[str, Mask] = field(default_factory=dict)
    dynamics: LoadDynamics | None = None


def moments_under_loads(
    model: OpenSimModel,
    motion: CoordinateMotion,
    names: Sequence[str],
    external: Sequence[ExternalLoad],
    path: Path | None,
    given: bool = False,
) -> CoordinateMoments:
    """Generalized forces of m coordinates, couplings included, from external loads.

    NaN where a load has a hole that is too long to be filled (`musclesolve._util.splines`), and for a leg that
    stands on the ground without a load on its foot.

    Args:
        model: with mass properties.
        motion: of all its free coordinates.
        names: m coordinates.
        external: the loads.
        path: of their file.
        given: whether moments of a file or the caller are shared, and the loads determine joint forces alone.
    """
    notes, loads = list[str](), list[ExternalLoad]()
    for load in external:
        limits = HoleLimits.from_times(load.time, motion.cutoff_hz or WALKING_CUTOFF_HZ)
        holes, name = limits.long_holes(load.time), load.file.name if load.file else "The loads file"
        notes += [*load.notes, *([hole_note(f"{name} lacks rows", holes, limits)] if holes else [])]
        loads.append(load.with_holes(limits))
    inside = [within(motion.time, load.time[0], load.time[-1]) for load in loads]
    known = np.all(inside, axis=0) if inside else np.ones(len(motion.time), dtype=bool)
    if not known.any():
        raise file_error(
            "no_overlap",
            path,
            f"no frame of the coordinates ({motion.time[0]:g} to {motion.time[-1]:g} s) is within the loads",
            "loads of the same trial",
            "give the ground reactions of these coordinates",
        )
    dynamics = load_dynamics(model, motion.frames(known), loads)
    moment = np.zeros((len(motion.time), len(names)))
    moment[known] = np.stack([dynamics.dynamics.column(name) for name in names], axis=1)
    require_masses(model, names, moment[known])
    unmeasured = {}
    for foot, standing in dynamics.unmeasured_feet.items():
        carried = model.independent(model.coordinates_between([foot, GROUND]))
        affected = np.array([name in carried for name in names])
        moment[np.ix_(np.flatnonzero(known)[standing], np.flatnonzero(affected))] = np.nan
        unmeasured[foot] = np.zeros(len(known), dtype=bool)
        unmeasured[foot][known] = standing
    acting = ", ".join(f"{load.name} on {load.body}" for load in loads) or "none"
    sentences = (BESIDE_NOTE if given else INVERSE_NOTE).format(acting=acting), *dict.fromkeys(notes)
    return CoordinateMoments(moment, known, path, sentences, tuple(loads), unmeasured, dynamics)


def unmeasured_notes(unmeasured: Mapping[str, Mask], selected: Mask) -> list[str]:
    """Sentences on feet that stand without a measured load in some of the selected frames (T,)."""
    counts = {foot: int(standing[selected].sum()) for foot, standing in unmeasured.items()}
    return [
        f"{foot} stands without a ground reaction in {count} of {int(selected.sum())} frames (the root lacks more than "
        f"{100.0 * MISSING:g} % of the weight): moments of its leg are not measured there."
        for foot, count in counts.items()
        if count
    ]
