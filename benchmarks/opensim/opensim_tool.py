"""OpenSim's static optimization on a trial, run by a Python that has the wheel `opensim`; nothing else is imported.

python opensim_tool.py MODEL.osim IK.mot GRF.mot START END CUTOFF_HZ FOLDER

Writes FOLDER/opensim.npz: time (T,), muscle (n,), activation and force [N] (T, n), coordinate (m,), moment_arm
(T, m, n) [m] along the filtered motion, and seconds: of the whole, from the import on, and of the computation.
"""

from __future__ import annotations

import sys
import time as clock
from pathlib import Path

STARTED = clock.perf_counter()

import numpy as np  # noqa: E402
import opensim  # noqa: E402

opensim.Logger.setLevelString("error")
WEAK = 1.0
"""Optimal force of the reserve of a coordinate that muscles serve [N m]."""
STRONG = 1000.0
"""Optimal force of the actuator of a coordinate without muscles, whose control costs almost nothing [N m]."""
LIMIT = 10_000.0
SERVED = [
    f"{stem}_{side}"
    for side in "rl"
    for stem in ("hip_flexion", "hip_adduction", "hip_rotation", "knee_angle", "ankle_angle")
]
"""The leg coordinates that muscles serve."""


def main() -> None:
    """Run the tool and store what it found."""
    model_file, coordinates, forces, start, end, cutoff, where = sys.argv[1:]
    folder = Path(where)
    loads = external_loads(forces, folder)
    tool = static_optimization(
        model_file, coordinates, loads, (float(start), float(end)), float(cutoff), folder
    )
    prepared = clock.perf_counter()
    tool.run()
    done = clock.perf_counter()
    activation = opensim.TimeSeriesTable(str(folder / "so_StaticOptimization_activation.sto"))
    force = opensim.TimeSeriesTable(str(folder / "so_StaticOptimization_force.sto"))
    model = opensim.Model(model_file)  # what it is made of ends with it
    muscles = [muscle.getName() for muscle in model.getMuscles()]
    times = np.array(activation.getIndependentColumn())
    np.savez(
        folder / "opensim.npz",
        time=times,
        muscle=muscles,
        activation=_columns(activation, muscles),
        force=_columns(force, muscles),
        coordinate=SERVED,
        reserve=_columns(force, [f"{name}_reserve" for name in SERVED]),
        moment_arm=_arms(model_file, coordinates, float(cutoff), times, muscles),
        seconds=[done - STARTED, done - prepared],
        version=opensim.GetVersion(),
    )


def static_optimization(
    model_file: str, coordinates: str, loads: Path, span: tuple[float, float], cutoff: float, folder: Path
) -> opensim.AnalyzeTool:
    """The tool for activation squared in a span [s] of coordinates with a cut-off [Hz]; it writes so_* to a folder."""
    tool = opensim.AnalyzeTool()
    tool.setName("so")
    tool.setModelFilename(model_file)
    tool.setCoordinatesFileName(coordinates)
    tool.setExternalLoadsFileName(str(loads))
    files = opensim.ArrayStr()
    files.append(str(_actuators(model_file, folder)))
    tool.setForceSetFiles(files)
    tool.setReplaceForceSet(False)
    tool.setLowpassCutoffFrequency(cutoff)
    tool.setStartTime(span[0])
    tool.setFinalTime(span[1])
    tool.setResultsDir(str(folder))
    analysis = opensim.StaticOptimization()
    analysis.setStartTime(span[0])
    analysis.setEndTime(span[1])
    analysis.setUseModelForceSet(True)
    analysis.setActivationExponent(2.0)
    analysis.setUseMusclePhysiology(True)
    tool.getAnalysisSet().cloneAndAppend(analysis)
    setup = folder / "setup.xml"
    tool.printToXML(str(setup))
    return opensim.AnalyzeTool(str(setup))


def _actuators(model_file: str, folder: Path) -> Path:
    """The file of a reserve for each free coordinate."""
    model = opensim.Model(model_file)
    model.initSystem()
    found = opensim.ForceSet()
    for coordinate in model.getCoordinateSet():
        name = coordinate.getName()
        if coordinate.get_locked() or name.endswith("_beta"):
            continue
        actuator = opensim.CoordinateActuator(name)
        actuator.setName(f"{name}_reserve")
        actuator.setOptimalForce(WEAK if name in SERVED else STRONG)
        actuator.setMinControl(-LIMIT)
        actuator.setMaxControl(LIMIT)
        found.cloneAndAppend(actuator)
    path = folder / "actuators.xml"
    found.printToXML(str(path))
    return path


def external_loads(forces: str, folder: Path) -> Path:
    """The file of the ground forces on both feet."""
    loads = opensim.ExternalLoads()
    loads.setDataFileName(forces)
    for side in "rl":
        force = opensim.ExternalForce()
        force.setName(f"foot_{side}")
        force.set_applied_to_body(f"calcn_{side}")
        force.set_force_expressed_in_body("ground")
        force.set_point_expressed_in_body("ground")
        force.set_force_identifier(f"ground_force_{side}_v")
        force.set_point_identifier(f"ground_force_{side}_p")
        force.set_torque_identifier(f"ground_torque_{side}_")
        loads.cloneAndAppend(force)
    path = folder / "loads.xml"
    loads.printToXML(str(path))
    return path


def _columns(table: opensim.TimeSeriesTable, names: list[str]) -> np.ndarray:
    return np.stack([table.getDependentColumn(name).to_numpy() for name in names], axis=1)


def _arms(
    model_file: str, coordinates: str, cutoff: float, times: np.ndarray, muscles: list[str]
) -> np.ndarray:
    """Moment arms by OpenSim's own solver along the motion as the tool filters it."""
    model = opensim.Model(model_file)
    state = model.initSystem()
    motion = opensim.Storage(coordinates)
    motion.pad(motion.getSize() // 2)
    motion.lowpassIIR(cutoff)
    model.getSimbodyEngine().convertDegreesToRadians(motion)
    splines = opensim.GCVSplineSet(5, motion)
    found = np.zeros((len(times), len(SERVED), len(muscles)))
    free = [c for c in model.getCoordinateSet() if not c.get_locked() and not c.isDependent(state)]
    shared = [model.getCoordinateSet().get(name) for name in SERVED]
    own = [model.getMuscles().get(name) for name in muscles]
    for t, time in enumerate(times):
        at = opensim.Vector(1, float(time))
        for coordinate in free:
            coordinate.setValue(state, splines.get(coordinate.getName()).calcValue(at), False)
        model.assemble(state)
        model.realizePosition(state)
        for k, coordinate in enumerate(shared):
            for i, muscle in enumerate(own):
                if muscle.getName()[-2:] == SERVED[k][-2:]:
                    found[t, k, i] = muscle.computeMomentArm(state, coordinate)
    return found


if __name__ == "__main__":
    main()
