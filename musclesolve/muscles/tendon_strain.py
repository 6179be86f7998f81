"""Strains of tendons at one maximum isometric force: of the muscle set or model, or as stated by a user.

A user states a number for all tendons, or numbers by word: "all", a group, "achilles", a muscle. If several words match
a muscle, the most specific word holds, in this order.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations

import numpy as np

from muscle_db import MuscleDatabase
from muscle_db.model import LARGEST_TENDON_STRAIN
from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.checks import check_choice, check_number
from musclesolve._util.names import check_known
from musclesolve.constants import ELASTIC, TENDONS
from musclesolve.errors import input_error

ALL, ACHILLES = "all", "achilles"
_EXPECTED = f"a strain above 0, at most {LARGEST_TENDON_STRAIN:g}, such as 0.05"

TendonStrain = float | Mapping[str, float]
"""Strains as stated by a user: a number, or numbers by word."""
Level = Mapping[str, Sequence[int]]
"""Words of equal specificity, each with the numbers of its muscles."""


def check_tendon(tendon: str, stated: TendonStrain | None) -> None:
    """Check that a kind of tendon is known, and that a stated strain is possible and has an effect."""
    check_choice(tendon, "tendon", TENDONS)
    for word, value in by_word(stated).items():
        named = "the strain" if word == ALL else f"the strain of {word!r}"
        check_number(value, named, _EXPECTED, above=0.0, most=LARGEST_TENDON_STRAIN, where="tendon_strain")
    if stated is not None and tendon != ELASTIC:
        raise input_error(
            "conflict",
            where="tendon_strain",
            problem=f"a tendon strain is stated, and tendons are {tendon}",
            expected="a tendon strain only where tendons are elastic",
            remedy='choose tendon = "elastic" (on the command line --tendon elastic), or leave out '
            "tendon_strain",
        )


def by_word(stated: TendonStrain | None) -> dict[str, float]:
    """Return the stated strains as numbers by word: a number alone holds for all muscles."""
    if stated is None:
        return {}
    return dict(stated) if isinstance(stated, Mapping) else {ALL: stated}


def stated_texts(stated: TendonStrain | None) -> list[str]:
    """Return the stated strains as texts, "achilles 0.08" for each word."""
    return [f"{word} {value:g}" for word, value in by_word(stated).items()]


def set_tendon_strains(database: MuscleDatabase, stated: TendonStrain | None = None) -> Array:
    """Strains of the tendons of a set at one maximum isometric force, (n,).

    Args:
        database: the set, of n muscles.
        stated: instead of the strains of the set. Words are "all", groups of the set, "achilles" (soleus and
            gastrocnemius), names and short names of muscles without side.
    """
    of_set = np.array([muscle.tendon_strain for muscle in database])
    if stated is None:
        return of_set
    groups: dict[str, list[int]] = {}
    for k, muscle in enumerate(database):
        groups.setdefault(muscle.group, []).append(k)
    names = {name: [k] for k, muscle in enumerate(database) for name in (muscle.short_name, muscle.name)}
    achilles = achilles_muscles([(muscle.name, muscle.short_name) for muscle in database])
    return stated_strains(of_set, stated, (groups, {ACHILLES: achilles}, names), database.name)


def stated_strains(own: Array, stated: TendonStrain | None, levels: Sequence[Level], whose: str) -> Array:
    """The strains (n,) with the stated ones in place of `own`, level by level, so that the more specific word holds.

    Args:
        own: strains of the set or model.
        stated: strains stated by the user.
        levels: from the general to the specific, below "all".
        whose: name of the set or model, for messages.
    """
    words = by_word(stated)
    levels = ({ALL: range(len(own))}, *levels)
    members = {name: numbers for level in levels for name, numbers in level.items()}
    for word in words:
        check_known([word], "muscle or group", members, f" in {whose}", where="tendon_strain")
        if word == ACHILLES and not members[word]:
            muscles = [name for name in levels[-1] if name not in (ALL, ACHILLES)]
            raise input_error(
                "unknown_name",
                where="tendon_strain",
                problem=f"{whose} has neither a soleus nor a gastrocnemius, which {ACHILLES!r} means",
                expected=f"words for its muscles: {', '.join(map(str, muscles))}",
                remedy="name muscles instead",
            )
    strain = own.copy()
    for level in levels:
        of_level = [word for word in words if word in level]
        for one, other in combinations(of_level, 2):  # as the name and the short name of a muscle
            if set(level[one]) & set(level[other]):
                raise input_error(
                    "duplicate_name",
                    where="tendon_strain",
                    problem=f"{one!r} and {other!r} mean the same muscle",
                    expected="every muscle once",
                    remedy="remove one of them",
                )
        for word in of_level:
            strain[list(level[word])] = words[word]
    return strain


def achilles_muscles(names: Iterable[Sequence[str]]) -> list[int]:
    """The numbers of the muscles that are soleus or gastrocnemius by one of their names, with or without a side."""
    return [k for k, of_muscle in enumerate(names) if any(map(_of_achilles, of_muscle))]


@cache
def _of_achilles(name: str) -> bool:
    """Return whether a muscle pulls at the Achilles tendon, by its name: r_soleus, GastrocnemiusLateralis1_r."""
    data = bundled_toml(__package__, "achilles.toml")
    heads, stems = data["heads"], data["gastrocnemius"]
    achilles_words = {*data["soleus"], *(text for h in heads for s in stems for text in (h + s, s + h))}
    words = re.findall("[a-z]+", name.casefold())
    return "".join(word for word in words if word not in ("r", "l", "right", "left")) in achilles_words


def check_tendon_strains(strain: Array, names: Sequence[str], whose: str) -> None:
    """Refuse strains (n,) that no elastic tendon can have; files meant for rigid tendons may contain such strains."""
    for name, value in zip(names, strain.tolist(), strict=True):
        if not 0.0 < value <= LARGEST_TENDON_STRAIN:
            raise input_error(
                "bad_number",
                problem=f"the tendon strain of {name} in {whose} is {value:g}",
                expected=_EXPECTED,
                remedy='correct it there, state tendon_strain, or choose tendon = "rigid"',
            )
