"""The parameters of muscles: one record for a set on a subject and for an OpenSim model; muscle sets by name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

import muscle_db
from musclesolve._util.arrays import Array, Indices, grouped
from musclesolve._util.checks import check_real_array, one_or_several
from musclesolve._util.messages import as_text
from musclesolve.errors import InputError, input_error
from musclesolve.muscles.curves.curve_family import CurveFamily, curve_family
from musclesolve.muscles.hill_model import (
    FiberState,
    PassiveElement,
    TendonForce,
    capacity_and_passive,
    fiber_state,
)
from musclesolve.muscles.settings import ParameterSettings
from musclesolve.tables.settings import settings_of

TENDON_STRAIN = 0.049
"""Default strain of a tendon at one maximum isometric force, as in OpenSim's models."""
MAX_SHORTENING_VELOCITY = 10.0
"""Default maximum shortening velocity [optimal fiber lengths / s], not in the source."""
_POSSIBLE = (
    ("tendon_slack_length", "tendon slack length", False, np.inf, "finite numbers from 0 [m]"),
    ("pennation_angle", "pennation angle", False, np.pi / 2, "radians from 0, below pi / 2"),
    ("optimal_fiber_length", "optimal fiber length", True, np.inf, "positive finite numbers [m]"),
    ("max_isometric_force", "maximum isometric force", True, np.inf, "positive finite numbers [N]"),
    (
        "max_shortening_velocity",
        "maximum shortening velocity",
        True,
        np.inf,
        "positive finite numbers [L0 / s]",
    ),
)
"""Parameters, their names in words, whether zero is refused, the least number that is too large, what is expected."""

QUANTITIES = settings_of(ParameterSettings)["quantity"].choices
"""Parameters of a muscle that differ between persons, all above zero or without effect."""

Families = tuple[tuple[CurveFamily, Indices], ...]
"""Families of Hill curves with the muscles that have them, by number; every muscle has one."""


