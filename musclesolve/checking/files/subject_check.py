"""Do mass, stature and muscles fit the recording, and each other?"""

from __future__ import annotations

import numpy as np

from musclesolve.checking.case.case import Case
from musclesolve.checking.case.containment import attempt
from musclesolve.checking.forces.newton import law, total_force
from musclesolve.recording.data import SIDE_NAMES
from musclesolve.recording.plates.foot_contacts import support_shares

# How far the mass may be from the one that the forces accelerate: noted as wrong, and surely wrong.
MASS, FAR_MASS = 0.06, 0.2
# The same where the plates hold no more than single supports: the pelvis alone shows how the body rises, to 4 % in
# walking and 10 % in running.
ALONE, FAR_ALONE = 0.15, 0.25
# Body mass index of nearly everybody [kg/m^2]; leg length over stature; mass of a shoe [kg]; strength factor.
INDEX, LEG, SHOE, STRENGTH = (13.0, 45.0), (0.44, 0.60), 1.2, (0.3, 3.0)


def mass(case: Case) -> None:
    """Compare the body mass with that which the forces accelerate and carry."""
    found, given = law(case), case.trial.subject.mass
    if not given > 0.0:
        return
    if found is None:
        _by_single_support(case, given)
        return
    due = found.due[found.frames][:, 2]
    force = total_force(case, found.time[found.frames])[:, 2]
    fitting = float(due @ force) / float(due @ due)
    off = fitting / given - 1.0
    if abs(off) < MASS or fitting <= 0.0:
        return
    case.tell(
        "mass",
        "error" if abs(off) > FAR_MASS else "warning",
        f"the ground carries and accelerates {fitting:.1f} kg, mass_kg is {given:g} ({100 * off:+.0f} %, expected "
        f"within {100 * MASS:.0f} %)",
        f"weigh the person with shoes and write mass_kg; or check the calibration of the plates, which read "
        f"{'too much' if off > 0 else 'too little'} if the mass is right",
        key=("subject", "mass_kg"),
    )


def _by_single_support(case: Case, given: float) -> None:
    """Compare what the plate of each foot bears while it carries the body alone with what the body weighs."""
    for side, shares in support_shares(case.trial).items():
        off = float(np.median(shares)) - 1.0 if shares else 0.0
        if abs(off) < ALONE:
            continue
        case.tell(
            "mass",
            "error" if abs(off) > FAR_ALONE else "warning",
            f"while the {SIDE_NAMES[side]} foot carries the body alone, its plate bears {100 * (1.0 + off):.0f} % of "
            f"what {given:g} kg weigh and rise by, expected within {100 * ALONE:.0f} %",
            "check mass_kg and the calibration of the plate"
            + ("" if off > 0.0 else ", and whether the foot stands on it as a whole"),
            key=("subject", "mass_kg"),
            plate=side,
        )


def subject(case: Case) -> None:
    """Look for values that hardly anybody has."""
    person = case.trial.subject
    index = person.mass / person.stature**2
    if np.isfinite(index) and not INDEX[0] <= index <= INDEX[1]:
        case.tell(
            "subject",
            "warning",
            f"{person.mass:g} kg at {person.stature:g} m is a body mass index of {index:.0f} kg/m2, nearly everybody "
            f"has {INDEX[0]:.0f} to {INDEX[1]:.0f}",
            "check mass_kg and stature_m",
            key=("subject", "mass_kg"),
        )
    if person.leg_length is not None and not LEG[0] <= person.leg_length / person.stature <= LEG[1]:
        case.tell(
            "subject",
            "warning",
            f"a leg of {person.leg_length:g} m is {100 * person.leg_length / person.stature:.0f} % of the stature, "
            f"usual are {100 * LEG[0]:.0f} to {100 * LEG[1]:.0f} %",
            "measure from the anterior superior iliac spine to the medial malleolus",
            key=("subject", "leg_length_m"),
        )
    if person.shoe_mass > SHOE:
        case.tell(
            "subject",
            "warning",
            f"one shoe weighs {person.shoe_mass:g} kg, usual are 0.2 to {SHOE:g} kg",
            "write the mass of one shoe in kilograms",
            key=("subject", "shoe_mass_kg"),
        )


def strength(case: Case) -> None:
    """Look at the factor on all muscle forces."""
    factor = case.trial.muscles.strength_factor
    if not STRENGTH[0] <= factor <= STRENGTH[1]:
        case.tell(
            "strength",
            "warning",
            f"every muscle is taken as {factor:g} times as strong as in the database, usual are {STRENGTH[0]:g} to "
            f"{STRENGTH[1]:g}",
            "write strength_factor = 1.0, or the factor that the person's measured strength asks for",
            key=("muscles", "strength_factor"),
        )


def all_of_person(case: Case) -> None:
    """Examine the values of the person."""
    attempt(case, mass, subject, strength)
