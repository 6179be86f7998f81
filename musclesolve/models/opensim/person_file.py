"""Files of one person's muscles (person.toml): read with every fault and its line, and written; also as a model.

An OpenSim model of the person is the parent's file with other numbers and no other change. The text of the file is
edited in place, so that comments, order and parts that this package does not read are kept.
"""

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import muscle_db
from muscle_db.regular_file import RECORDING, read_regular
from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_type
from musclesolve._util.messages import as_text, check_known, few, unknown_name
from musclesolve.constants import ELASTIC
from musclesolve.errors import InputError, file_error
from musclesolve.models.opensim.find_muscle_set import MODEL, find_muscle_set
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.opensim.xml_tree import Element, parse_xml
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.muscles.person import (
    QUANTITIES,
    FittedParameter,
    PersonMuscles,
    is_own_set,
    parent_of_person,
)
from musclesolve.muscles.settings import ParameterSettings, PersonFileSettings
from musclesolve.tables.document import Document, key_text, validated, value_text
from musclesolve.tables.settings import is_number
from musclesolve.tables.text_file import (
    file_path,
    is_file,
    name_from,
    opening,
    sha256,
    without_detours,
    write_text,
)
from musclesolve.version import __version__

HEADING = "# The muscles of one person. A trial file uses them by [muscles] database, the command share by --muscles."
_ROUNDED = 1e-3
"""Allowed relative difference of numbers that the file states twice: they may have been rounded by hand."""
_ROUND_OFF = 1e-9


def read_person(path: str | Path) -> PersonMuscles:
    """Read the muscles of one person, and check that the parent model or muscle set has them.

    Args:
        path: of the file (.toml).

    Returns:
        The factors with their covariance; `warnings` state differences of the parent since the calibration.

    Raises:
        InputError: a key or value is wrong, the parent is missing or lacks a muscle, a covariance is impossible; with
            line.
    """
    document = Document(file_path(path), PersonFileSettings)
    settings = validated(document, PersonFileSettings)
    person, listed = settings.person, settings.parameter
    covariance = _covariance(document, listed)
    parameters = tuple(
        FittedParameter(**{key: value for key, value in row.items() if key != "covariance"}) for row in listed
    )
    parent = person.parent
    warnings: tuple[str, ...] = ()
    if is_own_set(parent):
        file = document.input_file("person", "parent", parent)
        if parent_of_person(file) is not None:
            raise document.fault(
                "conflict",
                ("person", "parent"),
                f"{parent} is itself the muscles of one person",
                "a muscle set or a model",
                "name the parent of that file, and multiply the factors of both",
            )
        stated = person.parent_sha256
        if stated is not None and stated.casefold() != sha256(file):
            warnings = (
                f"{file.name} is not as it was when these muscles were calibrated (its SHA-256 differs): the factors "
                "now multiply other numbers.",
            )
        parent = str(file)
    else:
        document.check_known([parent], "there is no muscle set", muscle_db.available(), "person", "parent")
    _check_emg(document, settings.emg)
    _check_names(document, parameters, parent)
    _check_numbers(document, settings.muscles, parameters)
    folder = document.path.parent
    return PersonMuscles(
        name=person.name,
        parent=parent,
        parent_sha256=person.parent_sha256,
        trials=tuple(str(without_detours(folder / trial)) for trial in person.trials or ()),
        tendon=person.tendon,
        parameters=parameters,
        covariance=covariance,
        created=person.created,
        numbers=settings.muscles,
        emg=settings.emg,
        prediction=settings.prediction,
        path=document.path,
        warnings=warnings,
    )


def _check_emg(document: Document, emg: Mapping[str, Any]) -> None:
    """Refuse invalid gains of EMG: see `MeasuredActivation.from_emg`."""
    bounds = {"largest": (0.0, np.inf, "above zero"), "gain": (0.0, 1.0, "above 0, at most 1")}
    numbers = [("shape", emg.get("shape", 0.0), -10.0, 10.0, "from -3 to 0")]
    numbers.append(("delay_s", emg.get("delay_s", 0.0), -1.0, 1.0, "seconds, from -0.1 to 0.2"))
    channels = emg.get("channels", {})
    for name, channel in channels.items() if isinstance(channels, Mapping) else [("channels", None)]:
        for key, (low, high, expected) in bounds.items():
            value = channel.get(key) if isinstance(channel, Mapping) else None
            numbers.append((f"{key} of {name}", value, low, high, f"a number {expected}"))
    for quantity, value, low, high, expected in numbers:
        if not is_number(value) or not low < value <= high:
            raise document.fault(
                "bad_value",
                "emg",
                f"the {quantity} is {as_text(value)}",
                expected,
                "calibrate again, or take [emg] out",
            )


