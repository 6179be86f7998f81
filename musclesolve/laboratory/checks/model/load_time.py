"""Do the loads carry and accelerate the mass of the model, at the times of the motion?

With the force f(t) that the body needs and the force F(t) of the loads, k F(t + d) = f(t) + e: a shift d in time, and a
scale k, so that a wrong mass does not count as a shift. The misfit

    J = mean over the frames of min(|k F(t + d) - f(t)|, C)^2 / C^2

is capped, so that frames in which a foot stands beside the plates count the same at every shift. From the best shift of
a search, d and k follow by Gauss and Newton.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.laboratory.checks.model.model_case import SERIOUS, ModelCase, scaled
from musclesolve.laboratory.checks.recording.mass import FAR_MASS, MASS
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding

CAP = 0.25
"""Cap C of the force that loads leave [body weights]."""
UNCLEAR = 0.3
"""Misfit J at the best shift from which loads show neither time nor mass: public walks have up to 0.2."""
LATE_S = 0.03
"""Shift that is reported [s]; five public walks show up to 0.006, two with one foot on a plate 0.02."""
FARTHEST_S, STEP_S = 0.3, 0.01
"""Largest shift that is tried, and the step of the search [s]."""
CYCLE_S = 1.0
"""Shortest recording that shows time and mass [s]: errors of a body model vary with the cycle."""


@dataclass(frozen=True)
class Fit:
    """Shift d [s] and scale k of the loads with which they carry the body best, and the misfit J there."""

    shift: float
    scale: float
    misfit: float


def best_fit(case: ModelCase) -> Fit | None:
    """The best shift and scale; None where no loads fit, or the recording is shorter than a cycle."""
    tried = [_fit_at(case, float(shift)) for shift in np.arange(-FARTHEST_S, FARTHEST_S + 1e-9, STEP_S)]
    fits = [fit for fit in tried if fit is not None]
    if not fits or np.ptp(case.time) < CYCLE_S:
        return None
    best = min(fits, key=lambda fit: fit.misfit)
    for _ in range(5):
        force = case.force(best.shift)
        left = case.due - best.scale * force
        kept = _shows(case, force, best.shift) & (np.linalg.norm(left, axis=1) < CAP * case.model.weight)
        patterns = np.stack([best.scale * np.gradient(force, case.time, axis=0), force], axis=2)[kept]
        change = np.linalg.lstsq(patterns.reshape(-1, 2), left[kept].ravel())[0]
        shift = best.shift + float(np.clip(change[0], -STEP_S, STEP_S))
        if (fit := _fit_at(case, shift)) is None:
            return None
        best = replace(fit, scale=best.scale + float(change[1]))
    return best if best.misfit < UNCLEAR else None


def _shows(case: ModelCase, force: Array, shift: float) -> Mask:
    """Frames (T,) in which forces (T, 3) at a shift [s] act and are known."""
    acts = np.linalg.norm(force, axis=1) > 0.2 * CAP * case.model.weight
    return np.asarray(acts & case.inside & case.covered(case.time + shift))


def _fit_at(case: ModelCase, shift: float) -> Fit | None:
    """Scale and misfit of the loads at a shift; the scale is the median over the frames with great forces."""
    force = case.force(shift)
    shows = _shows(case, force, shift)
    great = case.great(force) & shows
    if 2 * shows.sum() < case.inside.sum() or great.sum() < 2:
        return None
    power = (force[great] ** 2).sum(axis=1)
    scale = float(np.median((force * case.due).sum(axis=1)[great] / power))
    left = np.linalg.norm(scale * force - case.due, axis=1)[shows] / (CAP * case.model.weight)
    return Fit(shift, scale, float((np.minimum(left, 1.0) ** 2).mean())) if scale > 0.0 else None


def delay_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Find a shift in time between loads and motion."""
    fit = best_fit(case)
    if fit is None or abs(fit.shift) < LATE_S:
        return
    late = fit.shift > 0.0
    values = {"size": abs(fit.shift), "late": "late" if late else "early", "limit": LATE_S}
    values |= {"add": "subtract" if late else "add", "to": "from" if late else "to"}
    cost = case.cost_of(lambda load: replace(load, time=load.time - fit.shift))
    yield case.fault("time_offset.loads", "error", values, cost)


def mass_of_loads(case: ModelCase) -> Iterator[Finding]:
    """Compare the mass of the model with the mass that the loads carry and accelerate."""
    fit, mass = best_fit(case), case.model.mass
    if fit is None or abs(1.0 / fit.scale - 1.0) < MASS:
        return
    factor = 1.0 / fit.scale
    plates = case.cost_of(lambda load: scaled(load, fit.scale, "force", "moment"))
    values = {"fitting": factor * mass, "given": mass, "off": factor - 1.0, "limit": MASS, "factor": factor}
    values |= {"plates": 0.0 if plates is None else plates.size}
    cost = case.cost_of_wrench((factor - 1.0) * case.need)
    far = abs(factor - 1.0) > FAR_MASS and cost is not None and cost.size > SERIOUS * mass
    yield finding("mass.model", error_if(far), values, Where(case.model.file), cost=cost)
