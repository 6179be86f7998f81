"""Number of a figure of the source -> the function that draws ours.

Numbers with a year belong to the papers beside the thesis: Hof (1992), Silva & Ambrosio (1998), Blajer,
Dziewiecki & Mazur (2006). What the source prints of each, and why ours differ: docs/thesis_figures.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.thesis_figures.blajer import planar_leg
from benchmarks.thesis_figures.carpet_plots import carpets
from benchmarks.thesis_figures.consistency import moment_of, support_moment
from benchmarks.thesis_figures.cutoffs import cutoffs_of
from benchmarks.thesis_figures.digitization import chosen_cutoffs, correlations, noise, positions, residuals
from benchmarks.thesis_figures.drawing import Finding
from benchmarks.thesis_figures.hill_curves import active_curves, passive_curve
from benchmarks.thesis_figures.hof_1992 import explicit_moment, pressure_and_mass
from benchmarks.thesis_figures.knee_acceleration import knee_acceleration
from benchmarks.thesis_figures.muscle_forces import activations, compared_forces, forces, function_groups
from benchmarks.thesis_figures.optimizers import optimizers
from benchmarks.thesis_figures.routes_overlaid import overlaid
from benchmarks.thesis_figures.sensitivities import SOURCES, sensitivity_figure
from benchmarks.thesis_figures.stick_figure import stick_figure
from benchmarks.thesis_figures.study import Study
from benchmarks.thesis_figures.twitches import temporal_summation
from musclesolve._util.messages import unknown_name

FIGURES: dict[str, Callable[[Study], Finding]] = {
    "5.4": positions,
    "5.11": residuals,
    "5.12": correlations,
    "5.13": chosen_cutoffs,
    "5.14": noise,
    "5.17": partial(cutoffs_of, joint="ankle"),
    "5.18": partial(cutoffs_of, joint="knee"),
    "5.20": partial(moment_of, joint="ankle"),
    "5.21": partial(moment_of, joint="knee"),
    "5.22": partial(moment_of, joint="hip"),
    "5.23": support_moment,
    "5.28": partial(overlaid, joint="ankle"),
    "5.29": partial(overlaid, joint="knee"),
    "5.30": partial(overlaid, joint="hip"),
    **{number: partial(sensitivity_figure, number=number) for number in SOURCES},
    "6.5": temporal_summation,
    "6.12": active_curves,
    "6.13": passive_curve,
    "6.14": carpets,
    "6.15": stick_figure,
    "6.16": optimizers,
    "6.17": activations,
    "6.18": forces,
    "6.19": compared_forces,
    "6.20": function_groups,
    "1992.1": explicit_moment,
    "1992.2": pressure_and_mass,
    "1998.3": knee_acceleration,
    "2006.2": planar_leg,
}


def chosen(numbers: Sequence[str]) -> list[str]:
    """The figures named, or all; an unknown number is an InputError."""
    for number in numbers:
        if number not in FIGURES:
            raise unknown_name(number, "figure", FIGURES, " of the source", where="--figure")
    return [number for number in FIGURES if number in numbers] if numbers else list(FIGURES)
