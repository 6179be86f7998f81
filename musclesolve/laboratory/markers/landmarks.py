"""The anatomical landmarks of trial files, and the markers that show them: [mapping], [clusters] and [carried].

``landmarks.toml`` and ``bodies.toml`` state which landmarks the legs need, which show only trunk, arms and head, and
which move together. Each method for a joint center needs certain landmarks and dimensions.
"""

import math
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from muscle_db.similar_names import similar
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import few
from musclesolve._util.sides import OTHER, side_of
from musclesolve.errors import InputError
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, Trial
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.tables.document import Document
from musclesolve.tables.number_rows import repeated_name
from musclesolve.tables.sampled import Markers
from musclesolve.tables.settings import is_number

_SIDED = {"_r": "right ", "_l": "left ", "": ""}
ARMS_AND_HEAD, TRUNK = ("upper_arm", "forearm", "hand", "head"), ("thorax",)
"""Bones of landmarks without which the legs are known."""


@dataclass(frozen=True)
class Landmark:
    """One landmark by its name in the trial file, with side.

    Examples:
        >>> ms.laboratory.landmarks()["knee_lateral_r"].required
        True
    """

    name: str  # for example "asis_r"
    on: str  # the bone on which it stands, without side
    description: str  # its place on the body
    required: bool  # whether the motion cannot be measured without it
    standing: bool  # whether an existing standing trial must show it, too
    instead: tuple[str, ...]  # names of the landmarks of which one can replace it
    without: str | None  # consequence of its absence


@cache
def landmarks() -> dict[str, Landmark]:
    """Return every landmark by its name, with separate right and left ones.

    Examples:
        >>> "knee_lateral_r" in ms.laboratory.landmarks()
        True
    """
    named: dict[str, Landmark] = {}
    for stem, entry in bundled_toml(__package__, "landmarks.toml").items():
        for suffix in ("_r", "_l") if entry.get("sided") else ("",):
            named[stem + suffix] = Landmark(
                name=stem + suffix,
                on=entry["on"],
                description=_SIDED[suffix] + entry["description"],
                required=entry.get("required", False),
                standing=entry.get("standing", False),
                # The sacrum has no side.
                instead=tuple(
                    name if name == "sacrum" else name + suffix for name in entry.get("instead", ())
                ),
                without=entry.get("without"),
            )
    return named


def back_landmarks(names: Container[str]) -> tuple[str, ...]:
    """Return the landmarks that show the back of the pelvis: both PSIS or the sacrum.

    One PSIS alone does not show a direction.
    """
    if "psis_r" in names and "psis_l" in names:
        return ("psis_r", "psis_l")
    return ("sacrum",) if "sacrum" in names else ()


def shows_spines(names: Container[str]) -> bool:
    """Return whether landmarks include the spines of the pelvis, in front and behind."""
    return "asis_r" in names and "asis_l" in names and bool(back_landmarks(names))


def bounding_markers(trial: Trial, legs: Sequence[str] = SIDES) -> tuple[str, ...]:
    """Return the needed markers of these legs and the pelvis: without them no frame can be analyzed."""
    # Without the spines of the pelvis the top of the trunk shows how it tilts.
    above = (*ARMS_AND_HEAD, *TRUNK) if shows_spines(trial.mapping) else ARMS_AND_HEAD
    sides = (*legs, OTHER)
    below = {
        name: weights
        for name, weights in trial.mapping.items()
        if landmarks()[name].on not in above and side_of(name) in sides
    }
    clusters = {name: points for name, points in trial.clusters.items() if side_of(name) in sides}
    hinges = {name: movement for name, movement in trial.hinges.items() if movement.side in sides}
    return replace(trial, mapping=below, clusters=clusters, hinges=hinges).used_markers


def upper_markers(trial: Trial) -> tuple[str, ...]:
    """Return the needed markers that show only trunk, arms or head: these are completed where they are lost."""
    bounding = set(bounding_markers(trial))
    return tuple(name for name in trial.used_markers if name not in bounding)


@cache
def bodies() -> dict[str, tuple[str, ...]]:
    """Return body, in words -> its landmarks, as ``bodies.toml`` has them; sided ones once for each side."""
    named: dict[str, tuple[str, ...]] = {}
    for name, entry in bundled_toml(__package__, "bodies.toml").items():
        if not entry.get("sided", False):
            named[f"the {name}"] = tuple(entry["landmarks"])
            continue
        for side, word in SIDE_NAMES.items():
            named[f"the {word} {name}"] = tuple(f"{landmark}_{side}" for landmark in entry["landmarks"])
    return named


