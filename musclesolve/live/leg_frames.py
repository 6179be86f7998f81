"""The legs of one frame as frames of one problem: what a problem costs beside its solution is paid once.

That goes where legs differ only in what a problem has frame by frame: as many muscles and joints on each, and the same
constants of the muscles as far as the cost looks at them. Otherwise each leg is a problem by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.muscles.muscle_state import JoinedState
from musclesolve.muscles.placing.place_muscles import LEG_DOFS, LegMuscles
from musclesolve.pipeline.body import JointLoads, Part, SharedPart, Sharing
from musclesolve.pipeline.mechanics import JOINTS
from musclesolve.pipeline.share import share_part
from musclesolve.recording.data import SIDES
from musclesolve.sharing.problem import Problem

_CONSTANTS = ("max_isometric_force", "optimal_fiber_length", "joints_crossed")
"""What a problem has of each muscle for all frames."""


@dataclass(eq=False)
class LegFrames:
    """Legs (L,) that follow each other, as the frames of a part of the body.

    sides (L,): their numbers among right and left; rows, columns, joints: where degrees of freedom, muscles and joints
    of these legs are among those of all legs. parameters, dofs, shared: of the first one. loaded: whether the cost is
    one of joint reactions. problem: of the last frame, whose checks are not repeated.
    """

    sides: Indices
    rows: slice
    columns: slice
    joints: slice
    parameters: MuscleParameters
    dofs: tuple[str, ...]
    shared: tuple[str, ...]
    loaded: bool
    problem: Problem | None = None

    def share(
        self,
        state: JoinedState,
        loads: JointLoads,
        moment: Array,
        usable: Mask,
        expected: Array | None,
        sharing: Sharing,
    ) -> tuple[SharedPart, Array]:
        """Share the moments of the legs in one frame.

        Args:
            state: of the N muscles of all legs, one frame.
            loads: of the joints of all legs.
            moment: (2, 7) net moments [N m] of the right and the left leg.
            usable: (2,) whether they may be used.
            expected: (N,) activations that EMG lets expect, None without EMG.
            sharing: cost and solver.

        Returns:
            The legs with their solution, (L, ...), and the joint reactions (L J, 3) [N].
        """
        count = len(self.sides)
        loads = loads.legs(count, self.joints, self.columns)
        part = Part(
            sides=tuple(SIDES[side] for side in self.sides),
            dofs=self.dofs,
            shared=self.shared,
            state=state.legs(self.parameters, count, self.rows, self.columns),
            moment=moment[self.sides],
            usable=usable[self.sides],
            time=np.zeros(count),
            loads=loads if self.loaded else None,
            emg=None if expected is None else expected[self.columns].reshape(count, -1),
        )
        shared = share_part(part, sharing, self.problem)
        self.problem = shared.problem
        return shared, loads.forces(shared.tension).reshape(-1, 3)


def leg_frames(
    legs: Sequence[LegMuscles], shared: Sequence[tuple[str, ...]], sharing: Sharing
) -> list[LegFrames]:
    """All legs together where one problem can have them, else each by itself; shared: degrees of freedom of each."""
    cost, first = sharing.cost, 0
    alone = list[LegFrames]()
    for k, (leg, dofs) in enumerate(zip(legs, shared, strict=True)):
        stop = first + len(leg.names)
        alone.append(
            LegFrames(
                np.array([SIDES.index(leg.side)], np.intp),  # type: ignore[arg-type]
                slice(len(LEG_DOFS) * k, len(LEG_DOFS) * (k + 1)),
                slice(first, stop),
                slice(len(JOINTS) * k, len(JOINTS) * (k + 1)),
                leg.parameters,
                leg.dof_names,
                dofs,
                loaded=not cost.built_in or "reaction_matrix" in cost.data,
            )
        )
        first = stop
    needed = [
        name for name in _CONSTANTS if name == "max_isometric_force" or name in cost.data or not cost.built_in
    ]
    one = alone[0]
    alike = all(
        np.array_equal(getattr(one.parameters, name), getattr(other.parameters, name))
        and [dof[:-1] for dof in one.shared] == [dof[:-1] for dof in other.shared]
        for other in alone[1:]
        for name in needed
    )
    if not alike:
        return alone
    last = alone[-1]
    return [
        replace(
            one,
            sides=np.concatenate([each.sides for each in alone]),
            rows=slice(0, last.rows.stop),
            columns=slice(0, last.columns.stop),
            joints=slice(0, last.joints.stop),
        )
    ]