def _covariance(document: Document, listed: Sequence[ParameterSettings]) -> Array:
    """The covariance (p, p) of the fitted parameters from its rows."""
    count = len(listed)

    def wrong(row: int, problem: str, expected: str, remedy: str) -> InputError:
        return document.fault("bad_value", ("parameter", "covariance", row), problem, expected, remedy)

    for k, parameter in enumerate(listed):
        if len(parameter.covariance) != count:
            problem = f"{len(parameter.covariance)} covariances of one of {count} parameters"
            expected = f"{count} numbers, one for every [[parameter]] in the order of the file"
            raise wrong(
                k, problem, expected, "write the covariance with every parameter, 0 where there is none"
            )
    matrix = np.array([parameter.covariance for parameter in listed], dtype=float)
    names, scale = [parameter.name for parameter in listed], np.abs(matrix).max()
    if not np.isfinite(matrix).all():
        row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
        raise wrong(row, "a covariance is not finite", "finite numbers", "correct the row")
    uneven = np.argwhere(np.abs(matrix - matrix.T) > _ROUND_OFF * scale)
    if uneven.size:
        j, k = uneven[0]
        problem = f"the covariance of {names[j]} with {names[k]} is {matrix[j, k]:g}, and the other way round"
        raise wrong(int(j), f"{problem} {matrix[k, j]:g}", "a symmetric matrix", "make both equal")
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -_ROUND_OFF * scale:
        k = int(np.argmin(np.diag(matrix)))
        problem = f"the matrix of the covariances has the eigenvalue {least:g}"
        of_pairs = "|covariance of two| at most the product of their standard deviations"
        expected = f"no negative variance of any combination of parameters: {of_pairs}"
        raise wrong(k, problem, expected, "write the covariances as the calibration gave them")
    for k, parameter in enumerate(listed):
        if abs(parameter.sd - np.sqrt(matrix[k, k])) > _ROUNDED * max(parameter.sd, np.sqrt(scale) * 1e-3):
            raise document.fault(
                "conflict",
                ("parameter", "sd", k),
                f"the standard deviation is {parameter.sd:g}, by its covariance {np.sqrt(matrix[k, k]):g}",
                f"sd = the square root of number {k + 1} of covariance",
                "correct one of them",
            )
    return matrix


def _check_names(document: Document, parameters: tuple[FittedParameter, ...], parent: str) -> None:
    """Refuse repeated names, numbers of a muscle with two factors, and muscles that the parent lacks."""
    names: set[str] = set()
    for k, parameter in enumerate(parameters):
        twice = [muscle for muscle in parameter.muscles if parameter.muscles.count(muscle) > 1]
        if twice or parameter.name in names:
            key, name = ("muscles", twice[0]) if twice else ("name", parameter.name)
            problem, expected = f"{name!r} is stated twice", "every parameter and every muscle of it once"
            raise document.fault(
                "duplicate_name", ("parameter", key, k), problem, expected, "remove or rename one"
            )
        names.add(parameter.name)
    named: dict[tuple[str, str], str] = {}
    for k, parameter in enumerate(parameters):
        for muscle in parameter.muscles:
            first = named.setdefault((muscle, parameter.quantity), parameter.name)
            if first != parameter.name:
                raise document.fault(
                    "duplicate_name",
                    ("parameter", "muscles", k),
                    f"{parameter.quantity} of {muscle} has a factor in {first!r} already",
                    "one factor on every number of a muscle",
                    f"take {muscle} out of one of the two, or multiply their factors",
                )
    parent_names = parent_muscles(
        parent, frozenset(muscle for parameter in parameters for muscle in parameter.muscles)
    )
    for k, parameter in enumerate(parameters):
        for muscle in parameter.muscles:
            if muscle not in parent_names:
                fault = unknown_name(muscle, "muscle", parent_names, f" in {Path(parent).name}")
                raise document.placed(fault, "parameter", "muscles", k)


