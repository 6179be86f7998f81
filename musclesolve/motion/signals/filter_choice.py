"""The filter of a trial with every cut-off: from the trial file, or from the recording."""

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.long_arrays import in_blocks
from musclesolve._util.names import shortened
from musclesolve.errors import InputError
from musclesolve.motion.signals.low_pass import checked_cutoffs, low_pass
from musclesolve.motion.signals.residual_analysis import CutoffVerdict, ResidualAnalysis, residual_analysis
from musclesolve.motion.signals.smoothing_spline import lowest_cutoff, smoothing_spline
from musclesolve.recording.data import SIDES, Recording
from musclesolve.recording.gaps.gap_filling import jumps
from musclesolve.settings.trial import FilterSettings

# Whose cut-offs the forces get: the plate acts on the foot, and where foot and force are filtered unlike, impacts of
# the one are not matched by the other and show as moments of the joints (Bisseling & Hof 2006, J Biomech
# 39:2438; Kristianslund et al. 2012, J Biomech 45:666).
OF_THE_FOOT = ("ankle_lateral", "heel", "toe", "metatarsal_5")


@dataclass(frozen=True)
class FilterChoice:
    """The low-pass filter of a trial, n needed markers."""

    options: FilterSettings  # options in the trial file
    markers: tuple[str, ...]  # n names
    # frames of the longest stretch around the time range in which every needed marker is seen and none jumps
    gap_free: slice
    # (n, 3) cut-off of every coordinate [Hz]; where a residual analysis found none, the median over the other axes of
    # the marker, or over all markers
    cutoff_hz: Array
    # cut-off of the forces: as given, the same, or the median of the coordinates of the foot markers [Hz]
    force_cutoff_hz: float
    noise: Array | None = None  # (n, 3) estimated noise [m]; None with a stated cut-off
    analysis: ResidualAnalysis | None = None  # the residual curves (C, n, 3), where they chose

    def smooth(self, position: Array, rate_hz: float) -> Array:
        """Return the filtered markers (T, n, 3)."""
        if self.options.method == "spline":
            return smoothing_spline(position, rate_hz, self.cutoff_hz, self.options.order).position
        return low_pass(position, rate_hz, self.cutoff_hz, self.options.order)

    def smooth_force(self, wrench: Array, rate_hz: float) -> Array:
        """Return the filtered forces (S, k).

        Always by the Butterworth filter: its gain equals the gain of a spline of the same half order, and forces need
        neither derivatives nor a separate choice.
        """
        return low_pass(wrench, rate_hz, self.force_cutoff_hz, self.options.order)


def filter_choice(recording: Recording, options: FilterSettings) -> FilterChoice:
    """Return the filter of a trial."""
    names, rate, position = recording.used_markers, recording.markers.rate, needed_markers(recording)
    gap_free = gap_free_range(recording, position)
    position, noise, analysis = position[gap_free], None, None
    try:
        if options.fixed_cutoff is not None:
            lowest = lowest_cutoff(rate, options.order) if options.method == "spline" else 0.0
            cutoff = checked_cutoffs(options.fixed_cutoff, position.shape, rate, lowest)
        elif options.choice == "cross_validation":
            spline = smoothing_spline(position, rate, None, options.order)
            cutoff, noise = spline.cutoff_hz, spline.noise
        else:
            analysis = residual_analysis(position, rate, options.order, options.choice)
            cutoff, noise = analysis.cutoff_hz.copy(), analysis.noise
            # Without a cut-off from the curve: from the other axes of the marker, or from all markers.
            found = analysis.verdict == CutoffVerdict.FOUND
            usual = cutoff[found]
            for marker in np.flatnonzero(~found.all(axis=1)) if usual.size else ():
                cutoffs = cutoff[marker, found[marker]]
                cutoff[marker, ~found[marker]] = np.median(cutoffs if cutoffs.size else usual)
    except InputError as error:
        raise recording.document.placed(error, "filter", "cutoff_hz") from None

    force_cutoff = options.force_cutoff_hz or options.fixed_cutoff
    if force_cutoff is None:
        mapped = (recording.mapping.get(f"{part}_{side}", ()) for part in OF_THE_FOOT for side in SIDES)
        of_the_feet = {marker for weights in mapped for marker in weights}
        force_cutoff = float(np.median(cutoff[[name in of_the_feet for name in names]]))
    for plate in recording.forces:
        try:
            checked_cutoffs(force_cutoff, plate.force.shape, plate.rate)
        except InputError as error:
            key = "cutoff_hz" if options.force_cutoff_hz is None else "force_cutoff_hz"
            raise recording.document.placed(error, "filter", key, after=" of forces") from None
    return FilterChoice(options, names, gap_free, cutoff, force_cutoff, noise, analysis)


def choice_notes(chosen: FilterChoice) -> list[str]:
    """Return sentences on coordinates whose noise cannot be separated from their motion."""
    if chosen.analysis is None:
        return []
    meanings = {
        CutoffVerdict.NO_NOISE: "the residual becomes straight only near its end, so there is no noise, or too "
        "little to fit its line",
        CutoffVerdict.NO_MOTION: "only noise: the residual is straight from the start",
    }
    instead = (
        "; filtered like the other axes of the marker, or like the other markers."
        if (chosen.analysis.verdict == CutoffVerdict.FOUND).any()
        else "; the cut-off is uncertain."
    )
    notes = []
    for verdict, meaning in meanings.items():
        places = np.argwhere(chosen.analysis.verdict == verdict)
        if len(places):
            shown = shortened([f"{chosen.markers[k]} {'xyz'[axis]}" for k, axis in places], 4)
            notes.append(f"Residual analysis of {shown}: {meaning}{instead}")
    return notes


def gap_free_range(recording: Recording, position: Array) -> slice:
    """Return the longest stretch around the time range in which every marker (T, n, 3) [m] is seen and none jumps."""
    lost = np.isnan(position).any(axis=(1, 2)) | jumps(position, recording.markers.rate).any(axis=1)
    at, frames = np.flatnonzero(lost), recording.frames()
    first = max(at[at < frames.start], default=-1) + 1
    last = min(at[at >= frames.stop], default=len(position))
    return slice(int(first), int(last))


def needed_markers(recording: Recording) -> Array:
    """Return the recorded positions of ``used_markers``, (T, n, 3) [m]."""
    markers = (recording.markers[name] for name in recording.used_markers)
    return in_blocks(lambda *some: np.stack(some, axis=1), *markers)
