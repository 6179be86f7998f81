"""Columns of force plates by their names: vectors of three components, put together plate by plate."""

import re
from dataclasses import dataclass, field

from musclesolve._util.sides import SAID_SIDES
from musclesolve.recording.data import ZERO, Side, Table
from musclesolve.recording.text.number_rows import by_place

_COMPONENT = re.compile(
    r"(?P<stem>.*?)(?P<axis>[xyz])(?P<end>(?:[ _.-]*(?:plate|fp))?[ _.-]*\d*)", re.IGNORECASE
)
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_INSIDE = re.compile(r"_on_.*_in_")
"""Names of joint reactions, which a model computed: "knee_r_on_tibia_r_in_tibia_r_fx"."""
_ROLE_OF = {
    **dict.fromkeys("force forces for f v grf kraft fuerza forza força forca".split(), "force"),
    **dict.fromkeys("point p cop cofp cof px position pos c punkt punto ponto".split(), "point"),
    **dict.fromkeys("moment moments mom torque torques m t tz free freemoment momento".split(), "moment"),
}
_FEWEST = {"force": 3, "point": 2, "moment": 1}
"""Fewest components of a vector: a point lies on the floor, and a free moment is about the vertical axis."""
_IDLE = {"ground", "reaction", "plate", "fp", "the", "on"}


@dataclass(frozen=True)
class PlateNames:
    """The columns of one plate by role, three each; words that are left of their names; the side they state."""

    words: tuple[str, ...]
    columns: dict[str, tuple[str, str, str]] = field(default_factory=dict)

    @property
    def side(self) -> Side | None:
        """The side that the names state, None where they state none or both."""
        sides = {SAID_SIDES[word] for word in self.words if word in SAID_SIDES}
        return sides.pop() if len(sides) == 1 else None

    @property
    def label(self) -> str:
        """The plate in a message."""
        names = self.columns.get("force") or next(iter(self.columns.values()))
        return common_beginning(names) or ", ".join(names)


def plates_of(table: Table) -> list[PlateNames]:
    """The plates whose force has three columns, with the columns of point and moment that belong to them."""
    triples: dict[tuple[str, str], dict[str, str]] = {}
    # Columns of equal names, as of plates side by side, are counted: "Fx (column 2)" is Fx of plate 1.
    numbers = {
        place: f" {k}"
        for name, where in table.repeated.items()
        for k, place in enumerate(by_place(name, where), start=1)
    }
    for name in table.names:
        plain = name.rpartition(" (")[0] + numbers[name] if name in numbers else name
        if (match := _COMPONENT.fullmatch(plain)) is not None and name not in table.repeated:
            triples.setdefault((match["stem"], match["end"]), {})[match["axis"].lower()] = name
    plates: dict[tuple[str, ...], PlateNames] = {}
    for (stem, end), components in triples.items():
        role, words = _role_and_words(stem, end)
        if role is None or len(components) < _FEWEST[role] or _INSIDE.search(stem):
            continue
        plate = plates.setdefault(words, PlateNames(words))
        x, y, z = (components.get(axis, ZERO) for axis in "xyz")
        plate.columns.setdefault(role, (x, y, z))
    for plate in plates.values():
        if "point" not in plate.columns and ZERO not in plate.columns.get("moment", ZERO):
            plate.columns["point"] = (ZERO, ZERO, ZERO)  # unless the moments are about another point
    return [plate for plate in plates.values() if "force" in plate.columns]


def common_beginning(names: tuple[str, ...]) -> str | None:
    """Return the common beginning of three names that end in x, y and z; None for other names."""
    stem = names[0][:-1]
    return stem if stem and all(x == stem + axis for x, axis in zip(names, "xyz", strict=True)) else None


def _role_and_words(stem: str, end: str) -> tuple[str | None, tuple[str, ...]]:
    """The role of a vector, by the last word of its name that states one, and the words that name its plate."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", stem.replace("CoP", " cop "))
    split = re.sub(r"(?<![^\W\d_])[aA]$", "cop", split)  # "Ax" is a point, "Force A x" the force of plate A
    words = _WORDS.findall(f"{split} {end}".casefold())
    roles = [_ROLE_OF[word] for word in words if word in _ROLE_OF]
    if not roles:
        return None, ()
    # "free moment", "ground_torque_r_p": the last word decides, but a torque is never a force.
    role = "moment" if roles[-1] == "force" and "moment" in roles else roles[-1]
    return role, tuple(sorted(word for word in words if word not in _ROLE_OF and word not in _IDLE))
