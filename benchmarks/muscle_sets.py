"""Muscle sets, passive rules and costs beside measured EMG and contact forces, on one recorded trial.

python -m benchmarks.muscle_sets TRIAL.toml [TRIAL.toml ...]

The trial file names the EMG ([emg]). r: Pearson correlation of activation and envelope over the channels; lowest: its
channel; reserves: leg-frames that need one and the largest [N m]; full: muscles at full activation, mean of the frames;
contact: peaks of hip, knee and ankle over both legs [body weights].
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from rich.table import Table

import muscle_db
from benchmarks.timing import console
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.pipeline.body import Analysis
from musclesolve.pipeline.measured_activation import channel_muscles
from musclesolve.pipeline.recorded_body import RecordedBody, recorded_body
from musclesolve.pipeline.run import prepare_recording, recording_of
from musclesolve.pipeline.share import share
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.status import Status

COSTS = (
    *("joint_weighted_activation", "activation_power", "activation_volume", "force_squared"),
    *("normalized_force_squared", "stress_cubed"),
)
PASSIVE = ("calibrated", "table", "none")
JOINTS = ("hip", "knee", "ankle")


@dataclass(frozen=True)
class Agreement:
    """How one combination does on one trial."""

    correlation: np.ndarray  # (k,) by channel
    reserve_frames: int
    largest_reserve: float
    full: float
    contact: tuple[float, ...]

    @classmethod
    def from_analysis(cls, analysis: Analysis) -> Agreement:
        """Of an analysed trial with EMG."""
        body = analysis.body
        assert isinstance(body, RecordedBody)
        activation = analysis.activation
        assert body.emg is not None
        time, weight = body.time, body.mechanics.model.mass.total * STANDARD_GRAVITY
        status = np.stack([leg.solution.status for leg in analysis.parts])
        reserve = np.concatenate([leg.solution.reserve for leg in analysis.parts])
        peaks = (
            max(
                np.nanmax(np.linalg.norm(leg.contact_force[f"{joint}_{leg.side}"], axis=1))
                for leg in analysis.parts
            )
            / weight
            for joint in JOINTS
        )
        return cls(
            body.emg.agreement(time, activation, body.muscles)[0],
            int((status == Status.SOLVED_WITH_RESERVE).sum()),
            float(np.nanmax(np.abs(reserve), initial=0.0)),
            float(np.nansum(activation > 0.99) / len(time)),
            tuple(peaks),
        )


def combinations(prepared: RecordedBody) -> dict[tuple[str, str, str], Agreement]:
    """Every set, passive rule and cost on one trial whose mechanics are known."""
    trial, found = prepared.trial, {}
    for name, passive in product(muscle_db.available(), PASSIVE):
        database = muscle_db.load(name)
        if passive == "calibrated" and database.calibrated_passive is None:
            continue
        channels = channel_muscles(trial, database)
        options = replace(prepared.options, database=database, passive=passive, channels=channels)
        body = recorded_body(trial, options, prepared.mechanics)
        for cost in COSTS:
            found[name, passive, cost] = Agreement.from_analysis(
                share(body, replace(options.sharing, cost=find_cost(cost)))
            )
    return found


def table(prepared: RecordedBody, found: dict[tuple[str, str, str], Agreement]) -> Table:
    """One line for each combination, the best median r first."""
    assert prepared.emg is not None
    shown = Table("set", "passive", "cost", "r median", "mean", "lowest", "reserves", "full", "contact")
    for key, one in sorted(found.items(), key=lambda item: -np.nanmedian(item[1].correlation)):
        lowest = int(np.nanargmin(one.correlation))
        shown.add_row(
            *key,
            f"{np.nanmedian(one.correlation):.3f}",
            f"{np.nanmean(one.correlation):.3f}",
            f"{one.correlation[lowest]:.2f} {prepared.emg.channels[lowest]}",
            f"{one.reserve_frames} ({one.largest_reserve:.1f})",
            f"{one.full:.2f}",
            " ".join(f"{peak:.1f}" for peak in one.contact),
        )
    return shown


def main(*files: str) -> None:
    for file in files:
        prepared = prepare_recording(recording_of(file, "this comparison"), side="both")
        console.print(file, table(prepared, combinations(prepared)))


if __name__ == "__main__":
    main(*sys.argv[1:])
