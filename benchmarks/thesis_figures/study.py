"""The trial that the figures are drawn of, and everything that more than one of them needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import xarray as xr
from scipy.interpolate import CubicSpline

import musclesolve as ms
from musclesolve._util.arrays import Array, Mask
from musclesolve.constants import LOADED_FROM_N
from musclesolve.data import reference_stride
from musclesolve.errors import InputError
from musclesolve.laboratory import Trial
from musclesolve.laboratory.bodies.mechanics import Mechanics, measured_moments
from musclesolve.laboratory.forces import mechanics
from musclesolve.laboratory.recording.trial_settings import ConsistencySettings
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.sharing.status import Status
from musclesolve.studies.synthetic.reference_stride import reference_stride as true_stride

DIGITIZING_MM = (7.0, 3.0, 3.3)
"""Error of the digitized points of the source, forward, sideways, upward: root mean square [mm] (5.2.3)."""
FORCE_CUTOFF_HZ = 20.0
SEED = 2003
METHODS: Mapping[str, ConsistencySettings] = {
    "nearest": ConsistencySettings(),
    "joint_angles": ConsistencySettings(method="joint_angles"),
    "none": ConsistencySettings(method="none", derivatives="splines"),
}
SIDE = "r"
SAGITTAL = {
    "hip": f"hip_flexion_{SIDE}",
    "knee": f"knee_flexion_{SIDE}",
    "ankle": f"ankle_dorsiflexion_{SIDE}",
}
PUBLISHED = Path(__file__).parents[2] / "tools" / "reference_stride"
"""Published curves and times, whose tables name their sources."""
FEWEST_SPREAD = 0.05  # N m/kg, least standard deviation: in swing that of the table is rounding
MISPRINT = ("ankle_dorsiflexion", 94.0)  # printed 0.087, see winter_1991.csv


def columns(file: str) -> dict[str, Array]:
    """Columns of numbers of a table of tools/reference_stride, comments left out."""
    lines = (PUBLISHED / file).read_text(encoding="utf-8").splitlines()
    header, *rows = [line.split(",") for line in lines if not line.startswith("#")]
    return {name: np.array([float(row[k]) for row in rows]) for k, name in enumerate(header)}


def published_moment(dof: str, percent: Array) -> tuple[Array, Array]:
    """Winter's (1991) mean moment and the standard deviation of Schwartz et al. (2008), [N m/kg]."""
    winter, spread = columns("winter_1991.csv"), columns("schwartz_2008.csv")
    kept = np.array([(dof, each) != MISPRINT for each in winter["percent"]])
    mean = CubicSpline(winter["percent"][kept], winter[f"{dof}_moment"][kept])(np.clip(percent, 0.0, 100.0))
    deviation = np.interp(percent, spread["percent"], spread[f"{dof}_moment_sd"])
    return mean, np.maximum(deviation, FEWEST_SPREAD)


