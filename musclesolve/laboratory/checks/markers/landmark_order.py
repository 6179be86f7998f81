"""Checks whether the landmarks are in the order of a body.

They examine front and back of the pelvis, from which every axis is computed, and right and left, of whole recordings
and of single pairs. Then they apply the rules of order.toml: toes ahead of heels, knees above ankles, medial inside
lateral.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from musclesolve._util.arrays import (
    UP,
    Array,
    Mask,
    mean_of_known,
    median_of_known,
    unit_or_zero,
    vector_product,
)
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import has_side, twin
from musclesolve.laboratory.checks.case import (
    ROLES,
    TABLES,
    Case,
    Role,
    Stage,
    check_at,
    exchange_labels,
    exchange_landmarks,
    replace_fields,
)
from musclesolve.laboratory.checks.observed_body import (
    ahead,
    between,
    facing,
    seen_feet,
    shown,
    square_to,
    upward,
)
from musclesolve.laboratory.markers.landmarks import landmarks
from musclesolve.laboratory.recording.data import BODY_CLUSTERS, SIDES, PlateForce, Side, Trial
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding
from musclesolve.laboratory.trial.plates.foot_contacts import touch
from musclesolve.laboratory.trial.recording_checks import NEIGHBOR
from musclesolve.tables.sampled import Markers

# Distance on the wrong side from which it counts [m]: markers have a breadth. Below the second limit, a share of the
# stature, markers may be misplaced; beyond it their labels are exchanged.
CLEARLY, EXCHANGED = 0.005, 0.015
MOST = 8


def violations(trial: Trial, markers: Markers) -> list[tuple[str, str, str, float]]:
    """Return (one, other, direction, distance [m]) of every rule that a recording breaks on average."""
    faced = ahead(trial, markers)
    if faced is None:
        return []
    forward = unit_or_zero(faced * np.array([1.0, 1.0, 0.0]))
    left = vector_product(UP, forward)
    feet = {side: shown(trial, [f"toe_{side}", f"heel_{side}"], markers) for side in SIDES}
    broken = []
    for rule in bundled_toml(__package__, "order.toml")["order"]:
        for side, out in zip(SIDES, (-1.0, 1.0), strict=True):
            names = f"{rule['one']}_{side}", f"{rule['other']}_{side}"
            points, foot = shown(trial, names, markers), feet[side]
            if points is None:
                continue
            # Without heel and toe the pelvis defines the outward direction.
            left_of_foot = left if foot is None else unit_or_zero(vector_product(UP, foot[0] - foot[1]))
            axis = {
                "up": np.broadcast_to(UP, left.shape),
                "ahead": forward,
                "out": out * left,
                "out_of_foot": out * left_of_foot,
            }[rule["direction"]]
            along = float(mean_of_known(np.sum((points[0] - points[1]) * axis, axis=1)))
            if along < -CLEARLY:
                broken.append((*names, rule["direction"], -along))
    return broken


@check_at(Stage.LANDMARK_ORDER)
def landmark_order(case: Case) -> Iterator[Finding]:
    """Find landmarks in an order that no subject has.

    Further disorder may follow from two clearly exchanged landmarks, which are repaired before more is reported.
    """
    reported: set[str] = set()
    for _ in range(MOST):
        for broken in _out_of_order(case):
            if broken.what in reported:
                continue
            reported.add(broken.what)
            yield broken
            if broken.severity == "error":
                case = case.repaired(broken)
                break
        else:
            return


def _out_of_order(case: Case) -> Iterator[Finding]:
    """Report all rules that a recording breaks."""
    trial = case.trial
    broken: dict[tuple[str, str], dict[Role, tuple[str, float]]] = {}
    for role in ROLES:
        markers: Markers | None = getattr(trial, role)
        for one, other, direction, size in violations(trial, markers) if markers else []:
            broken.setdefault((one, other), {})[role] = direction, size
    for (one, other), roles in broken.items():
        role, (direction, size) = next(iter(roles.items()))
        file: Markers = getattr(trial, role)
        in_all = len(roles) > 1 or trial.static is None
        exchange = not size <= EXCHANGED * trial.subject.stature
        names = (one, other) if in_all else _exchanged_in_file(trial, (one, other), role)
        markers_of = tuple(m for name in names for m in trial.mapping[name])
        carriers = sorted({trial.carried[m] for m in {*markers_of} & {*trial.carried} - {*file.names}})
        where = Where(file.path, markers=markers_of)
        mending = _in_mapping(case, names) if in_all else _in_file(trial, names, role)
        remedy = f"check the labels of {' and '.join(names)} in this file; the other recording has them right"
        if in_all:
            remedy = f"check which markers are mapped to {one} and {other}"
        elif carriers:
            remedy = (
                f"check the labels of the markers of {' and '.join(carriers)}, which carry them, and whether "
                "the standing trial, which has them right, is of this subject and these markers"
            )
        values = {"one": one, "other": other, "direction": TABLES["directions"][direction], "size": size}
        values |= {"recordings": ", in the motion and standing" if len(roles) > 1 else "", "remedy": remedy}
        yield finding("landmark_order", error_if(exchange), values, where, **mending if exchange else {})


def _exchanged_in_file(trial: Trial, names: tuple[str, str], role: Role) -> tuple[str, str]:
    """Return the landmarks whose exchange leaves fewest out of order: two that break a rule, or one and its twin."""
    markers: Markers = getattr(trial, role)

    def left(pair: tuple[str, str]) -> int:
        pairs = _labels(trial, pair, role)
        return len(violations(trial, markers.exchanged(pairs))) if len(pairs) == 1 else 2**31

    return min((names, *((name, twin(name)) for name in names if has_side(name))), key=left)


def _in_mapping(case: Case, names: tuple[str, str]) -> dict[str, Any]:
    """Repair and change of a finding that exchange two landmarks in the mapping."""
    stated, used, change = case.settings.mapping, case.trial.mapping, None
    # one of a marker set with several weights is no key of a trial file
    if all(name in stated or len({*used[name].values()}) <= 1 for name in names):
        markers = {name: list(used[name]) for name in names}
        of = {name: stated.get(name, m[0] if len(m) == 1 else m) for name, m in markers.items()}
        change = {("mapping", a): of[b] for a, b in (names, names[::-1])}
    return {"repair": exchange_landmarks(*names), "change": change}


def _labels(trial: Trial, names: tuple[str, str], role: Role) -> dict[str, str]:
    """Return the labels of a file that exchange two landmarks: theirs, or of the clusters that carry them, or none."""
    shown_by, seen = [list(trial.mapping.get(name, ())) for name in names], {*getattr(trial, role).names}
    if not all(len(labels) == 1 for labels in shown_by):
        return {}
    (one,), (other,) = shown_by
    if {one, other} <= seen:
        return {one: other}
    here, there = (trial.clusters.get(trial.carried.get(marker, ""), ()) for marker in (one, other))
    pairs = {marker: twin for marker, twin in partners(trial).items() if marker in here and twin in there}
    return pairs if len(pairs) == len(here) == len(there) and {*here, *there} <= seen else {}


def _in_file(trial: Trial, names: tuple[str, str], role: Role = "markers") -> dict[str, Any]:
    """Repair and change of a finding that exchange the `_labels` of two landmarks in a file."""
    if not (pairs := _labels(trial, names, role)):
        return {}
    repair, change = exchange_labels(trial, {role: pairs})
    return {"repair": repair, "change": change}


OUTER_TOE = 0.17
"""Distance by which the middle of the ankle lies inside of the line from heel to toe marker, a share of the distance of
the malleoli, from which the toe marker is on the outer edge of the foot. Toe markers near the second toe have -0.05 to
0.10 (six feet, standing and walking), markers on the head of the fifth metatarsal 0.24 to 0.43 (eight feet). The way
the foot points does not matter, because heel, malleoli and toes turn together.
"""


@check_at(Stage.ANALYSIS)
def outer_toes(case: Case) -> Iterator[Finding]:
    """Find toe markers on the outer edge of the foot, as on the head of the fifth metatarsal."""
    shares = {f"toe_{side}": ankle_inside(case.trial, side) for side in SIDES}
    if outer := {name: share for name, share in shares.items() if share is not None and share > OUTER_TOE}:
        markers = tuple(marker for name in outer for marker in case.trial.mapping[name])
        shown_by = " and ".join(f"{name} ({', '.join(case.trial.mapping[name])})" for name in outer)
        shares_of = " and ".join(f"{100.0 * share:.0f}" for share in outer.values())
        values = {"landmarks": shown_by, "shares": shares_of, "limit": OUTER_TOE}
        where = replace(case.key("mapping", next(iter(outer))), markers=markers)
        yield finding("outer_toe", "warning", values, where)


def ankle_inside(trial: Trial, side: Side) -> float | None:
    """Return the distance of the middle of the malleoli to the inside of the line from heel to toe, seen from above.

    It is a share of the distance of the malleoli: the mean of the standing trial, or of the frames in which the foot is
    on the ground. None where a landmark is not seen.
    """
    names = [f"{name}_{side}" for name in ("heel", "toe", "ankle_medial", "ankle_lateral")]
    points = None if trial.static is None else shown(trial, names, trial.static)
    if points is None:
        of_foot, points = seen_feet(trial).get(side), shown(trial, names)
        if of_foot is None or points is None:
            return None
        points = [point[of_foot.ground] for point in points]
    heel, toe, medial, lateral = (point[:, :2] for point in points)
    line, outward, from_heel = toe - heel, lateral - medial, 0.5 * (medial + lateral) - heel
    out = np.stack([-line[:, 1], line[:, 0]], axis=1)
    out *= np.sign(np.sum(out * outward, axis=1, keepdims=True))
    area = np.linalg.norm(line, axis=1) * np.linalg.norm(lateral - medial, axis=1)
    share = float(mean_of_known(-np.sum(out * from_heel, axis=1) / np.where(area > 0.0, area, np.nan)))
    return share if np.isfinite(share) else None


# From this share of reversed pairs on, the sides are swapped as a whole.
WHOLE = 0.7
# Least cosine of the direction from shoulders to feet with the vertical of a body upside down.
UPSIDE_DOWN = 0.8
# So many other pairs must show that one pair is swapped.
FEWEST_OTHERS = 4


@check_at(Stage.LANDMARK_ORDER)
def guessed_landmarks(case: Case) -> Iterator[Finding]:
    """Find landmarks of [markers] that a draft guessed by the places of markers, and nobody has confirmed."""
    guessed = [name for name in case.settings.markers.guessed or () if name in case.trial.mapping]
    if guessed:
        values = {"shown": "; ".join(f"{name} by {', '.join(case.trial.mapping[name])}" for name in guessed)}
        yield finding("landmark_guessed", "warning", values, case.key("markers", "guessed"))


def _reflected(markers: Markers, axis: int) -> Markers:
    """Markers with one axis reversed."""
    return replace(markers, position=markers.position * np.where(np.arange(3) == axis, -1.0, 1.0))


def _mirrored_axis(case: Case) -> int | None:
    """The axis that the markers have reversed where the sides are reversed, None where their labels are exchanged.

    A mirrored foot is in the air and on the ground as the plate of its stated side says; an exchanged label is not.
    """
    trial, feet, stated = case.trial, seen_feet(case.trial), {force.side for force in case.settings.force}
    loaded = [(plate, plate.force[:, 2] > touch(trial, 0.3)) for plate in trial.forces if plate.side in feet]
    if len(feet) < len(SIDES) or not loaded or not stated or not stated <= {*SIDES}:
        return None

    def in_air(side: Side, plate: PlateForce, on: Mask) -> float:
        return float(np.interp(plate.time[on], feet[side].time, feet[side].air).sum())

    as_stated = sum(in_air(plate.side, plate, on) for plate, on in loaded)
    if as_stated >= sum(
        in_air(side, plate, on) for plate, on in loaded for side in feet if side != plate.side
    ):
        return None

    def off(axis: int) -> float:
        turned = seen_feet(replace(trial, markers=_reflected(trial.markers, axis)))
        away = [turned[plate.side].from_middle(plate.point[on], plate.time[on]) for plate, on in loaded]
        return float(median_of_known(np.concatenate(away)))

    return min((0, 1), key=off)


def sides_reversed(trial: Trial, markers: Markers, faced: Array, up: Array = UP) -> list[str]:
    """Return the pairs whose right landmark is on the left of who faces a direction (T, 3), if they are most pairs."""
    pairs, left = _pairs(trial, markers), vector_product(up, faced)
    names = [name for name, vector in pairs.items() if mean_of_known(np.sum(vector * left, axis=1)) < 0.0]
    return names if len(names) >= WHOLE * len(pairs) > 2 else []


@check_at(Stage.PELVIS_LABELS)
def mirrored_upward(case: Case) -> Iterator[Finding]:
    """Find markers upside down whose right is on the left of the body: mirrored, for no rotation does both."""
    trial, wrong = case.trial, dict[Role, list[str]]()
    for role in ROLES:
        markers: Markers | None = getattr(trial, role)
        up, faced = (None, None) if markers is None else (upward(trial, markers), ahead(trial, markers))
        if markers is not None and up is not None and faced is not None and up[2] < -UPSIDE_DOWN:
            wrong[role] = sides_reversed(trial, markers, faced, up)
    if wrong := {role: names for role, names in wrong.items() if names}:
        repair = replace_fields(**{role: _reflected(getattr(trial, role), 2) for role in wrong})
        path, *others = dict.fromkeys(getattr(trial, role).path for role in wrong)
        (role, many), *_ = wrong.items()
        said: dict[str, object] = {"count": len(many), "pairs": len(_pairs(trial, getattr(trial, role)))}
        said |= {"names": ", ".join(many[:4]), "files": " and ".join(file.name for file in (path, *others))}
        yield finding("sides_swapped.upside_down", "error", said, Where(path), repair)


@check_at(Stage.SIDES)
def sides_swapped(case: Case) -> Iterator[Finding]:
    """Find a motion or a standing trial in which all right and left markers are swapped."""
    trial, faced = case.trial, facing(case.trial)
    if faced is None:
        return
    of_files = {"markers": sides_reversed(trial, trial.markers, faced)}
    if trial.static is not None:
        standing = ahead(trial, trial.static)
        of_files["static"] = [] if standing is None else sides_reversed(trial, trial.static, standing)
    wrong = [role for role in ROLES if of_files.get(role)]
    if not wrong:
        return
    both, in_mapping = len(wrong) == len(of_files), bool(case.settings.mapping)
    many, pairs = of_files[wrong[0]], _pairs(trial, trial.markers)
    said = {"count": len(many), "pairs": len(pairs), "names": ", ".join(many[:4])}
    if "markers" in wrong and (axis := _mirrored_axis(case)) is not None:
        repair = replace_fields(**{role: _reflected(getattr(trial, role), axis) for role in wrong})
        yield finding("sides_swapped.mirrored", "error", said, Where(trial.markers.path), repair)
        return
    # As likely the mapping as the labels; the repair is the same.
    where = case.key("mapping", "asis_r") if both and in_mapping else Where(getattr(trial, wrong[0]).path)
    other = partners(trial)
    tables = trial.mapping, trial.clusters
    sided = {marker for table in tables for name, of in table.items() if has_side(name) for marker in of}
    if both and not sided <= {*other}:
        # a marker without a twin, such as one of four on the right shank beside three on the left
        mirrored = {key: _mirrored_names(getattr(trial, key)) for key in ("mapping", "clusters")}
        repair, change = replace_fields(**mirrored), None
    else:
        twins = {(min(pair), max(pair)) for pair in other.items()}
        seen = {role: {*getattr(trial, role).names} for role in wrong}
        repair, change = exchange_labels(
            trial,
            {role: dict(sorted(pair for pair in twins if names >= {*pair})) for role, names in seen.items()},
        )
    remedy = (
        "swap the labels of right and left in this file; the other recording has them right"
        if not both
        else "swap the markers of right and left in [mapping], [clusters] and [carried]"
        if in_mapping
        else "swap the labels of right and left in both files"
    )
    yield finding("sides_swapped", "error", {**said, "remedy": remedy}, where, repair, change=change)


def _mirrored_names(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with the keys of right and left exchanged: landmarks, and the clusters of the feet.

    Other clusters, which [carried] refers to by name, keep theirs.
    """
    sided = {name for name in table if name in BODY_CLUSTERS or name in landmarks()}
    return {twin(name) if name in sided else name: entry for name, entry in table.items()}


