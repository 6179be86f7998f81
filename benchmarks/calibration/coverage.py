"""Synthetic persons with known muscles: how often the 95 % intervals of a calibration cover the truth.

python -m benchmarks.calibration.coverage [PERSONS]

The bundled stride with elastic tendons, right leg: three motions whose moments are 0.8, 1 and 1.2 times those of the
stride. Every person's factors are drawn from the priors, anew where such muscles cannot produce the moments: fiber and
slack length of gastrocnemius and soleus, strain of the Achilles tendon, strength of three function groups. From the
forces that these muscles share, envelopes of six muscles are made (gains drawn, too) and fascicle lengths of two, with
noise: white in half of the persons, of samples that are alike over 50 ms in the others. Printed for each parameter: the
share of persons whose interval covers the truth, and how much narrower it is than that of the prior; then the
directions that were named as not determined.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import replace

import numpy as np
from rich.table import Table

from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.data.bundled import reference_stride
from musclesolve.pipeline.measured_activation import MeasuredActivation
from musclesolve.pipeline.measured_fascicles import MeasuredFascicles
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.pipeline.run import prepare_recording, recording_of
from musclesolve.studies.calibration.calibrate import CalibrationProblem
from musclesolve.studies.calibration.free_parameters import Measured, free_factors
from musclesolve.studies.calibration.gauss_newton import undetermined
from musclesolve.studies.calibration.inner_optimum import Optimum
from musclesolve.studies.calibration.observations import LACKING, TrialMuscles

LOADS = (0.8, 1.0, 1.2)
FASCICLES = ("gastrocnemius_medial_r", "soleus_r")
CHANNELS = (
    *("gastrocnemius_medial_r", "soleus_r", "tibialis_anterior_r"),
    *("vastus_lateralis_r", "biceps_femoris_long_head_r", "gluteus_medius_middle_r"),
)
FREE = {
    "optimal_fiber_length": ["gastrocnemius", "soleus"],
    "tendon_slack_length": ["gastrocnemius", "soleus"],
    "tendon_strain": ["achilles"],
    "strength": ["triceps_surae", "quadriceps_femoris", "hamstrings"],
}
FASCICLE_NOISE, EMG_NOISE, ALIKE = 0.002, 0.05, 5


def person(number: int, stride: RecordedBody) -> tuple[CalibrationProblem, Array]:
    """The calibration of a person, and its true parameters."""
    random = np.random.default_rng([1, number])
    bodies = []
    for load in LOADS:
        parts = tuple(replace(part, moment=load * part.moment) for part in stride.parts)
        bodies.append(replace(stride, parts=parts))
    time_ = stride.time
    empty = MeasuredActivation(
        CHANNELS, tuple((name,) for name in CHANNELS), time_, np.zeros((len(time_), 6)), 0.08, 0.0
    )
    nothing = MeasuredFascicles(FASCICLES, FASCICLES, time_, np.zeros((len(time_), 2)), FASCICLE_NOISE)
    measured = Measured(FASCICLES, CHANNELS, (), elastic=True)
    factors = free_factors(stride.muscles, measured, FREE)

    def problem_of(made: list[RecordedBody]) -> CalibrationProblem:
        return CalibrationProblem([TrialMuscles(f"load {k}", body) for k, body in enumerate(made)], factors)

    blank = problem_of([replace(body, emg=empty, fascicles=nothing) for body in bodies])
    prior, truth, optima = blank.prior, blank.parent, None
    while optima is None:
        drawn = prior.mean + prior.sd * random.standard_normal(len(prior.mean))
        truth = np.clip(drawn, prior.lower + 0.02, prior.upper - 0.02)
        optima = shared(blank, truth)
    white = number % 2 == 0

    def noise(shape: tuple[int, int], sd: float) -> Array:
        raw = random.standard_normal((shape[0] + ALIKE - 1, shape[1]))
        if white:
            return sd * raw[: shape[0]]
        return sd * np.sqrt(ALIKE) * np.stack([raw[k : k + shape[0]] for k in range(ALIKE)]).mean(axis=0)

    made = []
    names = stride.muscles
    for body, optimum in zip(bodies, optima, strict=True):
        columns = [names.index(name) for name in CHANNELS]
        gains = np.exp(truth[[blank.emg.gain[name] for name in CHANNELS]])
        envelope = optimum.activation[:, columns] / gains
        envelope = envelope + noise(envelope.shape, EMG_NOISE * float(np.nanmax(envelope)))
        length = optimum.fiber_length[:, [names.index(name) for name in FASCICLES]]
        length = length + noise(length.shape, FASCICLE_NOISE)
        made.append(
            replace(body, emg=replace(empty, envelope=envelope), fascicles=replace(nothing, length=length))
        )
    return problem_of(made), truth


def shared(problem: CalibrationProblem, truth: Array) -> list[Optimum] | None:
    """The optimum of each trial with true muscles; None where they lack something of a moment."""
    optima = []
    for trial, directions in zip(problem.trials, problem.directions, strict=True):
        (part,), (own,) = trial.parts, directions
        optimum = part.solve(np.einsum("k,kqn->qn", truth[: len(own)], own))
        if optimum is None or np.nanmax(np.abs(optimum.reserve)) > LACKING:
            return None
        optima.append(optimum)
    return optima


def main(count: int) -> None:
    """Print the table."""
    trial = recording_of(reference_stride(), "this comparison")
    stride = prepare_recording(replace(trial, muscles=replace(trial.muscles, tendon="elastic")), side="r")
    covered, narrower, named, seconds = [], [], Counter[str](), []
    failed = 0
    for number in range(count):
        problem, truth = person(number, stride)
        start = time.perf_counter()
        first = problem.observed(problem.parent, problem.every)
        if first is None:
            failed += 1
            continue
        posterior, _ = problem.solve(first)
        if not posterior.converged:
            failed += 1
            continue
        seconds.append(time.perf_counter() - start)
        sd = np.sqrt(np.diag(posterior.covariance))
        covered.append(np.abs(posterior.theta - truth) < 1.96 * sd)
        narrower.append(sd / problem.prior.sd)
        named.update(each.sentence for each in undetermined(posterior, problem.prior, problem.names))
    table = Table("parameter", "covered [%]", "sd over that of the prior", title=f"{len(covered)} persons")
    for name, share, width in zip(
        problem.names, 100.0 * np.mean(covered, axis=0), np.median(narrower, axis=0), strict=True
    ):
        table.add_row(name, f"{share:.0f}", f"{width:.2f}")
    console.print(table)
    console.print(f"all: {100.0 * np.mean(covered):.1f} % covered; {np.median(seconds):.1f} s a person")
    console.print(f"{failed} persons more for whom the fit did not converge, as the summary then says")
    for sentence, times in named.most_common(6):
        console.print(f"{times} times: {sentence}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
