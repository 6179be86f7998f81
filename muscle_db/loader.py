"""Reads a muscle database from a TOML file; refuses faults, naming the line and the field.

A file with `based_on` states a set by its differences from a bundled one: each `[[muscle]]` names a muscle of the
bundled set and its changed keys, each `[[wrap]]` is an additional wrap object; `[calibrated_passive]` replaces the
table of the bundled set. A point `{ point = 2 }` of a path is the second point of the bundled set. `[muscle.reasons]`
says why fields differ, and makes a `Deviation` of every difference. `anatomy_of` names a bundled set whose words, from
short name to action, hold for the muscles of the same names.
"""

import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from itertools import zip_longest
from pathlib import Path
from typing import Any, Self

from muscle_db.errors import MuscleDatabaseError
from muscle_db.model import (
    CURVES,
    FIBER_LENGTHS,
    FRAMES,
    LARGEST_TENDON_STRAIN,
    LEG_DOFS,
    TENDON_STRAIN,
    WORDS,
    Deviation,
    MovingFrame,
    Muscle,
    MuscleDatabase,
    PassiveStrain,
    ReferenceSkeleton,
    Segment,
    Value,
    WrapObject,
    leg_segments,
)
from muscle_db.parsed_toml import kept_toml, toml_table
from muscle_db.paths import (
    LIMIT,
    Names,
    read_calibrated,
    read_frames,
    read_passive,
    read_path_wraps,
    read_point,
    read_range,
    read_wrap_objects,
    refuse_unused,
)
from muscle_db.regular_file import SETTINGS, UnsuitableFileError, read_regular
from muscle_db.similar_names import suggestion
from muscle_db.table import Region, TomlTable

_MUSCLE_TEXTS = ("name", "short_name", "group")
_OF_PATHS = ("position", "active", "point")
_MUSCLE_NUMBERS = ("max_isometric_force", "pennation_deg", "optimal_fiber_length", "tendon_slack_length")
_REMARKS = ("origin", "insertion", "action")
_REFERENCE_LENGTHS = ("thigh_length", "shank_length", "hip_width")
_VELOCITY = "max_shortening_velocity"
_TENDON_STRAIN = "tendon_strain"
_LENGTH_KEYS = ("fiber_lengths", "operating_range_of")
_SET_KEYS = (
    "groups",
    "deviation",
    "frame",
    "wrap",
    "curves",
    "license",
    "calibrated_passive",
    "coordinates",
    "dofs",
    "anatomy_of",
)
_OPTIONAL = (_VELOCITY, _TENDON_STRAIN, "passive", *_SET_KEYS, *_LENGTH_KEYS)
_MUSCLE_OPTIONAL = (_VELOCITY, _TENDON_STRAIN, *_REMARKS, "wraps", "passive")
_ROUNDED = 1e-3
"""Largest contradiction between a joint center and the length of a segment [m]."""
DEFAULT = "gait2392_hip"
"""The default set."""


def available() -> list[str]:
    """Names of the bundled databases, and of databases of other packages."""
    return sorted({*_own(), *_of_other_packages()})


@lru_cache
def _own() -> list[str]:
    folder = resources.files("muscle_db").iterdir()
    return [entry.name.removesuffix(".toml") for entry in folder if entry.name.endswith(".toml")]


@lru_cache
def _of_other_packages() -> dict[str, Path]:
    """Files by the names of the entry points `musclesolve.muscle_sets`, each of which names a path."""
    from importlib.metadata import entry_points  # takes as long as all of muscle_db

    return {point.name: Path(point.load()) for point in entry_points(group="musclesolve.muscle_sets")}