def _pairs(trial: Trial, markers: Markers, names: Iterable[str] = TABLES["wide_pairs"]) -> dict[str, Array]:
    """Return name -> vector (T, 3) from the right to the left landmark."""
    sides = {name: shown(trial, [f"{name}_{side}" for side in SIDES], markers) for name in names}
    return {name: points[1] - points[0] for name, points in sides.items() if points}


def partners(trial: Trial) -> dict[str, str]:
    """Return marker -> marker of the other side.

    For every pair of landmarks that are single markers, and for other markers of clusters and landmarks whose names
    differ in right and left alone.
    """
    other: dict[str, str] = {}
    for name, weights in trial.mapping.items():
        of_twin = trial.mapping.get(twin(name), {})
        if has_side(name) and len(weights) == len(of_twin) == 1:
            other[next(iter(weights))] = next(iter(of_twin))
    names = {*trial.markers.names, *(trial.static.names if trial.static else ())}
    swap = {"R": "L", "L": "R", "r": "l", "l": "r"}
    for marker in (name for table in (trial.clusters, trial.mapping) for of in table.values() for name in of):
        twins = (marker[:k] + swap[c] + marker[k + 1 :] for k, c in enumerate(marker) if c in swap)
        if (opposite := next((name for name in twins if name in names), None)) is not None:
            other.setdefault(marker, opposite)
    return other


