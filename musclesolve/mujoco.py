"""Force sharing for the muscles of a MuJoCo model: lengths, moment arms, curves and inverse dynamics of the simulator.

Along a motion q(t) the simulator's inverse dynamics gives the generalized forces that actuators must produce,

    tau = M(q) qdd + c(q, qd) - passive forces - contacts - J^T f_external.

The force of a muscle actuator is p = gain(L, Ld) a + bias(L), negative for a pull, and its moments are (dL/dq)^T p.
With arms r = -dL/dq, the capacity -gain and the passive force -bias, the problem is r (capacity a) = tau - r passive.
Equality constraints J qd = 0 leave the rates qd = B qd_i of independent coordinates, and B^T tau = B^T r F is shared:
the forces of the constraints do no work. Tendons of MuJoCo's muscles are rigid.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import qr

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.checks import check_array, check_increasing
from musclesolve._util.names import shortened
from musclesolve.errors import input_error, not_installed
from musclesolve.sharing.problem import Problem

_RANK = 1e-8
"""Least pivot of the constraints, beside the largest one, that removes a freedom."""
_NO_ARM = 1e-12
"""Largest moment arm of a coordinate on which no muscle acts [m; 1 if a length]."""


@dataclass(frozen=True, eq=False)
class MujocoModel:
    """A MuJoCo model whose muscles share moments.

    model: the MjModel; muscle: numbers of its muscle actuators. Other actuators are at rest.
    """

    model: Any
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
                where=shortened(names),
                problem="muscles have no range of lengths" if names else "the model has no muscle actuator",
                expected="muscle actuators with a length range, from which MuJoCo has their optimal lengths",
                remedy="state lengthrange of these actuators"
                if names
                else "give a model with <muscle> actuators",
            )

    @classmethod
    def read(cls, path: str | Path) -> MujocoModel:
        """The model of a file (.xml, .mjb).

        Raises:
            InputError: the file cannot be read by MuJoCo, or has no muscles; mujoco is not installed.
        """
        engine, file = _engine(), Path(path)
        binary = file.suffix.casefold() == ".mjb"
        reader = engine.MjModel.from_binary_path if binary else engine.MjModel.from_xml_path
        try:
            return cls(reader(str(file)))
        except (ValueError, FileNotFoundError, RuntimeError) as fault:
            if hasattr(fault, "code"):  # an InputError
                raise
            raise input_error(
                "unreadable_file",
                file=file,
                problem=f"MuJoCo cannot read the model: {' '.join(str(fault).split())[:300]}",
                expected="an MJCF model (.xml) or a compiled one (.mjb)",
                remedy="open it in MuJoCo's viewer, which says the same",
            ) from fault

    @property
    def positions(self) -> tuple[str, ...]:
        """Names of the nq numbers of a pose: joints, numbered within balls and free joints."""
        return self._numbered(self.model.jnt_qposadr, self.model.nq)

    @property
    def limits(self) -> Array:
        """Least and greatest numbers (nq, 2) of a pose: a turn of a hinge, and its range; others are free."""
        limits, model = np.tile([-np.inf, np.inf], (self.model.nq, 1)), self.model
        for joint in np.flatnonzero(model.jnt_type == _engine().mjtJoint.mjJNT_HINGE):
            limits[model.jnt_qposadr[joint]] = turn_or(model.jnt_range[joint])
        return limits

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
        engine, model = _engine(), copy.copy(self.model)
        time = check_increasing(time, where="time")
        frames, bodies = len(time), model.nbody
        qpos = check_array(qpos, "qpos", (frames, model.nq))
        check_limits(qpos, self.positions, self.limits)
        qvel = (
            self._differences(time, qpos) if qvel is None else check_array(qvel, "qvel", (frames, model.nv))
        )
        qacc = (
            np.gradient(qvel, time, axis=0) if qacc is None else check_array(qacc, "qacc", (frames, model.nv))
        )
        given = None if external is None else check_array(external, "external", (frames, bodies, 6))
        count = len(self.muscle)
        tau, arm = np.empty((frames, model.nv)), np.empty((frames, model.nv, count))
        length, rate, capacity, passive = (np.empty((frames, count)) for _ in range(4))
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
            if given is not None:
                for body, wrench in enumerate(given[frame]):
                    if wrench.any():
                        acting = np.zeros(model.nv)
                        place = data.xipos[body]
                        engine.mj_applyFT(model, data, wrench[:3], wrench[3:], place, body, acting)
                        tau[frame] -= acting
            rate[frame] = -qvel[frame] @ arm[frame]
            capacity[frame], passive[frame] = self._forces(length[frame], rate[frame])
        if jacobians[0].size:
            independent, basis = _null_space(jacobians)
        tau, arm = np.einsum("tij,ti->tj", basis, tau), np.einsum("tij,tin->tjn", basis, arm)
        optimal, start = self._optimal()
        names = self.coordinates
        return problem_of_arms(
            *(time, arm, tau, capacity, passive),
            [names[k] for k in independent],
            least_activation,
            reserve_weight,
            max_isometric_force=self._peak(),
            muscle=self.muscles,
            fiber_velocity=rate,
            fiber_length=start * optimal + length - self.model.actuator_lengthrange[self.muscle, 0],
            optimal_fiber_length=optimal,
        )

    def controls(self, time: Array, activation: Array) -> Array:
        """Controls (T, nu) with which the activations (T, n) of a solution follow from frame to frame.

        A muscle of MuJoCo obeys a' = (u - a) / tau with tau = tau_act (0.5 + 1.5 a) for u > a, else tau_deact / (0.5 +
        1.5 a) (Millard et al. 2013, eq. 1-2). A control is cut off at its bounds where an activation changes faster.
        Without a number it is zero; other actuators rest.
        """
        time = check_increasing(time, where="time")
        given = check_array(activation, "activation", (len(time), len(self.muscle)), finite=False)
        a = np.nan_to_num(given)
        change = np.gradient(a, time, axis=0)
        rise, fall = self.model.actuator_dynprm[self.muscle, :2].T
        constant = np.where(change > 0.0, rise * (0.5 + 1.5 * a), fall / (0.5 + 1.5 * a))
        control = np.zeros((len(time), self.model.nu))
        control[:, self.muscle] = np.clip(a + constant * change, 0.0, 1.0)
        return control

    def _differences(self, time: Array, qpos: Array) -> Array:
        """Velocities (T, nv) from central differences of positions (T, nq), one-sided at the ends."""
        engine, last = _engine(), len(time) - 1
        velocity = np.zeros((len(time), self.model.nv))
        for frame in range(len(time)):
            before, after = max(frame - 1, 0), min(frame + 1, last)
            step = float(time[after] - time[before])
            engine.mj_differentiatePos(self.model, velocity[frame], step, qpos[before], qpos[after])
        return velocity

    def _forces(self, length: Array, rate: Array) -> tuple[Array, Array]:
        """Capacities and passive forces (n,) [N] at lengths [m] and rates [m/s]."""
        engine, capacity, passive = _engine(), np.empty(len(length)), np.empty(len(length))
        for k, (number, shared) in enumerate(self._curves()):
            gain, bias = self.model.actuator_gainprm[number, :9], self.model.actuator_biasprm[number, :9]
            capacity[k] = -engine.mju_muscleGain(length[k], rate[k], *shared, gain)
            passive[k] = -engine.mju_muscleBias(length[k], *shared, bias)
        return capacity, passive

    def _curves(self) -> Iterator[tuple[int, tuple[Array, float]]]:
        """Yield number, length range and unit acceleration of each muscle."""
        for number in self.muscle:
            yield number, (self.model.actuator_lengthrange[number], self.model.actuator_acc0[number])

    def _peak(self) -> Array:
        """Maximum isometric forces (n,) [N]: stated, or a scale over the acceleration that a unit force gives."""
        stated, scale = self.model.actuator_gainprm[self.muscle, 2:4].T
        return np.where(
            stated >= 0.0, stated, scale / np.maximum(self.model.actuator_acc0[self.muscle], 1e-15)
        )

    def _optimal(self) -> tuple[Array, Array]:
        """Optimal fiber lengths (n,) [m], and normalized ones at the beginning of the range of lengths."""
        low, high = self.model.actuator_gainprm[self.muscle, :2].T
        shortest, longest = self.model.actuator_lengthrange[self.muscle].T
        return (longest - shortest) / (high - low), low


def turn_or(limits: Iterable[float]) -> tuple[float, float]:
    """The limits of an angle [rad], at least a full turn to either side."""
    low, high = limits
    return min(low, -2.0 * np.pi), max(high, 2.0 * np.pi)


def check_limits(pose: Array, names: Sequence[str], limits: Array, file: Path | None = None) -> None:
    """Refuse angles of a motion (T, nq) beyond their limits (nq, 2), which only degrees explain."""
    for frame, k in np.argwhere((pose < limits[:, 0]) | (pose > limits[:, 1]))[:1]:
        raise input_error(
            "dynamics.angle_beyond_a_turn",
            file=file,
            where=f"{names[k]} in frame {frame}",
            angle=pose[frame, k],
        )


def problem_of_arms(
    time: Array,
    arm: Array,
    tau: Array,
    capacity: Array,
    passive: Array,
    names: Sequence[str],
    least_activation: float,
    reserve_weight: float | None,
    **arrays: Any,
) -> Problem:
    """The problem of the coordinates on which a muscle acts, of arms (T, m, n) and forces tau (T, m) of all of them."""
    acted_on = np.flatnonzero((np.abs(arm) > _NO_ARM).any(axis=(0, 2)))
    arm = arm[:, acted_on]
    return Problem(
        moment_arm=arm,
        moment=tau[:, acted_on] - np.einsum("tjn,tn->tj", arm, passive),
        force_capacity=capacity,
        lower=np.array(least_activation),
        reserve_weight=None if reserve_weight is None else np.array(reserve_weight),
        dof=tuple(names[int(k)] for k in acted_on),
        passive_force=passive,
        time=time,
        **arrays,
    )


def _engine() -> Any:
    """The package mujoco."""
    try:
        import mujoco
    except ImportError as fault:
        raise not_installed("a MuJoCo model needs", "mujoco", "mujoco") from fault
    return mujoco


def _dense(rows: int, columns: int, values: Array, count: Indices, start: Indices, column: Indices) -> Array:
    """A matrix (rows, columns) from its sparse form."""
    matrix = np.zeros((rows, columns))
    for row in range(rows):
        part = slice(start[row], start[row] + count[row])
        matrix[row, column[part]] = values[part]
    return matrix


def _moments(data: Any, model: Any) -> Array:
    """dL/dq (nu, nv) of all actuators."""
    sparse = data.moment_rownnz, data.moment_rowadr, data.moment_colind
    return _dense(model.nu, model.nv, np.ravel(data.actuator_moment), *sparse)


def _equalities(data: Any, model: Any) -> Array:
    """Jacobian (r, nv) of the equality constraints that act."""
    engine = _engine()
    rows = int((data.efc_type == engine.mjtConstraint.mjCNSTR_EQUALITY).sum())  # they come first
    if not rows:
        return np.zeros((0, model.nv))
    if engine.mj_isSparse(model):
        sparse = data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
        return _dense(rows, model.nv, np.ravel(data.efc_J), *sparse)
    return np.array(data.efc_J).reshape(-1, model.nv)[:rows]


def _null_space(jacobians: list[Array]) -> tuple[Indices, Array]:
    """Independent coordinates (c,), and rates of all by theirs (T, nv, c), under the J (r, nv) of each frame."""
    _, triangle, order = qr(jacobians[0], pivoting=True, mode="economic")
    pivots = np.abs(np.diag(triangle))
    rank = int((pivots > _RANK * pivots.max(initial=0.0)).sum())
    dependent, independent = np.sort(order[:rank]), np.sort(order[rank:])
    basis = np.zeros((len(jacobians), jacobians[0].shape[1], len(independent)))
    basis[:, independent, np.arange(len(independent))] = 1.0
    for frame, jacobian in enumerate(jacobians):
        basis[frame, dependent] = -np.linalg.pinv(jacobian[:, dependent]) @ jacobian[:, independent]
    return independent, basis
