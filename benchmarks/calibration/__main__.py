"""Time and accuracy of parameters from fascicle lengths: the formulation of KU Leuven beside `calibrate_muscles`.

python -m benchmarks.calibration [FOLDER] [--repeats N] [-o TABLE.md]

FOLDER holds the two strides of MuscleRedundancySolver's example (Delabastita et al. 2020): a model, its motions and
moments, and fascicle lengths of the left gastrocnemius medialis; unless given, fascicle_walk of the folder that
MUSCLESOLVE_DATA names. Each trial alone, then both together; factors of one trial predict the other, whose measured
length is not looked at; "1 by itself" is trial 1 with its own factors and without its measurement, which the fit may
follow by activations as well as by parameters. Times are processor times of Ipopt alone, the median of N (1) runs;
ratios within one run are what is quoted. `calibrate_muscles` is called on trial files of the same trials; its time is
the time of the whole call, reading and, with two trials, both predictions included, in a process that has compiled and
called it before.

A model that follows the same path of the muscle in both trials cannot be right in both where the measurements differ:
with errors e_1 and e_3 of two computed courses x_1 and x_3, rms e_1 + rms e_3 >= rms (y_1 - y_3) - rms (x_1 - x_3).
The last lines print both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TypeVar

import numpy as np

from benchmarks.arguments import command_line
from benchmarks.calibration.leuven import Free, LeuvenCourse, LeuvenFit, LeuvenTrial, estimate
from benchmarks.timing import console, rms
from benchmarks.validation.page import data_folder, table
from musclesolve import calibrate_muscles
from musclesolve._util.arrays import Array
from musclesolve.muscles.person import COMPARED
from musclesolve.pipeline.opensim.model_body import model_body, model_settings
from musclesolve.studies.benchmark.measure import machine

TRIALS = (1, 3)
MEASURED = "med_gas_l"
HEADS = (MEASURED, "lat_gas_l")
ACHILLES = (*HEADS, "soleus_l")
DOFS = ("hip_flexion_l", "hip_adduction_l", "hip_rotation_l", "knee_angle_l", "ankle_angle_l")
"""The degrees of freedom of their example; the subtalar joint and the toes, which have muscles too, are left out."""
FREE = (
    Free("optimal_fiber_length", HEADS),
    Free("tendon_slack_length", HEADS[:1]),
    Free("tendon_slack_length", HEADS[1:]),
    Free("tendon_stiffness", ACHILLES),
)
"""What their example finds: one factor on both optimal lengths, two on slack lengths, one on three stiffnesses."""
HEAD = (
    *("problem", "time [s]", "iterations", "L0", "slack, medial", "slack, lateral", "stiffness"),
    *("trial", "rms [mm]", "r", "mean error [mm]", "largest strain [%]", "largest reserve [N m]"),
)

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Walk:
    """A stride of T frames: its problem, and the measured length y (T,) [m]."""

    trial: LeuvenTrial
    measured: Array

    @classmethod
    def from_folder(cls, folder: Path, number: int) -> Walk:
        """A trial of the folder, by its number."""
        files = (folder / f"trial_{number}_{kind}.mot" for kind in ("IK", "ID"))
        settings = model_settings(tendon="elastic")
        (part,) = model_body(folder / "model.osim", *files, settings, side="l").parts
        time, length = np.loadtxt(
            folder / f"measured_fascicle_length_{number}.csv", delimiter=",", skiprows=1
        ).T
        measured = np.interp(part.time, time, length)
        return cls(LeuvenTrial.from_group(part, DOFS, {MEASURED: measured}), measured)

    def computed(self, course: LeuvenCourse) -> Array:
        """The computed length (T,) [m] of the fascicle that was measured."""
        return course.fiber_length[:, self.trial.muscles.names.index(MEASURED)]

    def figures(self, course: LeuvenCourse) -> tuple[str, ...]:
        """How far the computed length is from the measured one, and how tendon and reserves are."""
        length, measured = self.computed(course), self.measured
        off = 1e3 * (length - measured)
        strain = max(course.tendon_strain[:, self.trial.muscles.names.index(name)].max() for name in ACHILLES)
        return (
            *(f"{rms(off):.1f}", f"{np.corrcoef(length, measured)[0, 1]:.2f}", f"{off.mean():+.1f}"),
            *(f"{100.0 * strain:.1f}", f"{np.abs(course.reserve).max():.1f}"),
        )


def median(call: Callable[[], LeuvenFit], repeats: int) -> tuple[float, LeuvenFit]:
    """The median of some times of Ipopt [s], and the last fit."""
    fits = [call() for _ in range(repeats)]
    return float(np.median([fit.seconds for fit in fits])), fits[-1]


def lines(problem: str, seconds: float, fit: LeuvenFit, walks: dict[int, Walk]) -> list[tuple[str, ...]]:
    """A row for each trial of a fit."""
    status = "" if fit.status == "Solve_Succeeded" else f" ({fit.status})"
    first = (problem, f"{seconds:.1f}", f"{fit.iterations}{status}", *(f"{x:.3f}" for x in fit.factor))
    rows = []
    for (number, walk), course in zip(walks.items(), fit.courses, strict=True):
        rows.append((*(("",) * len(first) if rows else first), str(number), *walk.figures(course)))
    return rows


def trial_file(folder: Path, number: int, written: Path) -> Path:
    """Write the trial file of a trial of the folder, with all degrees of freedom and elastic tendons."""
    source = folder.resolve()
    path = written / f"trial_{number}.toml"
    path.write_text(
        f"""[files]