def load(name_or_path: str | Path = DEFAULT) -> MuscleDatabase:
    """Read a muscle database: one of `available()`, or the path of a TOML file of the same form.

    Every value is checked and in SI units. Files of the same text give the same object, which callers must not change.

    Raises:
        MuscleDatabaseError: there is no such database, or the file is wrong; with the place and the reason.
    """
    known = available()
    if str(name_or_path) in _own():
        return _parsed(*_bundled(str(name_or_path)))
    path = _of_other_packages().get(str(name_or_path), Path(name_or_path))
    try:
        raw = read_regular(path, SETTINGS)
    except FileNotFoundError as fault:
        file = f", and no file {path.absolute()}" if path.suffix or len(path.parts) > 1 else ""
        raise MuscleDatabaseError(
            f'there is no muscle database "{name_or_path}"{file}',
            expected=f"one of {', '.join(known)}, or the path of a TOML file",
            remedy=suggestion(str(name_or_path), known) or "check the name and the folder",
        ) from fault
    except UnsuitableFileError as fault:
        raise MuscleDatabaseError(
            fault.problem, file=path, expected=fault.expected, remedy=fault.remedy
        ) from fault
    except OSError as fault:
        is_folder = isinstance(fault, IsADirectoryError)
        reason = "this is a folder" if is_folder else f"cannot be read ({fault.strerror})"
        raise MuscleDatabaseError(reason, file=path, expected="a TOML file") from fault
    except ValueError as fault:  # a name that no file can have
        raise MuscleDatabaseError(
            f"{str(path)!r} is not a file name", expected="the path of a TOML file"
        ) from fault
    if b"\0" in raw and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):  # of UTF-16
        raise MuscleDatabaseError("this is a binary file", file=path, expected="a text file (TOML)")
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as fault:
        raise MuscleDatabaseError(
            "a character is not in UTF-8",
            file=path,
            line=raw[: fault.start].count(b"\n") + 1,
            expected="a text file (TOML) in UTF-8",
            remedy="save the file again with the encoding UTF-8",
        ) from fault
    return _parsed(text, str(path))


def _bundled(name: str) -> tuple[str, str]:
    """Text and file name of a bundled database."""
    file = f"{name}.toml"
    return resources.files("muscle_db").joinpath(file).read_text(encoding="utf-8"), file


@lru_cache(maxsize=16)
def _parsed(text: str, file: str) -> MuscleDatabase:
    """Database from the text of a file, parsed and checked once for each text."""
    return _database(_root(text, file))


@lru_cache(maxsize=16)
def _root(text: str, file: str) -> TomlTable:
    """The table of a whole file."""
    try:
        bundled = file.removesuffix(".toml") in _own()
        values = kept_toml(Path(__file__).with_name(file), text) if bundled else toml_table(text)
    except RecursionError as fault:
        raise MuscleDatabaseError("not valid TOML: brackets are nested too deep", file=file) from fault
    except ValueError as fault:  # TOMLDecodeError, or an integer of thousands of digits
        place = re.search(r"at line (\d+)", str(fault))
        line = int(place[1]) if place else len(text.splitlines())
        raise MuscleDatabaseError(f"not valid TOML: {fault}", file=file, line=line) from fault
    return TomlTable(values, lambda: Region.from_text(text), file)


@dataclass(frozen=True)
class _Common:
    """Common entries of a file, to which its muscles refer."""

    velocity: float
    tendon_strain: float
    passive: PassiveStrain | None
    groups: dict[str, str]
    frames: dict[str, MovingFrame]
    wraps: dict[str, WrapObject]
    reference: ReferenceSkeleton
    names: Names

    @classmethod
    def from_table(cls, root: TomlTable) -> Self:
        """Entries for all muscles of a file."""
        reference = _reference(root.table("reference"))
        dofs = root.names("dofs") if "dofs" in root.values else LEG_DOFS
        frames = read_frames(root, Names(reference.names, dofs))
        names = Names(reference.names, dofs, tuple(frames))
        groups = root.table("groups") if "groups" in root.values else None
        return cls(
            _velocity(root, default=10.0),
            _tendon_strain(root, default=TENDON_STRAIN),
            read_passive(root),
            {group: groups.text(group, default="") for group in groups.values} if groups else {},
            frames,
            read_wrap_objects(root, (*names.bones, *names.moving)),
            reference,
            names,
        )


