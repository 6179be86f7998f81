"""Answers of OpenSim on models, in a process of its own: its libraries and those of CasADi do not load together.

`answers` is what tests call; as a script, it reads tasks from standard input, those of a call as a line of JSON, and
prints what OpenSim computes. All tests of a process share one such process, as a start takes a second.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from packages import need

Task = dict[str, Any]


def task(kind: str, model: Path, names: list[str], *arrays: Any, **more: Any) -> Task:
    """Return the task for coordinates (K names) with value, speed and acceleration, (T, K) each."""
    given = dict(
        zip(("value", "speed", "acceleration"), (np.asarray(each).tolist() for each in arrays), strict=False)
    )
    return {"kind": kind, "model": str(model), "names": names, **given, **more}


def answers(*tasks: Task) -> list[Any]:
    """Return the results of OpenSim for each task; the test is skipped where it is not installed."""
    need("opensim")
    process, errors, _ = _opensim()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(tasks) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        said = errors.read_text(encoding="utf-8")
        end_opensim()
        raise AssertionError(said)
    found: list[Any] = json.loads(line)
    return found


@cache
def _opensim() -> tuple[subprocess.Popen[str], Path, ExitStack]:
    """The process of OpenSim, the file of its errors, and what is to be closed with it."""
    closing = ExitStack()
    folder = Path(closing.enter_context(tempfile.TemporaryDirectory()))  # OpenSim writes a log where it runs
    errors = folder / "errors.txt"
    with errors.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            cwd=folder,
            text=True,
        )
    closing.enter_context(process)  # its input ends, and it is waited for
    return process, errors, closing


def end_opensim() -> None:
    """End the process of OpenSim, if there is one."""
    if _opensim.cache_info().currsize:
        *_, closing = _opensim()
        _opensim.cache_clear()
        closing.close()


def _model(given: Task, *, forces: bool) -> tuple[Any, Any, list[Any]]:
    """The model, a state, and its coordinates in the order of the task."""
    model = osim.Model(given["model"])
    if not forces:
        model.updForceSet().clearAndDestroy()
        model.finalizeConnections()
    state = model.initSystem()
    coordinates = [model.getCoordinateSet().get(name) for name in given["names"]]
    for each in coordinates:
        each.setLocked(state, False)
    return model, state, coordinates


def _set(state: Any, coordinates: list[Any], given: Task, frame: int) -> None:
    for k, each in enumerate(coordinates):
        each.setValue(state, given["value"][frame][k], False)
        if "speed" in given:
            each.setSpeedValue(state, given["speed"][frame][k])


def _places(state: Any, coordinates: list[Any]) -> list[int]:
    """Places of the coordinates among the speeds of the state."""
    place = []
    for one in coordinates:
        for each in coordinates:
            each.setSpeedValue(state, float(each.getName() == one.getName()))
        place.append(int(np.argmax(np.abs(state.getU().to_numpy()))))
    return place


def device(given: Task) -> Any:
    """Generalized forces (T, K) of the force of the model that the task names."""
    model, state, coordinates = _model(given, forces=True)
    force, place, found = model.getForceSet().get(given["force"]), _places(state, coordinates), []
    for frame in range(len(given["value"])):
        _set(state, coordinates, given, frame)
        needed = []
        for applies in (False, True):
            force.setAppliesForce(state, applies)
            model.realizeVelocity(state)
            solver = osim.InverseDynamicsSolver(model)
            needed.append(solver.solve(state, osim.Vector(state.getNU(), 0.0)).to_numpy()[place])
        found.append((needed[0] - needed[1]).tolist())
    return found


def actuator(given: Task) -> Any:
    """Generalized forces (K) of an actuator of the model at a control, in the first pose."""
    model, state, coordinates = _model(given, forces=True)
    place, needed = _places(state, coordinates), []
    for each in model.getMuscles():
        each.setAppliesForce(state, False)
    chosen = osim.ScalarActuator.safeDownCast(model.getForceSet().get(given["force"]))
    for control in (0.0, given["control"]):
        _set(state, coordinates, given, 0)
        chosen.overrideActuation(state, True)
        chosen.setOverrideActuation(state, control * chosen.getOptimalForce())
        model.realizeDynamics(state)
        solver = osim.InverseDynamicsSolver(model)
        needed.append(solver.solve(state, osim.Vector(state.getNU(), 0.0)).to_numpy()[place])
    return (needed[0] - needed[1]).tolist()


def inverse(given: Task) -> Any:
    """Generalized forces (T, K) without muscles and other forces."""
    model, state, coordinates = _model(given, forces=False)
    place = _places(state, coordinates)
    solver, found = osim.InverseDynamicsSolver(model), []
    for frame in range(len(given["value"])):
        _set(state, coordinates, given, frame)
        change = osim.Vector(len(place), 0.0)
        for number, acceleration in zip(place, given["acceleration"][frame], strict=True):
            change.set(number, acceleration)
        model.realizeVelocity(state)
        found.append(solver.solve(state, change).to_numpy()[place].tolist())
    return found


def positions(given: Task) -> Any:
    """Origins of all bodies (T, B, 3)."""
    model, state, coordinates = _model(given, forces=False)
    bodies, found = model.getBodySet(), []
    for frame in range(len(given["value"])):
        _set(state, coordinates, given, frame)
        model.realizePosition(state)
        every = [bodies.get(k).getPositionInGround(state) for k in range(bodies.getSize())]
        found.append([each.to_numpy().tolist() for each in every])
    return found


def reactions(given: Task) -> Any:
    """Accelerations (K) under given muscle forces, and force and moment on the child of every joint, of one frame."""
    model, state, coordinates = _model(given, forces=True)
    _set(state, coordinates, given, 0)
    muscles = model.getMuscles()
    for muscle in (muscles.get(k) for k in range(muscles.getSize())):
        muscle.overrideActuation(state, True)
        muscle.setOverrideActuation(state, given["force"].get(muscle.getName(), 0.0))
    model.realizeAcceleration(state)
    loads = {}
    for joint in given["joints"]:
        found = model.getJointSet().get(joint).calcReactionOnChildExpressedInGround(state)
        loads[joint] = [found.get(1).to_numpy().tolist(), found.get(0).to_numpy().tolist()]
    return {"acceleration": [each.getAccelerationValue(state) for each in coordinates], "loads": loads}


def muscles(given: Task) -> Any:
    """Length and pennation angle of every muscle in one pose, and the mass of the model."""
    model, state, coordinates = _model(given, forces=True)
    _set(state, coordinates, given, 0)
    model.realizePosition(state)
    every = [model.getMuscles().get(k) for k in range(model.getMuscles().getSize())]
    found = {m.getName(): [m.getLength(state), m.getPennationAngleAtOptimalFiberLength()] for m in every}
    return {"muscles": found, "mass": model.getTotalMass(state)}


def paths(given: Task) -> Any:
    """Lengths (T, n) and moment arms (T, n) about each coordinate of the task, of the muscles that it names."""
    model, state, coordinates = _model(given, forces=True)
    chosen = [model.getMuscles().get(name) for name in given["muscles"]]
    length, arm = [], []
    for frame in range(len(given["value"])):
        _set(state, coordinates, given, frame)
        model.realizePosition(state)
        length.append([each.getLength(state) for each in chosen])
        arm.append([[each.computeMomentArm(state, q) for each in chosen] for q in coordinates])
    return {"length": length, "arm": arm}


def fibers(given: Task) -> Any:
    """Normalized fiber lengths (T, n) behind rigid tendons of the muscles of the task."""
    model = osim.Model(given["model"])
    chosen = [model.getMuscles().get(name) for name in given["muscles"]]
    for each in chosen:
        each.set_ignore_tendon_compliance(True)
    state = model.initSystem()
    coordinates = [model.getCoordinateSet().get(name) for name in given["names"]]
    for each in coordinates:
        each.setLocked(state, False)
    found = []
    for frame in range(len(given["value"])):
        _set(state, coordinates, given, frame)
        model.realizePosition(state)
        found.append([each.getNormalizedFiberLength(state) for each in chosen])
    return found


def meshes(given: Task) -> Any:
    """Rotation (3, 3) and position (3,) in the ground, and scale (3,), of every visible mesh, by its file."""
    model, state, _ = _model(given, forces=True)
    found = {}
    for each in model.getComponentsList():
        mesh = osim.Mesh.safeDownCast(each) if each.getConcreteClassName() == "Mesh" else None
        if mesh is None or not mesh.get_Appearance().get_visible():
            continue
        pose = mesh.getFrame().getTransformInGround(state)
        rotation = [[pose.R().get(i, j) for j in range(3)] for i in range(3)]
        found[mesh.get_mesh_file()] = [
            rotation,
            pose.p().to_numpy().tolist(),
            mesh.get_scale_factors().to_numpy().tolist(),
        ]
    return found


def vertices(given: Task) -> Any:
    """Vertices (V, 3) of a file of geometry."""
    mesh = osim.PolygonalMesh()
    mesh.loadFile(given["model"])
    return [mesh.getVertexPosition(k).to_numpy().tolist() for k in range(mesh.getNumVertices())]


if __name__ == "__main__":
    import opensim as osim

    osim.Logger.setLevelString("error")
    kinds = {
        each.__name__: each
        for each in (
            actuator,
            inverse,
            device,
            positions,
            reactions,
            muscles,
            paths,
            fibers,
            meshes,
            vertices,
        )
    }
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what OpenSim prints is no reply
    for line in sys.stdin:
        print(json.dumps([kinds[each["kind"]](each) for each in json.loads(line)]), file=replies, flush=True)
