"""Sound OpenSim trials: what is said of them is true, and variations of them have no finding of their own.

python -m benchmarks.sound_models DATA [NAME ...]

DATA is a folder with the recorded walks of `walks`, NAME a walk. A row of the first table is an error or a warning on a
walk as it was recorded: true by the fact in `sound_model_facts.toml` beside it, or false. The walks of
`planted_model_faults.trials` are varied, too: other sizes, strengths, names, muscles and rates. A row of the second
table is a variation with the errors and warnings that the walk as recorded does not have. The last lines count both.
A person of another size walks alike by the rule of Froude: lengths grow with the factor s, times with s^1/2, masses and
forces with s^3, moments with s^4.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
from rich.table import Table as Rows
from scipy.interpolate import CubicSpline

import musclesolve as ms
from benchmarks.arguments import command_line, input_folder
from benchmarks.planted_model_faults import Case, trials
from benchmarks.timing import console
from musclesolve._util.sides import OPPOSITE, SIDES, split_side, with_side
from musclesolve.errors import InputError
from musclesolve.files import Table
from musclesolve.laboratory.analysis.opensim.assemble_body import model_body
from musclesolve.laboratory.analysis.opensim.coordinate_motion import as_table
from musclesolve.laboratory.analysis.opensim.trial_body import model_settings
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.checks.model.muscles import POSES
from musclesolve.laboratory.results.finding import Finding, Where
from musclesolve.models.opensim.functions import ByPartials, Function, Scaled
from musclesolve.models.opensim.model import GROUND, Frame, Joint, OpenSimModel, OpenSimPoint, TransformAxis

Variation = Callable[[Case, Path], Case]
"""A sound case made from a case; files are written into the folder."""
ENDS = ("_moment", "_force", "")
"""Ends of the names of columns of moments after their coordinates."""
TURNED_BY_MIRROR = ("pelvis_list", "pelvis_rotation", "pelvis_tz", "lumbar_bending", "lumbar_rotation")
BELOW_THE_KNEE = (
    "tib", "per", "ext_", "edl", "ehl", "fdl", "fhl", "flex_", "soleus", "med_gas", "lat_gas", "gas",
)  # fmt: skip
"""Beginnings of the names of muscles that a person with an amputated shank lacks."""
FACTS = tomllib.loads(Path(__file__).with_name("sound_model_facts.toml").read_text(encoding="utf-8"))
"""Walk -> code -> the fact that makes a finding true."""
OF_THE_THIGH = (
    "glmax", "glut_max", "add", "grac", "pect", "quad", "semi", "bflh", "bifemlh", "sart", "sar_", "tfl", "pi", "peri",
)  # fmt: skip


# Another size


def sized(size: float, power: float, strength: float = 1.0) -> Variation:
    """A person of another size with muscle forces by a power of the size, and a factor on all of them."""

    def change(case: Case, folder: Path) -> Case:
        model = scaled_model(case.model, size, strength * size**power)
        ways = np.isin(case.coordinates.names, list(ways_of_root(case.model)))
        later = np.sqrt(size)
        coordinates = case.coordinates
        moved = replace(
            coordinates, time=coordinates.time * later, values=coordinates.values * np.where(ways, size, 1.0)
        )
        moments = case.moments
        if moments is not None:
            lengths = np.array([name.endswith("_force") for name in moments.names])
            grown = moments.values * np.where(lengths, size**3, size**4)
            moments = replace(moments, time=moments.time * later, values=grown)
        return replace(
            case,
            model=model,
            coordinates=moved,
            moments=moments,
            loads=scaled_loads(case.loads, size, folder),
        )

    return change


def ways_of_root(model: OpenSimModel) -> set[str]:
    """Coordinates that are lengths: translations of the root."""
    axes = [axis for joint in model.joints if joint.parent.body == GROUND for axis in joint.translations]
    return {name for axis in axes for name in axis.coordinates if not model.coordinates[name].rotational}


def scaled_model(model: OpenSimModel, size: float, strength: float) -> OpenSimModel:
    """All lengths of a model times `size`, forces of muscles times `strength`, masses as the cube of the size."""
    ways = ways_of_root(model)

    def grown(function: Function) -> Function:
        return Scaled(cast(ByPartials, function), size)

    def frame(own: Frame) -> Frame:
        return replace(own, position=size * own.position)

    def translation(axis: TransformAxis) -> TransformAxis:
        return axis if ways & {*axis.coordinates} else replace(axis, function=grown(axis.function))

    def joint(own: Joint) -> Joint:
        translations = tuple(map(translation, own.translations))
        return replace(own, parent=frame(own.parent), child=frame(own.child), translations=translations)

    def point(own: OpenSimPoint) -> OpenSimPoint:
        moving = own.moving
        if moving is not None:
            x, y, z = map(grown, moving.functions)
            moving = replace(moving, functions=(x, y, z))
        location = None if own.location is None else size * own.location
        return replace(own, frame=frame(own.frame), location=location, moving=moving)

    muscles = {
        name: replace(
            muscle,
            points=tuple(map(point, muscle.points)),
            max_isometric_force=strength * muscle.max_isometric_force,
            optimal_fiber_length=size * muscle.optimal_fiber_length,
            tendon_slack_length=size * muscle.tendon_slack_length,
        )
        for name, muscle in model.muscles.items()
    }
    surfaces = {
        name: replace(each, frame=frame(each.frame), radii=size * each.radii, length=size * each.length)
        for name, each in model.surfaces.items()
    }
    masses = {
        name: replace(
            body, mass=size**3 * body.mass, center=size * body.center, inertia=size**5 * body.inertia
        )
        for name, body in model.masses.items()
    }
    coordinates = {
        name: replace(each, default=size * each.default) if name in ways else each
        for name, each in model.coordinates.items()
    }
    return replace(
        model, joints=tuple(map(joint, model.joints)), muscles=muscles, surfaces=surfaces, masses=masses,
        coordinates=coordinates,
    )  # fmt: skip


def scaled_loads(path: Path | None, size: float, folder: Path) -> Path | None:
    """The loads of a person of another size, in a folder."""
    if path is None or path.suffix == ".mot":
        return None if path is None else _scaled_table(path, size, folder)
    text = path.read_text(encoding="utf-8")
    data = text.partition("<datafile>")[2].partition("</datafile>")[0]
    target = folder / f"loads_{size:g}.xml"
    target.write_text(text.replace(data, str(_scaled_table(Path(data), size, folder))), encoding="utf-8")
    return target


def _scaled_table(path: Path, size: float, folder: Path) -> Path:
    """Columns of forces (_vx), points (_px) and torques of a file."""
    table, target = as_table(path, ""), folder / f"{path.stem}_{size:g}.mot"
    power = np.array([{"v": 3.0, "p": 1.0}.get(name.split("_")[-1][0], 4.0) for name in table.names])
    values = table.values * size**power
    ms.files.write_mot(target, replace(table, time=table.time * np.sqrt(size), values=values), decimals=9)
    return target


# Other muscles


def without(beginnings: tuple[str, ...], side: str = "r") -> Variation:
    """A leg without some muscles, as after an amputation or a transfer."""

    def change(case: Case, folder: Path) -> Case:
        muscles = {
            name: muscle
            for name, muscle in case.model.muscles.items()
            if split_side(name)[1] != side or not name.casefold().startswith(beginnings)
        }
        return replace(case, model=replace(case.model, muscles=muscles))

    return change


def muscles_renamed(name_of: Callable[[int, str], str]) -> Variation:
    """Names of muscles of another author, from the number and the name of a muscle."""

    def change(case: Case, folder: Path) -> Case:
        stems = list(dict.fromkeys(split_side(name)[0] for name in case.model.muscles))
        new = {
            name: with_side(name_of(stems.index(stem), stem), side)
            for name in case.model.muscles
            for stem, side in (split_side(name),)
        }
        assert len(set(new.values())) == len(new)
        muscles = {new[name]: replace(each, name=new[name]) for name, each in case.model.muscles.items()}
        return replace(case, model=replace(case.model, muscles=muscles))

    return change


def sides_in_words(case: Case, folder: Path) -> Case:
    """Sides of muscles before their names."""
    words = {"r": "right_", "l": "left_"}
    new = {name: words.get(split_side(name)[1], "") + split_side(name)[0] for name in case.model.muscles}
    muscles = {new[name]: replace(each, name=new[name]) for name, each in case.model.muscles.items()}
    return replace(case, model=replace(case.model, muscles=muscles))


# Other coordinates


def coordinates_renamed(case: Case, folder: Path) -> Case:
    """The coordinates of the legs with names of another author."""
    stems = (*POSES, "mtp_angle")
    new = {name: f"q_{name}" for name in case.model.coordinates if name.startswith(stems)}

    def named(names: tuple[str, ...]) -> Any:
        return tuple(new.get(name, name) for name in names)

    def axes(own: tuple[TransformAxis, ...]) -> tuple[TransformAxis, ...]:
        return tuple(replace(axis, coordinates=named(axis.coordinates)) for axis in own)

    def joint(own: Joint) -> Joint:
        rotations, translations = axes(own.rotations), axes(own.translations)
        return replace(
            own, coordinates=named(own.coordinates), rotations=rotations, translations=translations
        )

    def point(own: OpenSimPoint) -> OpenSimPoint:
        moving, condition = own.moving, own.condition
        moving = moving and replace(moving, coordinates=named(moving.coordinates))
        return replace(own, moving=moving, condition=condition and (*named(condition[:1]), *condition[1:]))

    model = case.model
    couplers = tuple(
        replace(each, dependent=named((each.dependent,))[0], independent=named(each.independent))
        for each in model.couplers
    )
    muscles = {
        name: replace(each, points=tuple(map(point, each.points))) for name, each in model.muscles.items()
    }
    coordinates = {new.get(name, name): replace(each, name=new.get(name, name))
                   for name, each in model.coordinates.items()}  # fmt: skip
    changed = replace(
        model,
        joints=tuple(map(joint, model.joints)),
        couplers=couplers,
        muscles=muscles,
        coordinates=coordinates,
    )
    columns = {name + end: other + end for name, other in new.items() for end in ENDS}
    return with_columns(replace(case, model=changed), lambda name: (columns.get(name, name), 1.0))


def with_columns(case: Case, column: Callable[[str], tuple[str, float]]) -> Case:
    """Columns of coordinates and moments by other names, times a factor."""

    def table(own: Table) -> Table:
        names, factors = zip(*map(column, own.names), strict=True)
        return replace(own, names=names, values=own.values * np.array(factors))

    moments = None if case.moments is None else table(case.moments)
    return replace(case, coordinates=table(case.coordinates), moments=moments)


def locked(stem: str) -> Variation:
    """Joints of both feet that the model locks, and the file holds at zero."""

    def change(case: Case, folder: Path) -> Case:
        names = [with_side(stem, side) for side in SIDES]
        coordinates = {name: replace(each, locked=True, default=0.0) if name in names else each
                       for name, each in case.model.coordinates.items()}  # fmt: skip
        case = replace(case, model=replace(case.model, coordinates=coordinates))
        still = {*names, *(f"{name}_moment" for name in names)}
        return with_columns(case, lambda name: (name, 0.0 if name in still else 1.0))

    return change


def mirrored(case: Case, folder: Path) -> Case:
    """The walk with its right and left leg exchanged; models are alike on both sides."""

    def column(name: str) -> tuple[str, float]:
        end = next(end for end in ENDS if name.endswith(end))
        own = name.removesuffix(end)
        other = "_".join(OPPOSITE.get(part, part) for part in own.split("_"))  # knee_angle_r_beta, too
        return other + end, -1.0 if own in TURNED_BY_MIRROR else 1.0

    return with_columns(case, column)


def at_rate(factor: float) -> Variation:
    """The motion and its moments with as many times more frames, by cubic splines."""

    def change(case: Case, folder: Path) -> Case:
        def table(own: Table) -> Table:
            time = np.linspace(own.time[0], own.time[-1], round(factor * (len(own.time) - 1)) + 1)
            return replace(own, time=time, values=CubicSpline(own.time, own.values)(time))

        moments = None if case.moments is None else table(case.moments)
        return replace(case, coordinates=table(case.coordinates), moments=moments)

    return change


def in_radians(case: Case, folder: Path) -> Case:
    """A file of radians whose header says so, or of degrees."""
    table, known = case.coordinates, case.model.coordinates
    degrees = table.in_degrees is not False
    turns = np.array([name not in known or known[name].rotational for name in table.names])
    factor = np.pi / 180.0 if degrees else 180.0 / np.pi
    values = table.values * np.where(turns, factor, 1.0)
    return replace(case, coordinates=replace(table, values=values, in_degrees=not degrees))


VARIATIONS: Mapping[str, Variation] = {
    **{
        f"size {size:g}, strength {words}": sized(size, power)
        for size in (0.55, 0.65, 0.8, 1.2)
        for power, words in ((0.0, "unchanged"), (2.0, "by area"), (3.0, "by mass"))
    },
    "weak": sized(1.0, 0.0, 0.6),
    "weak child": sized(0.6, 2.0, 0.6),
    "without muscles of a shank": without(BELOW_THE_KNEE),
    "without muscles of a thigh": without(OF_THE_THIGH, "l"),
    "muscles in capitals": muscles_renamed(lambda number, stem: stem.upper()),
    "muscles by number": muscles_renamed(lambda number, stem: f"m{number}"),
    "muscles with short names": muscles_renamed(lambda number, stem: f"{stem[:3]}{number}"),
    "sides in words": sides_in_words,
    "coordinates renamed": coordinates_renamed,
    "locked toes": locked("mtp_angle"),
    "mirrored": mirrored,
    "half the frames": at_rate(0.5),
    "twice the frames": at_rate(2.0),
    "other unit of angles": in_radians,
}


def findings(case: Case) -> list[Finding]:
    """Errors and warnings of a case; one with the code "refused" if it cannot be read."""
    settings = model_settings(loads=case.loads)
    try:
        body = model_body(case.model, case.coordinates, case.moments, settings)
    except InputError as error:
        return [Finding("refused", "error", str(error), "", Where())]
    return [each for each in findings_of_body(body) if each.severity != "note"]


def walks(data: Path, folder: Path) -> dict[str, tuple[Path, Path, Path | None, Path | None]]:
    """Recorded walks, and walks of unusual models: model, coordinates, moments, loads."""
    knee, service = data / "instrumented_knee", data / "addbiomechanics/opencap_subject"
    reduced, unusual = data / "foreign_recordings/opensim_rra", data / "unusual_models"
    reduced_model, loads = reduced / "model_adjusted.osim", reduced / "task_grf.mot"
    found = {name: files(folder) for name, files in trials(data).items()}
    found |= {
        f"service {name}": (
            service / "Models/final.osim", service / f"IK/{name}_ik.mot", None, service / f"ID/{name}_grf.mot"
        )
        for name in ("walking2", "DJ1")
    }  # fmt: skip
    found["knee ss1"] = (
        knee / "Rajagopal2015-scaled.osim", knee / "PS_ngait_og_ss1_kinematics.mot", None, knee / "loads_ss1.xml"
    )  # fmt: skip
    found["weakened knee"] = (knee / "GC5.osim", *found["knee"][1:])
    found["reduced"] = reduced_model, reduced / "task_Kinematics_q.sto", None, loads
    found["before reduction"] = reduced_model, reduced / "task_InverseKinematics.mot", None, loads
    for name in ("r14_whole_shank", "r14_split_shank", "r11_reversed_knee_ankle", "r26_tibia_turned"):
        found[name] = unusual / f"{name}.osim", unusual / "r5_ik.mot", None, unusual / "r5_loads.xml"
    return found


def walk(files: tuple[Path, Path, Path | None, Path | None]) -> Case:
    """A recorded walk as a case."""
    model, coordinates, moments, loads = files
    table = None if moments is None else as_table(moments, "")
    return Case(ms.read_osim(model), as_table(coordinates, ""), table, loads, (), ())


def main() -> None:
    """Print both tables."""
    parser = command_line(__doc__)
    parser.add_argument("data", type=input_folder, metavar="DATA")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    said, rows = Rows("walk", "finding", "is it true?"), Rows("walk", "variation", "findings of its own")
    count, false = [0, 0], 0
    with TemporaryDirectory() as place:
        files = walks(given.data, Path(place))
        for name in given.names or files:
            case = walk(files[name])
            sound, facts = findings(case), FACTS.get(name, {})
            for each in sound:
                false += each.code not in facts
                true = f"true: {facts[each.code]}" if each.code in facts else "false"
                said.add_row(name, f"{each.severity} {each.code}: {each.what}", true)
            if not sound:
                said.add_row(name, "nothing is said", "true")
            for title, variation in VARIATIONS.items() if name in trials(given.data) else ():
                if variation is mirrored and case.loads is not None:
                    continue  # the loads would have to be mirrored, too
                varied = findings(variation(case, Path(place)))
                new = {each.code for each in varied} - {each.code for each in sound}
                count = [count[0] + 1, count[1] + bool(new)]
                rows.add_row(name, title, ", ".join(sorted(new)))
    for table in (said, rows):
        console.print(table)
    console.print(f"{false} false findings; {count[0]} variations, {count[1]} with findings of their own")


if __name__ == "__main__":
    main()