def groups(trial: Trial) -> dict[str, tuple[str, ...]]:
    """Return group -> four or more markers of the motion that move together; a cluster is a group of its name."""
    together = {
        name: tuple(
            dict.fromkeys(
                marker
                for landmark in landmarks
                for marker in trial.mapping.get(landmark, ())
                if marker in trial.markers and marker not in trial.carried
            )
        )
        for name, landmarks in bodies().items()
    }
    together |= {f"the cluster {name}": tuple(markers) for name, markers in trial.clusters.items()}
    return {name: markers for name, markers in together.items() if len(markers) > 3}


Weights = Mapping[str, float]
LARGEST_WEIGHT = 1e3
FEWEST_OF_ANOTHER, SHARE_OF_ANOTHER = 4, 0.4
"""So many markers, and at least this share, that the motion lacks show that it has another marker set."""
WANDS = {"knee": "thigh_wand", "ankle": "shank_wand"}
"""The landmark on the side of the segment above each joint, which shows the rotation of the segment."""
FUNCTIONAL = "functional"
"""The method in [joint_centers] that finds a joint center by the motion of its bodies."""
ENDS = ("lateral", "medial")
HINGES = tuple(WANDS)
"""Joints that may be functional; otherwise landmarks on both sides show their centers."""


def examined_mapping(
    document: Document, table: Mapping[str, Any], functional: Collection[str] = ()
) -> tuple[dict[str, Weights], list[InputError]]:
    """Return landmark -> marker -> weight (with the sum one) from the correct lines, and the errors of the others.

    `functional` are the joints, "knee" or "ankle", that need no landmark because their motion shows them.
    """
    names = landmarks()
    errors = [
        document.unknown("unknown_name", name, names, "mapping", name, problem="there is no such landmark")
        for name in table
        if name not in names
    ]
    for landmark in names.values():
        joint = landmark.name.partition("_")[0]
        if joint in functional or not landmark.required:
            continue
        if not any(name in table for name in (landmark.name, *landmark.instead)):
            other = "".join(f", or map '{name}'" for name in landmark.instead)
            if joint in HINGES:
                other += f'; or let a movement show the joint: {joint} = "{FUNCTIONAL}" in [joint_centers]'
            errors.append(
                document.fault(
                    "missing_key",
                    "mapping",
                    f"'{landmark.name}' is missing",
                    f"{landmark.name}: {landmark.description}",
                    f'add {landmark.name} = "<marker>"{other}',
                )
            )
    mapping: dict[str, Weights] = {}
    for name in [name for name in table if name in names]:
        try:
            weights = read_weights(document, name, table[name])
        except InputError as error:
            errors.append(error)
            continue
        if same := [other for other, taken in mapping.items() if taken == weights]:
            problem = f"'{name}' is mapped to the same point as '{same[0]}'"
            expected = "a separate point for every landmark"
            remedy = "correct the marker of one of them, or leave out the optional one"
            errors.append(document.fault("bad_mapping", ("mapping", name), problem, expected, remedy))
        else:
            mapping[name] = weights
    return mapping, errors


def read_weights(document: Document, name: str, value: Any, table: str = "mapping") -> Weights:
    """Return the weights of the markers that show one landmark."""
    weights: Weights = {}
    ways = value if isinstance(value, dict) and len(value) == 1 else {}
    pair, stated = ways.get("midpoint"), ways.get("weights")
    if isinstance(value, str) and value:
        weights = {value: 1.0}
    elif isinstance(pair, list) and len(pair) == 2 and all(isinstance(m, str) and m for m in pair):
        weights = dict.fromkeys(pair, 0.5) if pair[0] != pair[1] else {}
    # Far beyond the largest weight their sum is lost in rounding; nor is there such a point on a body.
    elif isinstance(stated, dict) and all(
        marker and is_number(weight) and abs(weight) <= LARGEST_WEIGHT for marker, weight in stated.items()
    ):
        weights = {marker: float(weight) for marker, weight in stated.items()}
    if not weights:
        raise document.fault(
            "bad_value",
            (table, name),
            f"the value is {_short(value)}",
            'a marker name, { midpoint = ["A", "B"] } or { weights = { A = 0.9, B = 0.1 } }',
            f'write {name} = "<marker>" with a marker of the files',
        )
    total = math.fsum(weights.values())
    # Weights that do not sum to one give a point that depends on where the origin of the laboratory is.
    if not abs(total - 1.0) <= 1e-6:
        raise document.fault(
            "bad_value",
            (table, name),
            f"the weights sum to {total:g}",
            "weights that sum to 1",
            f"divide each of them by {total:g}" if total > 0.0 else "correct the weights",
        )
    return weights


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def markers_of(way: Any) -> list[str]:
    """Return the markers of one definition of a landmark: a name, a midpoint or weights."""
    if isinstance(way, str):
        return [way]
    named = [way.get(form) for form in ("midpoint", "weights")] if isinstance(way, dict) else []
    return [
        marker
        for form in named
        if isinstance(form, list | dict)
        for marker in form
        if isinstance(marker, str)
    ]


