"""Force sharing for the muscles of a MuJoCo model: lengths, moment arms, curves and inverse dynamics of the simulator.

Along a motion q(t) the simulator's inverse dynamics gives the generalized forces that actuators must produce,

    tau = M(q) qdd + c(q, qd) - passive forces - contacts - J^T f_external.

The force of a muscle actuator is p = gain(L, Ld) a + bias(L), negative for a pull, and its moments are (dL/dq)^T p.
With arms r = -dL/dq, the capacity -gain and the passive force -bias, the problem is r (capacity a) = tau - r passive.
Equality constraints J qd = 0 leave the rates qd = B qd_i of independent coordinates, and B^T tau = B^T r F is shared:
the forces of the constraints do no work. Tendons of MuJoCo's muscles are rigid.
"""

import copy
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import qr

from musclesolve._util.arrays import Array, Indices, vector_product
from musclesolve._util.checks import check_array, check_increasing
from musclesolve._util.messages import shortened
from musclesolve.errors import file_error, input_error, not_installed
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

_RANK = 1e-8
"""Least singular value of the constraints, beside the largest one, that removes a freedom."""
_FIRST = 1e4
"""Weight of the columns that are chosen first."""
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
        engine = _engine()
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
        engine, file = _engine(), Path(path)
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
        kinds = _engine().mjtJoint
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
        kinds = _engine().mjtJoint
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
        engine = _engine()
        name = engine.mj_id2name(self.model, getattr(engine.mjtObj, f"mjOBJ_{kind}"), int(number))
        return name or f"{kind.lower()}_{number}"

    def problem(
        self,
        time: Array,
        qpos: Array,
        qvel: Array | None = None,
        qacc: Array | None = None,
        *,
        external: Array | None = None,
        contacts: bool = True,
        least_activation: float = 0.0,
        reserve_weight: float | None = None,
    ) -> Problem:
        """Make the force-sharing problem of a motion.

        Args:
            time: (T,) [s].
            qpos: (T, nq) of the simulator [rad, m, quaternions].
            qvel, qacc: (T, nv); differences of qpos by default, so that a measured motion must be smooth.
            external: (T, nbody, 6) force [N] and moment [N m] on each body at its mass center, in the world, as
                `xfrc_applied`.
            contacts: whether the simulator's contacts act, by its analytical inverse. False with measured external
                forces.
            least_activation: lower bound of the activations.
            reserve_weight: see `Problem`.

        Returns:
            The problem of the independent coordinates on which a muscle acts, for `ms.solve`.

        Raises:
            InputError: an array has another shape, numbers are not finite, or a hinge turns more than a full rotation
                beyond its range.
        """
        motion = self._along(time, qpos, qvel, qacc, external, contacts)
        return problem_of(motion, least_activation, reserve_weight)

    def along(self, time: Array, positions: Array, loads: Path | None = None) -> SimulatedMotion:
        """See `SimulatedModel`; with external loads the contacts of the simulator do not act."""
        external = None if loads is None else self._external(time, positions, loads)
        return self._along(time, positions, None, None, external, loads is None)

    def _along(
        self,
        time: Array,
        qpos: Array,
        qvel: Array | None,
        qacc: Array | None,
        external: Array | None,
        contacts: bool,
    ) -> SimulatedMotion:
        """Muscles and inverse dynamics along a motion; see `problem`."""
        engine, model = _engine(), copy.copy(self.model)
        least = DIFFERENCED if qvel is None or qacc is None else 1
        time = check_increasing(time, least, where="time")
        frames, bodies = len(time), model.nbody
        qpos = check_array(qpos, "qpos", (frames, model.nq))
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
        count = len(self.muscle)
        tau, arm = np.empty((frames, model.nv)), np.empty((frames, model.nv, count))
        length, capacity, passive = (np.empty((frames, count)) for _ in range(3))
        independent = np.arange(model.nv)
        basis = np.broadcast_to(np.eye(model.nv), (frames, model.nv, model.nv))
        disabled = engine.mjtDisableBit
        without = disabled.mjDSBL_EQUALITY | (0 if contacts else disabled.mjDSBL_CONTACT)
        usual, jacobians = int(model.opt.disableflags), []
        data = engine.MjData(model)
        for frame in range(frames):
            data.qpos[:], data.qvel[:], data.qacc[:] = qpos[frame], qvel[frame], qacc[frame]
            model.opt.disableflags = usual
            engine.mj_fwdPosition(model, data)
            jacobians.append(_equalities(data, model))
            arm[frame] = -_moments(data, model)[self.muscle].T
            length[frame] = data.actuator_length[self.muscle]
            model.opt.disableflags = usual | int(without)
            engine.mj_inverse(model, data)
            tau[frame] = data.qfrc_inverse
            if wrenches is not None:
                for body, wrench in enumerate(wrenches[frame]):
                    if wrench.any():
                        acting = np.zeros(model.nv)
                        place = data.xipos[body]
                        engine.mj_applyFT(model, data, wrench[:3], wrench[3:], place, body, acting)
                        tau[frame] -= acting
        rate = -np.einsum("ti,tin->tn", qvel, arm)
        for frame in range(frames):
            capacity[frame], passive[frame] = self._forces(length[frame], rate[frame])
        if jacobians[0].size:
            # coordinates of joints that follow another joint by an equality constraint
            follows = (model.eq_type == engine.mjtEq.mjEQ_JOINT) & (model.eq_obj2id >= 0)
            followers = np.asarray(model.jnt_dofadr[model.eq_obj1id[follows]])
            independent, basis = _null_space(jacobians, followers)
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
        return simulated_motion(
            *(time, coordinates, arm, tau, angle[:, independent], qvel[:, independent]),
            simulated_muscles(self.file, self.muscles, self._peak(), optimal, slack, fastest),
            musculotendon_length=length,
            musculotendon_velocity=rate,
            fiber_length=length - slack,
            fiber_velocity=rate,
            force_capacity=capacity,
            passive_force=passive,
        )

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
        engine, model, (frames, _) = _engine(), self.model, np.shape(qpos)
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

    def controls(self, time: Array, activation: Array) -> Array:
        """Controls (T, nu) with which the activations (T, n) of a solution follow from frame to frame.

        A muscle of MuJoCo obeys a' = (u - a) / tau with tau = tau_act (0.5 + 1.5 a) for u > a, else tau_deact / (0.5 +
        1.5 a) (Millard et al. 2013, eq. 1-2). A control is cut off at its bounds where an activation changes faster.
        Without a number it is zero; other actuators rest.
        """
        time = check_increasing(time, where="time")
        known = check_array(activation, "activation", (len(time), len(self.muscle)), finite=False)
        a = np.nan_to_num(known)
        change = np.gradient(a, time, axis=0)
        rise, fall = self.model.actuator_dynprm[self.muscle, :2].T
        constant = np.where(change > 0.0, rise * (0.5 + 1.5 * a), fall / (0.5 + 1.5 * a))
        control = np.zeros((len(time), self.model.nu))
        control[:, self.muscle] = np.clip(a + constant * change, 0.0, 1.0)
        return control

    def _differences(self, time: Array, qpos: Array) -> Array:
        """Velocities (T, nv) from differences of positions (T, nq), of second order also at the ends.

        The mean velocities between frames are interpolated linearly in time, and extrapolated to both ends.
        """
        engine, step = _engine(), np.diff(time)
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
        engine, model, capacity, passive = _engine(), self.model, np.empty(len(length)), np.empty(len(length))
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