@check_at(Stage.FRONT_SPINES)
def front_spines(case: Case) -> Iterator[Finding]:
    """Find front spines of the pelvis that are swapped, from which all other pairs are measured."""
    others = "the pairs of the other landmarks point the other way"
    yield from _swapped_pair(case, "asis", others, partial(_front_is_swapped, case.trial))


def _front_is_swapped(trial: Trial, markers: Markers) -> bool:
    """Whether most of the other pairs point against the front spines."""
    pairs = {name: mean_of_known(vector) for name, vector in _pairs(trial, markers).items()}
    front = pairs.pop("asis", None)
    others = [mean for mean in pairs.values() if np.linalg.norm(mean) > 0.0]
    if front is None or len(others) < FEWEST_OTHERS:
        return False
    return bool(np.sum([mean @ front < 0.0 for mean in others]) >= WHOLE * len(others))


def _swapped_pair(case: Case, name: str, why: str, wrong: Callable[[Markers], bool]) -> Iterator[Finding]:
    """Report right and left of a landmark that are `wrong` in the motion, alone if the standing trial is right."""
    if wrong(case.trial.markers):
        names = f"{name}_r", f"{name}_l"
        where, remedy, mending = _exchange(case, names, bool(case.trial.static and wrong(case.trial.static)))
        values = {"right": names[0], "left": names[1], "why": why, "remedy": remedy}
        yield finding("pair_swapped", "error", values, where, **mending)


