"""Ground reactions that the motion of an OpenSim model predicts beside those that plates measured.

python -m benchmarks.opensim.predicted_loads [MODEL.osim COORDINATES.mot LOADS [--cutoff-hz HZ] [--mass KG]]

The plates are hidden: the loads on the feet follow from the motion alone, as with `--loads predicted`. It prints root
mean squares of the difference to the plates over the frames of the result in which both feet were measured, mean of
both feet: forces in per cent of body weight with their Pearson correlation r, and joint moments [N m/kg]; the mass of
the model, and the one that the plates carried. Without files: the models with plates in the folder that
MUSCLESOLVE_DATA names, as they are and with the mass that the plates carried, and the force in the left knee beside its
implant [body weights].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.table import Table

from benchmarks.arguments import command_line
from benchmarks.instrumented_knee import HEAD, WALKS, Agreement
from benchmarks.timing import console
from benchmarks.validation.page import data_folder
from musclesolve._util.arrays import Array
from musclesolve._util.sides import SIDES
from musclesolve.constants import LOADED_FROM_N, WALKING_CUTOFF_HZ
from musclesolve.laboratory.run_trial import share_model
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.models.opensim.external_loads import foot_of_side, load_wrench, read_external_loads
from musclesolve.models.opensim.load_dynamics import foot_bodies, load_dynamics, whole_motion
from musclesolve.models.opensim.loads_without_plates import predicted_loads
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.opensim.read_model import read_osim

JOINTS = ("hip_flexion", "hip_adduction", "knee_angle", "ankle_angle")
COMPONENTS = {"forward": 3, "sideways": 5, "upward": 4}
"""Of a wrench in OpenSim's axes."""


def differences(
    model: OpenSimModel, coordinates: Path, plates: Path, cutoff_hz: float
) -> tuple[Array, Array, Array, float, int]:
    """Forces: rms difference [body weights] and r, (3,); rms of moments (4,) [N m/kg]; mass carried; frames."""
    motion = coordinate_motion(model, coordinates, cutoff_hz)
    hidden = predicted_loads(model, whole_motion(model, motion))
    pose = load_dynamics(model, motion, hidden).dynamics.bodies.pose
    measured = read_external_loads(plates, model, motion.time, pose)
    inside = np.all([(motion.time >= each.time[0]) & (motion.time <= each.time[-1]) for each in measured], 0)
    motion = motion.frames(inside)
    ours, theirs = (load_dynamics(model, motion, loads) for loads in (hidden, measured))
    seen = np.isfinite(theirs.body_wrench).all(axis=(1, 2))
    for standing in theirs.unmeasured_feet.values():
        seen &= ~standing
    if ours.balanced is not None:
        seen &= ours.balanced
    touched = np.linalg.norm(np.nan_to_num(theirs.body_wrench[:, :, 3:].sum(axis=1)), axis=1) > LOADED_FROM_N
    seen &= np.cumsum(touched) > 0  # before, the body may stand beside the plates, as on a box
    bodies, forces, correlations = ours.dynamics.bodies.pose, [], []
    for side in SIDES:
        foot = [model.body_number[body] for body in foot_bodies(model, foot_of_side(model, side))]
        one, other = (
            load_wrench(model, loads, motion.time, bodies)[:, foot].sum(axis=1)[seen][
                :, [*COMPONENTS.values()]
            ]
            for loads in (hidden, measured)
        )
        forces.append(((one - other) ** 2).mean(axis=0))
        correlations.append([np.corrcoef(one[:, k], other[:, k])[0, 1] for k in range(3)])
    moments = []
    for joint in JOINTS:
        names = [f"{joint}_{side}" for side in SIDES]
        off = [ours.dynamics.column(name) - theirs.dynamics.column(name) for name in names]
        moments.append(np.sqrt(np.mean(np.array(off)[:, seen] ** 2)))
    size = np.sqrt(np.mean(forces, axis=0)) / ours.model.weight
    required = (ours.root_wrench + ours.body_wrench.sum(axis=1))[seen, 4]  # type: ignore[operator]
    carried = theirs.body_wrench.sum(axis=1)[seen, 4]
    mass = model.mass * float(carried @ required) / float(required @ required)
    return size, np.mean(correlations, axis=0), np.array(moments) / model.mass, mass, int(seen.sum())


def with_mass(model: OpenSimModel, mass: float) -> OpenSimModel:
    """The model with another mass [kg], alike in all bodies."""
    factor = mass / model.mass
    masses = {
        name: replace(body, mass=factor * body.mass, inertia=factor * body.inertia)
        for name, body in model.masses.items()
    }
    return replace(model, masses=masses)


def known() -> Iterator[tuple[Path, Path, Path, float]]:
    """Model, coordinates, loads and cut-off frequency of the recordings at hand."""
    data = data_folder()
    walk = data / "rajagopal_walk"
    model = walk / "reference" / "rajagopal_lai_uhlrich_2023_scaled.osim"
    yield model, walk / "reference" / "opensim_ik.mot", walk / "walk_grf.mot", WALKING_CUTOFF_HZ
    knee = data / "instrumented_knee"
    for name in WALKS:
        files = (knee / f"PS_ngait_og_{name}_{what}.mot" for what in ("kinematics", "kinetics"))
        yield knee / "Rajagopal2015-scaled.osim", *files, WALKING_CUTOFF_HZ  # type: ignore[misc]
    subject = data / "addbiomechanics" / "opencap_subject"
    model = subject / "Models" / "optimized_scale_and_markers.osim"
    for name, cutoff in (("walking2", 6.0), ("walking3", 6.0), ("DJ1", 15.0)):
        yield model, subject / "IK" / f"{name}_ik.mot", subject / "ID" / f"{name}_grf.mot", cutoff


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--cutoff-hz", type=float, default=WALKING_CUTOFF_HZ)
    parser.add_argument("--mass", type=float)
    asked = parser.parse_args()
    if len(asked.files) not in (0, 3):
        parser.error("name a model, its coordinates and its loads, or nothing")
    cases = [(*asked.files, asked.cutoff_hz)] if asked.files else list(known())
    columns = (*(f"{name} % BW (r)" for name in COMPONENTS), *JOINTS, "frames", "kg", "carried")
    shown = Table("motion", *columns)
    for model_file, coordinates, plates, cutoff in cases:
        model = read_osim(model_file)
        model = model if asked.mass is None else with_mass(model, asked.mass)
        for again in (False, True):
            size, r, moments, carried, frames = differences(model, coordinates, plates, cutoff)
            forces = [f"{100 * one:.1f} ({two:.2f})" for one, two in zip(size, r, strict=True)]
            cells = [*forces, *(f"{each:.2f}" for each in moments), str(frames)]
            shown.add_row(coordinates.stem, *cells, f"{model.mass:.1f}", f"{carried:.1f}")
            if again or asked.files:
                break
            model = with_mass(model, carried)
    console.print(shown)
    if not asked.files:
        console.print(implant())


def implant() -> Table:
    """The force in the left knee of both walks of the instrumented knee, with plates and without."""
    shown, knee = Table("knee beside implant", "ground reactions", *HEAD), data_folder() / "instrumented_knee"
    for walk in WALKS:
        coordinates = knee / f"PS_ngait_og_{walk}_kinematics.mot"
        for loads in (knee / f"loads_{walk}.xml", "predicted"):
            result = share_model(knee / "Rajagopal2015-scaled.osim", coordinates, loads=loads)
            shown.add_row(walk, Path(loads).name, *Agreement.from_result(result, walk).cells)
    return shown


if __name__ == "__main__":
    main()
