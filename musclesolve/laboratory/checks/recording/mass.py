"""Body mass: stated, and by the plates that accelerate and carry the body (`newtons_law`)."""

from collections.abc import Iterator

from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory.checks.case import Case, recording_check
from musclesolve.laboratory.checks.newtons_law import carried_mass, law
from musclesolve.laboratory.results.finding import Cost, Finding, error_if, finding

MASS, FAR_MASS = 0.06, 0.2
"""Difference of the stated mass from the mass on the plates, as a share: clothes, shoes and plates make 2 to 4 %; from
the second on every force is wrong by more than muscles of two people differ."""
ERRORS = 2.0
"""Least number of standard deviations of the mass on the plates."""


@recording_check("plates", "upright")
def body_mass(case: Case) -> Iterator[Finding]:
    """Compare the stated body mass with the mass that the forces accelerate and carry."""
    required, stated = law(case), case.trial.subject.mass
    if required is None or not stated > 0.0:
        return
    fitting, error = carried_mass(case, required)
    off = fitting / stated - 1.0
    if abs(off) >= max(MASS, ERRORS * error / stated) and fitting > 0.0:
        change = {("subject", "mass_kg"): round(fitting, 1)}
        values = {
            "fitting": fitting,
            "given": stated,
            "off": off,
            "limit": max(MASS, ERRORS * error / stated),
        }
        cost = Cost(abs(fitting - stated) * STANDARD_GRAVITY, "N", "the pelvis")
        place = case.key("subject", "mass_kg")
        yield finding("mass", error_if(abs(off) > FAR_MASS), values, place, cost=cost, change=change)
