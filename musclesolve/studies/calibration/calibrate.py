"""Calibration of the muscles of one person to EMG, fascicle lengths and strength tests.

The moments of every frame of every trial are met by muscles with factors exp(theta) on their numbers, shared by the
cost of the trials; the resulting activations, fiber lengths and strengths are compared with measurements:

    minimize over theta   sum_b w_b |r_b(x(theta), theta)|^2 + (theta - m)^T P^-1 (theta - m),
    x_k(theta) = the optimum of trial k with these muscles.

The optimum x_k is differentiated exactly (trajectory/optimum_derivatives.py, sharing/solution_derivatives.py), so that
a step costs one solution of each trial (calibration_problem.py). CEINMS (Pizzolato et al. 2015, J Biomech 48:3929-36)
and the NMSM Pipeline fit moments and EMG; the Leuven solver (Delabastita et al. 2020, Ann Biomed Eng 48:1517-29) fits
EMG and fascicles in one program over all states. Here effort alone shares the moments, as it will in a trial without
such measurements: the fitted model is the one that predicts.

Every trial is also predicted with the muscles that the others give.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.checks import one_or_several
from musclesolve._util.messages import Progress, WarningNote, capitalized, check_known, few, no_progress
from musclesolve.constants import BAND_95
from musclesolve.errors import file_error, input_error
from musclesolve.laboratory.bodies.measured_body import MeasuredModel
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.bodies.strength_geometry import StrengthGeometry, strength_geometry
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.recording.data import AnyTrial, Trial
from musclesolve.laboratory.trial.trial_file import ModelTrial
from musclesolve.muscles.person import COMPARED, FittedParameter, PersonMuscles, is_own_set
from musclesolve.muscles.strength_tests import StrengthTests, read_strength_tests
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.studies.calibration.calibration_problem import (
    HELD,
    LEAST_EMG_SD,
    CalibrationProblem,
    Direction,
    Noises,
    Posterior,
    undetermined,
)
from musclesolve.studies.calibration.emg_clock import FEWEST_CHANNELS, shared_lag
from musclesolve.studies.calibration.free_parameters import OF_EMG, SHAPE, Measured, free_factors
from musclesolve.studies.calibration.observations import (
    EMG,
    FASCICLE,
    RESERVE,
    STRENGTH_TEST,
    UNITS,
    Observation,
    TrialMuscles,
    by_channel,
)
from musclesolve.tables.text_file import sha256
from musclesolve.version import __version__

AnyBody = RecordedBody | MeasuredModel
DETERMINED = 0.5
"""Share of its prior interval below which the interval of a parameter shows that trials determine it."""
FAR_OFF = 2.5
"""Number of standard deviations from which a value is reported."""
WORSE = 1.02
"""Ratio from which the rms of a channel is worse: smaller changes come from the last steps of a fit."""
LONGEST_OFFSET = 0.3
"""Offsets of the clock of EMG that are tried on either side [s]: less than half a stride."""
LAGS = (0.01, 0.1)
"""Range of delays of activation behind the envelope: electromechanical delays, see emg_delay of priors.toml [s]."""
CLOCK, CLEARLY, FAR_BETTER = 0.1, 0.1, 0.3
"""Offset beyond which no delay explains it [s]; necessary rise of the mean correlation with the offset; and the rise
that is necessary where the interval does not show it: a sound walk with few frames rose by 0.17."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Result of `calibrate_muscles`.

    person: the muscles, for a file or a run. found: Dataset over parameter (factor, its interval, prior, bounds,
    correlation), curve (every measured curve of every trial: rms and correlation with the muscles `before`, as `fitted`
    and as the other trials have them `predicted`) and sample (time, measured and these three, NaN beyond the end).
    directions: parameter mixtures that the trials did not determine; notes: sentences for the user.
    """

    person: PersonMuscles
    found: xr.Dataset
    directions: tuple[Direction, ...]
    notes: tuple[str, ...]


def calibrate_muscles(
    trials: AnyTrial | str | Path | Iterable[AnyTrial | str | Path],
    free: Mapping[str, Iterable[str]] | None = None,
    fixed: Mapping[str, Iterable[str]] | None = None,
    strength: str | Path | None = None,
    profile: str | None = None,
    name: str | None = None,
    cost: str | Cost | None = None,
    side: str = "both",
    progress: Progress | None = None,
) -> Calibration:
    """Fit the muscles of one person to measurements in some trials.

    Args:
        trials: of one subject with the same muscles, from `read_trial` or paths of trial files; with [emg], [fascicle],
            or neither.
        free: what is fitted, quantity -> words: "strength", "optimal_fiber_length", "tendon_slack_length" or
            "tendon_strain" of muscles, units ("gastrocnemius"), function groups, "achilles", "each" unit, "groups",
            "all"; and "emg_delay", "emg_shape" without words. By default the measurements decide.
        fixed: quantities that are not fitted, in the same words; a quantity without words is fixed for all muscles.
        strength: path of a file of strength tests.
        profile: name of a fitted parameter, as the result has it: the best sum of squares over its values.
        name: of the person.
        cost: by which moments are shared; the trial files' unless given.
        side: "r", "l" or "both".
        progress: called with what is done and its share.

    Returns:
        The muscles with their covariance, their agreement with every measured curve, and undetermined parameters.

    Raises:
        InputError: trials of two subjects or with other muscles, nothing measured, nothing free, a trial that has no
            solution, or whatever `run` refuses.
    """
    report, trials = progress or no_progress, one_or_several(trials)
    if not trials:
        raise input_error(
            "missing_argument", where="trials", problem="no trial is given", expected="trial files"
        )
    tests = None if strength is None else read_strength_tests(strength)
    bodies = []
    for number, trial in enumerate(trials):
        report(f"trial {number + 1} of {len(trials)}", 0.1 * number / len(trials))
        bodies.append(prepare(trial, cost, None, side, emg_weight=0.0))
    named = _trial_names(bodies)
    together = [TrialMuscles(m, body) for m, body in zip(named, bodies, strict=True)]
    parent = _same_muscles(together)
    _check_channels(together)
    of_tests = None if tests is None else strength_geometry(bodies[0], tests)
    problem = _problem(together, free, fixed, tests, of_tests)
    if profile is not None:
        check_known([profile], "fitted parameter", problem.names, where="profile")

    first = problem.observed(problem.parent, problem.every)
    if first is None:
        unsolved = [x.name for k, x in enumerate(together) if problem.observed(problem.parent, [k]) is None]
        fault = f"no muscle forces were found for {few(unsolved, 3)} with the muscles as they are"
        expected = "trials that `musclesolve run` solves"
        remedy = "run the trial by itself, mend the fault that is reported, or leave the trial out"
        raise input_error("not_solved", where="trials", problem=fault, expected=expected, remedy=remedy)
    first += problem.tested(problem.parent)
    if not any(observation.kind in (EMG, FASCICLE, STRENGTH_TEST) for observation in first):
        fault = "nothing that was measured lies in a frame with a valid solution"
        expected = "EMG or fascicle lengths in frames whose moments are shared, at least 4 in a row"
        remedy = "run the trials by themselves, and see which frames are solved"
        raise input_error("no_overlap", where="trials", problem=fault, expected=expected, remedy=remedy)
    clocks = [note for trial in together for note in _clock_notes(trial, first)]
    posterior, noise = problem.solve(first, report)
    theta = posterior.theta
    fitted = (problem.observed(theta, problem.every) or []) + problem.tested(theta)
    predicted = []
    if len(together) > 1:
        for number in problem.every:
            rest = [k for k in problem.every if k != number]
            span = (0.6 + 0.3 * number / len(together), 0.6 + 0.3 * (number + 1) / len(together))
            without = problem.fit(theta, rest, noise, report, span)
            predicted += problem.observed(without.theta, [number]) or []
    curves = _found(problem, posterior, noise, _with_best_gains(first), fitted, predicted)
    if profile is not None:
        profiled = _profile(problem, posterior, noise, profile, report)
        curves = curves.merge(profiled, combine_attrs="no_conflicts")
    person = _person(problem, posterior, bodies, parent, name, curves)
    directions = undetermined(posterior, problem.prior, problem.names)
    said = [
        f"{m.name}: {note}"
        for m in together
        for note in (*getattr(m.body, "warnings", ()), *(m.emg.notes(m.time) if m.emg else ()))
    ]
    notes = [
        *clocks,
        *said,
        *(of_tests.warnings if of_tests else ()),
        *_worse(first, fitted, predicted),
        *_notes(problem, posterior, curves),
        *_lacking(fitted, noise),
    ]
    return Calibration(person, curves, directions, tuple(notes))


def _clock_notes(trial: TrialMuscles, first: Sequence[Observation]) -> list[str]:
    """Warn of EMG of a trial that agrees with the activations of effort best at another offset of its clock.

    EMG that is cut to the motion leaves few frames for all offsets, and rarely an informative interval. A lag within
    the electromechanical delay (`LAGS`) is no offset of the clock.
    """
    if trial.emg is None:
        return []
    curves = np.full((len(trial.time), len(trial.emg.channels)), np.nan)
    for observation in first:
        if observation.kind == EMG and observation.trial == trial.name:
            frames = np.searchsorted(trial.time, observation.time)
            curves[frames, trial.emg.channels.index(observation.label)] = observation.predicted
    shared = shared_lag(trial.emg, trial.time, curves, LONGEST_OFFSET)
    if shared is None or shared.channels < FEWEST_CHANNELS or shared.at_end:
        return []
    low, high = np.quantile(shared.drawn, BAND_95)
    least, most = (lag - trial.emg.delay for lag in LAGS)
    recorded = None if trial.body.trial is None else trial.body.trial.emg
    present = 0.0 if recorded is None else recorded.options.offset_s
    best, before = shared.agreement[shared.best], shared.agreement[len(shared.moved) // 2]
    offset = float(shared.moved[shared.best])
    beside = not least <= offset <= most and best - before > FAR_BETTER
    if low <= most and high >= least and not beside:
        return []
    what = (
        f"the EMG of {trial.name} agrees with the activations of effort best where its clock is moved by "
        f"{1000.0 * offset:+.0f} ms (95 % interval {1000.0 * low:+.0f} to {1000.0 * high:+.0f} ms, mean r {best:.2f} "
        f"instead of {before:.2f})"
    )
    value = f"offset_s = {present + offset:.3f}"
    if min(abs(low), abs(high)) > CLOCK and low * high > 0.0 and best - before > CLEARLY:
        raise file_error(
            "conflict",
            (_path(trial.body), "[emg] offset_s"),
            f"{what}: factors on muscles would make up for the clock",
            f"EMG and motion on one clock, at most {1000.0 * CLOCK:.0f} ms apart",
            f"write {value} in [emg], or leave the channels out that contradict it",
        )
    return [WarningNote(f"{capitalized(what)}: write {value} in [emg] where it holds.")]


def _problem(
    trials: Sequence[TrialMuscles],
    free: Mapping[str, Iterable[str]] | None,
    fixed: Mapping[str, Iterable[str]] | None,
    tests: StrengthTests | None,
    of_tests: StrengthGeometry | None,
) -> CalibrationProblem:
    """Return the problem of the calibration: the free parameters, and the measurements to which they are fitted."""
    words = None if free is None else {quantity: list(name) for quantity, name in free.items()}
    of_emg = [name for name in OF_EMG if words is not None and words.pop(name, None) is not None]
    if of_emg and not any(trial.emg for trial in trials):
        fault = f"{of_emg[0]} is free, and no trial has EMG"
        expected = "trials with [emg]"
        remedy = "add [emg] to a trial file, or leave it out"
        raise input_error("missing_argument", where="free", problem=fault, expected=expected, remedy=remedy)
    turning: tuple[str, ...] = ()
    if of_tests is not None:
        helps = (of_tests.moment_arm * of_tests.sign[:, None] > 0.0).any(axis=0)
        turning = tuple(np.array(of_tests.parameters.names)[helps].tolist())
    measured = Measured(
        fascicles=tuple(
            muscle for t in trials if t.fascicles for muscle in t.fascicles.muscles if muscle in t.muscles
        ),
        emg=tuple(
            muscle
            for t in trials
            if t.emg
            for site in t.emg.muscles
            for muscle in site
            if muscle in t.muscles
        ),
        strength=turning,
        elastic=trials[0].body.sharing.elastic,
    )
    names = list(dict.fromkeys(muscle for trial in trials for muscle in trial.muscles))
    factors = free_factors(names, measured, words or None, fixed)
    if not (measured.fascicles or measured.emg or turning):
        fault = "nothing was measured from which muscles follow: no EMG, no fascicle lengths, no strength"
        expected = "trials with [emg] or [fascicle], or a file of strength tests"
        remedy = "add what was measured to the trial files"
        raise input_error("missing_argument", where="trials", problem=fault, expected=expected, remedy=remedy)
    return CalibrationProblem(trials, factors, of_emg, of_tests, tests.tests if tests else ())


def _path(body: AnyBody) -> Path:
    """Path of the trial file of a body; refuse a body without one."""
    return Path("trial") if body.trial is None else Path(body.trial.path)


def _trial_names(bodies: Sequence[AnyBody]) -> list[str]:
    """Names of the trials: name of the file, with its folder or a number where two are equal."""
    paths = [_path(body) for body in bodies]
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        names = [f"{path.absolute().parent.name}/{path.stem}" for path in paths]
    return [name if names.count(name) == 1 else f"{name} {k + 1}" for k, name in enumerate(names)]


def _settings(name: str, body: AnyBody) -> dict[str, object]:
    """Return the settings of the muscles in a trial file besides the set, on which the factors depend."""
    if isinstance(body, MeasuredModel):
        stated: dict[str, object] = {"tendon_strain": body.settings.muscles.tendon_strain}
        settings: dict[str, object] = {"passive forces": body.settings.muscles.passive}
    else:
        options = body.options
        stated = {"tendon_strain": options.tendon_strain, "strength": options.strength}
        settings = {
            "passive forces": options.passive,
            "rule of fiber lengths": options.fiber_length_rule,
            "Hill curves": options.curve_name,
        }
    for key, value in stated.items():
        if value is not None and value != "table":
            fault = (
                f"{name} states {key} = {value} in [muscles], beside which factors would mean something else"
            )
            expected = "the numbers of the set or model, on which the factors are"
            remedy = f"leave {key} out: it is fitted, or free on request"
            raise input_error("conflict", where="trials", problem=fault, expected=expected, remedy=remedy)
    return settings


def _same_muscles(trials: Sequence[TrialMuscles]) -> tuple[str, str | None]:
    """The muscle set or model of all trials, by its name or path, and the hash of its file."""
    check_different((_path(trial.body), (float(trial.time[0]), float(trial.time[-1]))) for trial in trials)
    check_one_subject([trial.body.trial for trial in trials if isinstance(trial.body.trial, Trial)])
    first = trials[0]
    of_first: dict[str, tuple[str, str | None]] = {}
    for trial in trials:
        body = trial.body
        if (person := body.person) is not None:
            fault = f"the muscles of {trial.name} are calibrated to a person already"
            expected = "trials with the muscles of a set or a model, on which the factors are"
            remedy = f'write database = "{person.parent}" in [muscles], or leave the key out for a model'
            raise input_error("conflict", where="trials", problem=fault, expected=expected, remedy=remedy)
        settings = _settings(trial.name, body)
        seen: dict[str, tuple[str, str | None]]
        if isinstance(body.trial, ModelTrial):
            path = Path(body.trial.model)
            seen = {"model": (str(path), sha256(path))}
        else:
            assert body.trial is not None
            name = body.trial.settings.muscles.database
            seen = {"muscle set": (name, sha256(Path(name)) if is_own_set(name) else None)}
        seen["kind of tendons"] = (body.sharing.tendon, None)
        seen["cost"] = (body.sharing.cost.label, None)
        seen |= {name: (str(value), None) for name, value in settings.items()}
        of_first = of_first or seen
        for what, (value, sha) in seen.items():
            before, sha_of_first = of_first.get(what, ("", None))
            if (sha or value) != (sha_of_first or before):
                fault = f"the {what} of {trial.name} is {value}, but the {what} of {first.name} is {before}"
                expected = "trials of one person, with the same muscles and the same tendons"
                remedy = "calibrate each person alone"
                raise input_error("conflict", where="trials", problem=fault, expected=expected, remedy=remedy)
    return of_first.get("model") or of_first["muscle set"]


def check_one_subject(trials: Sequence[Trial]) -> None:
    """Refuse trials whose subject differs from the subject of the first trial in mass, stature or sex."""
    for trial in trials[1:]:
        here, first = trial.subject, trials[0].subject
        for key, value, expected in (
            ("mass_kg", here.mass, first.mass),
            ("stature_m", here.stature, first.stature),
            ("sex", here.sex, first.sex),
        ):
            if value != expected:
                raise trial.document.fault(
                    "conflict",
                    ("subject", key),
                    f"{key} is {value} here and {expected} in {trials[0].path.name}",
                    "trials of one subject",
                    "calibrate each subject by itself, or correct the trial file",
                )


def check_different(trials: Iterable[tuple[Path, tuple[float, float]]]) -> None:
    """Refuse a trial that is given twice: the path of a trial file with the first and the last time [s]."""
    listed = [(path.resolve(), *span) for path, span in trials]
    if twice := [trial[0] for trial in listed if listed.count(trial) > 1]:
        problem, remedy = "the trial is given twice", "leave one of them out"
        raise file_error("duplicate_name", twice[0], problem, "every trial once", remedy)


def _check_channels(trials: Sequence[TrialMuscles]) -> None:
    """Refuse a channel that stands for other muscles in another trial."""
    known: dict[str, tuple[tuple[str, ...], str]] = {}
    for trial in trials:
        measured = {} if trial.emg is None else dict(zip(trial.emg.channels, trial.emg.muscles, strict=True))
        if trial.fascicles is not None:
            pairs = zip(trial.fascicles.channels, trial.fascicles.muscles, strict=True)
            measured |= {channel: (muscle,) for channel, muscle in pairs}
        for channel, muscles in measured.items():
            first, where = known.setdefault(channel, (muscles, trial.name))
            if first != muscles:
                raise input_error(
                    "conflict",
                    where="trials",
                    problem=f"the channel {channel} is {', '.join(map(str, first))} in {where} and "
                    f"{', '.join(map(str, muscles))} in {trial.name}",
                    expected="a channel of the same muscles in every trial: they share a gain",
                    remedy="correct [emg.channels] or [fascicle.channels] of one of them",
                )


def _person(
    problem: CalibrationProblem,
    posterior: Posterior,
    bodies: Sequence[AnyBody],
    parent: tuple[str, str | None],
    name: str | None,
    curves: xr.Dataset,
) -> PersonMuscles:
    """Make the muscles of a person from the fitted factors."""
    count = len(problem.factors)
    sd = np.sqrt(np.diag(posterior.covariance))
    parameters = tuple(
        FittedParameter(
            name=factor.name,
            quantity=factor.quantity,
            muscles=factor.muscles,
            factor=float(np.exp(posterior.theta[k])),
            sd=float(sd[k]),
            prior_sd=factor.prior_sd,
            determined=bool(sd[k] < DETERMINED * factor.prior_sd),
        )
        for k, factor in enumerate(problem.factors)
    )
    emg, factors = problem.emg, np.exp(posterior.theta)
    gains = {
        channel: {"largest": emg.largest[channel], "gain": float(factors[place]), "sd": float(sd[place])}
        for channel, place in emg.gain.items()
    }
    of_all: dict[str, float] = {}
    for place, key, sd_key in ((emg.delay, "delay_s", "delay_sd_s"), (emg.shape, "shape", "shape_sd")):
        if place is not None:
            of_all |= {key: float(posterior.theta[place]), sd_key: float(sd[place])}
    return PersonMuscles(
        name=name,
        parent=parent[0],
        parent_sha256=parent[1],
        trials=tuple(str(body.trial.path) for body in bodies if body.trial is not None),
        tendon=bodies[0].sharing.tendon,
        parameters=parameters,
        covariance=posterior.covariance[:count, :count],
        created=f"musclesolve {__version__}",
        emg={**of_all, "channels": gains} if gains else {},
        prediction=tuple(_as_rows(curves)),
    )


def _with_best_gains(observed: Sequence[Observation]) -> list[Observation]:
    """The observations with the best gain of each channel for these muscles, so that only muscles are compared."""
    scaled = list[Observation]()
    for (kind, _), curves in by_channel(observed).items():
        along = sum(float(one.predicted @ one.measured) for one in curves)
        size = sum(float(one.predicted @ one.predicted) for one in curves)
        best = along / size if kind == EMG and size > 0.0 else 1.0
        scaled += [replace(one, predicted=best * one.predicted) for one in curves]
    return scaled


def _found(
    problem: CalibrationProblem, posterior: Posterior, noise: Noises, *observed: Sequence[Observation]
) -> xr.Dataset:
    """The Dataset of a calibration (`Calibration`); observed: as of `COMPARED`."""
    prior, sd = problem.prior, np.sqrt(np.diag(posterior.covariance))
    of_parameters = {"value": posterior.theta, "sd": sd, "prior_mean": prior.mean, "prior_sd": prior.sd}
    of_parameters |= {"lower": prior.lower, "upper": prior.upper}
    variables: dict[str, Any] = {name: (("parameter",), values) for name, values in of_parameters.items()}
    correlation = posterior.covariance / np.outer(sd, sd)
    variables["parameter_correlation"] = (("parameter", "other"), correlation)
    kept = [observation for observation in observed[1] if observation.kind != RESERVE]
    longest = max((len(row.time) for row in kept), default=0)
    like = [[next((x for x in among if x.key == row.key), None) for row in kept] for among in observed]
    rows = {name: np.full((len(kept), longest), np.nan) for name in ("time", "measured", *COMPARED)}
    for k, row in enumerate(kept):
        rows["time"][k, : len(row.time)], rows["measured"][k, : len(row.time)] = row.time, row.measured
        for word, curves in zip(COMPARED, like, strict=True):
            if (curve := curves[k]) is not None:
                # in the unit of the measurement, EMG with the fitted gain
                values = np.interp(row.time, curve.time, curve.predicted, left=np.nan, right=np.nan)
                rows[word][k, : len(row.time)] = values
    variables |= {name: (("curve", "sample"), values) for name, values in rows.items()}
    for (word, curves), name in product(zip(COMPARED, like, strict=True), ("rms", "correlation")):
        measures = [np.nan if curve is None else getattr(curve, name) for curve in curves]
        variables[f"{name}_{word}"] = (("curve",), np.array(measures, dtype=float))
    variables["noise"] = (("curve",), np.array([noise[row.kind, row.label].sd for row in kept]))
    coordinates: dict[str, Any] = dict.fromkeys(("parameter", "other"), problem.names)
    coordinates |= {key: ("curve", [getattr(one, key) for one in kept]) for key in ("kind", "label", "trial")}
    coordinates["unit"] = ("curve", [UNITS[curve.kind] for curve in kept])
    attributes = {
        "steps": posterior.steps,
        "converged": int(posterior.converged),
        "squares": posterior.squares,
        "cost": problem.trials[0].body.sharing.cost.label,
        "tendon": problem.trials[0].body.sharing.tendon,
    }
    return xr.Dataset(variables, coordinates, attributes)


PROFILE = np.linspace(-2.5, 2.5, 7)
"""Values of a profiled parameter, in standard deviations around the best one."""


def _profile(
    problem: CalibrationProblem, posterior: Posterior, noise: Noises, name: str, report: Progress
) -> xr.Dataset:
    """The least sum of squares as a function of one parameter, with all others fitted again."""
    place, prior = problem.names.index(name), problem.prior
    sd = float(np.sqrt(posterior.covariance[place, place]))
    values = np.clip(
        posterior.theta[place] + PROFILE * sd, prior.lower[place] + HELD, prior.upper[place] - HELD
    )
    squares = np.full(len(values), np.nan)
    for k, value in enumerate(values):
        theta = posterior.theta.copy()
        theta[place] = value
        span = (0.9 + 0.1 * k / len(values), 0.9 + 0.1 * (k + 1) / len(values))
        if problem.observed(theta, problem.every) is not None:
            fit = problem.fit(theta, problem.every, noise, report, span, prior=prior.held(place, theta))
            squares[k] = fit.squares
    above = (("profile",), squares - posterior.squares)
    return xr.Dataset({"profile_squares": above}, {"profile": values}, {"profile_of": name})


def _as_rows(curves: xr.Dataset) -> list[dict[str, object]]:
    """Return the rows of the file: one table for each measured curve; unknown values are left out."""
    rows, names = [], [f"{what}_{word}" for what in ("rms", "correlation") for word in COMPARED]
    for k in range(curves.sizes["curve"]):
        row: dict[str, object] = {
            word: str(curves[word].values[k]) for word in ("trial", "kind", "label", "unit")
        }
        values = {name: float(curves[name].values[k]) for name in names}
        rows.append(row | {key: float(f"{value:.4g}") for key, value in values.items() if np.isfinite(value)})
    return rows


def _lacking(fitted: Sequence[Observation], noise: Noises) -> list[str]:
    """Sentences on moments that the fitted muscles do not produce, in trials and strength tests."""
    notes = []
    for one in fitted:
        if one.kind == STRENGTH_TEST and abs(one.residual[0]) > FAR_OFF * noise[one.kind, one.label].sd:
            notes.append(
                f"Strength test {one.label}: {one.measured[0]:.4g} N m were measured, the fitted muscles produce "
                f"{one.predicted[0]:.4g} N m, {abs(one.residual[0]) / noise[one.kind, one.label].sd:.1f} standard "
                "deviations apart: it contradicts another test or the priors, or its sign is wrong."
            )
        if one.kind == RESERVE:
            t = int(np.abs(one.residual).argmax())
            notes.append(
                f"With the fitted muscles {one.trial} lacks {abs(one.residual[t]):.3g} N m of {one.label} at "
                f"{one.time[t]:.2f} s: bounds, priors or other measurements keep them from producing it."
            )
    return notes


def _notes(problem: CalibrationProblem, posterior: Posterior, curves: xr.Dataset) -> list[str]:
    """Return notes for the user on the course of the calibration, as sentences."""
    notes = []
    if not posterior.converged:
        notes.append(
            f"The fit did not converge in {posterior.steps} steps: the numbers are the best that were met."
        )
    prior, theta = problem.prior, posterior.theta
    at_end = [
        name
        for name, value, low, high in zip(problem.names, theta, prior.lower, prior.upper, strict=True)
        if (value <= low + 1e-9 or value >= high - 1e-9) and name != SHAPE
    ]
    if at_end:
        notes.append(
            f"At the end of the range that is allowed: {few(at_end, 6)}. What was measured asks for more."
        )
    far = [
        f"{name} ({abs(value - mean) / sd:.1f} standard deviations)"
        for name, value, mean, sd in zip(problem.names, theta, prior.mean, prior.sd, strict=True)
        if abs(value - mean) > FAR_OFF * sd
    ]
    if far:
        notes.append(f"Farther from the parent than persons usually differ: {few(far, 6)}.")
    kinds = curves["kind"].values.astype(str)
    for kind in dict.fromkeys(kinds):
        before, ahead = (curves[f"rms_{word}"].values[kinds == kind] for word in ("before", "predicted"))
        known = np.isfinite(before) & np.isfinite(ahead)
        if known.any() and np.median(ahead[known] / before[known]) >= 1.0:
            better = int((ahead[known] < before[known]).sum())
            notes.append(
                f"The calibration did not help with {kind}: of {int(known.sum())} curves of trials that were not used "
                f"{better} are predicted better than by the muscles of the parent."
            )
    if len(problem.trials) == 1:
        notes.append("With one trial nothing shows whether these muscles predict another one.")
    return notes


def _worse(*observed: Sequence[Observation]) -> Iterator[str]:
    """Yield a warning for each kind of measurement that the fitted muscles agree with less than the muscles before.

    observed: as of `COMPARED`; of each the gains of EMG are those that are best for its muscles.
    """
    squares = [
        {
            key: float(np.mean(np.square(np.concatenate([one.residual for one in curves]))))
            for key, curves in by_channel(_with_best_gains(observations)).items()
        }
        for observations in observed
    ]
    for kind in dict.fromkeys(kind for kind, _ in squares[0] if kind in (EMG, FASCICLE)):
        keys = [key for key in squares[0] if key[0] == kind and key in squares[1]]
        worse = []
        for key in keys:
            before, after, ahead = (np.sqrt(channels.get(key, np.nan)) for channels in squares)
            if after > WORSE * before and (kind != EMG or after > LEAST_EMG_SD):
                held_out = f" (trials left out: {ahead:.3g})" if np.isfinite(ahead) else ""
                worse.append(f"{key[1]} {before:.3g} -> {after:.3g}{held_out}")
        before, after = (sum(channels[key] for key in keys) for channels in squares[:2])
        if worse and (after > WORSE**2 * before or 2 * len(worse) > len(keys)):
            yield WarningNote(
                f"The calibration makes the fit to {kind} worse; rms before -> after in {len(worse)} of {len(keys)} "
                f"channels: {'; '.join(worse)}. See the clock of the measurement, its channels and the moments before "
                "these factors are used."
            )