def parent_muscles(parent: str, wanted: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Names of the muscles of a parent, with side; of a model also those as a muscle set if it lacks a `wanted`."""
    file, names = Path(parent), tuple[str, ...]()
    if file.suffix.casefold() == MODEL:
        names = _model_muscles(str(file), sha256(file))
        if wanted <= set(names):
            return names
    try:
        return (*names, *(muscle.name for leg in find_muscle_set(parent).sides.values() for muscle in leg))
    except InputError:
        if not names:
            raise
        return names  # a model without legs has no other ones


@lru_cache(maxsize=8)
def _model_muscles(path: str, sha: str) -> tuple[str, ...]:
    """Names of the muscles of a model file, read once for each content."""
    from musclesolve.models.opensim.read_model import (
        read_osim,  # loads ten modules: only where a model is read
    )

    return tuple(read_osim(path).muscles)


def _check_numbers(
    document: Document, stated: Mapping[str, Any], parameters: tuple[FittedParameter, ...]
) -> None:
    """Refuse numbers of muscles that contradict the factors, because the factors are used."""
    by_name: dict[tuple[str, str], float] = {}
    for parameter in parameters:
        for muscle in parameter.muscles:
            by_name[muscle, parameter.quantity] = parameter.factor
    for muscle, quantities in stated.items():
        table = f"muscles.{key_text(muscle)}"
        if not isinstance(quantities, dict):
            problem, expected = f"{muscle} is {as_text(quantities)}", f"a table [muscles.{muscle}]"
            raise document.fault("bad_value", table, problem, expected, "remove it")
        for quantity, number in quantities.items():
            parts = number if isinstance(number, dict) else {}
            if set(parts) != {"value", "parent", "sd"} or not all(map(is_number, parts.values())):
                raise document.fault(
                    "bad_value",
                    (table, quantity),
                    f"{quantity} is {as_text(number)}",
                    "{ value = ..., parent = ..., sd = ... } in SI",
                    "correct it, or remove the table",
                )
            factor = by_name.get((muscle, quantity), 1.0)
            due = parts["parent"] * factor
            if abs(parts["value"] - due) > _ROUNDED * abs(due):
                raise document.fault(
                    "conflict",
                    (table, quantity),
                    f"{quantity} of {muscle} is {parts['value']:g}, and {due:g} by its factor {factor:g}",
                    "parent times factor: muscles are computed with the factors",
                    "change the factor of the parameter, and write the product here or remove the table",
                )


def person_of_set(name: str | Path) -> PersonMuscles | None:
    """The muscles of one person with the names of their parent as a set; None for a name or file of a set.

    A model has other muscle names as a muscle set; a calibration with trials of the model uses the names of the model.
    """
    if parent_of_person(name) is None:
        return None
    person = read_person(name)
    file = person.parent_file
    if file is None or file.suffix.casefold() != MODEL:
        return person
    names = set_names(file)
    return _renamed(person, {muscle: muscle for muscle in names.values()} | names)


def person_of_model(person: PersonMuscles | str | Path, model: OpenSimModel) -> PersonMuscles:
    """The muscles of one person with the names of a model: their parent, or a model with the muscles of the parent."""
    if not isinstance(person, PersonMuscles):
        person = file_path(person, "person")
        if parent_of_person(person) is None and is_file(person):
            raise file_error(
                "bad_format",
                Path(person),
                "this is not a file of one person's muscles",
                "a file with [person] and [[parameter]], as musclesolve calibrate writes it",
                "name such a file; a model has its own muscles where none is named",
            )
        person = read_person(person)
    file = person.parent_file
    if file is None or file.suffix.casefold() != MODEL:
        raise file_error(
            "conflict",
            (person.path, "[person] parent"),
            f"the factors are on the muscle set {Path(person.parent).name}, not on a model",
            f"factors on {model.file.name}",
            f"use them in a trial file of a recording, or calibrate with trial files of {model.file.name}",
        )
    names = {name: name for name in model.muscles}
    if not set(person.muscles) <= set(names):
        with suppress(InputError):  # a model without legs has no other names
            names |= {of_set: in_model for in_model, of_set in set_names(file).items() if in_model in names}
    check_known(person.muscles, "muscle", names, f" in {model.file.name}", person.path)
    person = _renamed(person, names)
    if sha256(model.file) in ((person.parent_sha256 or "").casefold(), sha256(file)):
        return person
    other = f"{model.file.name} is not the model that these muscles were calibrated with, {file.name}: the factors are "
    return replace(person, warnings=(*person.warnings, f"{other} on its numbers."))


def set_names(file: Path) -> dict[str, str]:
    """Names of the muscles of a model as a muscle set, with side, by their names in the model."""
    # loads scipy: only where a model is read
    from musclesolve.models.opensim.leg_muscle_set import left_name, right_name

    model_names, legs = _model_muscles(str(file), sha256(file)), find_muscle_set(file).sides
    names = {right_name(muscle, model_names): muscle.name for muscle in legs["r"]}
    left = zip(names, legs["l"], strict=True)
    return names | {left_name(right): muscle.name for right, muscle in left if left_name(right)}


def _renamed(person: PersonMuscles, names: Mapping[str, str]) -> PersonMuscles:
    """The muscles of one person with other names; notes state which are left out."""
    left_out = [muscle for muscle in person.muscles if muscle not in names]
    note = f"Factors of {few(left_out, 6)} are of no use: the set has the muscles of the legs alone."
    return replace(person.renamed(names), warnings=(*person.warnings, *[note] * bool(left_out)))


def model_parameters(
    person: PersonMuscles, model: OpenSimModel
) -> tuple[PersonMuscles, MuscleParameters, Array]:
    """Return the parameters to which the factors of one person apply, for their n muscles in a model.

    Returns:
        the person with the names of the model; the parameters in the model's file; the shifts (n,) [m] of tendon slack
        lengths for elastic tendons, or for the model as a muscle set (see `tendon_shifts`).
    """
    from musclesolve.models.opensim.geometry import tendon_shifts  # loads scipy: only where a model is read
    from musclesolve.models.opensim.read_muscles import muscle_parameters

    is_shifted = person.tendon == ELASTIC or not set(person.muscles) <= set(model.muscles)
    person = person_of_model(person, model)
    parent = muscle_parameters([model.muscles[name] for name in person.muscles])
    shift = tendon_shifts(model, parent.names) if is_shifted else np.zeros(len(parent.names))
    return person, parent, shift


def _with_numbers(person: PersonMuscles) -> PersonMuscles:
    """The person, with the numbers that differ from the numbers of a parent model, if none are stated.

    If the names belong to a muscle set, numbers are not added: they are scaled to the subject.
    """
    from musclesolve.models.opensim.read_model import (
        read_osim,  # loads ten modules: only where a model is read
    )

    file = person.parent_file
    if person.numbers or file is None or file.suffix.casefold() != MODEL:
        return person
    model = read_osim(file)
    if not set(person.muscles) <= set(model.muscles):
        return person
    _, parent, shift = model_parameters(person, model)
    return person.with_numbers(replace(parent, tendon_slack_length=parent.tendon_slack_length + shift))


def write_person(person: PersonMuscles, path: str | Path) -> None:
    """Write the muscles of one person; `read_person` restores them exactly.

    If the parent is a model and the factors belong to its muscles, the file also has every number that differs from the
    parent: tendon slack lengths as used with the tendons of the calibration.

    Args:
        person: the factors and their covariance.
        path: of the file (.toml); parent and trials are stated relative to its folder.

    Raises:
        InputError: the file cannot be written, or the parent cannot be read.
    """
    check_type(
        person, PersonMuscles, "person", "the muscles of a person, from read_person() or calibrate_muscles()"
    )
    path, person = file_path(path), _with_numbers(person)
    parent = person.parent if person.parent_file is None else name_from(person.parent_file, path)
    head = {
        "name": person.name,
        "parent": parent,
        "parent_sha256": person.parent_sha256,
        "trials": [name_from(Path(trial), path) for trial in person.trials] or None,
        "tendon": person.tendon,
        "created": person.created,
    }
    blocks: list[tuple[str, dict[str, Any]]] = [
        ("[person]", {key: value for key, value in head.items() if value is not None})
    ]
    for parameter, row in zip(person.parameters, person.covariance.tolist(), strict=True):
        blocks.append(("[[parameter]]", asdict(parameter) | {"covariance": row}))
    blocks += [(f"[muscles.{key_text(muscle)}]", dict(numbers)) for muscle, numbers in person.numbers.items()]
    blocks += [("[emg]", dict(person.emg))] * bool(person.emg)
    blocks += [("[[prediction]]", dict(curve)) for curve in person.prediction]
    text = [
        "\n".join([header, *(f"{key_text(key)} = {value_text(value)}" for key, value in values.items())])
        for header, values in blocks
    ]
    write_text(path, "\n\n".join([HEADING, *text]) + "\n")


STRAIN, STIFFNESS = "strain_at_one_norm_force", "stiffness_at_one_norm_force"
TENDON_CURVE = "TendonForceLengthCurve"
STRAIN_TAGS = {
    "Thelen2003Muscle": "FmaxTendonStrain",
    "Thelen2003Muscle_Deprecated": "FmaxTendonStrain",
    "DeGrooteFregly2016Muscle": "tendon_strain_at_one_norm_force",
}
"""Class of a muscle -> its number with the tendon strain; classes of Millard et al. have it in a curve."""


def write_person_model(person: PersonMuscles, path: str | Path) -> tuple[str, ...]:
    """Write the parent model of one person's muscles with the numbers of the person.

    Each number is the parent's number times its factor f. A tendon slack length s that was used with a shift d (see
    `tendon_shifts`: elastic tendons, muscle sets) becomes f (s + d) - d, since OpenSim's lengths have no shift. A
    stated stiffness of a tendon curve is divided by the factor on its strain, so that the curve keeps its shape.

    Args:
        person: muscles whose parent is a model file.
        path: of the written model (.osim).

    Returns:
        sentences on differences between the model and the computations here.
    """
    from musclesolve.models.opensim.read_model import read_osim

    path = file_path(path)
    file = person.parent_file
    if file is not None and path.exists() and path.samefile(file):
        raise file_error("conflict", path, "this is the parent itself", "another file", "name another file")
    model = read_osim(file) if file is not None and file.suffix.casefold() == ".osim" else None
    if model is None:
        raise file_error(
            "conflict",
            (person.path, "[person] parent"),
            f"the factors are on the muscle set {Path(person.parent).name}, and no OpenSim model has its muscles",
            "a person whose parent is a model (.osim)",
            "use the file in trial files of recordings, or calibrate with [muscles] database = a model",
        )
    with opening(model.file):
        document = _Source(_as_utf_8(read_regular(model.file, RECORDING)), model.file)
    numbers = person_numbers(person, model)
    edits = [edit for name, values in numbers.items() for edit in _edits(document, model, name, values)]
    note = (
        f" Muscles of {person.name or 'one person'}: {len(numbers)} muscles have other numbers than in "
        + (f"{model.file.name}; written by musclesolve {__version__} ")
    )
    comment = f"\n<!--{note.replace('--', '- -')}-->".encode()
    inside = document.inside(document.model)
    edits.append((inside, inside, comment))
    parts, at = [], 0
    for start, end, text in sorted(edits, key=lambda edit: edit[:2]):
        parts += [document.raw[at:start], text]
        at = end
    write_text(path, b"".join([*parts, document.raw[at:]]).decode())
    stronger = [name for name, values in numbers.items() if "max_isometric_force" in values]
    return tuple(
        f"The passive forces of {few(stronger, 6)} grow with the maximum isometric force in {path.name}; in a run with "
        "the file of the person they do not."
        for _ in stronger[:1]
    )


def _as_utf_8(raw: bytes) -> bytes:
    """The bytes of an XML file, converted to UTF-8 with this declaration."""
    utf_16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    declared = re.search(rb"<\?xml[^>]*encoding=[\"']([\w.-]+)", raw[:200])
    text = raw.decode("utf-16" if utf_16 else declared[1].decode() if declared else "utf-8")
    text = re.sub(r"(<\?xml[^>]*encoding=[\"'])[\w.-]+", r"\1UTF-8", text, count=1)
    return text.removeprefix("\ufeff").encode()


def person_numbers(person: PersonMuscles, model: OpenSimModel) -> dict[str, dict[str, float]]:
    """Muscle -> quantity -> the number of a model for one person's muscles; see `write_person_model`."""
    person, parent, shift = model_parameters(person, model)
    numbers: dict[str, dict[str, float]] = {}
    for quantity in QUANTITIES:
        used = shift if quantity == "tendon_slack_length" else np.zeros_like(shift)
        values = (getattr(parent, quantity) + used) * person.factors(quantity, parent.names) - used
        for k in np.flatnonzero(person.exponents(quantity, parent.names).any(axis=1)):
            numbers.setdefault(parent.names[k], {})[quantity] = float(values[k])
    return numbers


