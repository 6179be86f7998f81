"""Muscles of one person: factors on the parameters of a muscle set or of a model, as a calibration finds them.

A fitted parameter j is the natural logarithm of a factor that some muscles share. The number p of muscle i is then

    p_i = parent_i prod_j f_j^E_ij,    sd(ln p_i)^2 = sum_jk E_ij C_jk E_ik,

where E_ij is 1 where the factor j is on this quantity of this muscle, else 0, and C (p, p) is the covariance of ln f.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import few
from musclesolve.muscles.muscle_parameters import QUANTITIES, MuscleParameters
from musclesolve.tables.text_file import stated_table

COMPARED = ("before", "fitted", "predicted")
"""Muscles whose curves a calibration compares with measurement: the parent's, the fitted ones, and the ones fitted
without the compared trial.
"""
USUAL_FACTORS = 0.2, 5.0
"""Range of usual factors: muscles of adults differ less from one another. Factors beyond it are reported."""


@dataclass(frozen=True)
class FittedParameter:
    """A factor that some muscles share.

    name: in results; quantity: one of `QUANTITIES`; muscles: names with side; factor: on the number of the parent. sd,
    prior_sd: standard deviations of the natural logarithm of the factor after and before the calibration; determined:
    False if the trials hardly change it, so that both are nearly equal.
    """

    name: str
    quantity: str
    muscles: tuple[str, ...]
    factor: float
    sd: float
    prior_sd: float
    determined: bool = True


@dataclass(frozen=True, eq=False)
class PersonMuscles:
    """The muscles of one person, as `read_person` reads them.

    name: of the person, if known. parent: the muscles to which the factors apply, a bundled muscle set by its name or
    the path of a file; parent_sha256: of that file as it was at the calibration. trials: paths of the trial files of
    the
    calibration; tendon: its tendons, "rigid" or "elastic". parameters: the p fitted parameters; covariance (p, p): of
    the natural logarithms of their factors. created: the program that wrote the file. numbers: muscle -> quantity ->
    "value", "parent" and "sd" in SI where they differ from a parent that is a model; emg: the fitted EMG parameters
    with their standard deviations; prediction: rms error and correlation of every measured curve for each of
    `COMPARED`. path: of the file; warnings: suspicious entries of the file.
    """

    name: str | None
    parent: str
    parent_sha256: str | None
    trials: tuple[str, ...]
    tendon: str
    parameters: tuple[FittedParameter, ...]
    covariance: Array
    created: str | None = None
    numbers: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    emg: Mapping[str, Any] = field(default_factory=dict)
    prediction: Sequence[Mapping[str, Any]] = ()
    path: Path | None = None
    warnings: tuple[str, ...] = ()

    @property
    def parent_file(self) -> Path | None:
        """The file of the parent; None for a bundled muscle set."""
        return Path(self.parent) if is_own_set(self.parent) else None

    @property
    def muscles(self) -> tuple[str, ...]:
        """The muscles with a factor, in the order of the parameters."""
        return tuple(dict.fromkeys(muscle for part in self.parameters for muscle in part.muscles))

    def exponents(self, quantity: str, names: Sequence[str]) -> Array:
        """The exponents E (n, p) of n muscles: 1 where a fitted parameter acts on this quantity of the muscle."""
        on = [
            np.isin(names, part.muscles) if part.quantity == quantity else np.zeros(len(names), dtype=bool)
            for part in self.parameters
        ]
        return np.stack(on, axis=1).astype(float)

    def factors(self, quantity: str, names: Sequence[str]) -> Array:
        """The factors (n,) on a quantity of n muscles by name; 1 for muscles without any."""
        factor = np.array([part.factor for part in self.parameters])
        return np.asarray(np.where(self.exponents(quantity, names) > 0.0, factor, 1.0).prod(axis=1))

    def spread(self, quantity: str, names: Sequence[str]) -> Array:
        """Standard deviations (n,) of the natural logarithm of a quantity of n muscles; 0 for muscles without any."""
        exponents = self.exponents(quantity, names)
        variance = np.einsum("ij,jk,ik->i", exponents, self.covariance, exponents)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    def applied(self, parameters: MuscleParameters) -> MuscleParameters:
        """The parameters of n muscles, multiplied by the factors of this person.

        See `MuscleParameters.with_factors`.
        """
        return parameters.with_factors(self.factors(quantity, parameters.names) for quantity in QUANTITIES)

    def with_numbers(self, parent: MuscleParameters) -> Self:
        """The person with the numbers that differ from the numbers of the parent's muscles, for the file."""
        names, changed = parent.names, self.applied(parent)
        numbers: dict[str, dict[str, dict[str, float]]] = {}
        for quantity in QUANTITIES:
            before, after = getattr(parent, quantity), getattr(changed, quantity)
            sd = after * self.spread(quantity, names)
            for k in np.flatnonzero(self.exponents(quantity, names).any(axis=1)):
                numbers.setdefault(names[k], {})[quantity] = {
                    "value": float(after[k]),
                    "parent": float(before[k]),
                    "sd": float(sd[k]),
                }
        return replace(self, numbers={name: numbers[name] for name in names if name in numbers})

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The person with other names of muscles; muscles that `names` lacks are left out."""
        parameters = tuple(
            replace(part, muscles=tuple(names[muscle] for muscle in part.muscles if muscle in names))
            for part in self.parameters
        )
        numbers = {names[muscle]: of_muscle for muscle, of_muscle in self.numbers.items() if muscle in names}
        return replace(self, parameters=parameters, numbers=numbers)

    def notes(self, names: Sequence[str], tendon: str) -> list[str]:
        """Sentences on the use of these muscles in a run with n muscles by name and a kind of tendon."""
        parent = self.parent if self.parent_file is None else self.parent_file.name
        count = int(sum(self.exponents(quantity, names).any(axis=1).sum() for quantity in QUANTITIES))
        changed = [name for name in self.muscles if name in names]
        of_file = "" if self.path is None else f" ({self.path.name})"
        notes = [
            f"The muscles belong to {self.name or 'one person'}{of_file}: {count} numbers of {len(changed)} muscles "
            f"differ from {parent}, by {len(self.parameters)} factors calibrated with {tendons(self.tendon)}."
        ]
        if tendon != self.tendon:
            notes.append(
                f"The factors were calibrated with {tendons(self.tendon)} and are used with {tendons(tendon)}: "
                "the fiber and tendon slack lengths do not fit both."
            )
        if unknown := [part.name for part in self.parameters if not part.determined]:
            notes.append(f"The trials of the calibration hardly determine {few(unknown, 6)}.")
        low, high = USUAL_FACTORS
        if far := [
            f"{part.name} ({part.factor:g})" for part in self.parameters if not low <= part.factor <= high
        ]:
            notes.append(f"Factors beyond {low:g} to {high:g}, further than adults differ: {few(far, 6)}.")
        return [*self.warnings, *notes]

    def error_notes(self, names: Sequence[str]) -> list[str]:
        """Sentences on the errors of n muscles by name that come from the calibration."""
        count = {quantity: int(self.exponents(quantity, names).any(axis=1).sum()) for quantity in QUANTITIES}
        listed = [f"{quantity} of {number}" for quantity, number in count.items() if number]
        return [
            f"Errors of muscles come from their calibration, with its covariance ({', '.join(listed)}); all other "
            "numbers of muscles have the usual errors."
        ] * bool(listed)


def tendons(kind: str) -> str:
    """Words for a kind of tendon in a sentence."""
    return f"{kind} tendons"


def is_own_set(database: str) -> bool:
    """Return whether a muscle database is a user's file: a set (TOML) or an OpenSim model."""
    return database.casefold().endswith((".toml", ".osim"))


def parent_of_person(path: str | Path) -> str | None:
    """Return the parent in a file of one person's muscles, "" if not stated; None for any other file."""
    person = stated_table(Path(path), "person")
    return None if person is None else str(person.get("parent", ""))