def _engine() -> Any:
    """The package mujoco."""
    try:
        import mujoco
    except ImportError as fault:
        raise not_installed("a MuJoCo model needs", "mujoco", "mujoco") from fault
    return mujoco


def _moments(data: Any, model: Any) -> Array:
    """dL/dq (nu, nv) of all actuators."""
    moments = np.zeros((model.nu, model.nv))
    sparse = (data.moment_rownnz, data.moment_rowadr, data.moment_colind)
    _engine().mju_sparse2dense(moments, np.ravel(data.actuator_moment), *sparse)
    return moments


def _equalities(data: Any, model: Any) -> Array:
    """Jacobian (r, nv) of the equality constraints that act."""
    engine = _engine()
    rows = int((data.efc_type == engine.mjtConstraint.mjCNSTR_EQUALITY).sum())  # they come first
    if not rows or not engine.mj_isSparse(model):
        return np.array(data.efc_J).reshape(-1, model.nv)[:rows]
    jacobian = np.zeros((data.nefc, model.nv))
    sparse = data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
    engine.mju_sparse2dense(jacobian, np.ravel(data.efc_J), *sparse)
    return jacobian[:rows]


def _null_space(jacobians: list[Array], followers: Indices) -> tuple[Indices, Array]:
    """Independent coordinates (c,), and rates of all by theirs (T, nv, c), under the J (r, nv) of each frame.

    Coordinates that follow others by a constraint of joints are dependent, as far as the constraints allow.
    """
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
