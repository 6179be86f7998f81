"""State of an EMG channel by its signal: raw or envelope, dead, spikes, clipped, hum.

Raw surface EMG has its power between 20 and 400 Hz and lies on both sides of zero; a linear envelope has nearly all its
power below 20 Hz and no values below zero except for the undershoot of its filter (Winter 2009, Biomechanics, chapter
10). The activity of a muscle in a movement changes from phase to phase; amplifier noise, a tone and the mains do not. A
spike is a few samples that lie alone, far beyond all others. Spikes and hum are removed; a channel that is dead, full
of spikes or clipped is neither used nor compared (`ChannelState.unusable`).

Limits were set between sound channels (30 of two laboratories) and faults planted into them, stated at each limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Mask, long_enough, true_runs

FLAT_RANGE = 1e-9
"""A signal whose range is below this share of its size is flat."""
SATURATED_RUN = 3
"""Number of successive samples at the largest or smallest value that show saturation of the amplifier."""
FEWEST_LEVELS = 32
"""Least number of different values of a signal in which repetition shows saturation."""
EMG_HZ, SMOOTH_HZ, TOP_HZ = 20.0, 60.0, 400.0
"""Raw EMG lies between the first and the last frequency; even fast envelopes (cut-off 30 Hz, windows of 25 ms) lie
below the second.
"""
ABOVE_EMG, ABOVE_SMOOTH = 0.35, 0.05
"""Largest shares of the power of an envelope above `EMG_HZ` and `SMOOTH_HZ`; raw channels had 0.83 or more."""
NEGATIVE = 0.1
"""Largest share of an envelope's area that is negative: undershoot; of a raw signal it is about one half."""
OFFSET_ALONE = 0.01
"""Largest share of power above `EMG_HZ` of an envelope that never comes near zero: raw EMG on an offset drifts, too."""
ACTIVITY_WINDOW = 0.1
"""Windows in which activity is measured [s]."""
FEWEST_WINDOWS = 10
"""Windows that show how activity changes."""
DEAD = 1.7
"""Least ratio of activity between phases: stationary noise and tones had 1.0 to 1.5, sound channels 3.2 or more,
their envelopes with hum 1.9."""
FAINT, FEWEST_BESIDE = 1.0 / 25.0, 3
"""Amplitude over the median of the other channels below which an electrode was not connected: 0.013 to 0.034 of the
median in gc5, btk_sub_labels, pyomeca of `benchmarks.real_files`, sound channels there 0.33 and more; and the least
number of other channels that show a median."""
TONIC = 0.05
"""Share of a stated maximum above which an unchanging envelope is the tone of a muscle."""
WHITE, BROAD_HZ = 0.42, 300.0
"""Median frequency of white noise within its band is 0.5 of the band, of surface EMG 0.3 at most, in bands so wide."""
TONE = 0.5
"""Share of the power in one line (2 Hz) above which a signal is a tone."""
BLOCK = 0.01
"""Blocks whose largest sizes are compared to find spikes [s]."""
SPIKE = 3.0
"""Least ratio of a spike to the next largest block: sound channels had 2.1 at most; a smaller spike changes no envelope
by more than 7 %."""
SPIKE_RISE = 0.2
"""Least height of a spike as a share of the range of 99 % of the samples."""
LONGEST_SPIKE = 0.004
"""Longest duration of a spike [s], or three samples; the potential of a motor unit lasts 5 to 15 ms."""
MOST_BLOCKS = 0.25
"""Largest share of the blocks in which spikes are searched."""
MOST_A_SECOND = 5.0
"""Largest number of spikes per second that are removed: more would remove too much of the signal."""
CLIPPED, LOST_PEAK = 0.001, 0.005
"""Shares of clipped samples: below the first the peak of an envelope was at most 1 % too low, above the second up to
15 % and more, so that the size of the channel is lost."""
MAINS_HZ, BESIDE_HZ, HARMONICS = (50.0, 60.0), 1.0, (1, 2, 3)
"""Mains frequencies, the half-width of hum about them and their harmonics [Hz], and the number of harmonics."""
HUM, SHORTEST_HUM = 0.25, 1.0
"""Share of the power of raw EMG from which hum is removed, at most 0.09 without hum; the shortest signal that shows
hum [s].
"""


