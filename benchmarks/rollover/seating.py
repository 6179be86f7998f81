"""A seated occupant from cameras (Silva 2003, 4.4.2, figures 4.29 to 4.31): the initial pose as a chain.

    python -m benchmarks.rollover.seating [FOLDER] [--noise 1.0] [--rollover]

The source films a person in a vehicle seat by four cameras, reconstructs the anatomical points by direct linear
transformation (5.1), takes the transformation of each segment from them, and inserts the model into the seat of the
vehicle. Its images are photographs. Here the person who sits is the model in the pose of `cabin.toml`, in a laboratory
whose frame is not the frame of the vehicle, and every step after that knows the pixels alone:

1. four cameras in a half circle before the seat, calibrated from pixels of 27 control points of known place;
2. pixels of the points of the model, each point hidden from one camera by the body or the steering wheel;
3. points by direct linear transformation from the cameras that saw them;
4. the consistent pose nearest to the points: lengths belong to the subject;
5. insertion: moved so that the hips lie at the insertion point of the seat.

The pose that comes out is compared with the one that was filmed. `--rollover` lets the truck roll over with the driver
in either pose (twenty seconds of processor time each).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from benchmarks.arguments import command_line, output_folder
from benchmarks.chapter_4 import STANDARD, subject
from benchmarks.impact_pictures import write
from benchmarks.rollover.cabin import DATA, occupant
from benchmarks.rollover.cases import occupant_figures, rollover
from benchmarks.thesis_figures.drawing import COLORS, key, panels
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.pose_fit import fit_pose
from musclesolve.dynamics.model.model import Model
from musclesolve.plotting.page.page_style import TEXT
from musclesolve.plotting.page.sheet import heading
from musclesolve.recording.cameras.calibration import calibrate_cameras
from musclesolve.recording.cameras.camera import Camera, ring
from musclesolve.recording.cameras.reconstruction import reconstruct

NOISE_PX = 1.0
CAMERAS, RADIUS, HEIGHT = 4, 2.5, 1.6
CONTROL = np.array(list(product((-0.7, 0.0, 0.7), (-0.6, 0.0, 0.6), (0.0, 0.7, 1.4))))
"""Places of the control points [m]: a frame that holds the seat."""
LABORATORY = np.array([0.35, -0.30, 0.45])
"""Origin of the vehicle in the laboratory [m]; the axes are parallel, as the control frame stands beside the seat."""
LINES = (
    *((f"hip_{side}", f"knee_{side}") for side in "rl"),
    *((f"knee_{side}", f"foot_{side}") for side in "rl"),
    *((f"shoulder_{side}", f"elbow_{side}") for side in "rl"),
    *((f"elbow_{side}", f"hand_{side}") for side in "rl"),
    ("hip_r", "hip_l"),
    ("shoulder_r", "shoulder_l"),
    ("back", "neck_base"),
    ("neck_base", "head_base"),
    ("head_base", "head_top"),
    ("back", "hip_r"),
    ("back", "hip_l"),
)


@dataclass(frozen=True)
class Seated:
    """An occupant as filmed and as the chain finds him: positions (N, 3) in the frame of the vehicle.

    points: (P, 3) reconstructed points there; seen: how many cameras saw each.
    """

    model: Model
    filmed: Array
    found: Array
    points: Array
    seen: Array

    @property
    def off(self) -> Array:
        """Distance (P,) [m] of each point of the pose from where it was filmed."""
        count = self.model.topology.point_count
        return np.asarray(np.linalg.norm(self.found[:count] - self.filmed[:count], axis=1))

    @property
    def raw(self) -> Array:
        """Errors of the reconstructed points, before the pose is fitted and inserted."""
        return np.asarray(np.linalg.norm(self.points - self.filmed[: len(self.points)], axis=1))


def cameras(random: np.random.Generator, noise: float) -> list[Camera]:
    """Calibrated cameras: their coefficients follow from the pixels of the control points."""
    true = ring(CAMERAS, RADIUS, HEIGHT, target=(0.0, 0.0, 0.7))
    return [
        calibrate_cameras(
            CONTROL, each.project(CONTROL) + random.normal(0.0, noise, (len(CONTROL), 2)), each.name
        ).camera
        for each in true
    ]


def seat(name: str, noise: float = NOISE_PX, seed: int = 0, who: str = STANDARD) -> Seated:
    """The chain for an occupant of `cabin.toml` with so much noise of digitized pixels [px]."""
    random, model = np.random.default_rng(seed), subject(who)
    filmed = occupant(name, model).q
    count = model.topology.point_count
    truth = filmed[:count] + LABORATORY
    known, true = cameras(random, noise), ring(CAMERAS, RADIUS, HEIGHT, target=(0.0, 0.0, 0.7))
    pixels = np.stack([each.project(truth) for each in true]) + random.normal(0.0, noise, (CAMERAS, count, 2))
    pixels[random.integers(CAMERAS, size=count), np.arange(count)] = np.nan  # hidden
    solved = reconstruct(known, pixels[:, None], noise)
    points = solved.position[0]
    names = [each.name for each in model.topology.points]
    targets = Targets.build(model, dict(zip(names, points[:, None], strict=True)), {})
    found = fit_pose(model, targets).q[0]
    # the insertion point: where the hips of who sits so lie in the vehicle
    hips = [model.slot("hip_r"), model.slot("hip_l")]
    shift = filmed[hips].mean(axis=0) - found[hips].mean(axis=0)
    inserted = found.copy()
    inserted[:count] += shift
    seen = np.isfinite(pixels[..., 0]).sum(axis=0)
    return Seated(model, filmed, inserted, points + shift, seen)


def report(found: dict[str, Seated]) -> Table:
    """How far points and poses are from what was filmed."""
    table = Table(
        "occupant",
        "cameras that saw a point",
        "points off, rms [mm]",
        "largest",
        "pose off, rms [mm]",
        "largest",
    )
    for name, one in found.items():
        numbers = [
            1000.0 * value
            for off in (one.raw, one.off)
            for value in (float(np.sqrt(np.mean(off**2))), float(off.max()))
        ]
        table.add_row(
            name, f"{one.seen.min()} to {one.seen.max()} of {CAMERAS}", *(f"{value:.1f}" for value in numbers)
        )
    return table


def picture(found: dict[str, Seated]) -> Figure:
    """Figure 4.31: the reconstructed points and poses of the occupants, beside what was filmed."""
    figure, axes = panels(
        None, "Initial poses of the occupants, from pixels of four cameras", 1, len(found), 0.36, sharey=True
    )
    for panel, (name, one) in zip(axes[0], found.items(), strict=True):
        slots = {point.name: k for k, point in enumerate(one.model.topology.points)}
        for color, q, label in ((COLORS[7], one.filmed, "filmed"), (COLORS[0], one.found, "pose found")):
            for number, (first, second) in enumerate(LINES):
                ends = q[[slots[first], slots[second]]]
                panel.plot(
                    ends[:, 0],
                    ends[:, 2],
                    color=color,
                    linewidth=3.5 if q is one.filmed else 1.2,
                    label=label if not number else None,
                )
        panel.plot(
            one.points[:, 0], one.points[:, 2], ".", color=COLORS[1], markersize=5, label="points found"
        )
        panel.set(aspect="equal")
        panel.set_xlabel("forward [m]", fontsize=TEXT)
        heading(panel, name)
    axes[0, 0].set_ylabel("up [m]", fontsize=TEXT)
    key(axes[0, -1])
    return figure


OF_ROLLOVER = {
    "criterion_15": "HIC 15 ms",
    "severity": "SI",
    "chest": "chest [g]",
    "lap_early": "lap before 1 s [kN]",
    "lap_late": "after [kN]",
}
"""Numbers of a rollover -> their headings."""


def rolled_over(name: str, found: Seated | None) -> dict[str, float]:
    """The numbers of the rollover with one occupant, in the pose of `cabin.toml` or in the pose that was found."""
    rider = occupant(name, subject(STANDARD))
    rider = rider if found is None else replace(rider, q=found.found)
    return occupant_figures(rollover([rider]), name, [strap.name for strap in rider.straps])


def rollovers(found: dict[str, Seated]) -> Table:
    """The rollover with the driver, from the pose that was filmed and from the pose found."""
    table = Table("pose of the driver", *OF_ROLLOVER.values())
    for label, one in (("filmed", None), ("found", found["driver"])):
        numbers = rolled_over("driver", one)
        table.add_row(
            label,
            *(
                f"{numbers[key]:.{'0' if key in ('criterion_15', 'severity') else '1'}f}"
                for key in OF_ROLLOVER
            ),
        )
    return table


def main(folder: Path, noise: float, roll: bool) -> None:
    """Print how good the chain is and draw the poses."""
    found = {name: seat(name, noise) for name in DATA["pose"]}
    console.print(report(found))
    write(folder, {"4.31": picture(found)})
    if roll:
        console.print(rollovers(found))


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("folder", nargs="?", type=output_folder, default=".", metavar="FOLDER")
    parser.add_argument("--noise", type=float, default=NOISE_PX, help="of a digitized pixel coordinate [px]")
    parser.add_argument("--rollover", action="store_true", help="also the rollover from either pose")
    given = parser.parse_args()
    main(given.folder, given.noise, given.rollover)
