"""Parameters of a person's muscles that are fitted: factors that several muscles share, their priors and bounds.

A factor is free by the word of a user ("gastrocnemius", "other_plantarflexors_l", "achilles", "soleus_r", "each",
"all") or because a measurement shows its effect:

    fascicle lengths     optimal fiber and tendon slack length of the measured muscle with its other heads, and, where
                         tendons are elastic, the strain of its tendon (of the Achilles tendon for all that share it)
    EMG                  the strength of the function groups whose muscles have a channel
    strength tests       the strength of the function groups that turn a tested joint

Lengths and strains hold for both legs, unless a word names a side; strength has a factor of each leg.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import unknown_name
from musclesolve._util.sides import OTHER, SIDES, side_of, split_side, with_side
from musclesolve.errors import input_error
from musclesolve.models.opensim.muscle_set import long_name
from musclesolve.muscles.muscle_parameters import QUANTITIES
from musclesolve.muscles.strength import ACHILLES, achilles_muscles

STRENGTH, FIBER, SLACK, STRAIN = QUANTITIES
NAMES = {"strength": STRENGTH} | {name: name for name in QUANTITIES}
"""Word of a user for a quantity -> its name."""
ALL, EACH, GROUPS = "all", "each", "groups"
DELAY, SHAPE = "emg_delay", "emg_shape"
OF_EMG = (DELAY, SHAPE)
"""Numbers of EMG that are free on request; the gain of every channel is free in any case."""


@dataclass(frozen=True)
class Factor:
    """The logarithm of a factor that some muscles share: normal around zero, within bounds.

    name: in results; quantity: one of `QUANTITIES`; muscles: names with side; around: the value of the quantity around
    which it is normal instead, where that was measured in people.
    """

    name: str
    quantity: str
    muscles: tuple[str, ...]
    prior_sd: float
    lower: float
    upper: float
    around: float | None = None

    def on(self, names: Sequence[str]) -> Array:
        """The direction (4, n) of the logarithms of `QUANTITIES` of n muscles by name."""
        direction = np.zeros((len(QUANTITIES), len(names)))
        direction[QUANTITIES.index(self.quantity)] = np.isin(names, self.muscles)
        return direction


@dataclass(frozen=True)
class Measured:
    """The measured muscles, by fascicles, EMG and strength; and whether tendons are elastic."""

    fascicles: tuple[str, ...]
    emg: tuple[str, ...]
    strength: tuple[str, ...]
    elastic: bool


@dataclass(frozen=True)
class Anatomy:
    """Anatomy of n muscles: their units (heads of one muscle), function groups, and the muscles that pull at the
    Achilles tendon.

    words: word without side -> names with side, of one leg or both.
    """

    names: tuple[str, ...]
    unit: Mapping[str, str]
    group: Mapping[str, str]
    achilles: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_names(cls, names: Sequence[str]) -> Self:
        """The anatomy of muscles by their names in a set or a model, with side."""
        units = bundled_toml(__package__, "priors.toml")["units"]
        owner = {head: unit for unit, heads in units.items() for head in heads}
        unit, group, words = {}, {}, dict[str, list[str]]()
        achilles = tuple(names[k] for k in achilles_muscles([(name,) for name in names]))
        for name in names:
            stem, _ = split_side(name)
            long, of_function, _ = long_name(stem)
            unit[name], group[name] = owner.get(long, long), of_function
            for word in dict.fromkeys((stem, long, unit[name], of_function)):
                words.setdefault(word, []).append(name)
        if achilles:
            words[ACHILLES] = list(achilles)
        return cls(tuple(names), unit, group, achilles, {word: tuple(sides) for word, sides in words.items()})

    def meant(self, word: str, quantity: str) -> dict[str, tuple[str, ...]]:
        """The muscles of each factor that a word means, by the name of the factor."""
        if word in (EACH, GROUPS):
            words = dict.fromkeys((self.unit if word == EACH else self.group).values())
            return {name: of for one in words for name, of in self.meant(one, quantity).items()}
        stem, side = split_side(word)
        known = {ALL: self.names, **self.words}
        muscles = known.get(word, ()) or tuple(name for name in known.get(stem, ()) if side_of(name) == side)
        if not muscles:
            likely = [*known, *(with_side(one, s) for one in self.words for s in SIDES)]
            raise unknown_name(word, "muscle, unit or group", likely, " of these trials", where=quantity)
        sides = dict.fromkeys(side_of(name) for name in muscles)
        if side != OTHER or quantity != STRENGTH or len(sides) == 1:
            alone = len(sides) == 1 and side == OTHER and OTHER not in sides
            return {with_side(word, next(iter(sides))) if alone else word: muscles}
        return {with_side(word, one): tuple(x for x in muscles if side_of(x) == one) for one in sides}


def usual_words(anatomy: Anatomy, measured: Measured) -> dict[str, list[str]]:
    """Return the parameters that are free by default, words by quantity (module docstring)."""
    words: dict[str, dict[str, None]] = {quantity: {} for quantity in QUANTITIES}
    for name in measured.fascicles:
        words[FIBER][anatomy.unit[name]] = words[SLACK][anatomy.unit[name]] = None
        if measured.elastic:
            words[STRAIN][ACHILLES if name in anatomy.achilles else anatomy.unit[name]] = None
    for name in (*measured.emg, *measured.strength):
        words[STRENGTH][anatomy.group[name]] = None
    return {quantity: list(names) for quantity, names in words.items() if names}


def free_factors(
    names: Sequence[str],
    measured: Measured,
    free: Mapping[str, Iterable[str]] | None = None,
    fixed: Mapping[str, Iterable[str]] | None = None,
) -> tuple[Factor, ...]:
    """The factors that are fitted.

    Args:
        names: of all muscles, with side.
        measured: the measured curves.
        free: quantity ("strength", "optimal_fiber_length", "tendon_slack_length", "tendon_strain") -> words; None:
            what was measured decides.
        fixed: quantity -> words that are not free though something was measured; no words: none of the quantity.
    """
    anatomy = Anatomy.from_names(names)
    chosen = usual_words(anatomy, measured) if free is None else _by_quantity(free)
    for quantity, words in chosen.items():
        if not words:  # the usual parts of a quantity
            words.append({STRENGTH: GROUPS, STRAIN: ALL}.get(quantity, EACH))
    held = _by_quantity(fixed or {})
    for quantity, words in held.items():
        both = set(words) & set(chosen.get(quantity, ())) if free is not None else set()
        if both or (free is not None and not words and chosen.get(quantity)):
            raise input_error(
                "conflict",
                where="free",
                problem=f"{quantity} of {', '.join(sorted(both)) or 'all muscles'} is free and fixed",
                expected="each parameter free or fixed",
                remedy="leave out one of the two",
            )
    if STRAIN in chosen and not measured.elastic:
        raise input_error(
            "conflict",
            where="free",
            problem="the strain of tendons is free, and tendons are rigid",
            expected="tendon strains of elastic tendons only",
            remedy='write tendon = "elastic" in [muscles] of the trials, or leave tendon_strain out',
        )
    factors: dict[tuple[str, tuple[str, ...]], Factor] = {}
    for quantity in QUANTITIES:
        taken, prior = held.get(quantity), bundled_toml(__package__, "priors.toml").get(quantity, {})
        groups = (muscles for word in taken or () for muscles in anatomy.meant(word, quantity).values())
        fixed_muscles = {name for muscles in groups for name in muscles}
        for word in chosen.get(quantity, ()) if taken is None or taken else ():
            for name, meant in anatomy.meant(word, quantity).items():
                if muscles := tuple(candidate for candidate in meant if candidate not in fixed_muscles):
                    units = {anatomy.unit[muscle] for muscle in muscles}
                    sd = max(prior.get("spread", {}).get(unit, prior["sd"]) for unit in units)
                    achilles = set(muscles) <= set(anatomy.achilles)
                    around = prior.get("measured", {}).get(ACHILLES) if achilles else None
                    numbers = float(sd), *np.log(prior["bounds"]).tolist(), around
                    factor = Factor(f"{quantity} of {name}", quantity, muscles, *numbers)
                    factors.setdefault((quantity, muscles), factor)
    if not factors:
        raise input_error(
            "missing_argument",
            where="trials",
            problem="there is nothing to calibrate: no parameter of a muscle is free",
            expected="EMG ([emg]), fascicle lengths ([fascicle]) or strength tests, or parameters that are said free",
            remedy="add what was measured to the trial files, or say what is free, as --free strength=groups",
        )
    return tuple(factors.values())


def _by_quantity(words: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Words by the names of quantities."""
    names_by_quantity: dict[str, list[str]] = {}
    for name, names in words.items():
        if name not in NAMES:
            raise unknown_name(name, "parameter of muscles", [*NAMES, *OF_EMG], where="free")
        names_by_quantity.setdefault(NAMES[name], []).extend([names] if isinstance(names, str) else names)
    return names_by_quantity


def stated_words(stated: Iterable[str]) -> dict[str, list[str]]:
    """Words by quantity from texts such as "strength=groups,soleus" or "emg_delay"."""
    words: dict[str, list[str]] = {}
    for text in stated:
        quantity, _, listed = text.partition("=")
        if quantity not in (*NAMES, *OF_EMG):
            raise unknown_name(quantity, "parameter of muscles", [*NAMES, *OF_EMG], where=text)
        words.setdefault(quantity, []).extend(word.strip() for word in listed.split(",") if word.strip())
    return words


def directions_of(factors: Sequence[Factor], names: Sequence[str]) -> Array:
    """The directions (K, 4, n) of some factors in the numbers of n muscles by name."""
    return np.stack([factor.on(names) for factor in factors]) if factors else np.zeros((0, 4, len(names)))
