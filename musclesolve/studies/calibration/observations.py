"""Measurements of a person's muscles with the values of a model, and derivatives by all fitted parameters.

    EMG           a_c(t) exp(-gamma_c) - h(e_c(t - d)),    a_c: mean activation of the muscles of channel c,
                  e_c: its envelope over the largest of all trials, gamma_c: logarithm of the gain, the activation at
                  the largest envelope; d: delay; h(e) = (exp(A e) - 1) / (exp(A) - 1), e for A = 0
    fascicles     l_i(t) - measured length
    reserves      the part of a joint moment that the muscles lack; measured: zero
    strength      maximal moment of a test - measured one

The error is in the unit of the measured signal: an error in the unit of the activation would be least where activations
vanish.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from musclesolve._util.arrays import Array, grouped
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.laboratory.bodies.measured_activation import MeasuredActivation
from musclesolve.laboratory.bodies.measured_body import MeasuredModel
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.motion.signals.emg_envelope import envelopes_in_unit, shaped
from musclesolve.studies.calibration.inner_optimum import Optimum, PartMuscles

EMG, FASCICLE, RESERVE, STRENGTH_TEST = "EMG", "fascicle length", "reserve", "strength test"
UNITS = {EMG: "1", FASCICLE: "m", RESERVE: "N m", STRENGTH_TEST: "N m"}
USUAL_SD = {EMG: 0.15, RESERVE: 0.5}
"""Assumed standard deviations of the first residuals: of an envelope, and of a joint moment [N m]."""
CORRELATION_TIME = 0.05
"""Assumed correlation time of the first residuals [s]."""
_DIFFERENCE_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class Observation:
    """One curve: kind and label (of a channel), trial; time (N,) [s]; predicted and measured (N,); jacobian (N, P)."""

    kind: str
    label: str
    trial: str
    time: Array
    predicted: Array
    measured: Array
    jacobian: Array
    # by name, derivatives (N,) of the residual by errors of the measurement that are not fitted, times their sd
    unmodeled: Mapping[str, Array] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """Key that separates the observation from all others."""
        return self.trial, self.kind, self.label

    @property
    def residual(self) -> Array:
        """Predicted less measured, (N,)."""
        return np.asarray(self.predicted - self.measured)

    @property
    def rms(self) -> float:
        """Root mean square of the residual."""
        return float(np.sqrt(np.mean(np.square(self.residual)))) if self.residual.size else np.nan

    @property
    def correlation(self) -> float:
        """Pearson r of predicted and measured; NaN where one is constant."""
        if self.residual.size < 3 or np.ptp(self.predicted) == 0.0 or np.ptp(self.measured) == 0.0:
            return np.nan
        return float(np.corrcoef(self.predicted, self.measured)[0, 1])


def by_channel(observed: Iterable[Observation]) -> dict[tuple[str, str], list[Observation]]:
    """The observations of each channel in all trials, by kind and label."""
    return grouped(((observation.kind, observation.label), observation) for observation in observed)


@dataclass(frozen=True)
class EmgScale:
    """The fitted numbers of EMG, by their place in the vector of all: gains by channel, delay and shape if free.

    largest: envelope of each channel [unit of its file] that counts as 1; delay, shape: None where they are not free.
    """

    gain: dict[str, int]
    largest: dict[str, float]
    delay: int | None
    shape: int | None


class TrialMuscles:
    """One trial of a calibration: its body, parts and measurements."""

    def __init__(self, name: str, body: RecordedBody | MeasuredModel) -> None:
        self.name, self.body = name, body
        self.parts = [PartMuscles(part, body.sharing) for part in body.parts]
        self.time = body.time
        self.step = float(np.median(np.diff(self.time)))
        self.fascicles, self.emg = body.fascicles, body.emg
        self.maximum = dict.fromkeys(() if self.emg is None else self.emg.channels, 1.0)
        if body.trial is not None and body.trial.emg is not None:
            maximum = envelopes_in_unit(body.trial.emg)[1]
            self.maximum |= dict(zip(body.trial.emg.names, maximum.tolist(), strict=True))

    @property
    def muscles(self) -> tuple[str, ...]:
        """Names of the muscles that share moments here."""
        return tuple(name for part in self.parts for name in part.names)

    def observed(
        self, optima: Sequence[Optimum], directions: Sequence[Array], theta: Array, emg: EmgScale
    ) -> list[Observation]:
        """Return the measurements beside the values by the optima of the parts, with derivatives (N, P) by all fitted
        numbers.

        directions: of each part, (K, 4, n), of the first K fitted numbers.
        """
        rows: list[Observation] = []
        for part, optimum, of_part in zip(self.parts, optima, directions, strict=True):
            change = optimum.along(of_part)
            if self.fascicles is not None:
                measured = self.fascicles.at(self.time)
                for channel, muscle in zip(*self.fascicles.columns(part.names), strict=True):
                    rows += self._made(
                        FASCICLE,
                        self.fascicles.channels[channel],
                        optimum.fiber_length[:, muscle],
                        measured[:, channel],
                        change.fiber_length[:, :, muscle],
                        len(theta),
                    )
            for row, dof in enumerate(part.part.shared):
                lacking = optimum.reserve[:, row]
                if np.nanmax(np.abs(lacking), initial=0.0) > LACKING:
                    nothing = np.zeros_like(lacking)
                    rows += self._made(RESERVE, dof, lacking, nothing, change.reserve[:, :, row], len(theta))
            if self.emg is not None:
                rows += self._emg(self.emg, part, optimum.activation, change.activation, theta, emg)
        return rows

    def _emg(
        self,
        measured: MeasuredActivation,
        part: PartMuscles,
        activation: Array,
        change: Array,
        theta: Array,
        emg: EmgScale,
    ) -> list[Observation]:
        rows = []
        delay = measured.delay if emg.delay is None else theta[emg.delay]
        shape = 0.0 if emg.shape is None else theta[emg.shape]
        later, earlier = (measured.at(self.time, delay + by) for by in (_DIFFERENCE_STEP, -_DIFFERENCE_STEP))
        envelope = measured.at(self.time, delay)
        for number, (channel, names) in enumerate(zip(measured.channels, measured.muscles, strict=True)):
            columns = [part.names.index(name) for name in names if name in part.names]
            if not columns:
                continue
            # over the largest of all trials
            size = self.maximum[channel] / emg.largest[channel]
            excited = envelope[:, number] * size
            mean, moved = activation[:, columns].mean(axis=1), change[:, :, columns].mean(axis=2)
            gain = np.exp(theta[emg.gain[channel]])
            made = self._made(EMG, channel, mean / gain, shaped(excited, shape), moved / gain, len(theta))
            for observation in made:
                jacobian = observation.jacobian
                kept = np.isin(self.time, observation.time)
                jacobian[:, emg.gain[channel]] = -observation.predicted
                if emg.delay is not None:
                    ends = (shaped(one[kept, number] * size, shape) for one in (later, earlier))
                    late, early = ends
                    jacobian[:, emg.delay] = -np.nan_to_num(late - early) / (2.0 * _DIFFERENCE_STEP)
                if emg.shape is not None:
                    high, low = (
                        shaped(excited[kept], shape + by) for by in (_DIFFERENCE_STEP, -_DIFFERENCE_STEP)
                    )
                    jacobian[:, emg.shape] = -(high - low) / (2.0 * _DIFFERENCE_STEP)
            everything = np.nan_to_num(envelope) * [
                self.maximum[c] / emg.largest[c] for c in measured.channels
            ]
            crosstalk = everything.sum(axis=1) - everything[:, number]
            rows += [self._with_errors(one, excited, crosstalk, emg.shape is None) for one in made]
        return rows

    def _with_errors(
        self, made: Observation, excited: Array, crosstalk: Array, shape_fixed: bool
    ) -> Observation:
        """The curve of a channel with what envelopes (T,) may have that is not fitted (`emg_errors` of priors.toml).

        crosstalk: the sum (T,) of the envelopes of all other channels.
        """
        sd = bundled_toml(__package__, "priors.toml")["emg_errors"]
        kept = np.isin(self.time, made.time)
        bent = shaped(excited[kept], sd["shape"]) - excited[kept]
        phase = (made.time - self.time.mean()) / max(np.ptp(self.time), self.step)
        errors = {
            f"shape of {made.label}": -sd["shape_of_channel"] * bent,
            f"crosstalk in {made.label}": -sd["crosstalk"] * crosstalk[kept],
            f"gain of {made.label} in {self.name}": -sd["gain_of_trial"] * made.measured,
            f"drift of {made.label} in {self.name}": -sd["drift"] * phase * made.measured,
        }
        if shape_fixed:
            errors["shape"] = -bent
        return replace(made, unmodeled=errors)

    def _made(
        self, kind: str, label: str, predicted: Array, measured: Array, change: Array, count: int
    ) -> list[Observation]:
        """The observation of a curve where both values are known; empty without such frames. change: (K, T)."""
        known = np.isfinite(predicted) & np.isfinite(measured) & np.isfinite(change).all(axis=0)
        if not known.any():
            return []
        jacobian = np.zeros((int(known.sum()), count))
        jacobian[:, : len(change)] = change[:, known].T
        return [
            Observation(kind, label, self.name, self.time[known], predicted[known], measured[known], jacobian)
        ]


LACKING = 0.05
"""Reserves up to which the muscles suffice [N m]."""


def correlated_samples(residuals: Sequence[Array]) -> float:
    """Return the number of neighboring samples that count as one: 1 + 2 sum of the autocorrelation while positive.

    The residuals (N,) of a few curves are taken about zero: a constant error counts once. Sokal (1997),
    Monte Carlo methods in statistical mechanics, section 3; ended at the first pair of lags whose sum is not positive
    (Geyer 1992, Stat Sci 7:473-83).
    """
    size = float(sum(np.square(residual).sum() for residual in residuals))
    longest = max((len(residual) for residual in residuals), default=0)
    if not size > 0.0:
        return 1.0
    total = 1.0
    for lag in range(1, longest - 1, 2):
        long = [(residual, k) for residual in residuals for k in (lag, lag + 1) if len(residual) > k]
        pair = sum(float((residual[:-k] * residual[k:]).sum()) for residual, k in long)
        if pair <= 0.0:
            break
        total += 2.0 * pair / size
    return float(min(total, longest))
