"""Do mass, stature and muscles fit the recording, and each other?"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import time_spans
from musclesolve.checking.case import Case
from musclesolve.checking.forces.newtons_law import carried_mass, law
from musclesolve.checking.stages import Stage, check_at
from musclesolve.recording.data import SIDE_NAMES
from musclesolve.recording.plates.foot_contacts import support_shares
from musclesolve.results.finding import Finding, Severity, Where, finding

# Differences of the mass from the mass that the forces accelerate: a warning, and an error; and the least number of
# standard deviations of its error.
MASS, FAR_MASS, ERRORS = 0.06, 0.2, 2.0
# Differences where the plates measure only single supports: the pelvis alone shows the rise of the body, to 4 % in
# walking and 10 % in running.
ALONE, FAR_ALONE = 0.15, 0.25
# Body mass index of nearly everybody [kg/m^2]; leg length over stature; mass of a shoe [kg]; strength factor.
INDEX, LEG, SHOE, STRENGTH = (13.0, 45.0), (0.44, 0.60), 1.2, (0.3, 3.0)


@check_at(Stage.SUPPORT, needs=["plates"])
def body_mass(case: Case) -> Iterator[Finding]:
    """Compare the body mass with the mass that the forces accelerate and carry."""
    required, stated, place = law(case), case.trial.subject.mass, case.key("subject", "mass_kg")
    if not stated > 0.0:
        return
    if required is not None:
        if spans := time_spans(required.beside, required.time):
            yield finding("carried_beside", "warning", {}, Where(case.trial.forces[0].path, times=spans))
        fitting, error = carried_mass(case, required)
        off, limit = fitting / stated - 1.0, max(MASS, ERRORS * error / stated)
        if abs(off) >= limit and fitting > 0.0:
            amount = "too much" if off > 0 else "too little, and whether a rail or crutches carry the rest"
            severity: Severity = "error" if abs(off) > FAR_MASS else "warning"
            change = {("subject", "mass_kg"): round(fitting, 1)}
            values = {"fitting": fitting, "given": stated, "off": off, "limit": limit, "amount": amount}
            yield finding("mass", severity, values, place, change=change)
        return
    # Force on the plate of each foot in single support over the body weight.
    for side, shares in support_shares(case.trial).items():
        off = float(np.median(shares)) - 1.0 if shares else 0.0
        if abs(off) >= ALONE:
            change = {("subject", "mass_kg"): round((1.0 + off) * stated, 1)}
            values = {
                "side": SIDE_NAMES[side],
                "share": 1.0 + off,
                "given": stated,
                "limit": ALONE,
                "more": "" if off > 0.0 else ", and whether the whole foot stands on it",
            }
            severity = "error" if abs(off) > FAR_ALONE else "warning"
            where = replace(place, plate=SIDE_NAMES[side])
            yield finding("mass.single_support", severity, values, where, change=change)


@check_at(Stage.SUPPORT)
def unusual_values(case: Case) -> Iterator[Finding]:
    """Find very rare values of the subject and of the muscles."""
    subject, factor = case.trial.subject, case.trial.settings.muscles.strength
    mass, stature, leg, shoe = subject.mass, subject.stature, subject.leg_length, subject.shoe_mass
    index = mass / stature**2
    unusual: dict[str, dict[str, Any]] = {}
    if np.isfinite(index) and not INDEX[0] <= index <= INDEX[1]:
        limits = {"low": INDEX[0], "high": INDEX[1]}
        unusual["mass_kg"] = {"mass": mass, "stature": stature, "index": index} | limits
    if leg is not None and not LEG[0] <= leg / stature <= LEG[1]:
        unusual["leg_length_m"] = {"leg": leg, "share": leg / stature, "low": LEG[0], "high": LEG[1]}
    if shoe > SHOE:
        unusual["shoe_mass_kg"] = {"mass": shoe, "high": SHOE}
    for key, values in unusual.items():
        yield finding(f"subject.{key}", "warning", values, case.key("subject", key))
    if not isinstance(factor, str) and not STRENGTH[0] <= factor <= STRENGTH[1]:
        place = case.key("muscles", "strength")
        values = {"factor": factor, "low": STRENGTH[0], "high": STRENGTH[1]}
        yield finding("strength", "warning", values, place)
