"""Synthetic persons with known muscles: how often the 95 % intervals of a calibration cover the truth.

python -m benchmarks.calibration.coverage [PERSONS] [--generator ours|other] [--tendon elastic|rigid]

The bundled stride with elastic tendons, right leg: three motions whose moments are 0.8, 1 and 1.2 times the moments of
the stride. Every person's factors are drawn from the priors, anew where such muscles cannot produce the moments: fiber
and slack length of gastrocnemius and soleus, strain of the Achilles tendon, strength of three function groups. From the
forces that these muscles share, envelopes of six muscles are made (gains drawn, too) and fascicle lengths of two, with
noise: white in half of the persons, of samples that are alike over 50 ms in the others. Printed for each parameter: the
share of persons whose interval covers the truth, how much narrower it is than the interval of the prior, and the error;
then the directions that were named as not determined.

The other generator makes envelopes by another model: excitations u of activations a = (exp(A u) - 1) / (exp(A) - 1)
with A between -2.5 and -0.5 (Lloyd & Besier 2003, J Biomech 36:765-76), in each channel 5 % of the sum of all others
(crosstalk), a gain that drifts by 10 % over a trial, and noise of 5 % that is alike over 80 ms. Gains have no truth
there: muscles alone count. With rigid tendons strength alone is fitted, to EMG alone.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
from rich.table import Table

from benchmarks.arguments import command_line
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.data import reference_stride
from musclesolve.forces import prepare_recording, recording_of
from musclesolve.pipeline.measured_activation import MeasuredActivation, MeasuredFascicles
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.studies.calibration.calibration_problem import CalibrationProblem, undetermined
from musclesolve.studies.calibration.free_parameters import Measured, free_factors
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
SHAPES, CROSSTALK, DRIFT, COLOR = (-2.5, -0.5), 0.05, 0.1, 0.08
"""Of the other generator: range of A, share of other channels, drift of a gain, time over which noise is alike [s]."""


def other_envelopes(
    activation: Array, step: float, shape: Array, size: Array, random: np.random.Generator
) -> Array:
    """Envelopes (T, k) of activations (T, k) by the other generator; shape A and size of each channel, (k,)."""
    excitation = np.log1p(activation * np.expm1(shape)) / shape
    mixed = (excitation + CROSSTALK * (excitation.sum(axis=1, keepdims=True) - excitation)) * size
    drift = 1.0 + DRIFT * random.uniform(-1.0, 1.0, len(size)) * np.linspace(-0.5, 0.5, len(mixed))[:, None]
    keep = np.exp(-step / COLOR)
    noise = np.sqrt(1.0 - keep**2) * random.standard_normal(mixed.shape)
    noise[0] /= np.sqrt(1.0 - keep**2)
    for before, after in pairwise(noise):
        after += keep * before
    return np.asarray(mixed * drift + EMG_NOISE * np.nanmax(mixed, axis=0) * noise)


def person(number: int, stride: RecordedBody, generator: str = "ours") -> tuple[CalibrationProblem, Array]:
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
    elastic = stride.sharing.tendon == "elastic"
    measured = Measured(FASCICLES if elastic else (), CHANNELS, (), elastic=elastic)
    factors = free_factors(stride.muscles, measured, FREE if elastic else {"strength": FREE["strength"]})

    def problem_of(made: list[RecordedBody]) -> CalibrationProblem:
        return CalibrationProblem([TrialMuscles(f"load {k}", body) for k, body in enumerate(made)], factors)

    blank = problem_of([replace(body, emg=empty, fascicles=nothing if elastic else None) for body in bodies])
    prior, truth, optima = blank.prior, blank.parent, None
    while optima is None:
        drawn = prior.mean + prior.root @ random.standard_normal(len(prior.mean))
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
    shape, step = random.uniform(*SHAPES, len(CHANNELS)), float(np.median(np.diff(time_)))
    for body, optimum in zip(bodies, optima, strict=True):
        columns = [names.index(name) for name in CHANNELS]
        gains = np.exp(truth[[blank.emg.gain[name] for name in CHANNELS]])
        envelope = optimum.activation[:, columns] / gains
        if generator == "other":
            envelope = other_envelopes(optimum.activation[:, columns], step, shape, 1.0 / gains, random)
        else:
            envelope = envelope + noise(envelope.shape, EMG_NOISE * float(np.nanmax(envelope)))
        if not elastic:
            made.append(replace(body, emg=replace(empty, envelope=envelope)))
            continue
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


def main(count: int, generator: str = "ours", tendon: str = "elastic") -> None:
    """Print the table."""
    trial = recording_of(reference_stride(), "this comparison")
    stride = prepare_recording(trial.with_settings(muscles={"tendon": tendon}), side="r")
    covered, narrower, off, named, seconds = [], [], [], Counter[str](), []
    failed = 0
    for number in range(count):
        problem, truth = person(number, stride, generator)
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
        kept = slice(None, len(problem.factors) if generator == "other" else None)
        sd = np.sqrt(np.diag(posterior.covariance))
        covered.append((np.abs(posterior.theta - truth) < 1.96 * sd)[kept])
        narrower.append((sd / problem.prior.sd)[kept])
        off.append(((posterior.theta - truth) / problem.prior.sd)[kept])
        named.update(each.sentence for each in undetermined(posterior, problem.prior, problem.names))
    title = f"{len(covered)} persons, {generator} generator, {tendon} tendons"
    table = Table("parameter", "covered [%]", "sd / sd of prior", "rms error / sd of prior", title=title)
    columns = (
        100.0 * np.mean(covered, axis=0),
        np.median(narrower, axis=0),
        np.sqrt(np.mean(np.square(off), axis=0)),
    )
    for name, share, width, error in zip(problem.names[kept], *columns, strict=True):
        table.add_row(name, f"{share:.0f}", f"{width:.2f}", f"{error:.2f}")
    console.print(table)
    console.print(f"all: {100.0 * np.mean(covered):.1f} % covered; {np.median(seconds):.1f} s a person")
    console.print(f"{failed} persons more for whom the fit did not converge, as the summary then says")
    for sentence, times in named.most_common(6):
        console.print(f"{times} times: {sentence}")


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("persons", nargs="?", type=int, default=100)
    parser.add_argument("--generator", choices=["ours", "other"], default="ours")
    parser.add_argument("--tendon", choices=["elastic", "rigid"], default="elastic")
    chosen = parser.parse_args()
    main(chosen.persons, chosen.generator, chosen.tendon)