@dataclass(frozen=True)
class ChannelState:
    """State of an EMG channel by its signal."""

    flat: bool = False  # whether it never changes
    dead: bool = False  # whether it is noise or a tone, without any activity of a muscle
    # its amplitude over the median of the other channels; NaN where too few others show it
    beside: float = float("nan")
    modulation: float = float("inf")  # by how many times its activity changes between phases
    spikes: tuple[tuple[float, float], ...] = ()  # first and last time of each [s]
    spiky: bool = False  # whether spikes are too many to be removed; else they are
    clipped: float = 0.0  # share of samples at the end of the range of the amplifier
    clipped_at: float = float("nan")  # time of the first of them [s]
    lost_peak: bool = False  # whether clipping is so frequent that the size of the envelope is lost
    hum: float = 0.0  # share of the power that is the mains
    mains: float = float("nan")  # their frequency [Hz]
    no_hum: bool = False  # whether it was removed

    @property
    def faint(self) -> bool:
        """Whether its amplitude is so small beside the other channels that its electrode was not connected."""
        return 0.0 < self.beside < FAINT

    @property
    def unusable(self) -> str:
        """Reason why the channel is not used or compared; "" where the channel is sound."""
        if self.flat:
            return "it never changes"
        if self.dead:
            return (
                f"its activity changes by {self.modulation:.1f} times between phases, as noise or a tone does"
            )
        if self.faint:
            return f"its amplitude is 1/{1.0 / self.beside:.0f} of the median of the other channels"
        if self.spiky:
            return f"it has {len(self.spikes)} spikes"
        return f"{100.0 * self.clipped:.2g} % of its samples are clipped" if self.lost_peak else ""


def channel_states(
    values: Array, time: Array, processed: bool, maximum: Sequence[float | None]
) -> tuple[Array, tuple[ChannelState, ...]]:
    """Return the signals (S, k) without spikes and hum as far as these can be removed, and the state of every channel.

    A channel with a stated maximum has its own unit; the amplitudes of the others are compared with each other. An
    unchanging channel is dead if another one changes, or if no muscle can have its spectrum, unless its stated
    maximum shows that the muscle is always active.

    Args:
        values: (S, k), NaN where a sample is missing.
        time: (S,) even times [s].
        processed: whether the signals are envelopes.
        maximum: (k,) envelopes that correspond to activation 1 [unit of the file]; None: not stated.
    """
    rate = (len(time) - 1) / float(time[-1] - time[0])
    cleaned, states, strange, tonic, amplitudes = values.copy(), [], [], [], []
    for column, (signal, largest) in enumerate(zip(values.T, maximum, strict=True)):
        if is_flat(signal):
            state, whole = ChannelState(flat=True, modulation=1.0), np.zeros(len(time))
        else:
            spikes = spikes_of(signal, rate)
            many = len(spikes) > max(1.0, MOST_A_SECOND * (time[-1] - time[0]))
            state = ChannelState(
                spikes=tuple((float(time[a]), float(time[b - 1])) for a, b in spikes), spiky=many
            )
            signal = signal if many else _without(signal, spikes)
            cleaned[:, column], whole = signal, _bridged(signal)
        power, frequency = _power(whole, rate)
        if not processed and not state.flat and not is_envelope(whole, rate):
            clipped = saturated(signal)
            if share := float(clipped.mean()):
                first = float(time[clipped.argmax()])
                state = replace(state, clipped=share, clipped_at=first, lost_peak=share >= LOST_PEAK)
            if len(time) / rate >= SHORTEST_HUM and np.isfinite(signal).all():
                mains, hum = max(((f, _hum(power, frequency, f)) for f in MAINS_HZ), key=lambda pair: pair[1])
                state = replace(state, hum=hum, mains=mains, no_hum=hum > HUM)
                if state.no_hum:
                    cleaned[:, column] = whole = _without_lines(whole, rate, mains)
        if not state.flat:
            state = replace(state, modulation=modulation(whole, rate, processed))
        size = whole if processed else np.abs(_fast(whole, rate))
        amplitudes.append(float(size.std()) if largest is None else np.nan)
        states.append(state)
        strange.append(not processed and not state.flat and _no_muscle(power, frequency))
        tonic.append(largest is not None and float(np.median(size)) > TONIC * largest)
    changing = any(state.modulation >= DEAD for state in states)

    def dead(state: ChannelState, none: bool, active: bool) -> bool:
        if state.flat or state.spiky or state.lost_peak or state.modulation >= DEAD:
            return False
        return none or (changing and not active)

    judged = zip(states, strange, tonic, strict=True)
    states = [replace(state, dead=dead(state, none, active)) for state, none, active in judged]
    beside = _beside(
        np.array([np.nan if s.flat or s.spiky else a for s, a in zip(states, amplitudes, strict=True)])
    )
    return cleaned, tuple(replace(s, beside=ratio) for s, ratio in zip(states, beside, strict=True))


