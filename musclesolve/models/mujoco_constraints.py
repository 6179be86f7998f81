"""Constraints of a MuJoCo model along a motion: equalities, limits and contacts, and what they do to a moment.

The simulator enforces constraints by springs and dampers, whose forces belong to its own motion. In a measured motion
the depth of a contact or the degrees beyond a limit say nothing of a force. Limits exert none here, contacts only where
they are requested, and an equality y - y0 = sum_k a_k (x - x0)^k of two joints determines the position y.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import qr

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.messages import check_known, count_of, few
from musclesolve.constants import ALL_CONTACTS, NO_CONTACTS
from musclesolve.errors import not_installed

_RANK = 1e-8
"""Least singular value of the constraints, beside the largest one, that removes a freedom."""
_FIRST = 1e4
"""Weight of the columns that are chosen first."""
_MILLIMETER = 1e-3
"""Distance from which an equality of places counts as not satisfied [m], and an excess of a length as one."""
_TENTH = np.radians(0.1)
"""Angle from which an excess of an angle is named [rad]: what prints as zero degrees is none."""
_NAMED = 5


def mujoco_engine() -> Any:
    """The package mujoco."""
    try:
        import mujoco
    except ImportError as fault:
        raise not_installed("a MuJoCo model needs", "mujoco", "mujoco") from fault
    return mujoco


def name_in(model: Any, kind: str, number: int) -> str:
    """Name of a part of a model by its kind, such as JOINT, else the kind with its number."""
    engine = mujoco_engine()
    name = engine.mj_id2name(model, getattr(engine.mjtObj, f"mjOBJ_{kind}"), int(number))
    return name or f"{kind.lower()}_{number}"


# equalities


def joint_equalities(model: Any) -> list[int]:
    """Numbers of the active equalities by which one joint follows another, or has one place: masters come first.

    An equality whose joint already follows another one, or leads its own master, is left out.
    """
    engine = mujoco_engine()
    found = np.flatnonzero((model.eq_type == engine.mjtEq.mjEQ_JOINT) & np.asarray(model.eq_active0, bool))
    leader, by_joint = dict[int, int](), dict[int, int]()
    for number in found.tolist():
        joint, master = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
        ahead = master
        while ahead in leader and ahead != joint:
            ahead = leader[ahead]
        if joint not in leader and ahead != joint:
            leader[joint], by_joint[joint] = master, number

    def depth(joint: int) -> int:
        return 1 + depth(leader[joint]) if joint in leader else 0

    return [by_joint[joint] for joint in sorted(by_joint, key=depth)]


def with_followers(model: Any, qpos: Array) -> Array:
    """Positions (T, nq) in which every joint that follows another one is where its equality puts it."""
    qpos = qpos.copy()
    for number in joint_equalities(model):
        place = model.jnt_qposadr[model.eq_obj1id[number]]
        master = int(model.eq_obj2id[number])
        change = np.zeros(len(qpos))
        if master >= 0:
            leading = model.jnt_qposadr[master]
            change = qpos[:, leading] - model.qpos0[leading]
        qpos[:, place] = model.qpos0[place] + np.polynomial.Polynomial(model.eq_data[number, :5])(change)
    return qpos


def follower_note(model: Any, given: Array, computed: Array) -> list[str]:
    """A sentence on the positions (T, nq) of joints that follow others, as given and as computed."""
    joints = [int(model.eq_obj1id[number]) for number in joint_equalities(model)]
    if not joints:
        return []
    places = model.jnt_qposadr[joints]
    names = [name_in(model, "JOINT", joint) for joint in joints]
    off = np.abs(given[:, places] - computed[:, places]).max(axis=0)
    differing = [(off[k], names[k], is_slide(model, joint)) for k, joint in enumerate(joints)]
    parts = [
        f"{name} by {_amount(size, slide)}"
        for size, name, slide in sorted(differing, reverse=True)
        if size > (_MILLIMETER if slide else _TENTH)
    ]
    text = f"Equalities of the model determine {count_of(len(names), 'position')} from other joints: {few(names)}."
    return [f"{text} The file differs: {few(parts, _NAMED)}." if parts else text]


def is_slide(model: Any, joint: int) -> bool:
    """Whether a joint is a slide, whose position is a length."""
    return int(model.jnt_type[joint]) == int(mujoco_engine().mjtJoint.mjJNT_SLIDE)


def constraint_rows(data: Any, model: Any) -> Array:
    """Jacobian (r, nv) of all constraints that act, equalities first."""
    engine = mujoco_engine()
    if not data.nefc or not engine.mj_isSparse(model):
        return np.array(data.efc_J).reshape(-1, model.nv)[: data.nefc]
    jacobian = np.zeros((data.nefc, model.nv))
    sparse = data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
    engine.mju_sparse2dense(jacobian, np.ravel(data.efc_J), *sparse)
    return jacobian


def equality_count(data: Any) -> int:
    """Number of the rows of equalities among all constraints."""
    return int((data.efc_type == mujoco_engine().mjtConstraint.mjCNSTR_EQUALITY).sum())


def free_rates(model: Any, jacobians: list[Array]) -> tuple[Indices, Array]:
    """Independent coordinates (c,), and rates of all by theirs (T, nv, c), under the J (r, nv) of each frame.

    Coordinates that follow others by an equality of joints are dependent, as far as the constraints allow.
    """
    followers = model.jnt_dofadr[[int(model.eq_obj1id[number]) for number in joint_equalities(model)]]
    columns = jacobians[0].copy()
    columns[:, followers] *= _FIRST
    order = qr(columns, mode="r", pivoting=True)[1]
    rank = np.linalg.matrix_rank(jacobians[0], rtol=_RANK)
    dependent, independent = np.sort(order[:rank]), np.sort(order[rank:])
    basis = np.zeros((len(jacobians), jacobians[0].shape[1], len(independent)))
    basis[:, independent, np.arange(len(independent))] = 1.0
    for frame, jacobian in enumerate(jacobians):
        basis[frame, dependent] = -np.linalg.pinv(jacobian[:, dependent]) @ jacobian[:, independent]
    return independent, basis


# limits


def limit_note(model: Any, qpos: Array, tendons: Array) -> list[str]:
    """A sentence on joints and tendons beyond their limits along positions (T, nq) and lengths (T, ntendon) [m]."""
    beyond = list[tuple[float, str, bool, int]]()

    def compare(name: str, values: Array, limits: Array, length: bool) -> None:
        excess = np.maximum(limits[0] - values, values - limits[1])
        frames = excess > (_MILLIMETER if length else _TENTH)
        if frames.any():
            beyond.append((float(excess.max()), name, length, int(frames.sum())))

    kinds = mujoco_engine().mjtJoint
    for joint in np.flatnonzero(model.jnt_limited).tolist():
        first, limits = int(model.jnt_qposadr[joint]), model.jnt_range[joint]
        values = qpos[:, first]
        if int(model.jnt_type[joint]) == int(kinds.mjJNT_BALL):
            quaternion = qpos[:, first : first + 4]
            turn = np.linalg.norm(quaternion[:, 1:], axis=1)
            values, limits = 2.0 * np.arctan2(turn, np.abs(quaternion[:, 0])), np.array([0.0, limits.max()])
        compare(name_in(model, "JOINT", joint), values, limits, is_slide(model, joint))
    for tendon in np.flatnonzero(model.tendon_limited).tolist():
        compare(
            f"tendon {name_in(model, 'TENDON', tendon)}", tendons[:, tendon], model.tendon_range[tendon], True
        )
    if not beyond:
        return []
    parts = [
        f"{name} by {_amount(size, length)} in {frames} of {len(qpos)} frames"
        for size, name, length, frames in sorted(beyond, reverse=True)
    ]
    return [f"Limits of the simulator exert no force here. Beyond them are {few(parts, _NAMED)}."]


def _amount(size: float, is_length: bool) -> str:
    return f"{1e3 * size:.1f} mm" if is_length else f"{np.degrees(size):.1f} degrees"


def parted_note(model: Any, parted: dict[int, float]) -> list[str]:
    """A sentence on equalities of places that the motion does not satisfy: number -> distance [m]."""
    parts = [
        f"{name_in(model, 'EQUALITY', number)} by {1e3 * size:.0f} mm"
        for number, size in parted.items()
        if size > _MILLIMETER
    ]
    if not parts:
        return []
    return [
        f"The motion does not satisfy equalities of the model: {few(parts, _NAMED)}. Moments are shared as if they "
        "held."
    ]


def parted_places(data: Any, model: Any) -> dict[int, float]:
    """Equalities that connect or weld bodies, or tie tendons -> how far they are from holding [m]."""
    kinds, count = mujoco_engine().mjtEq, equality_count(data)
    numbers, miss = data.efc_id[:count], data.efc_pos[:count]
    found = dict[int, float]()
    for number in np.unique(numbers).tolist():
        if int(model.eq_type[number]) in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD)):
            found[number] = float(np.linalg.norm(miss[numbers == number][:3]))
        elif int(model.eq_type[number]) == int(kinds.mjEQ_TENDON):
            found[number] = float(np.abs(miss[numbers == number]).max())
    return found


# contacts


def requested_contacts(requested: str | Sequence[str]) -> tuple[str, ...]:
    """Names of the contacts that act; none of them for "none"."""
    names = (requested,) if isinstance(requested, str) else tuple(requested)
    return () if names == (NO_CONTACTS,) else names


def contact_choice(model: Any, requested: tuple[str, ...], file: Any) -> Callable[[int, int], bool]:
    """Whether the contact of two geoms acts: none, all, or those with one of the requested geoms or bodies.

    Raises:
        InputError: no geom or body has such a name.
    """
    if not requested:
        return lambda first, second: False
    if requested == (ALL_CONTACTS,):
        return lambda first, second: True
    geoms = [name_in(model, "GEOM", geom) for geom in range(model.ngeom)]
    bodies = [name_in(model, "BODY", body) for body in model.geom_bodyid]
    check_known(requested, "geom or body", list(dict.fromkeys([*geoms, *bodies])), " in the model", file)
    some = np.array([{geom, body} & {*requested} != set() for geom, body in zip(geoms, bodies, strict=True)])
    return lambda first, second: any(geom >= 0 and some[geom] for geom in (first, second))


@dataclass(frozen=True, eq=False)
class ContactPairs:
    """Pairs of geoms that touch along a motion: acts: whether the contact of two geoms acts.

    force: names of a pair -> its largest force [N] and the time [s]; idle: of a pair whose contact does not act -> its
    largest depth [m] and the number of frames.
    """

    model: Any
    acts: Callable[[int, int], bool]
    force: dict[str, tuple[float, float]] = field(default_factory=dict)
    idle: dict[str, tuple[float, int]] = field(default_factory=dict)

    def note_idle(self, data: Any) -> None:
        """Keep the pairs of a frame that touch and exert no force."""
        deepest = dict[str, float]()
        for contact in self._touching(data):
            if contact.dist < 0.0 and not self.acts(*_geoms(contact)):
                pair = self._pair(contact)
                deepest[pair] = max(deepest.get(pair, 0.0), -float(contact.dist))
        for pair, depth in deepest.items():
            before, frames = self.idle.get(pair, (0.0, 0))
            self.idle[pair] = max(before, depth), frames + 1

    def left_out(self, data: Any, time: float) -> Array:
        """Generalized force (nv,) of the contacts that the inverse counted and that do not act; keeps what acts."""
        engine, model = mujoco_engine(), self.model
        rows, count = np.zeros(data.nefc, bool), dict[str, Array]()
        pyramid = int(model.opt.cone) == int(engine.mjtCone.mjCONE_PYRAMIDAL)
        for number, contact in enumerate(data.contact):
            if contact.efc_address < 0:
                continue
            if self.acts(*_geoms(contact)):
                force = np.zeros(6)
                engine.mj_contactForce(model, data, number, force)
                pair = self._pair(contact)
                count[pair] = count.get(pair, 0.0) + np.reshape(contact.frame, (3, 3)).T @ force[:3]
            else:
                size = 2 * (contact.dim - 1) if pyramid and contact.dim > 1 else contact.dim
                rows[contact.efc_address : contact.efc_address + size] = True
        for pair, vector in count.items():
            self.force[pair] = max(self.force.get(pair, (0.0, time)), (float(np.linalg.norm(vector)), time))
        if not rows.any():
            return np.zeros(model.nv)
        return np.asarray(constraint_rows(data, model)[rows].T @ np.asarray(data.efc_force)[rows])

    def notes(self, frames: int) -> list[str]:
        """Sentences on the pairs that exert a force, and on those that touch and exert none."""
        acting = [
            f"{pair} {size:.0f} N at {time:.3f} s"
            for pair, (size, time) in sorted(self.force.items(), key=lambda item: -item[1][0])
            if size > 0.0
        ]
        idle = [
            f"{pair} {1e3 * depth:.1f} mm deep in {often} of {frames} frames"
            for pair, (depth, often) in sorted(self.idle.items(), key=lambda item: -item[1][0])
        ]
        notes = list[str]()
        if acting:
            notes.append(f"Contacts of the simulator act, with the largest forces: {few(acting, _NAMED)}.")
        if idle:
            notes.append(
                "Contacts of the simulator exert no force here, as --contacts does not request it: "
                f"{few(idle, _NAMED)}."
            )
        return notes

    def _touching(self, data: Any) -> Iterable[Any]:
        return (contact for contact in data.contact if contact.efc_address >= 0)

    def _pair(self, contact: Any) -> str:
        return " and ".join(_geom_name(self.model, geom) for geom in _geoms(contact))


def _geoms(contact: Any) -> tuple[int, int]:
    first, second = (int(geom) for geom in contact.geom)
    return first, second


def _geom_name(model: Any, geom: int) -> str:
    """Name of a geom, else of its body with the number of the geom."""
    if geom < 0:
        return "a flexible body"
    engine = mujoco_engine()
    name = engine.mj_id2name(model, engine.mjtObj.mjOBJ_GEOM, geom)
    return name or f"{name_in(model, 'BODY', model.geom_bodyid[geom])} (geom {geom})"
