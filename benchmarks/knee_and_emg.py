"""Costs between the EMG of a leg and the force in its knee, on two walks of a man with an instrumented knee.

    python -m benchmarks.knee_and_emg

Recordings as of benchmarks.instrumented_knee. Costs

    sum_i (V_i / mean V)^beta a_i^2 + sum_knee (F_i / F_s)^2

with muscle volumes V. The default has beta = 0 and F_s = 1400 N. For each cost the mean correlation with 16 channels of
EMG, its difference from the default with an interval of 95 % (channels drawn again, both walks of a channel together),
and rms and push-off error of the force in the knee over body weight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from rich.table import Table

from benchmarks.arguments import command_line
from benchmarks.instrumented_knee import WALKS, Agreement, prepared
from benchmarks.timing import console
from benchmarks.validation.page import Absent
from musclesolve._util.arrays import Array
from musclesolve.laboratory.results.dataset.assemble import assemble
from musclesolve.models.body_sharing import share
from musclesolve.sharing.cost import KneeSparingActivation
from musclesolve.sharing.problem import Problem

POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)
SCALES = (1000.0, 1150.0, 1400.0, 2000.0)
DEFAULT = 0.0, 1400.0
DRAWS = 4000


@dataclass(frozen=True)
class VolumeAndKnee(KneeSparingActivation):
    """sum_i (V_i / mean V)^beta a_i^2 + sum_knee (F_i / F_s)^2, V_i = F0_i L0_i; `power` is beta."""

    power: float = 0.0
    name = "volume_and_knee"
    data = ("optimal_fiber_length",)

    def coefficient(self, problem: Problem) -> Array:
        """The roots of the factors of a_i^2, (T, n)."""
        volume = problem.max_isometric_force * problem.optimal_fiber_length
        effort = (volume / volume.mean()) ** self.power
        return np.sqrt(super().coefficient(problem) ** 2 - 1.0 + effort)


def main() -> None:
    """Print a line for each cost."""
    command_line(__doc__).parse_args()
    try:
        bodies = {walk: prepared(walk, '[muscles]\ndatabase = "gait2392_hip"\n') for walk in WALKS}
    except Absent as absent:
        console.print(f"skipped: {absent}")
        return
    table = Table("beta", "F_s [N]", "r of EMG", "less the default, 95 %", "knee rms", "push-off")
    rows: dict[tuple[float, float], tuple[Array, list[Agreement]]] = {}
    for power, scale in [DEFAULT, *((p, s) for p in POWERS for s in SCALES if (p, s) != DEFAULT)]:
        cost, agreed, knees = VolumeAndKnee(scale=scale, power=power), [], []
        for walk, body in bodies.items():
            assert body.emg is not None
            analysis = share(body, replace(body.sharing, cost=cost))
            agreed.append(body.emg.agreement(body.time, analysis.activation, body.muscles)[0])
            knees.append(Agreement.from_result(assemble(analysis), walk))
        rows[power, scale] = np.array(agreed), knees
        r = rows[power, scale][0]
        low, high = interval(np.nanmean(r - rows[DEFAULT][0], axis=0))
        table.add_row(
            f"{power:g}",
            f"{scale:g}",
            f"{np.nanmean(r):.3f}",
            f"{np.nanmean(r - rows[DEFAULT][0]):+.3f} ({low:+.3f} to {high:+.3f})",
            ", ".join(f"{knee.rms:.2f}" for knee in knees),
            ", ".join(f"{knee.push_off:+.2f}" for knee in knees),
        )
    console.print(table)


def interval(differences: Array) -> tuple[float, float]:
    """The interval of 95 % of the mean of differences (n,), channels drawn again."""
    known = differences[np.isfinite(differences)]
    drawn = np.random.default_rng(0).choice(known, (DRAWS, len(known))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


if __name__ == "__main__":
    main()