model = "{source}/model.osim"
coordinates = "{source}/trial_{number}_IK.mot"
moments = "{source}/trial_{number}_ID.mot"

[filter]
cutoff_hz = "none"

[muscles]
tendon = "elastic"
passive = "table"

[sharing]
reserve_weight = 0.01

[fascicle]
file = "{source}/measured_fascicle_length_{number}.csv"
unit = "m"

[fascicle.channels]
gastrocnemius_medial_l_m = "{MEASURED}"
""",
        encoding="utf-8",
    )
    return path


def calibrated(folder: Path, repeats: int, rival: dict[tuple[int, ...], float]) -> str:
    """A table of `calibrate_muscles` on each trial and on both, with the times [s] of the rival over its own."""
    rows = []
    with TemporaryDirectory() as name:
        paths = {number: trial_file(folder, number, Path(name)) for number in TRIALS}
        calibrate_muscles([paths[TRIALS[0]]], side="l")  # compiles
        for group, theirs in rival.items():
            seconds = []
            for _ in range(repeats):
                begin = process_time()
                found = calibrate_muscles([paths[number] for number in group], side="l")
                seconds.append(process_time() - begin)
            own = float(np.median(seconds))
            first = (f"fit of {' and '.join(map(str, group))}", f"{own:.1f}", f"{theirs / own:.2g}")
            factors = tuple(f"{each.factor:.3f} ({each.sd:.3f})" for each in found.person.parameters)
            for row in range(found.found.sizes["curve"]):
                curve = found.found.isel(curve=row)
                pairs = [
                    (float(curve[f"rms_{word}"]), float(curve[f"correlation_{word}"])) for word in COMPARED
                ]
                cells = [
                    cell
                    for off, r in pairs
                    for cell in ((f"{1e3 * off:.1f}", f"{r:.2f}") if np.isfinite(off) else ("", ""))
                ]
                rows.append((*(("",) * 6 if row else (*first, *factors)), str(curve["trial"].values), *cells))
    head = ("problem", "time [s]", "rival over this", "L0 (sd)", "slack (sd)", "strain (sd)", "trial")
    before, fitted, predicted = ((f"rms {when} [mm]", "r") for when in COMPARED)
    return table((*head, *before, *fitted, *predicted), rows)


def report(folder: Path, repeats: int) -> str:
    """All tables in Markdown."""
    walks = {number: Walk.from_folder(folder, number) for number in TRIALS}
    groups = [(number,) for number in TRIALS] + [TRIALS]
    rows, fits, times = [], {}, {}
    for group in groups:
        chosen = {number: walks[number] for number in group}
        trials = [walk.trial for walk in chosen.values()]
        times[group], fits[group] = median(lambda trials=trials: estimate(trials, FREE), repeats)  # type: ignore[misc]
        rows += lines(f"fit of {' and '.join(map(str, group))}", times[group], fits[group], chosen)
        console.print(rows[-1])
    bounds = []
    measured = rms(1e3 * np.subtract(*(walk.measured for walk in walks.values())))
    for own, other in zip(TRIALS, reversed(TRIALS), strict=True):
        fit = fits[own,]
        found = estimate([walks[other].trial], FREE, weight=0.0, fixed=fit.factor)
        rows += lines(f"{other} by {own}", found.seconds, found, {other: walks[other]})
        itself = estimate([walks[own].trial], FREE, weight=0.0, fixed=fit.factor)
        rows += lines(f"{own} by itself", itself.seconds, itself, {own: walks[own]})
        courses = {own: itself.courses[0], other: found.courses[0]}
        lengths = {number: walks[number].computed(course) for number, course in courses.items()}
        apart = rms(1e3 * np.subtract(lengths[own], lengths[other]))
        total = sum(rms(1e3 * (lengths[number] - walks[number].measured)) for number in TRIALS)
        bounds.append(
            (f"of {own}", f"{measured:.1f}", f"{apart:.1f}", f"{measured - apart:.1f}", f"{total:.1f}")
        )
    head = (
        "factors",
        "measurements apart [mm]",
        "courses apart [mm]",
        "least sum of errors [mm]",
        "sum [mm]",
    )
    stated = ", ".join(f"{name} {value}" for name, value in machine().items())
    parts = (stated, table(HEAD, rows), table(head, bounds), calibrated(folder, repeats, times))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Print the tables, and write them into a folder where one is named."""
    parser = command_line(__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.md")
    options = parser.parse_args()
    text = report(options.folder or data_folder() / "fascicle_walk", options.repeats)
    console.print(text)
    if options.output is not None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
