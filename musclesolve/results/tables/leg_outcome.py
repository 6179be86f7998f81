"""How the frames of one leg ended: counts, the largest reserve, and the reasons where there is no solution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, true_runs
from musclesolve.results.dataset import frame_validity as frames

Stretch = tuple[float, float]
"""First and last time of a run of frames [s]."""


@dataclass(frozen=True)
class Reserve:
    """The moment that the muscles of a leg lack most of."""

    moment: float  # its magnitude [N m]
    dof: str
    time: float  # [s]


@dataclass(frozen=True)
class LegOutcome:
    """How the frames of a leg ended."""

    solved: int  # frames without reserve
    with_reserve: int
    not_analysed: int  # frames in which its forces were not measured
    without_solution: int  # analysed frames without a valid solution
    largest_reserve: Reserve | None
    failures: dict[str, tuple[int, list[Stretch]]]  # reason -> number of frames, and when

    @classmethod
    def of(cls, result: xr.Dataset, side: str) -> LegOutcome:
        """That of a leg of a result."""
        reserve, failed = frames.solved_with_reserve(result, side), frames.unsolved(result, side)
        return cls(
            solved=int(frames.solved(result, side).sum()),
            with_reserve=int(reserve.sum()),
            not_analysed=int(frames.not_measured(result, side).sum()),
            without_solution=int(failed.sum()),
            largest_reserve=_largest_reserve(result, side, reserve) if reserve.any() else None,
            failures=_failures(result, side, failed),
        )


def _largest_reserve(result: xr.Dataset, side: str, reserve: frames.Mask) -> Reserve:
    """Of the coordinates of a side; where these have none, of all those that its muscles may be shared with."""
    every = [str(dof) for dof in np.atleast_1d(result.attrs.get("shared_dofs", result["dof"].values))]
    for dofs in ([dof for dof in every if frames.side_of(dof) == side], every):
        moment = result["reserve_moment"].sel(dof=dofs).transpose("time", "dof").values
        size = np.where(reserve[:, None] & np.isfinite(moment), np.abs(moment), 0.0)
        if size.any():
            break
    frame, dof = np.unravel_index(int(size.argmax()), size.shape)
    return Reserve(float(size[frame, dof]), dofs[dof], float(result["time"].values[frame]))


def _failures(result: xr.Dataset, side: str, failed: frames.Mask) -> dict[str, tuple[int, list[Stretch]]]:
    names, found = frames.reason_names(result, side), {}
    for reason in dict.fromkeys(names[failed].tolist()):
        of_reason = names == reason
        found[reason] = (int(of_reason.sum()), _stretches(of_reason, result["time"].values))
    return found


def _stretches(mask: frames.Mask, time: Array) -> list[Stretch]:
    """Times of the runs of frames in a mask."""
    return [(float(time[first]), float(time[stop - 1])) for first, stop in true_runs(mask)]