@dataclass(frozen=True, eq=False)
class MuscleParameters:
    """Parameters of n muscles and their tendons, (n,) each.

    max_isometric_force F0 [N], optimal_fiber_length L0 [m], tendon_slack_length [m], pennation_angle at L0 [rad],
    max_shortening_velocity [L0 / s], tendon_strain: of the tendon at one maximum isometric force, without effect for
    rigid tendons; joints_crossed: number of joints that the muscle crosses; families: Hill curves with the muscles that
    have them; passive: the passive elements.
    """

    names: tuple[str, ...]
    max_isometric_force: Array
    optimal_fiber_length: Array
    tendon_slack_length: Array
    pennation_angle: Array
    max_shortening_velocity: Array
    tendon_strain: Array
    joints_crossed: Array
    families: Families
    passive: PassiveElement

    @classmethod
    def from_values(
        cls,
        names: Sequence[str],
        curves: CurveFamily | str,
        max_isometric_force: ArrayLike,
        optimal_fiber_length: ArrayLike,
        tendon_slack_length: ArrayLike,
        pennation_angle: ArrayLike = 0.0,
        max_shortening_velocity: ArrayLike = MAX_SHORTENING_VELOCITY,
        tendon_strain: ArrayLike = TENDON_STRAIN,
        passive: Sequence[ArrayLike] | None = None,
    ) -> Self:
        """Muscles of one joint with the same Hill curves; each parameter (n,), or one number for all muscles.

        For muscles that cross more joints: `dataclasses.replace(muscles, joints_crossed=...)`.

        Args:
            names: of the n muscles.
            curves: a family of Hill curves, or its name ("de_groote_2016").
            max_isometric_force: [N].
            optimal_fiber_length: [m].
            tendon_slack_length: [m].
            pennation_angle: [rad].
            max_shortening_velocity: [optimal fiber lengths / s].
            tendon_strain: at one maximum isometric force.
            passive: the three parameters of `PassiveElement`; as strong as the muscle, with the strains of the family,
                unless given.

        Raises:
            InputError: an unknown family; numbers of another shape, or that no muscle can have.
        """
        family: Any = curves if hasattr(curves, "passive_strain") else curve_family(str(curves))
        element = (
            [max_isometric_force, *family.passive_strain] if passive is None else one_or_several(passive)
        )
        names = tuple(map(str, one_or_several(names)))
        if len(element) != len(PassiveElement._fields):
            raise input_error(
                "bad_shape",
                problem=f"passive = {as_text(passive)}",
                expected="the passive force [N], and the fiber strains where it begins and where it is that force",
            )

        def of_each(value: ArrayLike, name: str) -> Array:
            expected = f"one number, or a number for each of the {len(names)} muscles"
            array = check_real_array(value, name, expected, shapes=((), (len(names),)))
            return np.array(np.broadcast_to(array, len(names)))

        muscles = cls(
            names,
            of_each(max_isometric_force, "max_isometric_force"),
            of_each(optimal_fiber_length, "optimal_fiber_length"),
            of_each(tendon_slack_length, "tendon_slack_length"),
            of_each(pennation_angle, "pennation_angle"),
            of_each(max_shortening_velocity, "max_shortening_velocity"),
            of_each(tendon_strain, "tendon_strain"),
            of_each(1.0, "joints_crossed"),
            ((family, np.arange(len(names))),),
            PassiveElement(*(of_each(value, "passive") for value in element)),
        )
        muscles.check()
        return muscles

    def check(self) -> None:
        """Refuse numbers that no muscle can have; strains of tendons are checked where tendons stretch."""
        for name, what, refuses_zero, most, expected in _POSSIBLE:
            values = getattr(self, name)
            for k in np.flatnonzero(~((values > 0.0 if refuses_zero else values >= 0.0) & (values < most))):
                problem = f"the {what} of {self.names[k]} is {values[k]:g}"
                raise input_error("bad_number", problem=problem, expected=expected)
        force, at_zero, at_one = self.passive
        for k in np.flatnonzero(
            ~((force == 0.0) | (np.isfinite(force) & (force > 0.0) & (at_zero < at_one)))
        ):
            raise input_error(
                "bad_number",
                problem=f"the passive element of {self.names[k]} has the force {force[k]:g} N from "
                f"the strain {at_zero[k]:g} to {at_one[k]:g}",
                expected="a force of 0 or more [N], and a larger strain at this force than where the force begins",
            )

    def scaled(self, quantity: str, factor: ArrayLike) -> Self:
        """The muscles with one of `QUANTITIES` times factors (n,) or one factor; passive elements do not change."""
        return replace(self, **{quantity: getattr(self, quantity) * factor})

    def with_factors(self, factors: Iterable[ArrayLike]) -> Self:
        """The muscles with all `QUANTITIES` times factors (4, n), in their order; the passive elements do not change.

        A factor on F0 belongs to the contractile element alone, as in `path_point_derivatives`.
        """
        return replace(
            self,
            **{name: getattr(self, name) * factor for name, factor in zip(QUANTITIES, factors, strict=True)},
        )

    def fibers(self, length: ArrayLike, velocity: ArrayLike) -> FiberState:
        """Fibers behind rigid tendons for musculotendon lengths (T, n) [m] and their rates (T, n) [m/s]."""
        length, velocity = np.asarray(length, float), np.asarray(velocity, float)
        return fiber_state(length, velocity, self.tendon_slack_length, self.thickness)

    def forces(self, fiber: FiberState) -> TendonForce:
        """Force capacity and passive force at the tendon (T, n) [N] of fibers (T, n), by the curves of each muscle."""
        force, optimal = self.max_isometric_force, self.optimal_fiber_length
        fastest = optimal * self.max_shortening_velocity
        if len(self.families) == 1:
            return capacity_and_passive(fiber, force, optimal, fastest, self.families[0][0], self.passive)
        capacity, passive = np.empty_like(fiber.length), np.empty_like(fiber.length)
        for family, at in self.families:
            part = FiberState(*(array[:, at] for array in fiber))
            element = PassiveElement(*(values[at] for values in self.passive))
            forces = capacity_and_passive(part, force[at], optimal[at], fastest[at], family, element)
            capacity[:, at], passive[:, at] = forces
        return TendonForce(capacity, passive)

    @cached_property
    def thickness(self) -> Array:
        """Thickness L0 sin(a0) (n,) [m]."""
        return np.asarray(self.optimal_fiber_length * np.sin(self.pennation_angle))

    def muscles(self, which: Indices) -> Self:
        """Some of the muscles, by number, in the order of `which`."""
        number = np.zeros(len(self.names), np.intp)
        for k, (_, members) in enumerate(self.families):
            number[members] = k
        chosen = number[which]
        return replace(
            self,
            names=tuple(self.names[k] for k in which),
            families=tuple(
                (family, np.flatnonzero(chosen == k))
                for k, (family, _) in enumerate(self.families)
                if (chosen == k).any()
            ),
            passive=PassiveElement(*(part[which] for part in self.passive)),
            **{name: getattr(self, name)[which] for name in _NUMBERS},
        )


_NUMBERS = [
    field.name for field in fields(MuscleParameters) if field.name not in ("names", "families", "passive")
]


def families_of(curves: Sequence[CurveFamily]) -> Families:
    """The distinct families of curves of n muscles, each with the numbers of its muscles."""
    alike = grouped((repr(family), k) for k, family in enumerate(curves))
    return tuple((curves[members[0]], np.array(members, dtype=np.intp)) for members in alike.values())


def joined_muscles(parts: Sequence[MuscleParameters]) -> MuscleParameters:
    """The muscles of some records, one record after the other."""
    curves = [
        next(family for family, members in part.families if k in members)
        for part in parts
        for k in range(len(part.names))
    ]
    return MuscleParameters(
        names=tuple(name for part in parts for name in part.names),
        families=families_of(curves),
        passive=PassiveElement(*map(np.concatenate, zip(*(part.passive for part in parts), strict=True))),
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _NUMBERS},
    )


def load_muscle_set(name_or_path: str | Path) -> muscle_db.MuscleDatabase:
    """Read a muscle set: a bundled one by its name, or a TOML file."""
    try:
        return muscle_db.load(name_or_path)
    except muscle_db.MuscleDatabaseError as error:
        where = ", ".join(part for part in (error.line and f"line {error.line}", error.field) if part) or None
        texts = {"expected": error.expected, "remedy": error.remedy}
        raise InputError(error.problem, code=error.code, file=error.file, where=where, **texts) from error
