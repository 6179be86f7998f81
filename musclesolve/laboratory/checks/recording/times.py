"""Times of the samples: evenly spaced, and often enough for the motion of a person."""

from collections.abc import Iterator
from functools import partial

from musclesolve.laboratory.checks.case import ROLES, Case, recording_check, refusal
from musclesolve.laboratory.results.finding import Finding, Where, finding
from musclesolve.laboratory.trial.recording_checks import check_sampling

LOWEST_RATE_HZ = 50.0
"""Least rate of samples for walking [Hz]: four fifths of the power of its accelerations lie below 10 Hz."""


@recording_check()
def sample_times(case: Case) -> Iterator[Finding]:
    """Report files whose samples are not evenly spaced in time, which a filter would distort."""
    sampled = [getattr(case.trial, role) for role in ROLES]
    files = {of.path: of.time for of in (*sampled, *case.trial.forces) if of is not None}
    for path, time in files.items():
        yield from refusal("uneven_samples", partial(check_sampling, time, path))


@recording_check()
def sampling_rates(case: Case) -> Iterator[Finding]:
    """Note sampling rates that are too low for the motion of a person."""
    rates = [("markers", case.trial.markers.rate, case.trial.markers.path)]
    rates += [("forces", plate.rate, plate.path) for plate in case.trial.forces[:1]]
    for what, rate, path in rates:
        if round(rate) < LOWEST_RATE_HZ:  # as a camera of 49.95 Hz is called
            values = {"recording": what, "rate": rate, "needed": LOWEST_RATE_HZ}
            yield finding("low_rate", "note", values, Where(path))
