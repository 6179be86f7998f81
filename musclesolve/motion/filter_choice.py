"""The filter of a trial with every cut-off settled: as the trial file gives it, or as the recording shows it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve.errors import InputError
from musclesolve.motion.filtering import low_pass
from musclesolve.motion.residual_analysis import ResidualAnalysis, Verdict, residual_analysis
from musclesolve.motion.seen import needed_markers, seen_stretch
from musclesolve.motion.smoothing_spline import smoothing_spline
from musclesolve.recording.data import SIDES, FilterOptions, Trial

Array = NDArray[np.float64]

# Whose cut-offs the forces get: the plate acts on the foot, and where foot and force are filtered unlike, impacts of
# the one are not matched by the other and show as moments of the joints (Bisseling & Hof 2006, J Biomech
# 39:2438; Kristianslund et al. 2012, J Biomech 45:666).
OF_THE_FOOT = ("ankle_lateral", "heel", "toe", "metatarsal_5")


@dataclass(frozen=True)
class FilterChoice:
    """The low-pass filter of a trial, n needed markers.

    Args:
        options: what the trial file asks for.
        markers: n names.
        cutoff_hz: (n, 3) cut-off of every coordinate [Hz].
        force_cutoff_hz: cut-off of the forces: as given, the same, or the median of the coordinates of the foot
            markers [Hz].
        noise: (n, 3) estimated noise [m]; None where the cut-off is given.
        analysis: the residual curves (C, n, 3), where they chose.
    """

    options: FilterOptions
    markers: tuple[str, ...]
    cutoff_hz: Array
    force_cutoff_hz: float
    noise: Array | None = None
    analysis: ResidualAnalysis | None = None

    def smooth(self, position: Array, rate_hz: float) -> Array:
        """Return the filtered markers (T, n, 3)."""
        if self.options.method == "spline":
            return smoothing_spline(position, rate_hz, self.cutoff_hz, self.options.order).position
        return low_pass(position, rate_hz, self.cutoff_hz, self.options.order)

    def smooth_force(self, wrench: Array, rate_hz: float) -> Array:
        """Return the filtered forces (S, k).

        Always by the Butterworth filter: its gain is that of a spline of that half order, and forces need neither
        derivatives nor a choice of their own.
        """
        return low_pass(wrench, rate_hz, self.force_cutoff_hz, self.options.order)


def filter_choice(trial: Trial) -> FilterChoice:
    """Return the filter of a trial.

    Raises:
        InputError: the recording cannot say what noise it has, with the line of the trial file.
    """
    options, names = trial.filter, trial.used_markers
    if options.cutoff_hz is not None:
        cutoff = np.full((len(names), 3), options.cutoff_hz)
        return FilterChoice(options, names, cutoff, options.force_cutoff_hz or options.cutoff_hz)
    position = needed_markers(trial)[seen_stretch(trial)]
    try:
        return _from_data(trial, position)
    except InputError as error:
        raise trial.document.placed(error, "filter", "cutoff_hz") from None


def _from_data(trial: Trial, position: Array) -> FilterChoice:
    options, names, rate = trial.filter, trial.used_markers, trial.markers.rate
    if options.choice == "cross_validation":
        spline = smoothing_spline(position, rate, None, options.order)
        return FilterChoice(
            options, names, spline.cutoff_hz, _of_the_feet(trial, spline.cutoff_hz), spline.noise
        )
    found = residual_analysis(position, rate, options.order, options.choice)
    return FilterChoice(
        options, names, found.cutoff_hz, _of_the_feet(trial, found.cutoff_hz), found.noise, found
    )


def _of_the_feet(trial: Trial, cutoff_hz: ArrayLike) -> float:
    """Return what the trial file gives, or the median over the coordinates of the markers that show the feet [Hz]."""
    if trial.filter.force_cutoff_hz is not None:
        return trial.filter.force_cutoff_hz
    names = {
        marker for part in OF_THE_FOOT for side in SIDES for marker in trial.mapping.get(f"{part}_{side}", ())
    }
    rows = [k for k, name in enumerate(trial.used_markers) if name in names]
    return float(np.median(np.asarray(cutoff_hz)[rows]))


def choice_notes(chosen: FilterChoice) -> list[str]:
    """Return sentences on coordinates whose noise cannot be told from their motion."""
    if chosen.analysis is None:
        return []
    meanings = {
        Verdict.NO_NOISE: "the residual becomes straight only near its end, so there is no noise to be seen, or too "
        "little to find its line; the cut-off is uncertain",
        Verdict.NO_MOTION: "nothing but noise: the residual is straight from the start",
    }
    notes = []
    for verdict, meaning in meanings.items():
        places = np.argwhere(chosen.analysis.verdict == verdict)
        if len(places):
            shown = ", ".join(f"{chosen.markers[k]} {'xyz'[axis]}" for k, axis in places[:4])
            more = f" and {len(places) - 4} more" if len(places) > 4 else ""
            notes.append(f"Residual analysis of {shown}{more}: {meaning}.")
    return notes