def _beside(amplitudes: Array) -> list[float]:
    """Return amplitudes (k,) over the median of the others; NaN where they are not known, or too few others are."""
    ratios = []
    for k, amplitude in enumerate(amplitudes):
        others = np.delete(amplitudes, k)
        known = others[np.isfinite(others)]
        ratios.append(float(amplitude / np.median(known)) if known.size >= FEWEST_BESIDE else np.nan)
    return ratios


def is_flat(signal: Array) -> bool:
    """Return whether a signal (S,) has no samples, or never changes; gaps (NaN) do not count."""
    known = signal[np.isfinite(signal)]
    return known.size == 0 or bool(np.ptp(known) <= FLAT_RANGE * np.abs(known).max())


def saturated(signal: Array) -> Mask:
    """Return a mask (S,) of the samples in a run at the end of the range of the amplifier."""
    none: Mask = np.zeros(signal.size, bool)
    known = signal[np.isfinite(signal)]
    if known.size == 0 or np.unique(known).size < FEWEST_LEVELS:
        return none
    return sum((long_enough(signal == end, SATURATED_RUN) for end in (known.min(), known.max())), none)


def fast_and_negative(signal: Array, rate_hz: float) -> tuple[float, float, float]:
    """Return the shares of the power of a signal (S,) above 20 and 60 Hz, and the share of its area below zero."""
    whole = _bridged(signal)
    power, frequency = _power(whole, rate_hz, 0.0, np.inf)
    total, area = float(power.sum()), float(np.abs(whole).sum())
    fast, faster = (float(power[frequency > f].sum()) / total if total else 0.0 for f in (EMG_HZ, SMOOTH_HZ))
    return fast, faster, float((-whole).clip(min=0.0).sum()) / area if area else 0.0


def is_envelope(signal: Array, rate_hz: float) -> bool:
    """Return whether a signal (S,) is a linear envelope: nearly no power above 20 Hz, nearly no negative values."""
    if is_flat(signal):
        return False
    signal = _without(signal, spikes_of(signal, rate_hz))
    fast, faster, negative = fast_and_negative(signal, rate_hz)
    low, high = np.nanpercentile(signal, (1.0, 99.0))
    most = ABOVE_EMG if low < 0.5 * high else OFFSET_ALONE
    return fast <= most and faster <= ABOVE_SMOOTH and negative <= NEGATIVE


def modulation(signal: Array, rate_hz: float, processed: bool) -> float:
    """Return the ratio of activity between phases of a signal (S,) without gaps.

    Activity is the rms in windows of 0.1 s, for an envelope the mean. The ratio is the larger one of the 95th over the
    5th percentile and the largest over the median; infinite if windows are too few or silent.
    """
    width = max(1, round(ACTIVITY_WINDOW * rate_hz))
    count = signal.size // width
    if count < FEWEST_WINDOWS:
        return float("inf")
    rows = (signal if processed else _fast(signal, rate_hz))[: count * width].reshape(count, width)
    size = rows.mean(axis=1) if processed else np.sqrt(np.square(rows).mean(axis=1))
    low, middle, high = np.percentile(size, (5.0, 50.0, 95.0))
    if low <= 0.0:
        return float("inf")
    return float(max(high / low, size.max() / middle))


def spikes_of(signal: Array, rate_hz: float) -> tuple[tuple[int, int], ...]:
    """Return first sample and end of every spike of a signal (S,).

    Sizes are distances from the running median over 20 ms, which a spike does not change. The largest sizes of all
    blocks of 10 ms are sorted: where one is `SPIKE` times the next, it and all larger ones are outliers. Outliers are
    spikes if each is shorter than a potential of a motor unit.
    """
    from musclesolve._util.series_kernel import MEDIAN

    width = max(1, round(BLOCK * rate_hz))
    count = signal.size // width
    if count < FEWEST_WINDOWS:
        return ()
    longest = max(3, round(LONGEST_SPIKE * rate_hz))
    whole = _bridged(signal)
    median = np.empty(whole.size)
    MEDIAN.load()(np.ascontiguousarray(whole), np.empty(2 * max(width, longest) + 1), median)
    size = np.abs(whole - median)
    peaks = np.sort(np.pad(size, (0, -size.size % width)).reshape(-1, width).max(axis=1))[::-1]
    most = max(1, int(MOST_BLOCKS * count))
    ratio = peaks[:most] / np.maximum(peaks[1 : most + 1], np.finfo(float).tiny)
    least = SPIKE_RISE * float(np.ptp(np.percentile(whole, (0.5, 99.5))))
    steps = np.flatnonzero((ratio >= SPIKE) & (peaks[:most] > least))
    if steps.size == 0:
        return ()
    high = size > peaks[steps[-1] + 1]
    runs: list[tuple[int, int]] = []
    for first, stop in true_runs(high):
        if runs and first - runs[-1][1] <= longest:
            runs[-1] = (runs[-1][0], stop)
        else:
            runs.append((first, stop))
    return () if any(stop - first > longest for first, stop in runs) else tuple(runs)