def _exchange(case: Case, names: tuple[str, str], standing: bool) -> tuple[Where, str, dict[str, Any]]:
    """Return where two landmarks are exchanged, the remedy, and repair and change of a finding.

    standing: whether they are exchanged in the standing trial, too.
    """
    trial, shown_by = case.trial, [list(case.trial.mapping[name]) for name in names]
    # Without a standing trial that has them right, mapping and labels are as likely.
    in_file = {} if trial.static is None or standing else _in_file(trial, names)
    mending = in_file or _in_mapping(case, names)
    pairs = _labels(trial, names, "markers") or {shown_by[0][0]: shown_by[1][0]}
    labels = f"swap the labels {', '.join(map('{0[0]} and {0[1]}'.format, pairs.items()))} in"
    stated = not in_file and mending["change"] and names[0] in case.settings.mapping
    place = case.key("mapping", names[0]) if stated else Where(trial.markers.path)
    remedy = f"{labels} the files"
    if in_file:
        remedy = f"{labels} this file; the standing trial has them right"
    elif mending["change"] or not all(len(labels_of) == 1 for labels_of in shown_by):
        remedy = f"swap the markers of {names[0]} and {names[1]} in [mapping], or their labels in the file"
    return replace(place, markers=tuple(m for markers in shown_by for m in markers)), remedy, mending


