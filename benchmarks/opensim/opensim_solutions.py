"""Solutions of OpenSim's own tools on a small motion, run by a Python that has the wheel `opensim`.

python opensim_solutions.py MODEL.osim FOLDER COORDINATE:AMPLITUDE:OFFSET ...

Each coordinate moves as OFFSET + AMPLITUDE (1 - cos(2 pi t / 0.8)) / 2. Writes ik.mot, id.sto, the solutions of static
optimization (so_*), MocoInverse (moco_*) and CMC (cmc_*), with the models that they had, into FOLDER.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import opensim

opensim.Logger.setLevelString("error")
DURATION, STEP, MARGIN, LIMIT = 0.8, 0.01, 0.05, 1000.0


def main(model: str, where: str, *moves: str) -> None:
    """Make the motion and call the tools."""
    folder = Path(where).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    time = np.arange(0.0, DURATION + STEP / 2, STEP)
    names, values = [], []
    for move in moves:
        name, amplitude, offset = move.split(":")
        names.append(name)
        values.append(float(offset) + float(amplitude) * (1.0 - np.cos(2.0 * np.pi * time / DURATION)) / 2.0)
    head = [
        "motion",
        "version=1",
        f"nRows={len(time)}",
        f"nColumns={len(names) + 1}",
        "inDegrees=no",
        "endheader",
    ]
    rows = ["\t".join(f"{x:.10g}" for x in row) for row in zip(time, *values, strict=True)]
    coordinates = folder / "ik.mot"
    coordinates.write_text("\n".join([*head, "\t".join(["time", *names]), *rows, ""]))
    inverse_dynamics(model, coordinates)
    with_reserves = folder / "model_with_reserves.osim"
    body = opensim.Model(model)
    for name in names:
        reserve = opensim.CoordinateActuator(name)
        reserve.setName(f"{name}_reserve")
        reserve.setOptimalForce(1.0)
        reserve.setMinControl(-LIMIT)
        reserve.setMaxControl(LIMIT)
        body.addForce(reserve)
    body.finalizeConnections()
    body.printToXML(str(with_reserves))
    static_optimization(with_reserves, coordinates)
    moco_inverse(model, coordinates)
    computed_muscle_control(with_reserves, coordinates, names)


def inverse_dynamics(model: str, coordinates: Path) -> None:
    """Write id.sto."""
    tool, muscles = opensim.InverseDynamicsTool(), opensim.ArrayStr()
    muscles.append("Muscles")
    body = opensim.Model(model)  # the tool does not keep it alive
    body.initSystem()
    tool.setModel(body)
    tool.setCoordinatesFileName(str(coordinates))
    tool.setStartTime(0.0)
    tool.setEndTime(DURATION)
    tool.setResultsDir(str(coordinates.parent))
    tool.setOutputGenForceFileName("id.sto")
    tool.setLowpassCutoffFrequency(-1)
    tool.setExcludedForces(muscles)
    tool.run()


def static_optimization(model: Path, coordinates: Path) -> None:
    """Write so_StaticOptimization_*."""
    analysis, tool = opensim.StaticOptimization(), opensim.AnalyzeTool()
    analysis.setActivationExponent(2)
    analysis.setUseModelForceSet(True)
    for part in (analysis, tool):
        part.setStartTime(MARGIN)
    analysis.setEndTime(DURATION - MARGIN)
    tool.setFinalTime(DURATION - MARGIN)
    tool.setName("so")
    tool.setModelFilename(str(model))
    tool.setCoordinatesFileName(str(coordinates))
    tool.setLowpassCutoffFrequency(-1)
    tool.setResultsDir(str(coordinates.parent))
    tool.updAnalysisSet().cloneAndAppend(analysis)
    setup = str(coordinates.parent / "so_setup.xml")
    tool.printToXML(setup)
    opensim.AnalyzeTool(setup).run()


def moco_inverse(model: str, coordinates: Path) -> None:
    """Write moco_solution.sto and moco_model.osim: rigid tendons, no passive forces, reserves of 10 N m."""
    processor = opensim.ModelProcessor(model)
    processor.append(opensim.ModOpReplaceMusclesWithDeGrooteFregly2016())
    processor.append(opensim.ModOpIgnorePassiveFiberForcesDGF())
    processor.append(opensim.ModOpIgnoreTendonCompliance())
    processor.append(opensim.ModOpAddReserves(10.0))
    inverse = opensim.MocoInverse()
    inverse.setModel(processor)
    inverse.setKinematics(opensim.TableProcessor(str(coordinates)))
    inverse.set_kinematics_allow_extra_columns(True)
    inverse.set_initial_time(MARGIN)
    inverse.set_final_time(DURATION - MARGIN)
    inverse.set_mesh_interval(0.02)
    solved = inverse.solve()  # which the solution does not keep alive
    solved.getMocoSolution().write(str(coordinates.parent / "moco_solution.sto"))
    processor.process().printToXML(str(coordinates.parent / "moco_model.osim"))


def computed_muscle_control(model: Path, coordinates: Path, names: list[str]) -> None:
    """Write cmc_*; a motion that it cannot follow leaves its states alone."""
    task = (
        '<CMC_Joint name="{0}"><on>true</on><weight>1</weight><kp>100</kp><kv>20</kv><ka>1</ka>'
        "<active>true false false</active><coordinate>{0}</coordinate><limit>0</limit></CMC_Joint>"
    )
    tasks = coordinates.parent / "tasks.xml"
    listed = "".join(task.format(name) for name in names)
    tasks.write_text(
        '<OpenSimDocument Version="40000"><CMC_TaskSet name="tasks"><objects>'
        f"{listed}</objects></CMC_TaskSet></OpenSimDocument>"
    )
    tool = opensim.CMCTool()
    tool.setName("cmc")
    tool.setModelFilename(str(model))
    tool.setDesiredKinematicsFileName(str(coordinates))
    tool.setTaskSetFileName(str(tasks))
    tool.setResultsDir(str(coordinates.parent))
    tool.setStartTime(MARGIN)
    tool.setFinalTime(DURATION - 2.0 * MARGIN)
    tool.setSolveForEquilibrium(True)
    tool.setTimeWindow(0.01)
    tool.setUseFastTarget(True)
    tool.setLowpassCutoffFrequency(-1)
    tool.setReplaceForceSet(False)
    setup = str(coordinates.parent / "cmc_setup.xml")
    tool.printToXML(setup)
    opensim.CMCTool(setup).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
