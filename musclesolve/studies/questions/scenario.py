"""Scenarios of a trial: what is changed in each, from numbers or from texts of a command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from musclesolve._util.checks import check_number, check_type
from musclesolve._util.message_text import as_text
from musclesolve.errors import input_error
from musclesolve.studies.questions.muscles_named import check_factor

NOW = "now"
"""Name of the first scenario, the unchanged trial."""
TABLES = ("muscles", "sharing")
"""Tables of the trial file whose settings a scenario may change: the motion stays."""


@dataclass(frozen=True)
class Scenario:
    """Conditions under which a trial is shared.

    Args:
        name: in tables and figures.
        strength: muscle or function group, of a side or of both -> factor on the maximum isometric force; 0: missing.
        torque: degree of freedom, of a side or of both -> least and greatest torque [N m] of an ideal device, which
            chooses the torque of least cost in every frame. Positive as the joint moment.
        spring: degree of freedom, of a side or of both -> stiffness [N m/rad] and angle without torque [deg].
        minimize: target of the torques instead of the cost of the muscles, which the muscles still minimize: a muscle
            or group, the contact force of a joint ("knee", "hip_r"), or the force on a side of the knee
            ("knee_medial", "knee_lateral_r").
        mass: factor on the masses of all segments and on the ground reactions.
        load: [kg] carried on the trunk, the heaviest segment: the feet bear it in proportion to their forces, at their
            centers of pressure.
        settings: "muscles.passive", "sharing.cost", ... -> value, as in the trial file.
    """

    name: str
    strength: Mapping[str, float] = field(default_factory=dict)
    torque: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    spring: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    minimize: str = ""
    mass: float = 1.0
    load: float = 0.0

    def __post_init__(self) -> None:
        for key in ("name", "minimize"):
            check_type(getattr(self, key), str, f"what_if {key}", "text")
        for key in ("strength", "torque", "spring", "settings"):
            check_type(getattr(self, key), Mapping, f"what_if {key}", "a dict")  # type: ignore[type-abstract]
        for key, (least, most, unit) in AMOUNTS.items():
            value = getattr(self, key)
            if not (isinstance(value, int | float | np.number) and least <= value <= most):
                raise input_error(
                    "bad_value",
                    where="what_if",
                    problem=f"{f'{key}={as_text(value)}'!r} of the scenario {self.name!r} is out of range",
                    expected=f"{key} from {least:g} to {most:g} {unit}",
                    remedy=f"write such a number behind {key}=",
                )
        for name, factor in self.strength.items():
            check_factor(name, factor)
        for kind in ("torque", "spring"):
            for dof, pair in getattr(self, kind).items():
                two = isinstance(pair, tuple | list | np.ndarray) and len(pair) == 2
                for value in pair if two else [as_text(pair)]:
                    check_number(value, f"{kind}.{dof}", "two finite numbers", where="what_if")
        for dof, (low, high) in self.torque.items():
            if max(-low, high) > MOST_TORQUE:
                raise input_error(
                    "bad_value",
                    where="what_if",
                    problem=f"a torque of {max(-low, high):g} N m about {dof} is no torque of a device",
                    expected=f"{MOST_TORQUE:g} N m at most",
                    remedy="state the torque in N m, such as 30, not 30000, for 30 N m",
                )
            if not low <= high or low == high == 0.0:
                raise input_error(
                    "bad_range",
                    where="what_if",
                    problem=f"the torque about {dof} lies between {low:g} and {high:g} N m",
                    expected="the smaller limit first, and not zero twice",
                    remedy=f"write torque.{dof}=-30:0 for a torque that only pushes off",
                )
        if self.minimize and not self.torque:
            raise input_error(
                "missing_argument",
                where="what_if",
                problem=f"scenario {self.name} minimizes a force, but no device may act",
                expected="limits of a torque beside minimize",
                remedy="add such as torque.ankle_dorsiflexion=-30:0",
            )

    @classmethod
    def from_text(cls, text: str) -> Scenario:
        """Read "[NAME:] KEY=VALUE, ...", as on the command line.

        soleus=0.5 and triceps_surae_r=0 are strengths, torque.ankle_dorsiflexion=-30:0 limits of a torque [N m],
        spring.knee_flexion=40@10 a spring of 40 N m/rad at rest at 10 degrees, sharing.cost=stress_cubed a setting,
        minimize=knee_medial what torques minimize, mass=1.1 a factor on the body mass, load=10 kilograms carried.

        Raises:
            InputError: what is not of this form, with the part at fault.
        """
        name, colon, rest = text.partition(":")
        if "=" in name:  # the colon of a torque
            name, colon, rest = text.partition(": ")
        words, label = (rest, name.strip()) if colon else (text, text.strip())
        found: dict[str, Any] = {"strength": {}, "torque": {}, "spring": {}, "settings": {}}
        keys: set[str] = set()
        for word in _entries(words):
            key, equals, value = (piece.strip() for piece in word.partition("="))
            kind, dot, of = key.partition(".")
            if not (equals and key and value):
                raise _unreadable(text, word)
            if key in keys:
                raise input_error(
                    "duplicate_name",
                    where="--set",
                    problem=f"{key!r} stands twice in the scenario {text!r}",
                    expected="every muscle, torque, spring and setting once",
                )
            keys.add(key)
            if key == "minimize":
                found["minimize"] = value
            elif key in AMOUNTS:
                number = _number(value)
                found[key] = np.nan if number is None else number
            elif dot and kind in ("torque", "spring"):
                first, mark, second = value.partition(":" if kind == "torque" else "@")
                numbers = _number(first), _number(second or "0")
                if None in numbers or (kind == "torque" and not mark):
                    raise _unreadable(text, word)
                found[kind][of] = numbers
            elif dot and kind in TABLES:
                number = _number(value)
                found["settings"][key] = value if number is None else number
            elif not dot and (number := _number(value)) is not None:
                found["strength"][key] = number
            else:
                raise _unreadable(text, word)
        return cls(label, **found)


def stated_scenarios(given: str | Scenario | Iterable[str | Scenario]) -> list[Scenario]:
    """Read one or many scenarios, as texts or objects; refuse two with the same name."""
    every = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    read = [Scenario.from_text(each) if isinstance(each, str) else each for each in every]
    names = [NOW]
    for each in read:
        if check_type(each, Scenario, "what_if", _SCENARIOS).name in names:
            raise input_error(
                "duplicate_name",
                where="what_if",
                problem=f"two scenarios are called {each.name!r}",
                expected="different names; the first scenario, the trial as it is, is called now",
                remedy="write another name before the colon",
            )
        names.append(each.name)
    return read


_SCENARIOS = "scenarios, each as a text such as 'weak calf: triceps_surae=0.6' or as a Scenario"
MOST_TORQUE = 1000.0
"""Largest torque of a device [N m]; a greater number has a mistaken unit, such as N mm."""
AMOUNTS = {"mass": (0.2, 5.0, "times the masses"), "load": (0.0, 200.0, "kg")}
"""Numbers of a scenario -> least, most and unit."""


def strengths_from_texts(texts: Sequence[str]) -> dict[str, float]:
    """Muscle or group -> factor on its strength, read from "MUSCLE=FACTOR" each."""
    problem, expected = "is not a strength", "a muscle or group with a factor, such as triceps_surae=0.8"
    remedy = "use what-if for torques, springs and settings"
    return _named_numbers(
        texts, -np.inf, where="--strength", problem=problem, expected=expected, remedy=remedy
    )


def contact_from_texts(texts: Sequence[str]) -> dict[str, float] | str:
    """Joint -> largest contact force [body weights], read from "JOINT=NUMBER" each; or "now"."""
    if list(texts) == [NOW]:
        return NOW
    problem = "is no bound of a contact force"
    expected = "JOINT=NUMBER with a number of body weights above zero, or now alone"
    remedy = "write such as --contact knee=2.5, or --contact now"
    return _named_numbers(texts, 0.0, where="--contact", problem=problem, expected=expected, remedy=remedy)


def _named_numbers(texts: Sequence[str], above: float, problem: str, **said: str) -> dict[str, float]:
    """Name -> number above a limit, read from "NAME=NUMBER" each."""
    found = {}
    for text in texts:
        name, _, value = (piece.strip() for piece in text.rpartition("="))
        number = _number(value)
        if not name or number is None or number <= above:
            raise input_error("bad_value", problem=f"{text!r} {problem}", **said)
        found[name] = number
    return found


def _entries(text: str) -> list[str]:
    """The entries KEY=VALUE between commas; a comma within brackets or within a key divides nothing."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0 and "=" in found[-1]:
            found.append("")
        else:
            found[-1] += letter
    return found


def _number(text: str) -> float | None:
    """Read a number; None for any other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _unreadable(text: str, word: str) -> Exception:
    return input_error(
        "bad_value",
        where="--set",
        problem=f"{word.strip()!r} of the scenario {text!r} cannot be read",
        expected="soleus=0.5, torque.ankle_dorsiflexion=-30:0 [N m] (a fixed torque: -10:-10), "
        "spring.knee_flexion=40@10 [N m/rad, degrees] or sharing.cost=NAME, between commas",
        remedy="write one of these; a name for the scenario stands before a colon and a blank",
    )