def _without(signal: Array, spikes: Sequence[tuple[int, int]]) -> Array:
    """Return a signal (S,) with a straight line through every spike and a sample on either side of it."""
    if not spikes:
        return signal
    unspoiled = signal.copy()
    for first, stop in spikes:
        unspoiled[max(first - 1, 0) : stop + 1] = np.nan
    return np.where(np.isfinite(signal), _bridged(unspoiled), np.nan)


def _bridged(signal: Array) -> Array:
    """Return a signal (S,) with straight lines through its gaps."""
    known = np.isfinite(signal)
    if known.all():
        return signal
    sample = np.arange(signal.size)
    return np.asarray(np.interp(sample, sample[known], signal[known]))


def _fast(signal: Array, rate_hz: float) -> Array:
    """Return the part of a signal (S,) above 20 Hz, without the straight line between its ends."""
    level = signal - np.linspace(signal[0], signal[-1], signal.size)
    spectrum = np.fft.rfft(level)
    spectrum[np.fft.rfftfreq(signal.size, 1.0 / rate_hz) < EMG_HZ] = 0.0
    return np.asarray(np.fft.irfft(spectrum, signal.size))


def _power(
    signal: Array, rate_hz: float, low_hz: float = EMG_HZ, high_hz: float = TOP_HZ
) -> tuple[Array, Array]:
    """Return power and frequencies [Hz] of a signal (S,) within a band."""
    power = np.abs(np.fft.rfft((signal - signal.mean()) * np.hanning(signal.size))) ** 2
    frequency: Array = np.asarray(np.fft.rfftfreq(signal.size, 1.0 / rate_hz), np.float64)
    band = (frequency >= low_hz) & (frequency <= high_hz)
    return power[band], frequency[band]


def _near(frequency: Array, mains_hz: float) -> Mask:
    return np.any([np.abs(frequency - k * mains_hz) <= BESIDE_HZ for k in HARMONICS], axis=0)


def _hum(power: Array, frequency: Array, mains_hz: float) -> float:
    """Return the share of the power near a frequency and its harmonics."""
    total = float(power.sum())
    return float(power[_near(frequency, mains_hz)].sum()) / total if total else 0.0


def _without_lines(signal: Array, rate_hz: float, mains_hz: float) -> Array:
    """Return a signal (S,) without a frequency of the mains and its harmonics.

    Steady sines are fitted first, at the frequency near the nominal one that explains most: removed from a spectrum
    alone they would stay at both ends of a short recording. Then the rest within `BESIDE_HZ` is removed from the
    spectrum.
    """
    time = np.arange(signal.size) / rate_hz
    tried = mains_hz + np.linspace(-BESIDE_HZ, BESIDE_HZ, 41)
    level = signal - signal.mean()
    nearest = max(tried, key=lambda f: abs(np.exp(-2j * np.pi * f * time) @ level))
    angles = [2.0 * np.pi * k * nearest * time for k in HARMONICS if k * nearest < 0.5 * rate_hz]
    sines = np.stack([np.ones(time.size), *(f(angle) for angle in angles for f in (np.sin, np.cos))], axis=-1)
    rest = level - sines[:, 1:] @ np.linalg.lstsq(sines, level, rcond=None)[0][1:]
    spectrum = np.fft.rfft(rest)
    frequency: Array = np.asarray(np.fft.rfftfreq(signal.size, 1.0 / rate_hz), np.float64)
    spectrum[_near(frequency, mains_hz)] = 0.0
    return np.asarray(np.fft.irfft(spectrum, signal.size)) + signal.mean()


def _no_muscle(power: Array, frequency: Array) -> bool:
    """Return whether a spectrum belongs to white noise or to a tone."""
    total = float(power.sum())
    if frequency.size < FEWEST_WINDOWS or not total:
        return False
    peak = np.abs(frequency - frequency[power.argmax()]) <= BESIDE_HZ
    width = frequency[-1] - frequency[0]
    middle = frequency[np.searchsorted(np.cumsum(power), 0.5 * total)] - frequency[0]
    return bool(power[peak].sum() > TONE * total or (width >= BROAD_HZ and middle > WHITE * width))
