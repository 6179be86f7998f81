"""Force sharing for the muscles of a biorbd model (.bioMod): arms, forces and inverse dynamics of biorbd.

The force of a muscle grows linearly with its activation, so that its capacity is F(1) - F(0) and its passive force
F(0), at the length and velocity of the pose. Ligaments and passive torques of the model bear a part of the
inverse dynamics: the muscles produce tau - tau_ligaments - tau_passive. No external forces act: the model hangs, or
moves freely.
"""

import locale
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_increasing
from musclesolve._util.messages import few
from musclesolve.errors import file_error, not_installed
from musclesolve.models.mujoco_constraints import requested_contacts
from musclesolve.models.opensim.model import TO_GLOBAL
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

_SAME = 1e-6
"""Largest difference of two forces that are equal [maximum isometric forces]."""
_SMALL = 0.05
"""Torque that is not named [N m]: it would read 0.0."""


@dataclass(frozen=True, eq=False)
class BiorbdModel(SimulatedModel):
    """A biorbd model whose muscles share moments; model: the biorbd.Model."""

    program: ClassVar[str] = "biorbd"
    model: Any
    file: Path | None = None

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The model of a file (.bioMod).

        Raises:
            InputError: the file cannot be read by biorbd, or has no muscles; biorbd is not installed.
        """
        try:
            import biorbd
        except ImportError as fault:
            raise not_installed("a biorbd model needs", "biorbd", "biorbd") from fault
        region = locale.setlocale(locale.LC_ALL)
        try:
            model = biorbd.Model(str(path))
        except (RuntimeError, ValueError) as fault:
            raise file_error(
                "unreadable_file",
                Path(path),
                f"biorbd cannot read the model: {' '.join(str(fault).split())[:300]}",
                "a model of biorbd (.bioMod)",
                "load it with biorbd, which says the same",
            ) from fault
        finally:  # biorbd leaves the whole process in the region "C", in which texts are ASCII
            locale.setlocale(locale.LC_ALL, region)
        if not model.nbMuscles():
            raise file_error(
                "bad_model",
                Path(path),
                "the model has no muscles",
                "muscles, which share the moments",
                "give a model with muscles",
            )
        return cls(model, Path(path))

    @property
    def positions(self) -> tuple[str, ...]:
        """Names of the nq coordinates of a pose."""
        return self.coordinates

    @property
    def units(self) -> tuple[str, ...]:
        """See `SimulatedModel`."""
        kinds = {"Rot": ANGLE, "Tra": LENGTH}
        return tuple(kinds.get(name.rpartition("_")[2][:3], "") for name in self.positions)

    @property
    def ranges(self) -> Array:
        """See `SimulatedModel`."""
        ranges = [limits for segment in self.model.segments() for limits in segment.QRanges()]
        return np.array([(limits.min(), limits.max()) for limits in ranges])

    @property
    def followers(self) -> tuple[str, ...]:
        """See `SimulatedModel`."""
        return ()

    @property
    def mass(self) -> float:
        """Mass of all segments [kg]."""
        return float(self.model.mass())

    @property
    def muscles(self) -> tuple[str, ...]:
        """Names of the n muscles."""
        return tuple(name.to_string() for name in self.model.muscleNames())

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the nq coordinates."""
        return tuple(name.to_string() for name in self.model.nameDof())

    def problem(
        self, time: Array, q: Array, *, least_activation: float = 0.0, reserve_weight: float | None = None
    ) -> Problem:
        """Make the force-sharing problem of a motion without external forces.

        Args:
            time: (T,) [s].
            q: (T, nq) coordinates [rad, m]; rates are differences, so that a measured motion must be smooth.
            least_activation: lower bound of the activations.
            reserve_weight: see `Problem`.

        Raises:
            InputError: an array has another shape, numbers are not finite, or an angle is beyond a turn and its range.
        """
        return problem_of(self.along(time, q), least_activation, reserve_weight)

    def along(
        self, time: Array, positions: Array, loads: Path | None = None, contacts: Sequence[str] = ()
    ) -> SimulatedMotion:
        """See `SimulatedModel`."""
        given = {"loads": loads is not None, "contacts": requested_contacts(contacts) != ()}
        for name in (name for name, is_given in given.items() if is_given):
            raise file_error(
                "unsupported",
                (self.file, name),
                f"external {name} of a biorbd model",
                "a motion without contact, or a model of OpenSim or MuJoCo",
                f"leave the {name} out",
            )
        model, time = self.model, check_increasing(time, DIFFERENCED, where="time")
        q = check_array(positions, "q", (len(time), model.nbQ()))
        self.check_limits(q)
        rate = np.gradient(q, time, axis=0, edge_order=2)
        of_frames = zip(q, rate, np.gradient(rate, time, axis=0, edge_order=2), strict=True)
        muscles = self._muscles
        rows: list[tuple[Array, ...]] = []
        borne = np.zeros((2, len(time), model.nbQ()))  # by ligaments, by passive torques
        for frame, (pose, speed, change) in enumerate(of_frames):
            tau = model.InverseDynamics(pose, speed, change).to_array()
            if model.nbLigaments():
                borne[0, frame] = model.ligamentsJointTorque(pose, speed).to_array()
            if model.nbPassiveTorques():
                borne[1, frame] = model.passiveJointTorque(pose, speed).to_array()
            model.updateMuscles(pose, speed, True)
            arm = -model.musclesLengthJacobian().to_array().T
            lengths = [
                (muscle.length(model, pose, False), muscle.musculoTendonLength(model, pose, False))
                for muscle in muscles
            ]
            forces = [self._force(pose, speed, activation) for activation in (1.0, 0.5, 0.0)]
            rows.append((tau, arm, *forces, *np.transpose(lengths)))
        tau, arm, most, half, passive, fiber, length = map(np.array, zip(*rows, strict=True))
        numbers = [
            (known.forceIsoMax(), known.optimalLength(), known.tendonSlackLength(), known.pennationAngle())
            for known in (muscle.characteristics() for muscle in muscles)
        ]
        force, optimal, slack, pennation = np.transpose(numbers)
        fastest = [muscle.characteristics().maxShorteningSpeed() for muscle in muscles]
        velocity = -np.einsum("ti,tin->tn", rate, arm)
        coordinates = [
            (name, unit or ANGLE, name.rpartition("_")[0])
            for name, unit in zip(self.coordinates, self.units, strict=True)
        ]
        motion = simulated_motion(
            *(time, coordinates, arm, tau - borne.sum(axis=0), q, rate),
            simulated_muscles(self.file, self.muscles, force, optimal, slack, fastest, pennation),
            musculotendon_length=length,
            musculotendon_velocity=velocity,
            fiber_length=fiber,
            fiber_velocity=velocity,
            force_capacity=most - passive,
            passive_force=passive,
        )
        notes = [*self._borne_notes(borne), *self._force_notes(most, half, passive)]
        return motion._replace(notes=(*motion.notes, *notes))

    def _borne_notes(self, borne: Array) -> list[str]:
        """Sentences on torques (2, T, nq) of ligaments and of passive elements, and on contacts, which bear none."""
        model, notes = self.model, []
        ligaments = [name.to_string() for name in model.ligamentNames()] if model.nbLigaments() else []
        sources = (f"the ligaments {few(ligaments)}", "passive torques of joints")
        for source, torque, count in zip(
            sources, borne, (model.nbLigaments(), model.nbPassiveTorques()), strict=True
        ):
            if count:
                largest = np.abs(torque).max(axis=0)
                parts = [
                    f"{self.coordinates[k]} {largest[k]:.1f}"
                    for k in np.argsort(-largest)
                    if largest[k] > _SMALL
                ]
                moment = f"at most {few(parts)} N m" if parts else "none along this motion"
                notes.append(f"A part of the joint moments comes from {source} of the model: {moment}.")
        if model.nbContacts():
            names = [name.to_string() for name in model.contactNames()]
            notes.append(f"Contact points of the model exert no force here: {few(names)}.")
        return notes

    def _force_notes(self, most: Array, half: Array, passive: Array) -> list[str]:
        """Sentences on muscles whose force does not follow the activation, by forces (T, n) [N] at 1, .5 and 0."""
        strength = np.array([muscle.characteristics().forceIsoMax() for muscle in self._muscles])
        off = np.abs(half - 0.5 * (most + passive)).max(axis=0)
        idle, bent = (most - passive).max(axis=0) < _SAME * strength, off > _SAME * strength
        notes = []
        if names := [name for name, some in zip(self.muscles, idle, strict=True) if some]:
            notes.append(f"The force of these muscles does not depend on their activation: {few(names)}.")
        if parts := [
            f"{name} {off[k]:.1f} N" for k, name in enumerate(self.muscles) if bent[k] and not idle[k]
        ]:
            notes.append(
                "The force of some muscles is not linear in their activation, as is assumed here; off at half "
                f"activation: {few(parts)}."
            )
        return notes

    @property
    def _muscles(self) -> list[Any]:
        return [self.model.muscle(k) for k in range(self.model.nbMuscles())]

    def drawing(self, positions: Array) -> Drawing:
        """See `SimulatedModel`."""
        model, segments = self.model, [segment.name().to_string() for segment in self.model.segments()]
        parents = [segment.parent().to_string() for segment in model.segments()]
        up = TO_GLOBAL if abs(model.getGravity().to_array()[1]) > 1.0 else np.eye(3)
        origin, rows = np.empty((len(positions), len(segments), 3)), list[list[Array]]()
        for frame, pose in enumerate(positions):
            origin[frame] = [axes.to_array()[:3, 3] for axes in model.allGlobalJCS(pose)]
            model.updateMuscles(pose, True)
            rows.append(
                [
                    np.array([point.to_array() for point in model.muscle(k).musclesPointsInGlobal()])
                    for k in range(model.nbMuscles())
                ]
            )
        paths = {
            name: np.array(of_muscle) @ up.T
            for name, of_muscle in zip(self.muscles, zip(*rows, strict=True), strict=True)
        }
        numbers = tuple(segments.index(parent) if parent in segments else -1 for parent in parents)
        return Drawing(tuple(segments), numbers, origin @ up.T, paths)

    def _force(self, pose: Array, speed: Array, activation: float) -> Array:
        """Forces (n,) of all muscles at one activation [N]."""
        states = self.model.stateSet()
        for state in states:
            state.setActivation(activation)
        return np.array(self.model.muscleForces(states, pose, speed).to_array())
