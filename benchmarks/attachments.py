"""Distances of the drawn muscles from the drawn bones, for every bundled muscle set and for OpenSim models.

python -m benchmarks.attachments [MODEL.osim ...] [--muscles]

Distances [mm] of origins and insertions from the nearest surface of a bone. Each is the largest one over ten frames of
the bundled stride, or over ten poses of a model in which every angle goes from its default to the middle of its range.
`as tabulated` measures the bones of the table, `drawn` the bones that reach their muscles
(`musclesolve.report.picture.lofted_bones`). `between` measures the points between the ends: via points, and points on
wrapping surfaces, which tendon sheaths or other muscles may hold off the bone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.table import Table

import muscle_db
import musclesolve as ms
from benchmarks.arguments import command_line, input_file
from benchmarks.timing import console
from musclesolve._util.arrays import Array, Indices
from musclesolve.opensim.geometry import path_lines
from musclesolve.opensim.kinematics import body_motion, coordinate_values
from musclesolve.opensim.model import TO_GLOBAL
from musclesolve.opensim.read_model import read_osim
from musclesolve.report.picture.bones import Bones, bones_of, bones_of_model
from musclesolve.report.picture.lofted_bones import joined, nearest_points
from musclesolve.report.picture.model_bones import model_surfaces
from musclesolve.report.picture.picture_data import ends_of, picture_data, skeleton_of
from musclesolve.results.dataset.model_labels import model_skeleton

POSES = 10
FAR = 5.0
"""Distance from which an end is listed by --muscles [mm]."""
Drawn = tuple[Bones, tuple[str, ...], Array, Indices]
"""Bones as tabulated, names of muscles, points (T, P, 3) [m] of their paths, and where each muscle begins."""


def drawn_set(database: str) -> Drawn:
    """The bundled stride with one of the muscle sets."""
    result = ms.run(ms.read_trial(ms.data.reference_stride()).with_settings(muscles={"database": database}))
    data, widths = (
        picture_data(result),
        {side: result.attrs.get(f"knee_width_{side}_m", np.nan) for side in "rl"},
    )
    return bones_of(skeleton_of(result), ("",), widths), data.muscles, data.path, data.first


def drawn_model(file: Path) -> Drawn:
    """Poses of a model, with its own files of geometry where they are beside it."""
    model = read_osim(file)
    turned = [each for each in model.coordinates.values() if each.rotational and not each.locked]
    share = np.linspace(0.0, 1.0, POSES)
    ways = {
        each.name: share * (0.5 * (each.lower + each.upper) - each.default) + each.default for each in turned
    }
    values = coordinate_values(model, ways)
    skeleton, muscles = model_skeleton(model, body_motion(model, values)), tuple(model.muscles)
    lines = path_lines(model, values, muscles)
    surfaces, _ = model_surfaces(file, skeleton.segments)
    first = np.searchsorted(lines.muscle, np.arange(len(muscles) + 1))
    return bones_of_model(skeleton, surfaces), muscles, lines.position @ TO_GLOBAL.T, first


def distances(bones: Bones, points: Array) -> Array:
    """The largest distance (P,) [mm] of each of points (T, P, 3) [m] from the nearest surface."""
    chosen = range(0, len(points), max(1, len(points) // POSES))
    faces = [surface.faces for surface in bones.surfaces]
    placed = (joined(list(zip(bones.placed(frame), faces, strict=True))) for frame in chosen)
    return 1e3 * np.max(
        [nearest_points(points[k], mesh)[1] for k, mesh in zip(chosen, placed, strict=True)], axis=0
    )


def rows(drawn: Drawn) -> Iterator[tuple[str, Array]]:
    """Measured points in words, and their distances [mm]."""
    bones, _, path, first = drawn
    ends = ends_of(path, first)
    between = np.setdiff1d(np.arange(path.shape[1]), [first[:-1], first[1:] - 1])
    yield "ends, as tabulated", distances(bones, ends[:, :, 0])
    reached = bones.reaching(ends)
    yield "ends, drawn", distances(reached, ends[:, :, 0])
    yield "between, drawn", distances(reached, path[:, between])


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("models", nargs="*", type=input_file, metavar="MODEL.osim")
    parser.add_argument("--muscles", action="store_true", help=f"list the ends {FAR:g} mm or more away")
    chosen = parser.parse_args()
    shown = Table("set or model", "points", "number", "median [mm]", "95 % [mm]", "largest [mm]")
    for name in (*muscle_db.available(), *chosen.models):
        drawn = drawn_model(name) if isinstance(name, Path) else drawn_set(name)
        label = name.name if isinstance(name, Path) else name
        if not drawn[0].surfaces:
            shown.add_row(label, "no body has a surface", "", "", "", "")
            continue
        for what, far in rows(drawn):
            median, most, largest = (f"{np.quantile(far, share):.1f}" for share in (0.5, 0.95, 1.0))
            shown.add_row(label, what, str(len(far)), median, most, largest)
            if chosen.muscles and what == "ends, drawn":
                for k in np.flatnonzero(far >= FAR):
                    end = ("origin", "insertion")[k % 2]
                    console.print(f"{label}: {end} of {drawn[1][k // 2]}, {far[k]:.1f} mm")
        shown.add_section()
    console.print(shown)


if __name__ == "__main__":
    main()
