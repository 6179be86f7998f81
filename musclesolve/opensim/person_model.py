"""An OpenSim model with the muscles of one person: the parent's file with other numbers and no other change.

The text of the file is edited in place, so that comments, order and parts that this package does not read are kept.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from muscle_db.regular_file import RECORDING, read_regular
from musclesolve._util.message_text import few
from musclesolve.errors import file_error
from musclesolve.muscles.person import QUANTITIES, PersonMuscles
from musclesolve.opensim.model import OpenSimModel
from musclesolve.opensim.person_file import model_parameters
from musclesolve.opensim.read_model import read_osim
from musclesolve.opensim.xml_tree import Element, parse_xml
from musclesolve.recording.text.text_file import file_path, opening, write_text
from musclesolve.version import __version__

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
    path = file_path(path)
    file = person.parent_file
    if file is not None and path.exists() and path.samefile(file):
        raise file_error("conflict", path, "this is the parent itself", "another file", "name another file")
    model = read_osim(file) if file is not None and file.suffix.casefold() == ".osim" else None
    if model is None:
        raise file_error(
            "conflict",
            (person.path, "[person] parent"),
            f"the factors are on the muscle set {Path(person.parent).name}, and no OpenSim "
            "model has its muscles",
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
    return (
        re.sub(r"(<\?xml[^>]*encoding=[\"'])[\w.-]+", r"\1UTF-8", text, count=1)
        .removeprefix("\ufeff")
        .encode()
    )


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


def _edits(document: _Source, model: OpenSimModel, name: str, values: dict[str, float]) -> Iterator[Edit]:
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
        others = (
            [] if shared is None else [element for element in shared.children if element.tag not in numbers]
        )
        text = b"".join(map(self._bytes_of, others))
        text += b"".join(f"<{tag}>{value!r}</{tag}>".encode("ascii") for tag, value in numbers.items())
        whole = b'<%b name="%b">%b</%b>' % (
            TENDON_CURVE.encode(),
            b"tendon_force_length",
            text,
            TENDON_CURVE.encode(),
        )
        yield self._inserted(muscle, whole) if curve is None else (curve.start, self.inside(curve), whole)

    def _stated(self, curve: Element | None, tag: str) -> float | None:
        """A number of a curve, as stated or the default of its class; None without either."""
        for holder in () if curve is None else (curve, self.defaults.get(TENDON_CURVE)):
            if holder is not None and (stated := holder.filled(tag)):
                return stated.number()
        return None
