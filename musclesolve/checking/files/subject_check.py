"""Do mass, stature and muscles fit the recording, and each other?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from musclesolve.checking.case.case import Case
from musclesolve.checking.finding import Finding
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


def body_mass(case: Case) -> Iterator[Finding]:
    """Compare the body mass with that which the forces accelerate and carry."""
    found, given = law(case), case.trial.subject.mass
    if not given > 0.0:
        return
    if found is None:
        yield from _by_single_support(case, given)
        return
    due = found.due[found.frames][:, 2]
    force = total_force(case, found.time[found.frames])[:, 2]
    fitting = float(due @ force) / float(due @ due)
    off = fitting / given - 1.0
    if abs(off) < MASS or fitting <= 0.0:
        return
    yield Finding(
        "mass",
        "error" if abs(off) > FAR_MASS else "warning",
        f"the ground carries and accelerates {fitting:.1f} kg, mass_kg is {given:g} ({100 * off:+.0f} %, expected "
        f"within {100 * MASS:.0f} %)",
        f"weigh the subject with shoes and write mass_kg; or check the calibration of the plates, which read "
        f"{'too much' if off > 0 else 'too little'} if the mass is right",
        case.key("subject", "mass_kg"),
    )


def _by_single_support(case: Case, given: float) -> Iterator[Finding]:
    """Compare what the plate of each foot bears while it carries the body alone with what the body weighs."""
    for side, shares in support_shares(case.trial).items():
        off = float(np.median(shares)) - 1.0 if shares else 0.0
        if abs(off) >= ALONE:
            yield Finding(
                "mass",
                "error" if abs(off) > FAR_ALONE else "warning",
                f"while the {SIDE_NAMES[side]} foot carries the body alone, its plate bears {100 * (1.0 + off):.0f} % "
                f"of what {given:g} kg weigh and rise by, expected within {100 * ALONE:.0f} %",
                "check mass_kg and the calibration of the plate"
                + ("" if off > 0.0 else ", and whether the foot stands on it as a whole"),
                replace(case.key("subject", "mass_kg"), plate=SIDE_NAMES[side]),
            )


def unusual_values(case: Case) -> Iterator[Finding]:
    """Look for values of the subject and of the muscles that hardly anybody has."""
    subject, factor = case.trial.subject, case.trial.muscles.strength_factor
    index = subject.mass / subject.stature**2
    if np.isfinite(index) and not INDEX[0] <= index <= INDEX[1]:
        yield _unusual(
            case,
            "mass_kg",
            f"{subject.mass:g} kg at {subject.stature:g} m is a body mass index of {index:.0f} kg/m2, nearly everybody "
            f"has {INDEX[0]:.0f} to {INDEX[1]:.0f}",
            "check mass_kg and stature_m",
        )
    leg = subject.leg_length
    if leg is not None and not LEG[0] <= leg / subject.stature <= LEG[1]:
        yield _unusual(
            case,
            "leg_length_m",
            f"a leg of {leg:g} m is {100 * leg / subject.stature:.0f} % of the stature, "
            f"usual are {100 * LEG[0]:.0f} to {100 * LEG[1]:.0f} %",
            "measure from the anterior superior iliac spine to the medial malleolus",
        )
    if subject.shoe_mass > SHOE:
        yield _unusual(
            case,
            "shoe_mass_kg",
            f"one shoe weighs {subject.shoe_mass:g} kg, usual are 0.2 to {SHOE:g} kg",
            "write the mass of one shoe in kilograms",
        )
    if not STRENGTH[0] <= factor <= STRENGTH[1]:
        yield Finding(
            "strength",
            "warning",
            f"every muscle is taken as {factor:g} times as strong as in the database, usual are {STRENGTH[0]:g} to "
            f"{STRENGTH[1]:g}",
            "write strength_factor = 1.0, or the factor that the subject's measured strength asks for",
            case.key("muscles", "strength_factor"),
        )


def _unusual(case: Case, key: str, what: str, remedy: str) -> Finding:
    return Finding("subject", "warning", what, remedy, case.key("subject", key))
