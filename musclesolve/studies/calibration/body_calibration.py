"""Calibration of body and plates of one subject from several trials, so that motion and ground forces agree.

The residual at the pelvis is the load that no joint supplies: with true masses, centers of mass, clock and plates it
would consist of errors of the motion alone. `body_fit` has the fit, with the residual and its derivatives. The result
is written, not applied: a trial file names it in [subject] body and [plates].
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.checks import one_or_several
from musclesolve._util.messages import Progress, no_progress
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.errors import file_error, input_error
from musclesolve.laboratory.analysis.mechanics import Mechanics, subject_model
from musclesolve.laboratory.forces import mechanics, recording_of
from musclesolve.laboratory.motion.ground_reaction import ground_reactions
from musclesolve.laboratory.recording.command_settings import BodyCalibrationSettings
from musclesolve.laboratory.recording.data import SIDES, SubjectBody, Trial
from musclesolve.laboratory.recording.trial_settings import REDUCED, PlateSettings
from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.laboratory.trial.plates.foot_forces import (
    corrected_plates,
    plate_numbers,
    unmeasured_free_moments,
)
from musclesolve.studies.calibration.body_fit import BodyFit, fit_body, fit_like
from musclesolve.studies.calibration.body_residual import (
    CENTER,
    CLOCK,
    GAIN,
    GROUPS,
    MASS,
    MOVED,
    SHIFT,
    SHIFT_AXES,
    ZERO,
    BodyParameter,
    TrialResidual,
    plate_names,
    trial_pieces,
)
from musclesolve.studies.uncertainty.replay import standard_deviations
from musclesolve.tables.document import check_value, tables_text
from musclesolve.tables.settings import settings_of
from musclesolve.tables.text_file import name_from
from musclesolve.version import __version__

PERSON = ("mass_kg", "stature_m", "sex")
"""Keys of [subject] that describe a person."""
BODY = (*PERSON, "shoe_mass_kg", "segments")
"""Further keys of the recorded body, such as shoes."""


def check_one_subject(trials: Sequence[Trial], keys: Sequence[str] = PERSON) -> None:
    """Refuse trials whose subject differs from the subject of the first trial in some keys of [subject]."""
    for trial in trials[1:]:
        one, other = _stated(trial), _stated(trials[0])
        for key in keys:
            if one[key] != other[key]:
                raise trial.document.fault(
                    "conflict",
                    ("subject", key),
                    f"{key} is {one[key]} here and {other[key]} in {trials[0].path.name}",
                    "trials of one subject",
                    "calibrate each subject by itself, or correct the trial file",
                )


def check_different(trials: Iterable[tuple[Path, tuple[float, float]]]) -> None:
    """Refuse a trial that is given twice: the path of a trial file with the first and the last time [s]."""
    listed = [(path.resolve(), *span) for path, span in trials]
    if twice := [trial[0] for trial in listed if listed.count(trial) > 1]:
        problem, remedy = "the trial is given twice", "leave one of them out"
        raise file_error("duplicate_name", twice[0], problem, "every trial once", remedy)


def _stated(trial: Trial) -> dict[str, object]:
    subject = trial.subject
    numbers = subject.mass, subject.stature, subject.sex, subject.shoe_mass, dict(subject.segments)
    return dict(zip(BODY, numbers, strict=True))


BODY_HEAD = """# The body of one subject, fitted to recorded motion and ground forces by musclesolve calibrate-body.
# [subject] body = "..." of a trial file of this subject uses [mass_kg] and [center_shift_mm]. Clock and plates are
# no part of the body: plates of each [[trial]] has what [plates] of its trial file takes.
"""


@dataclass(frozen=True)
class FoundParameter:
    """One fitted number of a body or its plates.

    value: a factor (masses, gains), or in the unit; sd, prior_sd: posterior and prior standard deviation, of a factor
    the deviation of its logarithm; lowest, highest: the bounds; determined: whether the trials determine it, else the
    value is the prior's; at_bound: whether a bound holds it.
    """

    name: str
    quantity: str
    value: float
    unit: str
    sd: float
    prior_sd: float
    lowest: float
    highest: float
    determined: bool
    at_bound: bool


@dataclass(frozen=True)
class ResidualSize:
    """Root mean square over frames of force [N], its share of the weight, and moment [N m] at the pelvis."""

    force: float
    share: float
    moment: float


@dataclass(frozen=True)
class TrialOutcome:
    """Outcome of the calibration for one trial.

    frames: used; left_out: frames of the time range in which some contact was not measured. before, after: residual at
    the pelvis in the used frames; predicted: after, with parameters from the other trials alone (None with one trial).
    moment_change: joint degree of freedom -> root mean square change of its moment [N m]. plates: keys and values of
    [plates].
    """

    trial: Path
    session: str
    frames: int
    left_out: int
    before: ResidualSize
    after: ResidualSize
    predicted: ResidualSize | None
    moment_change: dict[str, float]
    plates: dict[str, Any]


@dataclass(frozen=True)
class BodyCalibration:
    """A calibrated body: see `calibrate_body`.

    stated: mass, stature, sex and mass of a shoe as the trial files have them, by key. mass [kg] of the body and its
    standard deviation. segment_mass, parent_mass: segment -> [kg]; center_shift: segment -> (forward, left, up) [mm].
    covariance (P, P) of the parameters, of logarithms of factors, else in their units. remarks: what is not determined
    or held by a bound, in words.
    """

    name: str
    stated: dict[str, Any]
    mass: float
    mass_sd: float
    segment_mass: dict[str, float]
    parent_mass: dict[str, float]
    center_shift: dict[str, tuple[float, float, float]]
    parameters: tuple[FoundParameter, ...]
    covariance: Array
    trials: tuple[TrialOutcome, ...]
    remarks: tuple[str, ...]

    def __repr__(self) -> str:
        """Return a description of the calibrated body in a line."""
        return f"<BodyCalibration {self.name!r}: {self.mass:.2f} kg, {len(self.trials)} trials>"

    def save(self, path: str | Path) -> Path:
        """Write the body file; an existing one is replaced when the new one is complete.

        Raises:
            InputError: the place cannot be written.
        """
        path = Path(path)
        return write_files(path.parent, {path.name: body_text(self, path).encode()})[0]


def body_text(body: BodyCalibration, path: Path) -> str:
    """The text of the file at a path; the trials are named from its folder."""
    tables: dict[str, Any] = {
        "body": {
            "name": body.name,
            "created": f"musclesolve {__version__}",
            "mass_kg": _short(body.mass),
            "mass_sd_kg": _short(body.mass_sd),
            "parent_mass_kg": {name: _short(mass) for name, mass in body.parent_mass.items()},
            "remarks": list(body.remarks),
        },
        "subject": body.stated,
        "mass_kg": {name: round(mass, 6) for name, mass in body.segment_mass.items()},
        "center_shift_mm": {
            name: [round(part, 3) for part in shift] for name, shift in body.center_shift.items()
        },
        "trial": [
            {
                "file": name_from(one.trial, path),
                "session": one.session,
                "frames": one.frames,
                "frames_left_out": one.left_out,
                "plates": one.plates,
                "residual_before": _size_document(one.before),
                "residual_after": _size_document(one.after),
                **({"residual_predicted": _size_document(one.predicted)} if one.predicted else {}),
                "moment_change_n_m": {dof: _short(change) for dof, change in one.moment_change.items()},
            }
            for one in body.trials
        ],
        "parameter": [
            {
                **{
                    key: _short(value) if isinstance(value, float) else value
                    for key, value in asdict(one).items()
                },
                "covariance": [_short(number) for number in row],
            }
            for one, row in zip(body.parameters, body.covariance, strict=True)
        ],
    }
    return BODY_HEAD + "\n" + tables_text(tables)


def _size_document(size: ResidualSize) -> dict[str, float]:
    numbers = {"force_n": size.force, "force_percent_weight": 100.0 * size.share, "moment_n_m": size.moment}
    return {key: _short(value) for key, value in numbers.items() if np.isfinite(value)}


def _short(number: float) -> float:
    return float(f"{number:.6g}")


RULES = settings_of(BodyCalibrationSettings)
PURPOSE = "the calibration of a body"
SHOWN_DOFS = ("hip_flexion", "knee_flexion", "ankle_dorsiflexion")
"""Joint moments whose change is reported."""
UNITS = {
    MASS: (1.0, "factor"),
    CENTER: (1e3, "mm"),
    CLOCK: (1e3, "ms"),
    SHIFT: (1e3, "mm"),
    GAIN: (1.0, "factor"),
}
"""Unit in which a quantity is written, and its factor from SI; other quantities are written in SI."""
CARRIED_SHARE = 0.5
"""Share of the weight that the plates must carry at least once."""
CORRELATED = 0.7
"""Correlation of errors above which two parameters are not separable."""


def calibrate_body(
    trials: Sequence[Trial | str | Path] | Trial | str | Path,
    *,
    plate_force: bool = False,
    mass_sd: float = RULES["mass_sd"].default,
    progress: Progress | None = None,
) -> BodyCalibration:
    """Masses, centers of mass, clock and plates of one subject with which motion and ground forces agree best.

    Minimizes the residual at the pelvis, F = sum m (a - g) - sum F_plate and its moment about the hips, over all frames
    in which all contacts are measured, with priors and bounds (docs/calibration_body.md). It fits the masses of
    segments, the center of mass of trunk and pelvis, one offset of the clock of the plates for each session, and a
    shift of each plate's center of pressure. Trials are of one session where their forces lie in one folder. Nothing is
    applied: `save` writes it, and trial files name it.

    Args:
        trials: trial files of recordings of one subject, or what `read_trial` returned for them.
        plate_force: fit a gain and a zero of each plate's vertical force too.
        mass_sd: relative standard deviation of the body mass.
        progress: called with stage and share of the work.

    Raises:
        InputError: trials of several subjects, of OpenSim models, calibrated already, or without ground forces under a
            known motion in any frame; a body mass that the plates contradict; a fit that does not converge.

    Examples:
        >>> trial = ms.studies.synthetic_recording("recording", noise_mm=1.0, force_noise_n=2.0, seed=3)
        >>> body = ms.studies.calibrate_body(trial)
        >>> abs(body.mass - 70.25) < 1.0
        True
    """
    report = progress or no_progress
    listed = one_or_several(trials)
    if not listed:
        problem, expected = "no trial is given", "trial files of recordings of one subject"
        raise input_error("missing_argument", where="calibrate_body", problem=problem, expected=expected)
    priors = bundled_toml(__package__, "body_priors.toml")
    check_value(mass_sd, RULES["mass_sd"], "mass_sd")
    read: list[Trial] = []
    for one in listed:
        report("reading", 0.1 * len(read) / len(listed))
        read.append(recording_of(one, PURPOSE, plates=True))
    check_trials(read)
    recorded: list[Mechanics] = []
    pieces: list[list[TrialResidual]] = []
    for number, trial in enumerate(read):
        report(f"motion of {trial.path.name}", 0.1 + 0.5 * number / len(read))
        recorded.append(mechanics(trial))
        pieces.append(trial_pieces(trial, recorded[-1]))
    sessions = list(dict.fromkeys(piece.session for of_trial in pieces for piece in of_trial))
    number_of = {session: str(number) for number, session in enumerate(sessions, start=1)}
    pieces = [[replace(piece, session=number_of[piece.session]) for piece in ours] for ours in pieces]
    used = [piece for of_trial in pieces for piece in of_trial]
    _check_loaded(read, used)
    errors = standard_deviations(read[0].settings.uncertainty.stated)
    parameters = _parameters(used, priors, errors, plate_force)
    report("fit", 0.6)
    soft_tissue = errors["soft_tissue"]
    fit = fit_body(
        used, parameters, _shares(used[0]), mass_sd=mass_sd, bound=priors["bound"], soft_tissue=soft_tissue
    )
    _check_mass(read[0], fit, mass_sd, priors["bound"])
    outcomes = []
    for number, (trial, mechanism, ours) in enumerate(zip(read, recorded, pieces, strict=True)):
        report(f"prediction of {trial.path.name}", 0.75 + 0.25 * number / len(read))
        rest = [k for k, piece in enumerate(used) if not any(piece is one for one in ours)]
        alone = None
        if ours and rest:
            alone = fit_like(fit, [used[k] for k in rest], [fit.noise[k] for k in rest], soft_tissue)
        outcomes.append(_outcome(trial, mechanism, ours, fit, alone))
    return _calibration(read[0], recorded[0], fit, outcomes)


def check_trials(trials: Sequence[Trial]) -> None:
    """Refuse trials of several subjects, repeated trials, and trials that are already calibrated."""
    check_different((trial.path, trial.time_range) for trial in trials)
    for trial in trials:
        for table, key, is_set in (
            ("subject", "body", trial.subject.body is not None),
            ("plates", None, bool({*trial.plate_corrections} - {*unmeasured_free_moments(trial.forces)})),
        ):
            if is_set:
                raise trial.document.fault(
                    "conflict",
                    (table, key),
                    "the trial is corrected by an earlier calibration",
                    "what was recorded, with the body of the inertia table",
                    "leave out body of [subject] and [plates], and write them again afterward",
                )
        if trial.settings.consistency.residual == REDUCED:
            raise trial.document.fault(
                "conflict",
                ("consistency", "residual"),
                "the motion of the trial is changed until the residual is small, which shows "
                "nothing of body and plates then",
                'residual = "kept": the motion as it was measured',
                "leave out residual, and write it again afterward",
            )
    check_one_subject(trials, BODY)


def _check_loaded(trials: Sequence[Trial], pieces: Sequence[TrialResidual]) -> None:
    """Refuse trials without any frame in which plates carry the subject and all contacts are measured."""
    if any(piece.load.max() > CARRIED_SHARE * _weight(piece.trial) for piece in pieces):
        return
    raise input_error(
        "studies.plates_not_loaded" if pieces else "studies.in_no_frame_all", file=trials[0].path
    )


def _weight(trial: Trial) -> float:
    return trial.subject.mass * STANDARD_GRAVITY


def _check_mass(trial: Trial, fit: BodyFit, mass_sd: float, bound: float) -> None:
    """Refuse a body mass that the plates contradict: other support, a wrong mass, or plates of another scale."""
    stated = trial.subject.mass
    if abs(fit.mass_alone) <= bound * float(np.hypot(mass_sd, fit.mass_alone_sd)):
        return
    carried = stated * float(np.exp(fit.mass_alone))
    raise trial.document.fault(
        "bad_forces",
        ("subject", "mass_kg"),
        f"the plates carry {carried:.1f} kg with a standard deviation of {carried * fit.mass_alone_sd:.1f} kg, "
        f"not mass_kg = {stated:g} with one of {100.0 * mass_sd:g} %",
        "a body mass, with all that is worn, that the plates bear out: no other support, plates of the right scale",
        f"weigh the subject again, and write mass_kg = {carried:.1f} if it is so; or say how "
        "well the mass is known with --mass-sd",
    )


def _shares(piece: TrialResidual) -> dict[str, float]:
    """Share of the body mass of each group of segments."""
    return {
        group: float(piece.mass[[of == group for of in piece.group]].sum() / piece.mass.sum())
        for group in GROUPS
    }


def _parameters(
    pieces: Sequence[TrialResidual], priors: dict[str, Any], errors: dict[str, float], plate_force: bool
) -> list[BodyParameter]:
    """Return the parameters that are fitted: the body, and for each session clock and plates."""
    moved, held = 1e-3 * priors["center_of_mass_mm"]["sd"], priors["center_of_mass_mm"]["held"]
    parameters = [BodyParameter(MASS, group, "", "", errors["segment_mass"]) for group in GROUPS]
    places = product(MOVED, SHIFT_AXES)
    parameters += [BodyParameter(CENTER, group, axis, "", moved, axis not in held) for group, axis in places]
    for session in dict.fromkeys(piece.session for piece in pieces):
        ours = [piece for piece in pieces if piece.session == session]
        plates = dict.fromkeys(name for piece in ours for name in piece.plate_names)
        parameters.append(BodyParameter(CLOCK, "", "", session, 1e-3 * priors["clock_ms"]["sd"]))
        for plate in plates:
            parameters += [
                BodyParameter(SHIFT, plate, axis, session, errors["center_of_pressure"])
                for axis in ours[0].horizontal
            ]
            if plate_force:
                parameters.append(BodyParameter(GAIN, plate, "", session, priors["vertical_gain"]["sd"]))
                parameters.append(BodyParameter(ZERO, plate, "", session, priors["vertical_zero_n"]["sd"]))
    return parameters


def _outcome(
    trial: Trial, recorded: Mechanics, pieces: list[TrialResidual], fit: BodyFit, alone: Array | None
) -> TrialOutcome:
    """Compute residuals before and after, corrections of the plates, and changes of joint moments."""
    before, after, predicted = (
        _size(trial, [piece.at(fit.parameters, values)[0] for piece in pieces])
        if pieces and values is not None
        else None
        for values in (np.zeros(len(fit.value)), fit.value, alone)
    )
    nothing = ResidualSize(np.nan, np.nan, np.nan)
    frames = sum(len(piece.time) for piece in pieces)
    plates = plate_keys(trial, fit, pieces[0].session, pieces[0].horizontal) if pieces else {}
    return TrialOutcome(
        trial=trial.path,
        session=pieces[0].session if pieces else "",
        frames=frames,
        left_out=len(recorded.motion.time) - frames,
        before=before or nothing,
        after=after or nothing,
        predicted=predicted,
        moment_change=_moment_change(trial, recorded, pieces, fit, plates) if pieces else {},
        plates=plates,
    )


def _size(trial: Trial, residuals: list[Array]) -> ResidualSize:
    force, moment = np.split(np.concatenate(residuals), 2, axis=1)
    rms = float(np.sqrt((force**2).sum(axis=1).mean()))
    return ResidualSize(rms, rms / _weight(trial), float(np.sqrt((moment**2).sum(axis=1).mean())))


def plate_keys(trial: Trial, fit: BodyFit, session: str, horizontal: tuple[str, str]) -> dict[str, Any]:
    """The keys and values of [plates] of a trial; undetermined parameters are left out."""
    values = {
        (one.quantity, one.of, one.axis): float(value)
        for one, value, determined in zip(fit.parameters, fit.value, fit.determined, strict=True)
        if one.session == session and determined
    }
    keys: dict[str, Any] = {}
    if late := values.get((CLOCK, "", "")):
        keys["offset_s"] = round(late, 5)
    numbers = dict(zip(map(str, plate_numbers(trial.forces)), plate_names(trial), strict=True))
    for number, plate in numbers.items():
        shift = [
            round(1e3 * values.get((SHIFT, plate, axis), 0.0), 2) if axis in horizontal else 0.0
            for axis in "xyz"
        ]
        if any(shift):
            keys.setdefault("shift_mm", {})[number] = shift
        if (gain := values.get((GAIN, plate, ""))) is not None:
            keys.setdefault("vertical_gain", {})[number] = round(float(np.exp(gain)), 5)
        if (zero := values.get((ZERO, plate, ""))) is not None:
            keys.setdefault("vertical_zero_n", {})[number] = round(zero, 2)
    return keys


def _moment_change(
    trial: Trial, recorded: Mechanics, pieces: list[TrialResidual], fit: BodyFit, plates: dict[str, Any]
) -> dict[str, float]:
    """Root mean square change of joint moments [N m] in the used frames, as a trial file gives them."""
    model = recorded.model
    masses, shifts = body_values(recorded, fit)
    body = SubjectBody(trial.path, masses, shifts, trial.subject.mass)
    settings = trial.settings.changed(plates=PlateSettings(**plates))
    forces, _ = corrected_plates(trial.document, settings, trial.forces, pieces[0].axes.T)
    other = replace(trial, forces=forces, subject=replace(trial.subject, body=body, mass=body.total))
    changed = replace(
        recorded,
        model=subject_model(other, recorded.measured),
        reactions=ground_reactions(forces, recorded.motion.time, recorded.measured.filter),
    )
    before, after = (projected_moments(one.model, one.motion, one.wrenches) for one in (recorded, changed))
    used = np.isin(recorded.motion.time, np.concatenate([piece.time for piece in pieces]))
    change = np.sqrt(((after - before)[used] ** 2).mean(axis=0))
    return {
        f"{dof}_{side}": float(change[model.dof(f"{dof}_{side}")]) for side in SIDES for dof in SHOWN_DOFS
    }


def body_values(
    recorded: Mechanics, fit: BodyFit
) -> tuple[dict[str, float], dict[str, tuple[float, float, float]]]:
    """Mass [kg] of every segment, and shift (forward, left, up) [m] of the centers of mass that are moved."""
    values = {
        (one.quantity, one.of, one.axis): float(value)
        for one, value in zip(fit.parameters, fit.value, strict=True)
    }
    factors = {part: np.exp(values[MASS, group, ""]) for group, parts in GROUPS.items() for part in parts}
    masses = {name: float(factors[name] * mass) for name, mass in segment_masses(recorded).items()}
    shifts = dict[str, tuple[float, float, float]]()
    for group in MOVED:
        forward, left, up = (values[CENTER, group, axis] for axis in SHIFT_AXES)
        if forward or left or up:
            shifts |= dict.fromkeys(GROUPS[group], (forward, left, up))
    return masses, shifts


def segment_masses(recorded: Mechanics) -> dict[str, float]:
    """Mass [kg] of every segment of the model."""
    masses: dict[str, float] = {}
    for body, mass in zip(recorded.model.topology.bodies, recorded.model.mass.mass, strict=True):
        masses[body.segment] = masses.get(body.segment, 0.0) + float(mass)
    return masses


def _calibration(
    trial: Trial, recorded: Mechanics, fit: BodyFit, outcomes: list[TrialOutcome]
) -> BodyCalibration:
    """The result in the units of the body file."""
    units = [UNITS.get(one.quantity, (1.0, "N")) for one in fit.parameters]
    several = len({one.session for one in fit.parameters if one.session}) > 1
    scales = np.array([scale for scale, _ in units])
    sd, prior_sd, parameters = scales * fit.sd, scales * fit.prior_sd, []
    for k, (one, (scale, unit)) in enumerate(zip(fit.parameters, units, strict=True)):
        numbers = np.array([fit.value[k], -fit.bound[k], fit.bound[k]])
        value, lowest, highest = (np.exp(numbers) if unit == "factor" else scale * numbers).tolist()
        parameters.append(
            FoundParameter(
                name=parameter_name(one, several),
                quantity=one.quantity,
                value=value,
                unit=unit,
                sd=float(sd[k]),
                prior_sd=float(prior_sd[k]),
                lowest=lowest,
                highest=highest,
                determined=bool(fit.determined[k]),
                at_bound=bool(fit.at_bound[k]),
            )
        )
    unmeasured = "of which in no frame all contacts are measured by plates"
    unused = [f"Not used: {one.trial.name}, {unmeasured}." for one in outcomes if not one.frames]
    masses, shifts = body_values(recorded, fit)
    subject, total = trial.subject, sum(masses.values())
    return BodyCalibration(
        name=subject.name,
        stated={
            "mass_kg": subject.mass,
            "stature_m": subject.stature,
            "sex": subject.sex,
            "shoe_mass_kg": subject.shoe_mass,
        },
        mass=total,
        mass_sd=total * fit.mass[1],
        segment_mass=masses,
        parent_mass=segment_masses(recorded),
        center_shift={name: (1e3 * x, 1e3 * y, 1e3 * z) for name, (x, y, z) in shifts.items()},
        parameters=tuple(parameters),
        covariance=fit.covariance * np.outer(scales, scales),
        trials=tuple(outcomes),
        remarks=(*_remarks(parameters, fit), *unused),
    )


def parameter_name(one: BodyParameter, with_session: bool) -> str:
    """Return the name of a parameter: "mass of the trunk", "center of mass of the pelvis, forward"."""
    name = {
        MASS: f"mass of the {one.of}",
        CENTER: f"center of mass of the {one.of}, {one.axis}",
        CLOCK: "clock of the plates",
        SHIFT: f"center of pressure of {one.of}, {one.axis}",
        GAIN: f"gain of {one.of}",
        ZERO: f"zero of {one.of}",
    }[one.quantity]
    return f"{name} (session {one.session})" if with_session and one.session else name


def _remarks(parameters: list[FoundParameter], fit: BodyFit) -> list[str]:
    """Return remarks on parameters that are undetermined, not separable, or held by a bound."""
    remarks = []
    if unknown := [one.name for one in parameters if not one.determined]:
        remarks.append(f"Not determined by these trials, and left at the prior: {'; '.join(unknown)}.")
    correlation = fit.covariance / np.outer(fit.sd, fit.sd)
    for k, one in enumerate(parameters):
        for j, other in enumerate(parameters[:k]):
            if abs(correlation[k, j]) > CORRELATED and one.determined and other.determined:
                remarks.append(
                    f"Not told apart by these trials: {other.name} and {one.name} "
                    f"(correlation {correlation[k, j]:.2f})."
                )
    remarks += [
        f"At its bound: {one.name}, {one.value:.3g} {one.unit}. The trials draw it further: look for another cause."
        for one in parameters
        if one.at_bound
    ]
    return remarks
