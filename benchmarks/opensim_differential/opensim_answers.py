"""OpenSim's numbers on a model in sampled poses, computed in a process of its own.

`Answers` is what others use. As a script it reads tasks, one JSON object a line, and answers each with a line.

Moment arms and generalized forces of OpenSim belong to its speeds u: for ball and free joints components of angular
velocity, not rates of coordinates. With q' = N(q) u, a force Q on the rates is Q = N^-T F for F on u.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from typing import Any

import numpy as np

Task = dict[str, Any]
Answer = dict[str, Any]

STEP = 1e-4
"""Of differences of lengths [rad or m]."""
_TIME_STEP = 1e-3
_WIDEST = 0.8
_MARGIN = 0.08
_EXAMINED = 3
FRAMES = 9
INTERVAL = 0.01
_AMPLITUDE = 0.04
_NO_ARM = 1e-8
_RIGID = ("Millard2012EquilibriumMuscle", "DeGrooteFregly2016Muscle")
"""Muscles that OpenSim lets have rigid tendons."""
_PARAMETERS = {
    "max_isometric_force": "get_max_isometric_force",
    "optimal_fiber_length": "get_optimal_fiber_length",
    "tendon_slack_length": "get_tendon_slack_length",
    "pennation_angle": "get_pennation_angle_at_optimal",
    "max_contraction_velocity": "get_max_contraction_velocity",
}
"""Parameters by the name that this package has for them."""


class Answers:
    """A process that has OpenSim loaded."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()  # OpenSim writes a log where it runs
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__],
            cwd=self._folder.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, *reason: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()

    def ask(self, task: Task) -> Answer:
        """Return the answer of OpenSim, or {"error": why not}."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        found: Answer = json.loads(self._process.stdout.readline())
        if "fault" in found:
            raise AssertionError(found["fault"])
        return found


class _Examined:
    """A model of OpenSim in a state, with the places of its coordinates among Simbody's q and u."""

    def __init__(self, file: str) -> None:
        self.model = osim.Model(file)
        self.model.set_assembly_accuracy(1e-12)
        for muscle in self.model.getMuscleList():
            if muscle.getConcreteClassName() in _RIGID:
                muscle.set_ignore_tendon_compliance(True)
        self.state = self.model.initSystem()
        self.coordinates = [each for each in self.model.getCoordinateSet()]
        self.names = [each.getName() for each in self.coordinates]
        self.muscles = [each for each in self.model.getMuscleList()]
        found = [osim.Constraint.safeDownCast(each) for each in self.model.getComponentsList()]
        self.enforced = [each for each in found if each is not None and each.isEnforced(self.state)]
        self.couplers = [osim.CoordinateCouplerConstraint.safeDownCast(each) for each in self.enforced]
        self.driving = self._driving()
        """Coordinates with which others have to be assembled."""
        self.dependent = [each.isDependent(self.state) for each in self.coordinates]
        self.free = [
            k
            for k, each in enumerate(self.coordinates)
            if not (self.dependent[k] or each.isPrescribed(self.state) or each.getLocked(self.state))
        ]
        self.place_u = self._places(
            lambda each, value: each.setSpeedValue(self.state, value), self.state.getU
        )
        self.place_q = self._places(
            lambda each, value: each.setValue(self.state, value, False), self.state.getQ, apart=0.1
        )

        self._require_obeyed_couplers()
        if not any(each is None for each in self.couplers):
            self.free = [k for k in self.free if self.names[k] not in self.driving or self._moves(k)]

    def _require_obeyed_couplers(self) -> None:
        """Refuse what OpenSim makes of a coupler by a constant: it holds the first coordinate there."""
        self.set(self.values()[self.free])
        at = dict(zip(self.names, self.values(), strict=True))
        for each in (each for each in self.couplers if each is not None):
            names = each.getIndependentCoordinateNames()
            x = osim.Vector(names.getSize(), 0.0)
            for k in range(names.getSize()):
                x.set(k, at[names.get(k)])
            scale = osim.PropertyHelper.getValueDouble(each.getPropertyByName("scale_factor"))
            wanted = scale * each.getFunction().calcValue(x)
            if abs(at[each.getDependentCoordinateName()] - wanted) > 1e-4:
                raise RuntimeError(f"the assembled pose does not obey the coupler {each.getName()}")

    def _moves(self, k: int) -> bool:
        """Whether a coordinate keeps a value that it is given, when what it drives is assembled."""
        start = self.values()[self.free]
        moved = start.copy()
        moved[self.free.index(k)] += 100.0 * STEP
        kept = abs(self.set(moved)[k] - moved[self.free.index(k)]) < STEP
        self.set(start)
        return kept

    def _driving(self) -> set[str]:
        if any(each is None for each in self.couplers):
            return set(self.names)
        listed = [each.getIndependentCoordinateNames() for each in self.couplers]
        return {names.get(k) for names in listed for k in range(names.getSize())}

    def _places(self, change: Any, read: Any, apart: float = 1.0) -> list[int]:
        """The place of each coordinate in a vector of Simbody."""
        found = []
        locked = [each for each in self.coordinates if each.getLocked(self.state)]
        for each in locked:
            each.setLocked(self.state, False)
        for each in self.coordinates:
            before = read().to_numpy().copy()
            value = before_value = 0.0
            if apart != 1.0:
                before_value = each.getValue(self.state)
            value = before_value + apart
            change(each, value)
            found.append(int(np.argmax(np.abs(read().to_numpy() - before))))
            change(each, before_value)
        for each in locked:
            each.setLocked(self.state, True)
        return found

    def values(self) -> np.ndarray:
        return np.array([each.getValue(self.state) for each in self.coordinates])

    def set(self, free: np.ndarray, *, assembled: bool = True) -> np.ndarray:
        """All coordinates when the free ones are given, as OpenSim assembles them."""
        for k, value in zip(self.free, free, strict=True):
            self.coordinates[k].setValue(self.state, float(value), False)
        if self.enforced and assembled:
            self.model.assemble(self.state)
        self.model.realizePosition(self.state)
        return self.values()

    def motion(self, free: np.ndarray, rate: np.ndarray, change: np.ndarray) -> tuple[np.ndarray, ...]:
        """Value, rate and its change of all coordinates, by differences over the assembled poses."""
        h = _TIME_STEP
        now, *ends = (self.set(free + t * rate + 0.5 * t * t * change) for t in (0.0, h, -h))
        return now, (ends[0] - ends[1]) / (2.0 * h), (ends[0] + ends[1] - 2.0 * now) / h**2

    def speeds(self, values: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Simbody's u for rates of the coordinates."""
        for place, value in zip(self.place_q, values, strict=True):
            self.state.updQ().set(place, float(value))
        self.model.realizePosition(self.state)
        given, found = osim.Vector(self.state.getNQ(), 0.0), osim.Vector(self.state.getNU(), 0.0)
        for place, value in zip(self.place_q, rates, strict=True):
            given.set(place, float(value))
        self.model.getMatterSubsystem().multiplyByNInv(self.state, False, given, found)
        return found.to_numpy().copy()

    def by_rates(self) -> np.ndarray:
        """Generalized forces on the rates of the coordinates by those on u, (K, K): N^-T."""
        count, found = len(self.coordinates), []
        for place in self.place_u:
            given, column = osim.Vector(self.state.getNU(), 0.0), osim.Vector(self.state.getNQ(), 0.0)
            given.set(place, 1.0)
            self.model.getMatterSubsystem().multiplyByNInv(self.state, True, given, column)
            found.append(column.to_numpy()[self.place_q])
        return np.array(found).T.reshape(count, count)

    def arms(self, slope: np.ndarray, follow: np.ndarray) -> np.ndarray:
        """Moment arms (K, n) on the rates of the free coordinates, where the length depends on a coordinate at all.

        OpenSim finds how coordinates follow one another by the least change of u, which moves other independent ones
        where a coupler has several, or couples an angle of a ball joint. So couplers are taken off, and the arms of
        what a coordinate drives are added as the assembled poses follow it.
        """
        loops = [each for each, coupler in zip(self.enforced, self.couplers, strict=True) if coupler is None]
        taken = [] if loops else self.enforced
        for each in taken:
            each.setIsEnforced(self.state, False)
        self.model.realizePosition(self.state)
        moving = [k for k, driven in enumerate(self.dependent) if k in self.free or (driven and not loops)]
        found = np.zeros((len(self.coordinates), len(self.muscles)))
        joints = [each.getJoint().getName() for each in self.coordinates]
        for k in moving:
            beside = [c for c, own in enumerate(self.free) if joints[own] == joints[k] or self.dependent[k]]
            for i in np.flatnonzero(np.abs(slope[beside]).max(axis=0, initial=0.0) > _NO_ARM):
                found[k, i] = self.muscles[i].computeMomentArm(self.state, self.coordinates[k])
        if not np.allclose(by_rates := self.by_rates(), np.eye(len(found))):
            found = by_rates @ found
        for each in taken:
            each.setIsEnforced(self.state, True)
        self.model.realizePosition(self.state)
        if taken:
            found[self.free] = follow @ found
        return found

    def lengths(self) -> np.ndarray:
        return np.array([each.getLength(self.state) for each in self.muscles])

    def slopes(self, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-dL/dq (F, n) over assembled poses, and how all coordinates follow each free one (F, K)."""
        arms, follow = [], []
        self.set(free)
        for k, name in zip(range(len(free)), (self.names[k] for k in self.free), strict=True):
            ends = []
            for step in (STEP, -STEP):
                moved = free.copy()
                moved[k] += step
                ends.append((self.set(moved, assembled=name in self.driving), self.lengths()))
            if name in self.driving:
                self.set(free)
            arms.append((ends[1][1] - ends[0][1]) / (2.0 * STEP))
            follow.append((ends[0][0] - ends[1][0]) / (2.0 * STEP))
        return np.array(arms), np.array(follow)

    def sampled(self, rng: np.random.Generator) -> np.ndarray:
        """Random values of the free coordinates, within their ranges."""
        found = []
        for k in self.free:
            each = self.coordinates[k]
            start, low, high = each.getDefaultValue(), each.getRangeMin(), each.getRangeMax()
            widest = _WIDEST if each.getMotionType() != 2 else 0.1
            low, high = max(low, start - widest), min(high, start + widest)
            margin = min(_MARGIN, 0.2 * max(high - low, 0.0))
            found.append(rng.uniform(low + margin, high - margin) if high > low else start)
        return np.array(found)

    def inverse_dynamics(self, free: np.ndarray, rate: np.ndarray, change: np.ndarray) -> dict[str, Any]:
        """Generalized forces of a motion without muscles and other forces, on u and on the rates."""
        value, speed, acceleration = self.motion(free, rate, change)
        h = _TIME_STEP
        ends = [
            self.speeds(value + t * speed + 0.5 * t * t * acceleration, speed + t * acceleration)
            for t in (h, -h)
        ]
        u = self.speeds(value, speed)
        for k, each in enumerate(u):
            self.state.updU().set(k, float(each))
        self.model.realizeVelocity(self.state)
        rates = osim.Vector.createFromMat((ends[0] - ends[1]) / (2.0 * h))
        found = self.solver.solve(self.state, rates).to_numpy()[self.place_u]
        return {
            "value": value.tolist(),
            "speed": speed.tolist(),
            "acceleration": acceleration.tolist(),
            "joint_force": (self.by_rates() @ found).tolist(),
            "power": (power := self.power(value, speed, acceleration)),
            "power_lacking": power - float(found @ u[self.place_u]),
        }

    def power(self, value: np.ndarray, speed: np.ndarray, acceleration: np.ndarray) -> float:
        """The rate of kinetic and potential energy along a motion."""
        energy, h = [], _TIME_STEP
        for t in (h, -h):
            u = self.speeds(value + t * speed + 0.5 * t * t * acceleration, speed + t * acceleration)
            for k, each in enumerate(u):
                self.state.updU().set(k, float(each))
            self.model.realizeVelocity(self.state)
            height = np.dot(
                self.model.getGravity().to_numpy(), self.model.calcMassCenterPosition(self.state).to_numpy()
            )
            energy.append(self.model.getMatterSubsystem().calcKineticEnergy(self.state) - self.mass * height)
        return float((energy[0] - energy[1]) / (2.0 * h))

    def without_forces(self) -> None:
        """Let no force act from now on."""
        for force in self.model.getForceSet():
            force.setAppliesForce(self.state, False)
        for muscle in self.muscles:
            muscle.setAppliesForce(self.state, False)
        self.mass = self.model.getTotalMass(self.state)
        self.solver = osim.InverseDynamicsSolver(self.model)

    def tendon_forces(self) -> dict[str, list[float | None]]:
        """Active force at full activation and passive elastic force, along rigid tendons; None of other muscles."""
        rigid = [each.getConcreteClassName() in _RIGID for each in self.muscles]
        for muscle in (each for each, is_rigid in zip(self.muscles, rigid, strict=True) if is_rigid):
            muscle.setActivation(self.state, 1.0)
        self.model.realizeDynamics(self.state)
        pairs = list(zip(self.muscles, rigid, strict=True))
        return {
            "active": [
                each.getActiveFiberForceAlongTendon(self.state) if own else None for each, own in pairs
            ],
            "passive": [
                each.getPassiveFiberElasticForceAlongTendon(self.state) if own else None
                for each, own in pairs
            ],
        }

    def pose(self, free: np.ndarray) -> dict[str, Any]:
        """Geometry in one pose; leaves the state in it.

        value (K); length (n); arm (K, n), on the rates; slope (F, n), -dL/dq of the free coordinates; follow (F, K),
        how all coordinates follow those; by_rates (K, K), see there, None where it is the identity.
        """
        slope, follow = self.slopes(free)
        value = self.set(free)
        by_rates = self.by_rates()
        return {
            "value": value.tolist(),
            "length": self.lengths().tolist(),
            "arm": self.arms(slope, follow).tolist(),
            "slope": slope.tolist(),
            "follow": follow.tolist(),
            "by_rates": None if np.allclose(by_rates, np.eye(len(value))) else by_rates.tolist(),
        }


def examined(task: Task) -> Answer:
    """Geometry and inverse dynamics in random poses, and geometry along a short motion about another."""
    rng = np.random.default_rng(task["seed"])
    model = _Examined(task["model"])
    answer: Answer = {
        "coordinates": model.names,
        "rotational": [each.getMotionType() == 1 for each in model.coordinates],
        "free": [model.names[k] for k in model.free],
        "dependent": [name for name, driven in zip(model.names, model.dependent, strict=True) if driven],
        "locked": [each.getName() for each in model.coordinates if each.getLocked(model.state)],
        "closed": [
            each.getName()
            for each, coupler in zip(model.enforced, model.couplers, strict=True)
            if coupler is None
        ],
        "muscles": [each.getName() for each in model.muscles],
        "parameters": [
            {key: getattr(each, getter)() for key, getter in _PARAMETERS.items()} for each in model.muscles
        ],
        "enabled": [each.appliesForce(model.state) for each in model.muscles],
        "poses": [],
        "frames": [],
    }
    centers = [model.sampled(rng) for _ in range(task["poses"])]
    answer["poses"] = [model.pose(free) for free in centers]
    middle = model.sampled(rng)
    phase, rate = rng.uniform(0.0, 6.0, len(model.free)), rng.uniform(4.0, 9.0, len(model.free))
    course = []
    for frame in range(FRAMES):
        t = frame * INTERVAL
        free = middle + _AMPLITUDE * np.sin(rate * t + phase)
        speed, change = rate * np.cos(rate * t + phase), -(rate**2) * np.sin(rate * t + phase)
        course.append((free, _AMPLITUDE * speed, _AMPLITUDE * change))
    answer["course"] = [model.set(free).tolist() for free, _, _ in course]
    for frame in np.linspace(0, FRAMES - 1, task.get("frames", _EXAMINED)).round().astype(int):
        free, rate_, change = course[frame]
        value, speed, _ = model.motion(free, rate_, change)
        found = model.pose(free)
        u = model.speeds(value, speed)
        for k, each in enumerate(u):
            model.state.updU().set(k, float(each))
        model.model.realizeVelocity(model.state)
        found["rate"] = [each.getLengtheningSpeed(model.state) for each in model.muscles]
        found |= model.tendon_forces()
        answer["frames"].append({"frame": int(frame), **found})
    model.without_forces()
    for pose, free in zip(answer["poses"], centers, strict=True):
        rate_, change = 2.0 * rng.normal(size=(2, len(free)))
        pose["dynamics"] = model.inverse_dynamics(free, rate_, 5.0 * change)
    return answer


def _answer(task: Task) -> Answer:
    try:
        return examined(task)
    except RuntimeError as fault:  # OpenSim's own, and what it cannot be asked
        return {"error": " ".join(str(fault).split())[:300]}
    except Exception:
        return {"fault": traceback.format_exc()}


def _main() -> None:
    """Answer every task in a copy of this process: <defaults> of a model would change the next one."""
    lines = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # OpenSim prints there
    for task in map(json.loads, sys.stdin):
        if not (copy := os.fork()):
            lines.write(json.dumps(_answer(task)) + "\n")
            lines.flush()
            os._exit(0)
        if os.waitpid(copy, 0)[1]:
            lines.write(json.dumps({"error": "OpenSim has ended with a fault of its own"}) + "\n")
            lines.flush()


if __name__ == "__main__":
    import opensim as osim

    osim.Logger.setLevelString("off")
    _main()
