"""Maximum isometric forces: from the table, from the table times a factor, or from body mass and stature.

Also a check whether forces and fiber lengths are possible for human muscles, and the strains of tendons at one maximum
isometric force: of the muscle set or model, or as stated by a user.

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
from musclesolve._util.arrays import Array, grouped
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.checks import check_choice, check_number
from musclesolve._util.messages import WarningNote, check_known, few
from musclesolve._util.sides import once_for_both_sides
from musclesolve.constants import ELASTIC, TENDONS
from musclesolve.errors import input_error
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.muscles.settings import MuscleSettings
from musclesolve.tables.settings import settings_of

RULES = settings_of(MuscleSettings)["strength"].words
LARGEST_FACTOR = 100.0


def strengths(
    database: MuscleDatabase,
    optimal_fiber_length: Array,
    mass: float,
    stature: float | None,
    rule: str | float,
) -> Array:
    """Maximum isometric forces (n,) [N] of the muscles of a set.

    Args:
        database: the set, of n muscles.
        optimal_fiber_length: (n,) of the subject [m].
        mass: of the subject [kg].
        stature: of the subject [m]; may be None unless the rule needs muscle volumes.
        rule: "table", "handsfield_2014" (see `from_volumes`), or a factor on the forces of the table.
    """
    rule = checked_strength(rule, database)
    if rule == "handsfield_2014":
        return from_volumes(database, optimal_fiber_length, mass, stature)
    tabulated = np.array([muscle.max_isometric_force for muscle in database])
    return tabulated if isinstance(rule, str) else rule * tabulated


def checked_strength(rule: str | float, database: MuscleDatabase) -> str | float:
    """The rule for the strength; refuses an unknown rule, and one without an entry for every muscle of the set."""
    if not isinstance(rule, str):
        expected = f"a factor above 0, at most {LARGEST_FACTOR:g}"
        return check_number(rule, "strength", expected, above=0.0, most=LARGEST_FACTOR)
    check_choice(rule, "the rule for the strength", RULES)
    if rule == "handsfield_2014":
        for muscle in database:
            _volume_of(muscle.name, database.name)
    return rule


def from_volumes(
    database: MuscleDatabase, optimal_fiber_length: Array, mass: float, stature: float | None
) -> Array:
    """Maximum isometric forces (n,) [N] from muscle volumes, which follow from body mass and stature.

    V = 47 m h + 1285 cm^3 is the volume of all muscles of a lower limb, V_i = b1_i V + b2_i the volume of muscle i
    (Handsfield et al. 2014, J Biomech 47:631-638); F0 = sigma V_i / L0 with the specific tension sigma = 60 N/cm^2 of
    Rajagopal et al. (2016), IEEE Trans Biomed Eng 63:2068-79. Parts of a muscle share its volume so that their forces
    have the ratios of the table F: F0_p = sigma V_i F_p / sum_q (F_q L0_q).
    """
    data = bundled_toml(__package__, "handsfield_2014.toml")
    if stature is None:
        raise input_error(
            "missing_argument",
            problem="muscle volumes need the stature of the subject",
            expected="a subject of a known stature",
            remedy='choose strength = "table"',
        )
    total = leg_muscle_volume(mass, stature)
    tabulated = np.array([muscle.max_isometric_force for muscle in database])
    owner = [_volume_of(muscle.name, database.name) for muscle in database]
    force = np.empty_like(tabulated)
    for name in dict.fromkeys(owner):
        parts = np.array([volume_name == name for volume_name in owner])
        entry = data["muscle"][name]
        volume = entry["share"] * total + entry["offset"]
        if volume <= 0.0:
            raise input_error(
                "bad_value",
                problem=f"the volume of {name} would be {volume:.1f} cm^3 for a body of {mass:g} kg "
                f"and {stature:g} m",
                expected="a body similar to the young adults of the study",
                remedy='choose strength = "table"',
            )
        size = tabulated[parts] @ (100.0 * optimal_fiber_length[parts])  # N cm
        force[parts] = data["specific_tension"] * volume * tabulated[parts] / size
    return force


def leg_muscle_volume(mass: float, stature: float) -> float:
    """Volume V = 47 m h + 1285 [cm3] of the muscles of a leg; m [kg] body mass, h [m] stature (Handsfield 2014)."""
    data = bundled_toml(__package__, "handsfield_2014.toml")
    return float(data["per_mass_and_stature"] * mass * stature + data["least"])


def _volume_of(muscle: str, database: str) -> str:
    """The entry of the volume table for a muscle, or for the muscle of which it is a part."""
    for name, entry in bundled_toml(__package__, "handsfield_2014.toml")["muscle"].items():
        members = entry.get("members", [name])
        if any(muscle == member or muscle.startswith(f"{member}_") for member in members):
            return str(name)
    raise input_error(
        "bad_muscle_set",
        problem=f"there is no volume of the muscle {muscle} of {database}",
        expected="muscles of the lower limb under the names of silva_2003",
        remedy='write strength = "table", or a factor, in [muscles]',
    )


STRONGEST_N = 20000.0
"""Largest possible maximum isometric force of a muscle [N]: 330 cm2 at 60 N/cm2. The largest cross-section measured in
legs is that of the soleus, 52 cm2 on average (Ward et al. 2009, Clin Orthop Relat Res 467:1074-82), and up to twice as
much in strong young men; the soleus of the public models has 6.2 kN."""
WEAKEST_N = 10.0
"""Maximum isometric force that the strongest muscle of any set exceeds [N]: 0.17 cm2 at 60 N/cm2. In kN the strongest
muscles of legs have 3 to 8."""
LONGEST_FIBER_M = 1.0
"""Optimal length that no fiber has [m]; the fibers of the sartorius, the longest ones, have 0.58 m in silva_2003."""
_TENSION = 60.0
"""Specific tension [N/cm2], the highest in models of legs."""


def parameter_warnings(parts: Iterable[MuscleParameters]) -> list[WarningNote]:
    """Sentences on impossible maximum isometric forces and fiber lengths of all muscles; empty without such muscles.

    A muscle that is impossible on both sides is named once, without its side.
    """
    force, fiber = dict[str, float](), dict[str, float]()
    for muscles in parts:
        force |= dict(zip(muscles.names, muscles.max_isometric_force.tolist(), strict=True))
        fiber |= dict(zip(muscles.names, muscles.optimal_fiber_length.tolist(), strict=True))
    sentences = []
    if beyond := [name for name in force if force[name] > STRONGEST_N]:
        largest = max(beyond, key=lambda name: force[name])
        sentences.append(
            f"The maximum isometric force of {few(once_for_both_sides(beyond), 6)} is beyond any human muscle: up to "
            f"{force[largest]:.3g} N ({largest}), a cross-section of {force[largest] / _TENSION:.3g} cm2 at "
            f"{_TENSION:g} N/cm2; at most {STRONGEST_N:g} N is expected. Correct its unit (N) or factor: muscle forces "
            "are shared by strength."
        )
    strongest = max(force, key=lambda name: force[name])
    if force[strongest] < WEAKEST_N:
        sentences.append(
            f"The strongest muscle, {strongest}, has a maximum isometric force of {force[strongest]:.3g} N, and the "
            f"strongest human muscles have more than {WEAKEST_N:g} N. Correct its unit (N, not kN) or factor."
        )
    longest = max(fiber, key=lambda name: fiber[name])
    if fiber[longest] > LONGEST_FIBER_M:
        sentences.append(
            f"The optimal fiber length of {longest} is {fiber[longest]:.4g} m, and no human fiber is longer than "
            f"{LONGEST_FIBER_M:g} m. Correct its unit (m) or factor."
        )
    return [WarningNote(sentence, "muscle_parameters") for sentence in sentences]


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
    groups = grouped((muscle.group, k) for k, muscle in enumerate(database))
    names = {name: [k] for k, muscle in enumerate(database) for name in (muscle.short_name, muscle.name)}
    achilles = achilles_muscles([(muscle.name, muscle.short_name) for muscle in database])
    return stated_strains(of_set, stated, (groups, {ACHILLES: achilles}, names), database.name)


def stated_strains(usual: Array, stated: TendonStrain | None, levels: Sequence[Level], whose: str) -> Array:
    """The strains (n,) with the stated ones in place of `usual`, level by level, so that the more specific word holds.

    Args:
        usual: strains of the set or model.
        stated: strains stated by the user.
        levels: from the general to the specific, below "all".
        whose: name of the set or model, for messages.
    """
    words = by_word(stated)
    levels = ({ALL: range(len(usual))}, *levels)
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
    strain = usual.copy()
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
            strain[list(level[word])] = check_number(words[word], "tendon_strain", _EXPECTED, above=0.0)
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
