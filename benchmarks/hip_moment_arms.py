"""Moment arms of hip muscles of the muscle sets beside moment arms of lines measured on cadavers.

python -m benchmarks.hip_moment_arms [--flexed]

Arms [mm] about flexion, abduction and internal rotation at -20, 0 and 20 degrees of hip flexion, or at 30, 60, 90 and
105 degrees with --flexed, all other angles zero: of the straight lines of `hip_attachments.toml` as they were measured,
of the sets on the standard subject. Only muscles whose path is nearly straight can be compared: the iliopsoas bends
over the pelvic brim, so that the straight line has too small an arm about flexion; the gluteus maximus bends over the
ischium.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.arguments import command_line
from benchmarks.timing import console
from musclesolve._util.arrays import Array

FLEXION, FLEXED = np.deg2rad([-20.0, 0.0, 20.0]), np.deg2rad([30.0, 60.0, 90.0, 105.0])
SETS = ("gait2392", "gait2392_hip", "rajagopal_2023")
PARTS = {
    "iliopsoas": ("iliacus", "psoas"),
    "gluteus_maximus": tuple(f"gluteus_maximus_{part}" for part in ("anterior", "middle", "posterior")),
}
"""Muscles of the sets for a line that stands for several of them."""


def attachments() -> dict[str, dict[str, Array]]:
    """Origin and insertion (2, 3) of each muscle [m]: forward, up, to the side, by source."""
    file = resources.files("benchmarks") / "hip_attachments.toml"
    sources = tomllib.loads(file.read_text(encoding="utf-8"))
    return {
        source: {name: np.array(points) for name, points in muscles.items()}
        for source, muscles in sources.items()
    }


def line_arms(points: Array, flexion: Array = FLEXION) -> Array:
    """Arms (P, 3) [m] of a straight line, (2, 3) [m], about flexion, abduction and internal rotation.

    The insertion p is carried by the thigh; r = (p x u) . e with u from the insertion to the origin and e the axes
    (to the side, minus forward, up), the last two of them with the thigh.
    """
    cos, sin, zero = np.cos(flexion), np.sin(flexion), np.zeros_like(flexion)
    thigh = np.stack([cos, -sin, zero, sin, cos, zero, zero, zero, zero + 1.0], axis=1).reshape(-1, 3, 3)
    place = thigh @ points[1]
    along = points[0] - place
    moment = np.cross(place, along / np.linalg.norm(along, axis=1, keepdims=True))
    about = np.einsum("pij,pi->pj", thigh, moment)  # in axes of the thigh
    return np.stack([about[:, 2], -about[:, 0], about[:, 1]], axis=1)


@cache
def set_arms(database: str, flexed: bool = False) -> dict[str, Array]:
    """Arms (P, 3) [m] of the muscles of the right leg of a set, in the same order, by name without side."""
    arms = ms.muscle_geometry({"hip_flexion_r": angles(flexed)}, muscles=database)["moment_arm"]
    axes = [("hip_flexion_r", 1.0), ("hip_adduction_r", -1.0), ("hip_internal_rotation_r", 1.0)]
    return {
        name.removesuffix("_r"): np.stack(
            [sign * arms.sel(muscle=name, dof=dof).values for dof, sign in axes], axis=1
        )
        for name in arms["muscle"].values.astype(str)
        if name.endswith("_r")
    }


def angles(flexed: bool) -> Array:
    """Flexion of the hip [rad]."""
    return FLEXED if flexed else FLEXION


def cells(arms: Array) -> list[str]:
    """One cell for each axis: the arms [mm] over the angles."""
    return [", ".join(f"{1e3 * arm:.0f}" for arm in column) for column in arms.T]


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--flexed", action="store_true", help="arms of flexed hips")
    flexed = parser.parse_args().flexed
    shown = Table("muscle", "of", "flexion", "abduction", "internal rotation")
    sources = attachments()
    for name in sources["dostal_andrews_1981"]:
        for source, muscles in sources.items():
            if name in muscles:
                shown.add_row(name, source, *cells(line_arms(muscles[name], angles(flexed))))
        for part in PARTS.get(name, (name,)):
            for database in SETS:
                if part in set_arms(database, flexed):
                    shown.add_row(part, database, *cells(set_arms(database, flexed)[part]))
        shown.add_section()
    console.print(shown)


if __name__ == "__main__":
    main()