def read_clusters(
    document: Document, table: Mapping[str, Any], name_of_table: str = "clusters"
) -> dict[str, tuple[str, ...]]:
    """Return cluster -> its markers."""
    for name, value in table.items():
        names = isinstance(value, list) and all(isinstance(marker, str) and marker for marker in value)
        if not names or len(set(value)) != len(value) or len(value) < 3:
            raise document.fault(
                "bad_value",
                (name_of_table, name),
                f"the value is {_short(value)}",
                "a list of three or more different markers",
                "list three or more different markers, or remove the cluster",
            )
    return {name: tuple(value) for name, value in table.items()}


def cluster_rounds(
    clusters: Mapping[str, tuple[str, ...]], carried: Mapping[str, str], shown: Container[str]
) -> dict[str, int]:
    """Return cluster -> the round of registration after which it is known, 1 where the motion shows all of its markers.

    A marker that the motion does not show may be one that another cluster carries. Clusters that are never known, such
    as those in a circle, are left out.
    """
    rounds: dict[str, int] = {}
    for count in range(1, len(clusters) + 1):
        known = {marker for marker, cluster in carried.items() if cluster in rounds}
        new = [
            name
            for name, markers in clusters.items()
            if name not in rounds and all(marker in shown or marker in known for marker in markers)
        ]
        if not new:
            break
        rounds |= dict.fromkeys(new, count)
    return rounds


def absences(
    document: Document,
    mapping: Mapping[str, Weights],
    clusters: Mapping[str, tuple[str, ...]],
    carried: Mapping[str, str],
    walk: Markers,
    static: Markers | None,
) -> dict[tuple[str, str], InputError]:
    """Return (table, key) -> the error of every cluster, carried marker and landmark that the files do not show."""
    if clusters and static is None:
        problem, expected = "clusters need a standing trial", "static in [files]"
        remedy = "name the standing trial, or remove [clusters] and [carried]"
        without = document.fault("missing_key", "clusters", problem, expected, remedy)
        return {("clusters", name): without for name in clusters}
    errors: dict[tuple[str, str], InputError] = {}
    stated = {*carried, *document.content.get("carried", ())}  # an entry at fault has its own error

    def lacking(table: str, key: str, marker: str, *files: Markers | None) -> None:
        """Note the first of the files in which a marker is absent or repeated."""
        for file in (file for file in files if file is not None and (table, key) not in errors):
            if marker not in file:
                error = document.unknown(
                    "missing_marker",
                    marker,
                    file.names,
                    table,
                    key,
                    problem=f"the marker '{marker}' is in no frame of {file.path}",
                )
                errors[table, key] = error
            elif marker in file.repeated:
                errors[table, key] = repeated_name("marker", marker, file.repeated[marker], file.path)

    for name, markers in clusters.items():
        for marker in markers:
            if marker in walk or marker not in stated:
                lacking("clusters", name, marker, walk)
        for marker in markers:
            lacking("clusters", name, marker, static)
    # As if the motion showed every marker that no cluster carries: what is unknown then is in a circle.
    measured = {marker for markers in clusters.values() for marker in markers}.difference(carried)
    rounds = cluster_rounds(clusters, carried, measured.union(walk.names))
    for name in (name for name in clusters if name not in rounds):
        problem = (
            f"the cluster {name} has a marker whose place follows from this cluster or is unknown like it"
        )
        error = document.fault(
            "bad_value",
            ("clusters", name),
            problem,
            "clusters of markers of the motion, and of markers that clusters before it carry",
            "take the marker that [carried] lists out of the cluster",
        )
        errors.setdefault(("clusters", name), error)
    for marker in carried:
        lacking("carried", marker, marker, static)
    for landmark, weights in mapping.items():
        for marker in weights:
            standing = static is not None and marker in static
            if marker not in walk and standing and follows_segment(mapping, landmark):
                lacking("mapping", landmark, marker, static)
            elif marker in carried:
                continue
            elif marker not in walk and standing:
                problem = f"only the standing trial shows the marker '{marker}'"
                expected = "a marker of the motion, or one that a cluster carries"
                remedy = "label it in the motion, or fill its gap there if it has its label but no place; "
                remedy += f'worn only while standing, add to [carried]: "{marker}" = "<cluster>"'
                # A slip of a label in the motion: a name like it that the standing trial does not have.
                alone = set(walk.names).difference(() if static is None else static.names)
                if near := similar(marker, sorted(alone), 1):
                    remedy = (
                        f"correct the label '{near[0]}' of the motion if it is this marker; else {remedy}"
                    )
                error = document.fault("missing_marker", ("mapping", landmark), problem, expected, remedy)
                errors.setdefault(("mapping", landmark), error)
            else:
                # The legs and the pelvis are measured on the standing trial; the rest of the body on the motion.
                needed = static if landmarks()[landmark].standing else None
                lacking("mapping", landmark, marker, walk, needed)
    return errors


