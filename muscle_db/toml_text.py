"""A muscle set as the text of a file for `load`: one line per point, and per angle of moving points and frames."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from muscle_db.errors import check_kind
from muscle_db.loader import ATTRIBUTES, load
from muscle_db.model import (
    FRAMES,
    LEG_DOFS,
    TENDON_STRAIN,
    WORDS,
    CalibratedPassive,
    MovingFrame,
    Muscle,
    MuscleDatabase,
    PassiveStrain,
    PathPoint,
    ReferenceSkeleton,
    Segment,
    WrapObject,
)

_NUMBERS_OF_SETS: dict[str, float | None] = {"max_shortening_velocity": None, "tendon_strain": TENDON_STRAIN}
"""Numbers that a set states once for its muscles, with their defaults; None: always stated."""


def to_toml(database: MuscleDatabase, header: str = "") -> str:
    """The text of a set; header: remarks at the top, lines without "#".

    Deviations of the whole set, of points and of wraps are omitted. Angles have seven digits after the point, other
    numbers all digits.
    """
    check_kind(database, MuscleDatabase, "database")
    check_kind(header, str, "header")
    values = {key: [getattr(muscle, key) for muscle in database] for key in _NUMBERS_OF_SETS}
    usual = {key: max(numbers, key=numbers.count) for key, numbers in values.items()}  # the most common
    texts = ("name", "source", "license", "curves", "fiber_lengths", "operating_range_of", "anatomy_of")
    lines = [f"# {line}".rstrip() for line in header.splitlines()]
    lines += [f"{key} = {_text(value)}" for key in texts if (value := getattr(database, key))]
    lines += [f"{key} = {_number(value)}" for key, value in usual.items() if value != _NUMBERS_OF_SETS[key]]
    stated = [muscle.passive for muscle in database if muscle.passive is not None]
    passive = max(stated, key=stated.count) if len(stated) == len(database) else None
    if passive is not None:
        lines.append(f"passive = {_strain(passive)}")
    if database.dofs != LEG_DOFS:
        lines.append(f"dofs = [{', '.join(map(_text, database.dofs))}]")
    lines += ["", *_reference(database.reference)]
    if database.groups != {muscle.group: "" for muscle in database}:
        lines += ["", "[groups]", *(f"{group} = {_text(about)}" for group, about in database.groups.items())]
    if database.coordinates:
        lines += ["", "[coordinates]"]
        lines += [f"{dof} = {_text(name)}" for dof, name in database.coordinates.items()]
    parts = [*map(_frame, database.frames.values()), *map(_wrap, database.wrap_objects.values())]
    for part in parts:
        lines += ["", *part]
    alike = {muscle.name: muscle for muscle in load(database.anatomy_of)} if database.anatomy_of else {}
    for muscle in database:
        lines += ["", *_muscle(muscle, usual, passive, alike.get(muscle.name))]
    if database.calibrated_passive is not None:
        lines += ["", *calibrated_lines(database.calibrated_passive)]
    return "\n".join(lines) + "\n"


def calibrated_lines(calibrated: CalibratedPassive) -> Iterator[str]:
    """The table of calibrated passive strains, which has to be the last one of its file."""
    yield "[calibrated_passive]"
    yield f"found = {_text(calibrated.found)}"
    groups: dict[PassiveStrain, list[str]] = {}
    for name, strain in calibrated.strains.items():
        groups.setdefault(strain, []).append(_text(name))
    yield "strains = ["
    for strain, names in groups.items():
        yield f"  {_strain(strain, names)},"
    yield "]"


def _strain(strain: PassiveStrain, muscles: Sequence[str] = ()) -> str:
    zero, one = map(_number, (strain.at_zero_force, strain.at_one_norm_force))
    whose = f", muscles = [{', '.join(muscles)}]" if muscles else ""
    return f"{{ at_zero_force = {zero}, at_one_norm_force = {one}{whose} }}"


def _reference(reference: ReferenceSkeleton) -> Iterator[str]:
    yield "[reference]"
    heights = ((key, getattr(reference, key)) for key in ("stature", "pelvis_depth"))
    stated = [f"{key} = {_number(value)}" for key, value in heights if value is not None]
    if reference.names != FRAMES:
        yield from stated
        for bone in reference.segments:
            yield from ("", "[[reference.segment]]")
            for key in ("name", "body", "origin", "position", "end", "end_position", "position_scale"):
                value = getattr(bone, key)
                if value not in (None, Segment.position, Segment.position_scale):
                    text = _text(value) if isinstance(value, str) else None
                    yield f"{key} = {text or (_row(value) if isinstance(value, tuple) else _number(value))}"
        return
    pelvis, femur, tibia, _ = reference.segments
    lengths = {"thigh_length": femur.length, "shank_length": tibia.length, "hip_width": pelvis.width}
    yield from (f"{key} = {_number(value)}" for key, value in lengths.items() if value is not None)
    yield from stated
    centers = {
        "hip_center": pelvis.position,
        "knee_center": femur.end_position,
        "ankle_center": tibia.end_position,
    }
    yield from (f"{key} = {_row(value)}" for key, value in centers.items() if value is not None)
    if any(bone.position_scale != 1.0 for bone in reference.segments):
        yield from ("", "[reference.position_scale]")
        yield from (f"{bone.name} = {_number(bone.position_scale)}" for bone in reference.segments)


def _frame(frame: MovingFrame) -> Iterator[str]:
    yield "[[frame]]"
    yield from (f"{key} = {_text(getattr(frame, key))}" for key in ("name", "body", "dof"))
    yield "poses = [ # angle [deg]; forward, left, up [m]; rotation vector [deg]"
    for angle, place, turn in zip(frame.angles, frame.translations, frame.rotations, strict=True):
        yield f"  {_row((_degrees(angle), *place, *map(_degrees, turn)))},"
    yield "]"


def _wrap(wrap: WrapObject) -> Iterator[str]:
    yield "[[wrap]]"
    yield from (f"{key} = {_text(getattr(wrap, key))}" for key in ("name", "kind", "frame"))
    if wrap.kind == "ellipsoid":
        yield f"radii = {_row(wrap.radii)}"
    else:
        yield f"radius = {_number(wrap.radii[0])}"
    if wrap.kind == "cylinder":
        yield f"length = {_number(wrap.length)}"
    if wrap.side != "all":
        yield f"side = {_text(wrap.side)}"
    yield f"center = {_row(wrap.center)}"
    yield f"axes = [{', '.join(map(_row, wrap.axes))}]"


def _muscle(
    muscle: Muscle, usual: Mapping[str, float], passive: PassiveStrain | None, alike: Muscle | None
) -> Iterator[str]:
    yield from ("[[muscle]]", f"name = {_text(muscle.name)}")
    for key in WORDS:
        if (word := getattr(muscle, key)) != getattr(alike, key, ""):
            yield f"{key} = {_text(word)}"
    yield f"max_isometric_force = {_number(muscle.max_isometric_force)}"
    yield f"pennation_deg = {_number(_degrees(muscle.pennation_angle))}"
    yield f"optimal_fiber_length = {_number(muscle.optimal_fiber_length)}"
    yield f"tendon_slack_length = {_number(muscle.tendon_slack_length)}"
    for key, value in usual.items():
        if getattr(muscle, key) != value:
            yield f"{key} = {_number(getattr(muscle, key))}"
    if muscle.passive is not None and muscle.passive != passive:
        yield f"passive = {_strain(muscle.passive)}"
    yield from ("path = [", *(f"  {_point(point)}," for point in muscle.path), "]")
    if muscle.wraps:
        yield "wraps = ["
        for wrap in muscle.wraps:
            ends = {"first": wrap.first, "last": wrap.last}
            parts = [f"object = {_text(wrap.object)}"]
            parts += [f"{key} = {number}" for key, number in ends.items() if number is not None]
            parts += [f"method = {_text(wrap.method)}"] * (wrap.method != "hybrid")
            yield f"  {{ {', '.join(parts)} }},"
        yield "]"
    for deviation in muscle.deviations:
        if deviation.point is None and deviation.field != "wraps":
            key = next(key for key, attribute in ATTRIBUTES.items() if attribute == deviation.field)
            yield from ("[[muscle.deviation]]", f"field = {_text(key)}")
            printed = float(deviation.printed)  # type: ignore[arg-type]
            yield f"printed = {_number(_degrees(printed) if key == 'pennation_deg' else printed)}"
            yield f"reason = {_text(deviation.reason)}"


def _point(point: PathPoint) -> str:
    parts = [f"frame = {_text(point.frame)}"]
    if point.moving is None:
        parts.append(f"position = {_row(point.position)}")
    if point.active is not None:
        lower, upper = (_number(_degrees(end)) for end in (point.active.lower, point.active.upper))
        parts.append(f"active = {{ dof = {_text(point.active.dof)}, from_deg = {lower}, to_deg = {upper} }}")
    if point.moving is not None:
        rows = zip(point.moving.angles, point.moving.positions, strict=True)
        places = "\n".join(f"    {_row((_degrees(angle), *place))}," for angle, place in rows)
        parts.append(f"moving = {{ dof = {_text(point.moving.dof)}, places = [\n{places}\n  ] }}")
    return f"{{ {', '.join(parts)} }}"


def _degrees(angle: float) -> float:
    return round(math.degrees(angle), 7)


def _row(values: Iterable[float]) -> str:
    return f"[{', '.join(map(_number, values))}]"


def _number(value: float) -> str:
    """A number without exponent, whole ones without a point."""
    return str(int(value)) if value == int(value) else f"{Decimal(repr(float(value))):f}"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
