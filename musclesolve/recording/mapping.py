"""Which markers show which landmark: the tables [mapping], [clusters] and [carried] of a trial file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from musclesolve.errors import InputError
from musclesolve.recording.data import Markers
from musclesolve.recording.joints import follows_segment
from musclesolve.recording.landmarks import landmarks
from musclesolve.recording.schema import Document
from musclesolve.recording.textfile import suggestion

Weights = Mapping[str, float]

_FORMS = 'a marker name, { midpoint = ["A", "B"] } or { weights = { A = 0.9, B = 0.1 } }'


def read_mapping(document: Document, table: Mapping[str, Any]) -> dict[str, Weights]:
    """Return landmark -> marker -> weight (weights sum to one).

    Raises:
        InputError: an unknown landmark, a needed one that is missing, or a value in none of the three forms.
    """
    mapping, errors = examined_mapping(document, table)
    if errors:
        raise errors[0]
    return mapping


def examined_mapping(
    document: Document, table: Mapping[str, Any]
) -> tuple[dict[str, Weights], list[InputError]]:
    """Return what ``read_mapping`` returns, as far as its lines are right, and all that is wrong with it."""
    errors: list[InputError] = []
    known = landmarks()
    for name in table:
        if name not in known:
            errors.append(
                document.error(
                    "there is no such landmark",
                    "mapping",
                    name,
                    expected="a name of musclesolve/recording/landmarks.toml",
                    remedy=suggestion(name, known) or "correct the name, or remove the line",
                )
            )
    for landmark in known.values():
        if landmark.required and not any(name in table for name in (landmark.name, *landmark.instead)):
            other = "".join(f", or map '{name}'" for name in landmark.instead)
            errors.append(
                document.error(
                    f"'{landmark.name}' is missing",
                    "mapping",
                    expected=f"{landmark.name}: {landmark.description}",
                    remedy=f'add {landmark.name} = "<marker>"{other}',
                )
            )
    mapping: dict[str, Weights] = {}
    for name, value in table.items():
        if name not in known:
            continue
        try:
            weights = _weights(document, name, value)
        except InputError as error:
            errors.append(error)
            continue
        twin = next((other for other, taken in mapping.items() if taken == weights), None)
        if twin is not None:
            errors.append(
                document.error(
                    f"'{name}' is mapped to the same point as '{twin}'",
                    "mapping",
                    name,
                    expected="a point of its own for every landmark",
                    remedy="correct the marker of one of them, or leave out the optional one",
                )
            )
            continue
        mapping[name] = weights
    return mapping, errors


def _weights(document: Document, name: str, value: Any) -> Weights:
    weights: dict[str, float] = {}
    if isinstance(value, str) and value:
        weights = {value: 1.0}
    elif isinstance(value, dict) and set(value) == {"midpoint"}:
        pair = value["midpoint"]
        if (
            isinstance(pair, list)
            and len(pair) == 2
            and all(isinstance(m, str) for m in pair)
            and pair[0] != pair[1]
        ):
            weights = dict.fromkeys(pair, 0.5)
    elif isinstance(value, dict) and set(value) == {"weights"} and isinstance(value["weights"], dict):
        if all(isinstance(w, int | float) and not isinstance(w, bool) for w in value["weights"].values()):
            weights = {marker: float(w) for marker, w in value["weights"].items()}
    if not weights:
        raise document.error(
            f"the value is {value!r}",
            "mapping",
            name,
            expected=_FORMS,
            remedy=f'write {name} = "<marker>" with a marker of the files',
        )
    total = math.fsum(weights.values())
    # Weights that do not sum to one give a point that depends on where the origin of the laboratory is.
    if not abs(total - 1.0) <= 1e-6:
        raise document.error(
            f"the weights sum to {total:g}",
            "mapping",
            name,
            expected="weights that sum to 1",
            remedy=f"divide each of them by {total:g}" if total > 0.0 else "correct the weights",
        )
    return weights


def read_clusters(document: Document, table: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return cluster -> its markers.

    Raises:
        InputError: fewer than three different markers in a cluster.
    """
    for name, value in table.items():
        names = isinstance(value, list) and all(isinstance(marker, str) and marker for marker in value)
        if not names or len(set(value)) != len(value) or len(value) < 3:
            raise document.error(
                f"the value is {value!r}",
                "clusters",
                name,
                expected="a list of three or more different markers",
                remedy="add a marker to it, or remove the cluster",
            )
    return {name: tuple(value) for name, value in table.items()}


def read_carried(document: Document, table: Mapping[str, Any], clusters: Mapping[str, Any]) -> dict[str, str]:
    """Return marker -> the cluster that carries it.

    Raises:
        InputError: a cluster that is not defined.
    """
    for marker, cluster in table.items():
        if not isinstance(cluster, str) or cluster not in clusters:
            raise document.error(
                f"there is no cluster {cluster!r}",
                "carried",
                marker,
                expected="a cluster of [clusters]",
                remedy=suggestion(str(cluster), clusters) or "define it in [clusters]",
            )
    return dict(table)


def check_markers_exist(
    document: Document,
    mapping: Mapping[str, Weights],
    clusters: Mapping[str, tuple[str, ...]],
    carried: Mapping[str, str],
    walk: Markers,
    static: Markers | None,
) -> None:
    """Refuse a mapping, cluster or carried marker that the files cannot serve.

    Raises:
        InputError: naming the marker, the file that lacks it and the nearest names in it.
    """
    if clusters and static is None:
        raise document.error(
            "clusters need a standing trial",
            "clusters",
            expected="static in [files]",
            remedy="name the standing trial, or remove [clusters] and [carried]",
        )
    for name, markers in clusters.items():
        for file in (walk, static):
            for marker in markers:
                if file is not None and marker not in file:
                    raise _absent(document, "clusters", name, marker, file)
    for marker in carried:
        if static is not None and marker not in static:
            raise _absent(document, "carried", marker, marker, static)
    for landmark, weights in mapping.items():
        for marker in weights:
            followed = static is not None and marker in static and follows_segment(mapping, landmark)
            if marker not in carried and not (followed and marker not in walk):
                _check_mapped(document, landmark, marker, walk, static)


def _check_mapped(
    document: Document,
    landmark: str,
    marker: str,
    walk: Markers,
    static: Markers | None,
) -> None:
    if marker not in walk:
        if static is not None and marker in static:
            raise document.error(
                f"only the standing trial has the marker '{marker}'",
                "mapping",
                landmark,
                expected="a marker of the motion, or one that a cluster carries",
                remedy=f'add to [carried]: "{marker}" = "<cluster>"',
            )
        raise _absent(document, "mapping", landmark, marker, walk)
    # The legs and the pelvis are measured on the standing trial; the rest of the body on the motion.
    if static is not None and landmarks()[landmark].standing and marker not in static:
        raise _absent(document, "mapping", landmark, marker, static)


def _absent(document: Document, table: str, key: str, marker: str, file: Markers) -> InputError:
    return document.error(
        f"the marker '{marker}' is not in {file.path}",
        table,
        key,
        expected="a marker of this file",
        remedy=suggestion(marker, file.names) or f"its markers are {', '.join(file.names)}",
    )