@dataclass(frozen=True)
class Study:
    """A trial, by default the bundled stride; its right leg is drawn over its first complete gait cycle."""

    path: Path

    @property
    def bundled(self) -> bool:
        """Whether the trial is the bundled stride, whose truth is known and which has no noise of its own."""
        return self.path == reference_stride()

    @cached_property
    def trial(self) -> Trial:
        """The trial with the muscles, passive forces and cost of the source (6.12, 6.21, Table 6.1)."""
        trial = ms.read_trial(self.path)
        muscles = {"database": "silva_2003", "passive": "table", "strength": "table", "fiber_lengths": None}
        chosen = trial.with_settings(
            muscles=muscles, sharing={"cost": "stress_cubed", "least_activation": 0.0}
        )
        return replace(chosen, emg=None)

    @property
    def identity(self) -> dict[str, str]:
        """Return the line below the title of a figure, as the attributes of a result."""
        return {"subject": self.trial.subject.name, "trial_file": self.path.name}

    @cached_property
    def result(self) -> xr.Dataset:
        """The forces of the muscles of the right leg."""
        return ms.run(self.trial, side=SIDE)

    @cached_property
    def cycle(self) -> frames.Cycle:
        """The gait cycle of the right leg that is drawn."""
        cycles = frames.cycles(self.result, SIDE)
        if not cycles:
            raise InputError(
                "the right leg has no gait cycle",
                code="bad_range",
                file=self.path,
                expected="two heel strikes of the right foot, with frames between them",
                remedy="choose a recording of a stride",
            )
        return max(cycles, key=lambda cycle: (cycle.complete, np.ptp(cycle.percent)))

    @property
    def percent(self) -> Array:
        """Place of the frames of the cycle in it, (K,) [%]."""
        return self.cycle.percent

    @cached_property
    def reserved(self) -> Mask:
        """Frames of the cycle that are solved with a reserve, (K,)."""
        return np.asarray(self.of_cycle(self.result["status"].values)[:, 0] == Status.SOLVED_WITH_RESERVE)

    def of_cycle(self, values: Array) -> Array:
        """Return the frames of the cycle of values (T, ...) over the time of the result."""
        return np.asarray(values)[self.cycle.index]

    @cached_property
    def stance(self) -> np.ndarray:
        """(K,) frames of the cycle in which the right foot is on the ground."""
        force = self.result["ground_reaction_force"].sel(side=SIDE, axis="z").values
        return np.asarray(self.of_cycle(force) > LOADED_FROM_N)

    def digitized(self, draw: int = 0) -> Trial:
        """The trial with errors as large as the errors of the source; a recording has its own and stays as it is."""
        if not self.bundled:
            return self.trial
        markers = self.trial.markers
        error = (
            np.random.default_rng(SEED + draw).normal(size=markers.position.shape)
            * np.array(DIGITIZING_MM)
            / 1000.0
        )
        return replace(self.trial, markers=replace(markers, position=markers.position + error))

    def filtered(self, cutoff_hz: float | None, draw: int = 0) -> Trial:
        """The digitized trial with a cut-off for all markers; None: the source's residual analysis chooses."""
        return self.digitized(draw).with_settings(
            filter={
                "cutoff_hz": "residual_analysis_silva_2003" if cutoff_hz is None else cutoff_hz,
                "force_cutoff_hz": FORCE_CUTOFF_HZ,
            }
        )

    @cached_property
    def recorded(self) -> Mechanics:
        """Mechanics of the trial as it is, without errors of digitization."""
        return mechanics(self.trial)

    @cached_property
    def by_method(self) -> dict[str, Mechanics]:
        """Mechanics of the digitized trial by method of consistency."""
        return self.drawn_by_method(0, *METHODS)

    def drawn_by_method(self, draw: int, *methods: str) -> dict[str, Mechanics]:
        """Return the moments with other errors of the same size, by some methods."""
        trial = self.filtered(None, draw)
        return {name: mechanics(trial.with_settings(consistency=METHODS[name])) for name in methods}

    def moments(self, recorded: Mechanics) -> dict[str, Array]:
        """Sagittal moments of the right leg over the cycle, (K,) [N m] by joint, positive in flexion."""
        found = measured_moments(self.trial, recorded.model, recorded.motion, recorded.wrenches)
        return {joint: self.of_cycle(found[:, recorded.model.dof(dof)]) for joint, dof in SAGITTAL.items()}

    @cached_property
    def true_moments(self) -> dict[str, Array] | None:
        """Return the true moments, where they are known."""
        if not self.bundled:
            return None
        stride = true_stride()
        found = stride.joint_moments(self.percent / 100.0 * stride.period)
        return {joint: found[:, stride.dof_names.index(dof)] for joint, dof in SAGITTAL.items()}

    @cached_property
    def winter(self) -> dict[str, tuple[Array, Array]]:
        """Mean and standard deviation of Winter's moments over the cycle, (K,) [N m] by joint."""
        return {
            joint: published_moment(dof.removesuffix(f"_{SIDE}"), self.percent)
            for joint, dof in SAGITTAL.items()
        }

    @property
    def weight(self) -> float:
        """Body mass of the subject [kg], to multiply published moments by."""
        return float(self.trial.subject.mass)