@check_at(Stage.PAIRS_OF_LANDMARKS)
def pairs_of_landmarks(case: Case) -> Iterator[Finding]:
    """Find pairs that are nearer to the neighbor of the other side."""
    for name, neighbor in NEIGHBOR.items():
        why = f"each lies nearer to {neighbor} of the other side"
        for swapped in _swapped_pair(case, name, why, partial(_is_across, case.trial, (name, neighbor))):
            yield swapped
            # Another pair may be measured from this one.
            case = case.repaired(swapped)


def _is_across(trial: Trial, names: tuple[str, str], markers: Markers) -> bool:
    """Whether the pair of a landmark points against its neighbor's pair on average."""
    pairs = [*_pairs(trial, markers, names).values()]
    return len(pairs) == 2 and bool(mean_of_known(np.sum(pairs[0] * pairs[1], axis=1)) < 0.0)


# Directions with a cosine below this point opposite ways.
OPPOSITE = -0.5
# A pelvis that goes so far shows the way the subject walks [m].
TRAVELS = 0.3


@check_at(Stage.PELVIS_LABELS)
def front_and_back(case: Case) -> Iterator[Finding]:
    """Find one side of the pelvis that faces against the other side and both feet, or a pelvis that does as a whole.

    The way the subject faces is read from these markers: with them exchanged everything else seems rotated.
    """
    trial = case.trial
    wrong = _against_the_others(trial, trial.markers)
    if not wrong:
        return
    if len(wrong) == 2:
        # Where the pelvis travels the way the feet point, frame by frame, it is the pelvis that is the wrong way.
        pelvis = between(trial, "asis_r", "asis_l")
        toes, heels = (between(trial, f"{end}_r", f"{end}_l") for end in ("toe", "heel"))
        if pelvis is None or toes is None or heels is None:
            return
        unit = unit_or_zero(toes - heels)
        if float(np.sum(np.diff(pelvis, axis=0) * unit[1:])) <= TRAVELS:
            return
    standing = trial.static is not None and _against_the_others(trial, trial.static) == wrong
    against = (
        "but the subject walks the way that both feet point, against the pelvis"
        if len(wrong) == 2
        else "but the other side of the pelvis and both feet point the other way"
    )
    for side in wrong:
        names = f"asis_{side}", f"psis_{side}"
        where, remedy, mending = _exchange(case, names, standing)
        values = {"front": names[0], "back": names[1], "against": against, "remedy": remedy}
        values |= {"recordings": ", in the motion and standing" if standing else ""}
        yield finding("labels_exchanged.pelvis", "error", values, where, **mending)


def _against_the_others(trial: Trial, markers: Markers) -> tuple[Side, ...]:
    """Return the side of the pelvis that points opposite to the other side and both feet, or both, or none."""
    up = upward(trial, markers)
    if up is None:
        return ()
    # Mean directions from the hind to the front landmark, square to what is up.
    ways = []
    for ends in (("asis", "psis"), ("toe", "heel")):
        for side in SIDES:
            points = shown(trial, [f"{name}_{side}" for name in ends], markers)
            across = np.zeros(3) if points is None else square_to(up, mean_of_known(points[0] - points[1]))
            length = float(np.linalg.norm(across))
            if not length > 0.0:
                return ()
            ways.append(across / length)
    cosine = np.array([[float(one @ other) for other in ways] for one in ways])
    if (cosine[:2, 2:] < OPPOSITE).all() and cosine[0, 1] > -OPPOSITE and cosine[2, 3] > -OPPOSITE:
        return SIDES
    alone = [side for k, side in enumerate(SIDES) if (np.delete(cosine[k], k) < OPPOSITE).all()]
    return tuple(alone[:1])