Edit = tuple[int, int, bytes]
"""First byte, byte after the last one, and the new text."""


def _edits(document: "_Source", model: OpenSimModel, name: str, values: dict[str, float]) -> Iterator[Edit]:
    """The changes of the file for other numbers of a muscle."""
    muscle, element = model.muscles[name], document.muscle(name, model.muscles[name].kind)
    for quantity, value in values.items():
        if quantity != "tendon_strain":
            yield document.number(element, quantity, value)
        elif muscle.kind in STRAIN_TAGS:
            yield document.number(element, STRAIN_TAGS[muscle.kind], value)
        elif muscle.kind.startswith("Millard2012"):
            yield from document.tendon_curve(element, value, value / muscle.tendon_strain)
        else:
            raise file_error(
                "unsupported",
                (model.file, f"{muscle.kind} '{name}'"),
                f"a {muscle.kind} has no number for the tendon strain, which a factor of {name} is on",
                f"one of {', '.join(map(str, STRAIN_TAGS))}, Millard2012EquilibriumMuscle",
                "take the factor on its tendon_strain out of the file of the person",
            )


_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
"""A tag; a value in quotes may have the sign that ends it."""


class _Source:
    """The elements of a model file and its bytes."""

    def __init__(self, raw: bytes, file: Path) -> None:
        root = parse_xml(raw, file, "an OpenSim model (.osim)", "utf-8")
        self.raw, self.model = raw, root.require("Model")
        holders = [holder.find("defaults") for holder in (root, self.model)]
        self.defaults = {element.tag: element for holder in holders if holder for element in holder.children}
        self._in_defaults = {id(element) for holder in holders if holder for element in holder.descendants()}

    def inside(self, element: Element) -> int:
        """The first byte after the opening tag."""
        tag = _TAG.match(self.raw, element.start)
        assert tag is not None
        return tag.end()

    def _is_empty(self, element: Element) -> bool:
        return self.raw[self.inside(element) - 2] == ord("/")  # <tag/>

    def muscle(self, name: str, kind: str) -> Element:
        """The muscle of this name and class outside the defaults."""
        return next(
            element
            for element in self.model.descendants()
            if element.name == name and element.tag == kind and id(element) not in self._in_defaults
        )

    def number(self, owner: Element, tag: str, value: float) -> Edit:
        """The change for a number of an element: in its child, or in a new child."""
        child, text = owner.find(tag), f"{value!r}".encode("ascii")
        whole = b"<%b>%b</%b>" % (tag.encode(), text, tag.encode())
        if child is None:
            return self._inserted(owner, whole)
        inside = self.inside(child)
        return (child.start, inside, whole) if self._is_empty(child) else (inside, child.close, text)

    def _inserted(self, owner: Element, text: bytes) -> Edit:
        inside = self.inside(owner)
        if self._is_empty(owner):
            opened = self.raw[owner.start : inside].rstrip(b">").rstrip().rstrip(b"/")
            return owner.start, inside, b"%b>%b</%b>" % (opened, text, owner.tag.encode())
        return inside, inside, text

    def _bytes_of(self, element: Element) -> bytes:
        last = self.inside(element) - 1 if self._is_empty(element) else self.raw.index(b">", element.close)
        return self.raw[element.start : last + 1]

    def tendon_curve(self, muscle: Element, strain: float, factor: float) -> Iterator[Edit]:
        """The changes for another strain of a muscle's tendon curve, and for its stiffness."""
        curve = muscle.find(TENDON_CURVE)
        of_class = self.defaults.get(muscle.tag)
        shared = None if curve or not of_class else of_class.find(TENDON_CURVE)
        stated = self._stated(curve or shared, STIFFNESS)
        numbers = {STRAIN: strain} | ({} if stated is None else {STIFFNESS: stated / factor})
        if curve is not None and not self._is_empty(curve):
            yield from (self.number(curve, tag, value) for tag, value in numbers.items())
            return
        # a separate curve, with the other elements of the default curve
        others = [] if shared is None else shared.children
        text = b"".join(self._bytes_of(element) for element in others if element.tag not in numbers)
        text += b"".join(f"<{tag}>{value!r}</{tag}>".encode("ascii") for tag, value in numbers.items())
        tag = TENDON_CURVE.encode()
        whole = b'<%b name="tendon_force_length">%b</%b>' % (tag, text, tag)
        yield self._inserted(muscle, whole) if curve is None else (curve.start, self.inside(curve), whole)

    def _stated(self, curve: Element | None, tag: str) -> float | None:
        """A number of a curve, as stated or the default of its class; None without either."""
        for holder in () if curve is None else (curve, self.defaults.get(TENDON_CURVE)):
            if holder is not None and (stated := holder.filled(tag)):
                return stated.number()
        return None