def _database(root: TomlTable) -> MuscleDatabase:
    if "based_on" in root.values:
        return _derived(root)
    root.require_keys(("name", "source", "reference", "muscle"), _OPTIONAL)
    common = _Common.from_table(root)
    coordinates = root.table("coordinates") if "coordinates" in root.values else None
    tables = _muscle_tables(root)
    if not tables:
        root.fail("muscle", "there is no muscle", expected="at least one [[muscle]]")
    muscles = tuple(
        _with_deviations(_muscle(table, common, ("deviation",)), table, common.names) for table in tables
    )
    owner: dict[str, int] = {}  # names and short names share one space, because either finds the muscle
    for k, (table, muscle) in enumerate(zip(tables, muscles, strict=True)):
        for key, name in (("name", muscle.name), ("short_name", muscle.short_name)):
            if owner.setdefault(name, k) != k:
                problem = f'"{name}" already names muscle {owner[name] + 1}'
                table.fail(key, problem, expected="every name once")
    refuse_unused(root, tuple(common.frames), common.wraps, muscles)
    if coordinates:
        coordinates.require_keys((), common.names.dofs)
    return MuscleDatabase(
        name=root.text("name"),
        source=root.text("source"),
        reference=common.reference,
        muscles=muscles,
        groups=common.groups or {muscle.group: "" for muscle in muscles},
        deviations=_deviations(root),
        frames=common.frames,
        wrap_objects=common.wraps,
        curves=root.choice("curves", CURVES, default="silva_2003"),
        license=root.text("license", default=""),
        fiber_lengths=root.choice("fiber_lengths", FIBER_LENGTHS, default="standing"),
        operating_range_of=root.text("operating_range_of") if "operating_range_of" in root.values else None,
        anatomy_of=root.values.get("anatomy_of"),
        calibrated_passive=read_calibrated(root, muscles),
        coordinates={dof: coordinates.text(dof) for dof in coordinates.values} if coordinates else {},
        dofs=common.names.dofs,
    )


def _derived(root: TomlTable) -> MuscleDatabase:
    """A set stated by its differences from a bundled one."""
    root.require_keys(("name", "source", "based_on", "muscle"), ("wrap", "calibrated_passive"))
    base = root.choice("based_on", [name for name in _own() if f"{name}.toml" != root.file])
    parent, parent_root = load(base), _complete(base)
    added = read_wrap_objects(root, (*parent.reference.names, *parent.frames))
    for table, wrap in zip(root.tables("wrap"), added, strict=True):
        if wrap in parent.wrap_objects:
            table.fail("name", f'{base} has a wrap object "{wrap}" already', expected="another name")
    common = replace(_Common.from_table(parent_root), wraps={**parent.wrap_objects, **added})
    stated = {str(table.values["name"]): table.values for table in _muscle_tables(parent_root)}
    changed: dict[str, Muscle] = {}
    for table in root.tables("muscle"):
        table.require_keys(("name",), (*_MUSCLE_NUMBERS, "path", *_MUSCLE_OPTIONAL, "reasons"))
        name = table.choice("name", stated)
        if name in changed:
            table.fail("name", f'"{name}" occurs twice', expected="every muscle once")
        count = len(stated[name]["path"])
        for point in table.tables("path", "muscle.path", "point"):
            if "point" in point.values:
                point.require_keys(("point",))
                if (number := point.count("point")) > count:
                    point.fail("point", f"there is no point {number}", expected=f"1 to {count}")
        whole = replace(table, values=_completed(stated[name], table.values))
        muscle = _muscle(whole, common, ("deviation", "reasons"))
        changed[name] = replace(muscle, deviations=_differences(table, muscle, parent[name]))
    muscles = tuple(changed.get(muscle.name, muscle) for muscle in parent)
    refuse_unused(root, (), added, muscles)
    return replace(
        parent,
        name=root.text("name"),
        source=root.text("source"),
        muscles=muscles,
        wrap_objects=common.wraps,
        calibrated_passive=read_calibrated(root, muscles) or parent.calibrated_passive,
    )