def other_marker_set(
    document: Document,
    mapping: Mapping[str, Weights],
    clusters: Mapping[str, tuple[str, ...]],
    carried: Mapping[str, str],
    walk: Markers,
) -> InputError | None:
    """Return the error of a motion that lacks so many of its markers that it has another marker set, else None."""
    wanted = {marker: ("clusters", name) for name, markers in clusters.items() for marker in markers}
    for landmark, weights in mapping.items():
        wanted |= {marker: ("mapping", landmark) for marker in weights if marker not in carried}
    absent = [marker for marker in wanted if marker not in walk]
    if len(absent) < FEWEST_OF_ANOTHER or len(absent) < SHARE_OF_ANOTHER * len(wanted):
        return None
    return document.fault(
        "missing_marker",
        wanted[absent[0]],
        f"{len(absent)} of {len(wanted)} markers that the trial file names are in no frame of "
        f"{walk.path}: {few(absent, 6)}",
        f"these markers; the file shows {few(walk.names, 6) or 'none'}",
        "export it with these markers, or draft a trial file for another marker set with musclesolve init",
    )


def functional_joints(settings: RecordedSettings) -> tuple[str, ...]:
    """Return the functional joints of a trial file: "knee", "ankle"."""
    return tuple(joint for joint in HINGES if settings.joint_centers[joint] == FUNCTIONAL)


def one_marker(mapping: Mapping[str, Weights], joint: str, side: str) -> bool:
    """Return whether exactly one of lateral and medial landmark of a knee or ankle is mapped."""
    return sum(f"{joint}_{end}_{side}" in mapping for end in ENDS) == 1


def needs_chord(mapping: Mapping[str, Weights], joint: str, side: str) -> bool:
    """Return whether a knee or ankle center needs the chord function."""
    return not any(f"{joint}_{suffix}_{side}" in mapping for suffix in ("medial", "center"))


def follows_segment(mapping: Mapping[str, Weights], landmark: str) -> bool:
    """Return whether a landmark is a medial one that follows the marker on the side of its segment in the motion."""
    joint, _, suffix = landmark[:-2].partition("_")
    return suffix == "medial" and joint in WANDS and f"{WANDS[joint]}_{landmark[-1]}" in mapping


def pelvis_error(document: Document, mapping: Mapping[str, Weights]) -> InputError | None:
    """Return the error of a mapping that does not show the pelvis."""
    pairs = [[f"{name}_{side}" for side in SIDES] for name in ("hip_center", "shoulder", "shoulder_center")]
    hips, *shoulders = (all(name in mapping for name in pair) for pair in pairs)
    if shows_spines(mapping) or (hips and (any(shoulders) or "neck_base" in mapping)):
        return None
    spines, others = "asis_r, asis_l and psis_r, psis_l or sacrum", "both shoulders or neck_base"
    expected = f"{spines}; or both hip_center and {others}"
    remedy = "map the markers of the pelvis"
    return document.fault("missing_marker", "mapping", "the pelvis is not shown", expected, remedy)
