"""Force sharing for the muscles of a MuJoCo model: lengths, moment arms, curves and inverse dynamics of the simulator.

Along a motion q(t) the simulator's inverse dynamics gives the generalized forces that actuators must produce,

    tau = M(q) qdd + c(q, qd) - passive forces - J^T f_external.

Forces of limits and contacts belong to the simulator's own motion and are left out unless they are requested.
The force of a muscle actuator is p = gain(L, Ld) a + bias(L), negative for a pull, and its moments are (dL/dq)^T p.
With arms r = -dL/dq, the capacity -gain and the passive force -bias, the problem is r (capacity a) = tau - r passive.
Equality constraints J qd = 0 leave the rates qd = B qd_i of independent coordinates, and B^T tau = B^T r F is shared:
the forces of the constraints do no work. Tendons of MuJoCo's muscles are rigid.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, vector_product
from musclesolve._util.checks import check_array, check_increasing
from musclesolve._util.messages import check_known, few, shortened
from musclesolve.errors import file_error, input_error
from musclesolve.models.mujoco_constraints import (
    ContactPairs,
    constraint_rows,
    contact_choice,
    equality_count,
    follower_note,
    free_rates,
    joint_equalities,
    limit_note,
    mujoco_engine,
    name_in,
    parted_note,
    parted_places,
    requested_contacts,
    with_followers,
)
from musclesolve.models.opensim.external_loads import described_loads, load_wrench
from musclesolve.models.opensim.kinematics import BodyMotion
from musclesolve.models.opensim.model import GROUND
from musclesolve.models.simulated_body import (
    ANGLE,
    DIFFERENCED,
    LENGTH,
    Drawing,
    SimulatedModel,
    SimulatedMotion,
    problem_of,
    simulated_motion,
    simulated_muscles,
)
from musclesolve.sharing.problem import Problem

_OF_POSITION = {"FREE": (LENGTH,) * 3 + ("",) * 4, "BALL": ("",) * 4, "SLIDE": (LENGTH,), "HINGE": (ANGLE,)}
_OF_VELOCITY = _OF_POSITION | {"FREE": (LENGTH,) * 3 + (ANGLE,) * 3, "BALL": (ANGLE,) * 3}
"""Kind of a joint -> units of its positions, and of its coordinates of velocity."""


@dataclass(frozen=True, eq=False)
class MujocoModel(SimulatedModel):
    """A MuJoCo model whose muscles share moments.

    model: the MjModel; muscle: numbers of its muscle actuators. Other actuators are at rest.
    """

    program: ClassVar[str] = "MuJoCo"
    model: Any
    file: Path | None = None
    muscle: Indices = field(init=False)

    def __post_init__(self) -> None:
        engine = mujoco_engine()
        numbers = np.flatnonzero(self.model.actuator_gaintype == engine.mjtGain.mjGAIN_MUSCLE)
        object.__setattr__(self, "muscle", numbers)
        ranges = self.model.actuator_lengthrange[numbers]
        without = numbers[~(ranges[:, 1] > ranges[:, 0])]
        if without.size or not numbers.size:
            names = [self._name("ACTUATOR", k) for k in without]
            raise input_error(
                "bad_model",
                file=self.file,
                where=shortened(names),
                problem="muscles have no range of lengths" if names else "the model has no muscle actuator",
                expected="muscle actuators with a length range, from which MuJoCo has their optimal lengths",
                remedy="state lengthrange of these actuators"
                if names
                else "give a model with <muscle> actuators",
            )

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The model of a file (.xml, .mjb).

        Raises:
            InputError: the file cannot be read by MuJoCo, or has no muscles; mujoco is not installed.
        """
        engine, file = mujoco_engine(), Path(path)
        binary = file.suffix.casefold() == ".mjb"
        reader = engine.MjModel.from_binary_path if binary else engine.MjModel.from_xml_path
        try:
            return cls(reader(str(file)), file)
        except (ValueError, FileNotFoundError, RuntimeError) as fault:
            if hasattr(fault, "code"):  # an InputError
                raise
            raise file_error(
                "unreadable_file",
                file,
                f"MuJoCo cannot read the model: {' '.join(str(fault).split())[:300]}",
                "an MJCF model (.xml) or a compiled one (.mjb)",
                "open it in MuJoCo's viewer, which says the same",
            ) from fault

    @property
    def positions(self) -> tuple[str, ...]:
        """Names of the nq numbers of a pose: joints, numbered within balls and free joints."""
        return self._numbered(self.model.jnt_qposadr, self.model.nq)

    @property
    def units(self) -> tuple[str, ...]:
        """See `SimulatedModel`."""
        return self._units(_OF_POSITION)

    def _units(self, of_kind: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
        """The units of all joints one after the other."""
        kinds = mujoco_engine().mjtJoint
        by_kind = {int(getattr(kinds, f"mjJNT_{kind}")): units for kind, units in of_kind.items()}
        return tuple(unit for kind in self.model.jnt_type for unit in by_kind[int(kind)])

    @property
    def ranges(self) -> Array:
        """See `SimulatedModel`."""
        ranges, single = np.zeros((self.model.nq, 2)), self._single
        ranges[self.model.jnt_qposadr[single]] = self.model.jnt_range[single]
        return ranges

    @property
    def mass(self) -> float:
        """Mass of all bodies [kg]."""
        return float(self.model.body_mass.sum())

    @property
    def _single(self) -> Indices:
        """Numbers of the hinges and slides."""
        kinds = mujoco_engine().mjtJoint
        return np.flatnonzero(np.isin(self.model.jnt_type, [int(kinds.mjJNT_HINGE), int(kinds.mjJNT_SLIDE)]))

    @property
    def muscles(self) -> tuple[str, ...]:
        """Names of the n muscles."""
        return tuple(self._name("ACTUATOR", k) for k in self.muscle)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the nv coordinates of velocity: joints, numbered within balls and free joints."""
        return self._numbered(self.model.jnt_dofadr, self.model.nv)

    def _numbered(self, first: Indices, size: int) -> tuple[str, ...]:
        """The name of each joint for its numbers, which begin at `first`, of `size` numbers in all."""
        return tuple(
            self._name("JOINT", joint) + (f":{k}" if count > 1 else "")
            for joint, count in enumerate(np.diff([*first, size]))
            for k in range(count)
        )

    def _name(self, kind: str, number: int) -> str:
        return name_in(self.model, kind, number)

    @property
    def followers(self) -> tuple[str, ...]:
        """See `SimulatedModel`: joints that follow other ones by an equality."""
        joints = (int(self.model.eq_obj1id[number]) for number in joint_equalities(self.model))
        return tuple(self._name("JOINT", joint) for joint in joints)

    def problem(
        self,
        time: Array,
        qpos: Array,
        qvel: Array | None = None,
        qacc: Array | None = None,
        *,
        external: Array | None = None,
        contacts: str | Sequence[str] = (),
        limits: bool = False,
        least_activation: float = 0.0,
        reserve_weight: float | None = None,
    ) -> Problem:
        """Make the force-sharing problem of a motion.

        Args:
            time: (T,) [s].
            qpos: (T, nq) of the simulator [rad, m, quaternions]. Without qvel or qacc a motion is measured: joints that
                follow others by an equality are computed.
            qvel, qacc: (T, nv) of a simulation; differences of qpos by default, so that a measured motion must be
                smooth.
            external: (T, nbody, 6) force [N] and moment [N m] on each body at its mass center, in the world, as
                `xfrc_applied`.
            contacts: contacts of the simulator that act, by its analytical inverse: "all", or those with one of some
                geoms or bodies. None acts by default, as a measured motion does not show their force.
            limits: whether limits of joints and tendons act, as in a simulation that meets them.
            least_activation: lower bound of the activations.
            reserve_weight: see `Problem`.

        Returns:
            The problem of the independent coordinates on which a muscle acts, for `ms.solve`.

        Raises:
            InputError: an array has another shape, numbers are not finite, a hinge turns more than a full rotation
                beyond its range, or no geom or body has the name of a contact.
        """
        motion = self._along(time, qpos, qvel, qacc, external, contacts, limits)
        return problem_of(motion, least_activation, reserve_weight)

    def along(
        self, time: Array, positions: Array, loads: Path | None = None, contacts: Sequence[str] = ()
    ) -> SimulatedMotion:
        """See `SimulatedModel`."""
        placed = with_followers(self.model, positions)
        external = None if loads is None else self._external(time, placed, loads)
        motion = self._along(time, positions, None, None, external, contacts, False)
        return motion._replace(notes=(*follower_note(self.model, positions, placed), *motion.notes))

    def _along(
        self,
        time: Array,
        qpos: Array,
        qvel: Array | None,
        qacc: Array | None,
        external: Array | None,
        contacts: str | Sequence[str],
        limits: bool,
    ) -> SimulatedMotion:
        """Muscles and inverse dynamics along a motion; see `problem`."""
        engine, model = mujoco_engine(), copy.copy(self.model)
        is_measured = qvel is None or qacc is None
        time = check_increasing(time, DIFFERENCED if is_measured else 1, where="time")
        frames, bodies = len(time), model.nbody
        qpos = check_array(qpos, "qpos", (frames, model.nq))
        if is_measured:
            qpos = with_followers(model, qpos)
        self.check_limits(qpos)
        qvel = (
            self._differences(time, qpos) if qvel is None else check_array(qvel, "qvel", (frames, model.nv))
        )
        qacc = (
            np.gradient(qvel, time, axis=0, edge_order=2)
            if qacc is None
            else check_array(qacc, "qacc", (frames, model.nv))
        )
        wrenches = None if external is None else check_array(external, "external", (frames, bodies, 6))
        requested = requested_contacts(contacts)
        pairs = ContactPairs(model, contact_choice(model, requested, self.file))
        count = len(self.muscle)
        tau, arm = np.empty((frames, model.nv)), np.empty((frames, model.nv, count))
        length, capacity, passive = (np.empty((frames, count)) for _ in range(3))
        tendons, parted = np.empty((frames, model.ntendon)), dict[int, float]()
        independent = np.arange(model.nv)
        basis = np.broadcast_to(np.eye(model.nv), (frames, model.nv, model.nv))
        usual, jacobians = int(model.opt.disableflags), []
        in_inverse_dynamics = usual | _disabled(limits, bool(requested))
        data = engine.MjData(model)
        for frame in range(frames):
            data.qpos[:], data.qvel[:], data.qacc[:] = qpos[frame], qvel[frame], qacc[frame]
            model.opt.disableflags = usual
            engine.mj_fwdPosition(model, data)
            jacobians.append(constraint_rows(data, model)[: equality_count(data)])
            for number, miss in parted_places(data, model).items():
                parted[number] = max(parted.get(number, 0.0), miss)
            pairs.note_idle(data)
            arm[frame] = -_moments(data, model)[self.muscle].T
            length[frame], tendons[frame] = data.actuator_length[self.muscle], data.ten_length
            model.opt.disableflags = in_inverse_dynamics
            engine.mj_inverse(model, data)
            tau[frame] = data.qfrc_inverse
            if requested:
                tau[frame] += pairs.left_out(data, time[frame])
            if wrenches is not None:
                _subtract_wrenches(data, model, wrenches[frame], tau[frame])
        rate = -np.einsum("ti,tin->tn", qvel, arm)
        for frame in range(frames):
            capacity[frame], passive[frame] = self._forces(length[frame], rate[frame])
        if jacobians[0].size:
            independent, basis = free_rates(model, jacobians)
        tau, arm = np.einsum("tij,ti->tj", basis, tau), np.einsum("tij,tin->tjn", basis, arm)
        low, high = model.actuator_gainprm[self.muscle, :2].T
        shortest, longest = model.actuator_lengthrange[self.muscle].T
        optimal = (longest - shortest) / (high - low)
        slack = shortest - low * optimal
        fastest = model.actuator_gainprm[self.muscle, 6]
        angle, single, units = np.full((frames, model.nv), np.nan), self._single, self._units(_OF_VELOCITY)
        angle[:, model.jnt_dofadr[single]] = qpos[:, model.jnt_qposadr[single]]
        names = self.coordinates
        coordinates = [(names[k], units[k], str(model.dof_bodyid[k])) for k in independent]
        most = self._largest_activations(capacity, passive)
        motion = simulated_motion(
            *(time, coordinates, arm, tau, angle[:, independent], qvel[:, independent]),
            simulated_muscles(self.file, self.muscles, self._peak(), optimal, slack, fastest),
            musculotendon_length=length,
            musculotendon_velocity=rate,
            fiber_length=length - slack,
            fiber_velocity=rate,
            force_capacity=capacity,
            passive_force=passive,
            largest_activation=most,
        )
        notes = [
            *([] if limits else limit_note(model, qpos, tendons)),
            *parted_note(model, parted),
            *pairs.notes(frames),
            *self._actuator_notes(most),
        ]
        return motion._replace(positions=qpos, notes=(*notes, *motion.notes))

    def _largest_activations(self, capacity: Array, passive: Array) -> Array:
        """Largest activations (T, n) by the ranges of control, activation and force of the model.

        An activation that does not change equals the control.
        """
        model, number = self.model, self.muscle
        most = np.ones(capacity.shape)
        for limited, ranges in (
            (model.actuator_ctrllimited, model.actuator_ctrlrange),
            (model.actuator_actlimited, model.actuator_actrange),
        ):
            most = np.minimum(most, np.where(limited[number], ranges[number, 1], 1.0))
        limited, pull = (
            model.actuator_forcelimited[number].astype(bool),
            -model.actuator_forcerange[number, 0],
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(capacity > 0.0, (pull - passive) / capacity, 1.0)
        return np.asarray(np.where(limited, np.minimum(most, share), most))

    def _actuator_notes(self, most: Array) -> list[str]:
        """Sentences on actuators that rest, gears, and muscles whose ranges allow less than full activation (T, n)."""
        model, number = self.model, self.muscle
        notes, least = [], most.min(axis=0)
        if bound := [
            f"{name} {max(value, 0.0):.2f}"
            for name, value in zip(self.muscles, least, strict=True)
            if value < 1.0
        ]:
            notes.append(f"Ranges of control or force in the model limit activations: {few(bound, 5)}.")
        gear = model.actuator_gear[number, 0]
        if geared := [
            f"{name} {value:g}" for name, value in zip(self.muscles, gear, strict=True) if value != 1.0
        ]:
            notes.append(
                "Forces are of actuators; a tendon bears its gear times as much, and arms have the gear in "
                f"them: {few(geared, 5)}."
            )
        if idle := [self._name("ACTUATOR", k) for k in range(model.nu) if k not in number]:
            notes.append(f"Actuators that are no muscles exert no force: {few(idle, 5)}.")
        return notes

    def _external(self, time: Array, qpos: Array, loads: Path) -> Array:
        """Forces and moments (T, nbody, 6) of an ExternalLoads file on the bodies, in the world of the simulator."""
        origin, turned, center, _ = self._poses(qpos)
        names = [self._name("BODY", body) for body in range(self.model.nbody)]
        bodies = SimpleNamespace(
            name=(self.file or loads).name,
            body_number={GROUND: 0} | {name: k for k, name in enumerate(names)},
        )
        pose = BodyMotion(turned, origin, np.zeros((len(qpos), 0, len(names), 6)))
        wrench = load_wrench(bodies, described_loads(loads), time, pose)
        force = wrench[..., 3:]
        return np.concatenate([force, wrench[..., :3] - vector_product(center, force)], axis=2)

    def drawing(self, positions: Array) -> Drawing:
        """See `SimulatedModel`."""
        origin, _, _, paths = self._poses(positions)
        names = tuple(self._name("BODY", body) for body in range(1, self.model.nbody))
        parents = tuple(int(parent) - 1 for parent in self.model.body_parentid[1:])
        return Drawing(names, parents, origin[:, 1:], paths)

    def _poses(self, qpos: Array) -> tuple[Array, Array, Array, dict[str, Array]]:
        """Origins (T, nbody, 3), rotations (T, nbody, 3, 3) and mass centers of bodies; paths of tendons of muscles."""
        engine, model, (frames, _) = mujoco_engine(), self.model, np.shape(qpos)
        data, rows = engine.MjData(model), []
        for pose in qpos:
            data.qpos[:] = pose
            engine.mj_kinematics(model, data)
            engine.mj_comPos(model, data)
            engine.mj_tendon(model, data)
            part = data.xpos, data.xmat, data.xipos, data.wrap_xpos, data.ten_wrapadr, data.ten_wrapnum
            rows.append([np.array(array) for array in part])
        origin, turned, center, points, first, count = map(np.array, zip(*rows, strict=True))
        points, paths = points.reshape(frames, -1, 3), dict[str, Array]()
        for name, actuator in zip(self.muscles, self.muscle, strict=True):
            if model.actuator_trntype[actuator] == engine.mjtTrn.mjTRN_TENDON:
                tendon = model.actuator_trnid[actuator, 0]
                most = count[:, tendon].max()
                places = first[:, tendon, None] + np.minimum(np.arange(most), count[:, tendon, None] - 1)
                paths[name] = points[np.arange(frames)[:, None], places]
        return origin, turned.reshape(frames, -1, 3, 3), center, paths

    def controls(self, time: Array, activation: Array, muscles: Sequence[str] | None = None) -> Array:
        """Controls (T, nu) with which the activations (T, n) of a solution follow from frame to frame.

        muscles: names of the n muscles of a problem that lacks some of the model, all others rest.

        A muscle of MuJoCo obeys a' = (u - a) / tau with tau = tau_act (0.5 + 1.5 a) for u > a, else tau_deact / (0.5 +
        1.5 a) (Millard et al. 2013, eq. 1-2). A control is cut off at its bounds where an activation changes faster.
        Without a number it is zero; other actuators rest.
        """
        time = check_increasing(time, where="time")
        number = self.muscle
        if muscles is not None:
            check_known(muscles, "muscle", self.muscles, " in the model", self.file)
            number = number[[self.muscles.index(name) for name in muscles]]
        known = check_array(activation, "activation", (len(time), len(number)), finite=False)
        a = np.nan_to_num(known)
        change = np.gradient(a, time, axis=0)
        rise, fall = self.model.actuator_dynprm[number, :2].T
        constant = np.where(change > 0.0, rise * (0.5 + 1.5 * a), fall / (0.5 + 1.5 * a))
        control = np.zeros((len(time), self.model.nu))
        control[:, number] = np.clip(a + constant * change, 0.0, 1.0)
        return control

    def _differences(self, time: Array, qpos: Array) -> Array:
        """Velocities (T, nv) from differences of positions (T, nq), of second order also at the ends.

        The mean velocities between frames are interpolated linearly in time, and extrapolated to both ends.
        """
        engine, step = mujoco_engine(), np.diff(time)
        mean = np.zeros((len(step), self.model.nv))
        for k, pose in enumerate(pairwise(qpos)):
            engine.mj_differentiatePos(self.model, mean[k], float(step[k]), *pose)
        change = np.diff(mean, axis=0) / (step[:-1] + step[1:])[:, None]
        return np.concatenate(
            [
                mean[:1] - step[0] * change[:1],
                mean[:-1] + step[:-1, None] * change,
                mean[-1:] + step[-1] * change[-1:],
            ]
        )

    def _forces(self, length: Array, rate: Array) -> tuple[Array, Array]:
        """Capacities and passive forces (n,) [N] at lengths [m] and rates [m/s]."""
        engine, model, capacity, passive = (
            mujoco_engine(),
            self.model,
            np.empty(len(length)),
            np.empty(len(length)),
        )
        for k, number in enumerate(self.muscle):
            shared = model.actuator_lengthrange[number], model.actuator_acc0[number]
            gain, bias = model.actuator_gainprm[number, :9], model.actuator_biasprm[number, :9]
            capacity[k] = -engine.mju_muscleGain(length[k], rate[k], *shared, gain)
            passive[k] = -engine.mju_muscleBias(length[k], *shared, bias)
        return capacity, passive

    def _peak(self) -> Array:
        """Maximum isometric forces (n,) [N]: stated, or a scale over the acceleration that a unit force gives."""
        stated, scale = self.model.actuator_gainprm[self.muscle, 2:4].T
        return np.where(
            stated >= 0.0, stated, scale / np.maximum(self.model.actuator_acc0[self.muscle], 1e-15)
        )


def _disabled(limits: bool, contacts: bool) -> int:
    """The bits of the parts that inverse dynamics leaves out: equalities, and limits and contacts if not requested."""
    disabled = mujoco_engine().mjtDisableBit
    bits = disabled.mjDSBL_EQUALITY
    bits |= 0 if limits else disabled.mjDSBL_LIMIT
    bits |= 0 if contacts else disabled.mjDSBL_CONTACT
    return int(bits)


def _subtract_wrenches(data: Any, model: Any, wrenches: Array, tau: Array) -> None:
    """Subtract what wrenches (B, 6) [N, N m] at the mass centers of the bodies do from generalized forces (nv,)."""
    for body, wrench in enumerate(wrenches):
        if wrench.any():
            acting = np.zeros(model.nv)
            place = data.xipos[body]
            mujoco_engine().mj_applyFT(model, data, wrench[:3], wrench[3:], place, body, acting)
            tau -= acting


def _moments(data: Any, model: Any) -> Array:
    """dL/dq (nu, nv) of all actuators."""
    moments = np.zeros((model.nu, model.nv))
    sparse = (data.moment_rownnz, data.moment_rowadr, data.moment_colind)
    mujoco_engine().mju_sparse2dense(moments, np.ravel(data.actuator_moment), *sparse)
    return moments
