"""A calibrated body as a record and as a file: the values for trial files, and their accuracy."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.schema import tables_text
from musclesolve.recording.text.text_file import name_from
from musclesolve.results.files.atomic_writing import write_files
from musclesolve.version import __version__

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
                "residual_before": _size(one.before),
                "residual_after": _size(one.after),
                **({"residual_predicted": _size(one.predicted)} if one.predicted else {}),
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


def _size(size: ResidualSize) -> dict[str, float]:
    numbers = {"force_n": size.force, "force_percent_weight": 100.0 * size.share, "moment_n_m": size.moment}
    return {key: _short(value) for key, value in numbers.items() if np.isfinite(value)}


def _short(number: float) -> float:
    return float(f"{number:.6g}")