def _muscle_tables(root: TomlTable) -> list[TomlTable]:
    """The `[[muscle]]` tables, with the words of the set `anatomy_of` where they state none."""
    tables = root.tables("muscle")
    if "anatomy_of" not in root.values:
        return tables
    others = [name for name in _own() if f"{name}.toml" != root.file]
    words = {
        str(values["name"]): {key: values[key] for key in WORDS if key in values}
        for values in _complete(root.choice("anatomy_of", others)).values["muscle"]
    }
    return [
        replace(table, values=words.get(str(table.values.get("name")), {}) | table.values) for table in tables
    ]


def _completed(parent: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """The values of a muscle that differs from another one; points of the other one are by number in its path."""
    path = values.get("path", parent["path"])
    points = [parent["path"][point["point"] - 1] if "point" in point else point for point in path]
    return parent | values | {"path": points}


def _differences(table: TomlTable, muscle: Muscle, parent: Muscle) -> tuple[Deviation, ...]:
    """The differences of a muscle from the print of another set, where a reason is stated here or there."""
    stated = (
        table.table("reasons", "muscle.reasons") if "reasons" in table.values else replace(table, values={})
    )
    stated.require_keys((), (*_OF_PATHS, "wraps", *ATTRIBUTES))
    reasons = {ATTRIBUTES.get(key, key): stated.text(key) for key in stated.values}
    before = parent.printed()
    differing: list[tuple[str, Value, Value, int | None]] = []
    for number, (old, new) in enumerate(zip_longest(before.path, muscle.path), start=1):
        if old is None or new is None or old.frame != new.frame or old.moving != new.moving:
            differing.append(("point", old, new, number))
        else:
            differing += [
                (field, getattr(old, field), getattr(new, field), number) for field in ("position", "active")
            ]
    old_wraps, new_wraps = (tuple(wrap.object for wrap in each.wraps) or None for each in (before, muscle))
    differing.append(("wraps", old_wraps, new_wraps, None))
    differing += [
        (field, getattr(before, field), getattr(muscle, field), None) for field in ATTRIBUTES.values()
    ]
    differing = [each for each in differing if each[1] != each[2]]
    for key in stated.values:
        if ATTRIBUTES.get(key, key) not in [field for field, *_ in differing]:
            stated.fail(key, f"{key} does not differ from the set", remedy="remove the reason")
    kept = {(each.field, each.point): each.reason for each in parent.deviations}
    return tuple(
        Deviation(field, printed, used, reason, point)
        for field, printed, used, point in differing
        if (reason := reasons.get(field, kept.get((field, point))))
    )


def _complete(name: str) -> TomlTable:
    """Return the table of a bundled set, completed by the set on which it is based."""
    root = _root(*_bundled(name))
    if "based_on" not in root.values:
        return root
    base = _complete(root.values["based_on"]).values
    changed = {values["name"]: values for values in root.values["muscle"]}
    muscles = [_completed(values, changed.get(values["name"], {})) for values in base["muscle"]]
    wraps = [*base.get("wrap", ()), *root.values.get("wrap", ())]
    return replace(root, values=base | root.values | {"muscle": muscles, "wrap": wraps})


def _velocity(table: TomlTable, default: float) -> float:
    unit = "optimal fiber lengths per second"
    return table.number(_VELOCITY, 0.0, 100.0, unit, open_low=True, default=default)


def _tendon_strain(table: TomlTable, default: float) -> float:
    ends = 0.0, LARGEST_TENDON_STRAIN
    return table.number(_TENDON_STRAIN, *ends, "", open_low=True, closed_high=True, default=default)


def _reference(table: TomlTable) -> ReferenceSkeleton:
    """The skeleton: of a leg by its lengths, or the bones of `[[reference.segment]]`."""
    heights = ("stature", "pelvis_depth")
    stated = "segment" in table.values
    if stated:
        table.require_keys(("segment",), heights)
        segments = tuple(map(_segment, table.tables("segment", "reference.segment")))
        for k, segment in enumerate(segments):
            if segment.name in [each.name for each in segments[:k]]:
                problem = f'"{segment.name}" occurs twice'
                table.tables("segment", "reference.segment")[k].fail(
                    "name", problem, expected="every name once"
                )
    else:
        required = (*_REFERENCE_LENGTHS, "hip_center")
        if not {*required, "knee_center", "ankle_center"} & table.values.keys():
            table.fail(
                None,
                "no bones are stated",
                expected=f"[[reference.segment]] for every bone, or of a leg {', '.join(required)}",
                remedy="add a [[reference.segment]] with name, body and origin for every frame of the paths",
            )
        table.require_keys(required, (*heights, "knee_center", "ankle_center", "position_scale"))
        thigh, shank, width = (
            table.number(key, 0.0, LIMIT, "m", open_low=True) for key in _REFERENCE_LENGTHS
        )
        place, scale = "reference.position_scale", dict.fromkeys(FRAMES, 1.0)
        if "position_scale" in table.values:
            factors = table.table("position_scale", place, place)
            factors.require_keys(FRAMES)
            scale = {frame: factors.number(frame, 0.0, 10.0, "", open_low=True) for frame in FRAMES}
        for key, distance in (("knee_center", thigh), ("ankle_center", shank)):
            if key in table.values:
                center = table.vector(key, LIMIT, "m")
                if abs(math.hypot(*center) - distance) > _ROUNDED:
                    problem = f"{list(center)} is {math.hypot(*center):.4f} m away"
                    expected = (
                        f"a place {distance:g} m from the joint above, as the length of the segment says"
                    )
                    table.fail(key, problem, expected=expected)
        segments = leg_segments(
            thigh,
            shank,
            width,
            table.vector("hip_center", LIMIT, "m"),
            scale,
            *(
                table.vector(key, LIMIT, "m") if key in table.values else None
                for key in ("knee_center", "ankle_center")
            ),
        )
    stature, depth = (
        table.number(key, 0.0, LIMIT, "m", open_low=True) if key in table.values else None for key in heights
    )
    return ReferenceSkeleton(segments, stature, depth)


def _segment(table: TomlTable) -> Segment:
    """A bone; its length is the distance of its end from its origin."""
    ends = "end" in table.values
    table.require_keys(
        ("name", "body", "origin", *(("end_position",) if ends else ())),
        ("position", "end", "position_scale"),
    )
    place = table.vector("position", LIMIT, "m") if "position" in table.values else (0.0, 0.0, 0.0)
    end = table.vector("end_position", LIMIT, "m") if ends else None
    if end == place:
        table.fail("end_position", "the bone ends where it begins", expected="another place than `position`")
    return Segment(
        name=table.name("name"),
        body=table.name("body"),
        origin=table.name("origin"),
        position=place,
        end=table.name("end") if ends else None,
        length=None if end is None else math.dist(place, end),
        end_position=end,
        position_scale=table.number("position_scale", 0.0, 10.0, "", open_low=True, default=1.0),
    )


def _muscle(table: TomlTable, common: _Common, further: tuple[str, ...]) -> Muscle:
    """A muscle without its deviations; further: keys that state them."""
    table.require_keys((*_MUSCLE_TEXTS, *_MUSCLE_NUMBERS, "path"), (*_MUSCLE_OPTIONAL, *further))
    points = table.tables("path", "muscle.path", "point")
    if len(points) < 2:
        table.fail(
            "path", f"the path has {len(points)} point(s)", expected="at least two, origin and insertion"
        )
    path = tuple(read_point(point, common.names) for point in points)
    for k in (0, -1):
        if path[k].active is not None:
            points[k].fail(
                "active", "origin and insertion are on the path at every angle", remedy="remove `active`"
            )
    for point, here, before in zip(points[1:], path[1:], path[:-1], strict=True):
        if (here.frame, here.position) == (before.frame, before.position):
            key = "moving" if here.moving else "position"
            point.fail(key, "the point equals the one before it", expected="segments longer than zero")
    return Muscle(
        name=table.name("name"),
        short_name=table.name("short_name"),
        group=table.choice("group", common.groups) if common.groups else table.name("group"),
        max_isometric_force=table.number("max_isometric_force", 0.0, math.inf, "N", open_low=True),
        pennation_angle=math.radians(table.number("pennation_deg", 0.0, 90.0, "deg")),
        optimal_fiber_length=table.number("optimal_fiber_length", 0.0, LIMIT, "m", open_low=True),
        tendon_slack_length=table.number("tendon_slack_length", 0.0, LIMIT, "m"),
        max_shortening_velocity=_velocity(table, common.velocity),
        path=path,
        wraps=read_path_wraps(table, len(path), common.wraps),
        passive=read_passive(table) or common.passive,
        tendon_strain=_tendon_strain(table, common.tendon_strain),
        origin=table.text("origin", default=""),
        insertion=table.text("insertion", default=""),
        action=table.text("action", default=""),
    )


ATTRIBUTES = {
    "max_isometric_force": "max_isometric_force",
    "pennation_deg": "pennation_angle",
    "optimal_fiber_length": "optimal_fiber_length",
    "tendon_slack_length": "tendon_slack_length",
    "max_shortening_velocity": "max_shortening_velocity",
    "tendon_strain": "tendon_strain",
}
"""Attributes of `Muscle` by the keys of the file."""
# how the file states that the print has no value
_ABSENT = {"point": "absent", "active": "always", "wraps": "absent"}


def _deviations(root: TomlTable) -> tuple[Deviation, ...]:
    """The `[[deviation]]` tables for the whole set: numbers, positions and texts."""

    def value(table: TomlTable, key: str) -> Value:
        if isinstance(table.values[key], list):
            return table.vector(key, LIMIT, "m")
        if isinstance(table.values[key], str):
            return table.text(key)
        return table.number(key, -math.inf, math.inf, "")

    deviations = []
    for table in root.tables("deviation"):
        table.require_keys(("field", "printed", "used", "reason"))
        printed, used = value(table, "printed"), value(table, "used")
        deviations.append(Deviation(table.text("field"), printed, used, table.text("reason")))
    return tuple(deviations)


def _with_deviations(muscle: Muscle, owner: TomlTable, names: Names) -> Muscle:
    """The muscle with its `[[muscle.deviation]]` tables: what the print has in place of what the muscle has."""
    deviations = []
    for table in owner.tables("deviation", "muscle.deviation"):
        table.require_keys(("field", "printed", "reason"), ("point",))
        point = table.count("point") if "point" in table.values else None
        field = table.choice("field", (*ATTRIBUTES, "wraps") if point is None else _OF_PATHS)
        name = ATTRIBUTES.get(field, field)
        used: Value = None
        if field == "wraps":
            used = tuple(wrap.object for wrap in muscle.wraps)
        elif point is None:
            used = getattr(muscle, name)
        elif point <= len(muscle.path):
            at = muscle.path[point - 1]
            used = at if field == "point" else getattr(at, field)
        elif field != "point" or point > len(muscle.path) + 1:  # a last point that the path does not have
            table.fail("point", f"there is no point {point}", expected=f"1 to {len(muscle.path)}")
        printed = _printed(table, field, names)
        deviations.append(Deviation(name, printed, used, table.text("reason"), point))
    return replace(muscle, deviations=tuple(deviations))


def _printed(table: TomlTable, field: str, names: Names) -> Value:
    """The value that the print has for a field of a muscle or of a point."""
    if table.values["printed"] == _ABSENT.get(field):
        return None
    match field:
        case "wraps":
            table.fail("printed", f"{table.values['printed']!r}", expected='"absent"')
        case "position":
            return table.vector("printed", LIMIT, "m")
        case "active":
            return read_range(table.table("printed"), names)
        case "point":
            return read_point(table.table("printed"), names)
    number = table.number("printed", -math.inf, math.inf, "")
    return math.radians(number) if field == "pennation_deg" else number
