"""Numbers of OpenSim on the poses of a model, in a process of its own; nothing of the package is imported.

python -m benchmarks.foreign_models.opensim_numbers MODEL.osim NUMBERS.json

Reads poses from NUMBERS.json and adds: length (T, n), arm (T, m, n), force (T, K) and, of the fall from rest in the
first pose, acceleration (K) and reaction (J, 3), by names of joints.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np


def main() -> None:
    """Compute and store."""
    import opensim

    opensim.Logger.setLevelString("error")
    file, numbers = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    given = json.loads(numbers.read_text(encoding="utf-8"))
    os.chdir(numbers.parent)  # OpenSim writes a log where it runs
    model = opensim.Model(str(file))
    forces = model.getForceSet()
    for k in range(forces.getSize()):
        kind = forces.get(k).getConcreteClassName()
        if kind.endswith(("Muscle", "Actuator", "Motor")):
            forces.get(k).set_appliesForce(False)
    state = model.initSystem()
    coordinates = [model.getCoordinateSet().get(name) for name in given["names"]]
    for each in coordinates:
        each.setLocked(state, False)
    muscles = [model.getMuscles().get(name) for name in given["muscles"]]
    arms = [model.getCoordinateSet().get(name) for name in given["arms"]]
    place = _places(state, coordinates)
    solver = opensim.InverseDynamicsSolver(model)
    found: dict[str, Any] = {"length": [], "arm": [], "force": []}
    for value, speed, acceleration in zip(given["value"], given["speed"], given["acceleration"], strict=True):
        for k, each in enumerate(coordinates):
            each.setValue(state, value[k], False)
            each.setSpeedValue(state, 0.0)
        model.realizePosition(state)
        found["length"].append([each.getLength(state) for each in muscles])
        found["arm"].append([[each.computeMomentArm(state, q) for each in muscles] for q in arms])
        for k, each in enumerate(coordinates):
            each.setSpeedValue(state, speed[k])
        change = opensim.Vector(state.getNU(), 0.0)
        for number, rate in zip(place, acceleration, strict=True):
            change.set(number, rate)
        model.realizeDynamics(state)
        found["force"].append(solver.solve(state, change).to_numpy()[place].tolist())
    for k, each in enumerate(coordinates):
        each.setValue(state, given["value"][0][k], False)
        each.setSpeedValue(state, 0.0)
    model.realizeAcceleration(state)
    found["fall"] = [each.getAccelerationValue(state) for each in coordinates]
    joints = model.getJointSet()
    found["reaction"] = {
        joints.get(k).getName(): joints.get(k)
        .calcReactionOnChildExpressedInGround(state)
        .get(1)
        .to_numpy()
        .tolist()
        for k in range(joints.getSize())
    }
    numbers.write_text(json.dumps({**given, "theirs": found}), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # some models fail while OpenSim deletes them


def _places(state: Any, coordinates: list[Any]) -> list[int]:
    """Places of the coordinates among the speeds of the state."""
    place = []
    for one in coordinates:
        for each in coordinates:
            each.setSpeedValue(state, float(each.getName() == one.getName()))
        place.append(int(np.argmax(np.abs(state.getU().to_numpy()))))
    return place


if __name__ == "__main__":
    main()
