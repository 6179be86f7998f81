"""OpenSim's chain on a walk, frame after frame, timed: inverse kinematics, inverse dynamics, static optimization.

python chain_tool.py MODEL.osim IK.mot GRF.mot START END CUTOFF_HZ FOLDER

Beside opensim_tool.py, run by a Python that has the wheel `opensim`. Writes FOLDER/chain.json: processor seconds of
each stage for all frames, without reading the model, and the number of frames. Kinematics go through
`InverseKinematicsSolver`, which starts from the frame before, inverse dynamics and static optimization through their
tools. The markers lie on the model, in the coordinates IK.mot, so that they fit exactly: nothing
is easier to track.
"""

from __future__ import annotations

import json
import sys
import time as clock
from pathlib import Path

import opensim
from opensim_tool import external_loads, static_optimization

MARGIN = 0.3
"""Coordinates reach so far beyond the span, for the filter [s]."""


def main() -> None:
    """Time the stages and store them."""
    model_file, motion, forces, start, end, cutoff, where = sys.argv[1:]
    folder, span = Path(where), (float(start), float(end))
    seconds = {}
    coordinates, frames, seconds["inverse kinematics"] = track(model_file, motion, span, folder)
    loads = external_loads(forces, folder)

    dynamics = opensim.InverseDynamicsTool()
    dynamics.setModelFileName(model_file)
    dynamics.setCoordinatesFileName(str(coordinates))
    dynamics.setExternalLoadsFileName(str(loads))
    dynamics.setLowpassCutoffFrequency(float(cutoff))
    dynamics.setStartTime(span[0])
    dynamics.setEndTime(span[1])
    dynamics.setResultsDir(str(folder))
    dynamics.setOutputGenForceFileName("moments.sto")
    begun = clock.process_time()
    dynamics.run()
    seconds["inverse dynamics"] = clock.process_time() - begun

    tool = static_optimization(model_file, str(coordinates), loads, span, float(cutoff), folder)
    begun = clock.process_time()
    tool.run()
    seconds["static optimization"] = clock.process_time() - begun
    stored = {"seconds": seconds, "frames": frames, "version": opensim.GetVersion()}
    (folder / "chain.json").write_text(json.dumps(stored), encoding="utf-8")


def track(model_file: str, motion: str, span: tuple[float, float], folder: Path) -> tuple[Path, int, float]:
    """Coordinates of every frame of a span: the file, the number of frames, and how long the fits took [s]."""
    model = opensim.Model(model_file)
    state = model.initSystem()
    free = [c for c in model.getCoordinateSet() if not c.isDependent(state) and not c.get_locked()]
    table = opensim.TimeSeriesTable(motion)
    model.getSimbodyEngine().convertDegreesToRadians(table)
    known = {c.getName(): table.getDependentColumn(c.getName()) for c in free}
    markers = list(model.getMarkerSet())
    seen = opensim.TimeSeriesTableVec3()
    seen.setColumnLabels([marker.getName() for marker in markers])
    times = []
    for row, time in enumerate(table.getIndependentColumn()):
        if not span[0] - MARGIN <= time <= span[1] + MARGIN:
            continue
        for coordinate in free:
            coordinate.setValue(state, known[coordinate.getName()][row], False)
        model.assemble(state)
        model.realizePosition(state)
        places = [marker.getLocationInGround(state) for marker in markers]
        seen.appendRow(time, opensim.RowVectorVec3(places))
        times.append(time)
    seen.addTableMetaDataString("Units", "m")

    weights = opensim.SetMarkerWeights()
    for marker in markers:
        weights.cloneAndAppend(opensim.MarkerWeight(marker.getName(), 1.0))
    coordinates = opensim.SimTKArrayCoordinateReference()
    solver = opensim.InverseKinematicsSolver(
        model, opensim.MarkersReference(seen, weights), coordinates, float("inf")
    )
    solver.setAccuracy(1e-5)
    state.setTime(times[0])
    solver.assemble(state)
    rows, begun = [], clock.process_time()
    for time in times:
        state.setTime(time)
        solver.track(state)
        rows.append([coordinate.getValue(state) for coordinate in free])
    seconds = clock.process_time() - begun

    path, names = folder / "coordinates.sto", [coordinate.getName() for coordinate in free]
    lines = ["coordinates", "version=1", f"nRows={len(rows)}", f"nColumns={len(names) + 1}", "inDegrees=no"]
    lines += ["endheader", "\t".join(["time", *names])]
    lines += [
        "\t".join(f"{value:.9f}" for value in (time, *row)) for time, row in zip(times, rows, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    inside = sum(span[0] - 1e-9 <= time <= span[1] + 1e-9 for time in times)
    return path, inside, seconds * inside / len(times)


if __name__ == "__main__":
    main()
