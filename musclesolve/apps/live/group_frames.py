"""The groups of muscles in one frame as frames of one problem, to save the overhead of several problems.

Groups such as two legs can be joined if they differ only in frame-wise data: equal numbers of muscles, degrees of
freedom and joints, and equal constants of the muscles as far as the cost uses them. Otherwise each group is a problem
by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Mask, largest_size
from musclesolve._util.sides import split_side
from musclesolve.models.body import JointLoads, Sharing, SharingGroup, SolvedGroup
from musclesolve.models.body_sharing import share_part
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.sharing.problem import Problem

_CONSTANTS = ("max_isometric_force", "optimal_fiber_length", "joints_crossed")
"""Constants of each muscle in a problem."""


@dataclass(eq=False)
class GroupFrames:
    """Groups (L) that follow each other, as the frames of a part of the body.

    sides: the sides of the groups; rows, columns, joints: where degrees of freedom, muscles and joints of these groups
    are among all groups. parameters, dofs, shared: of the first one. largest_arm: in the recording and all frames
    since, (m, n) [m], by which costs know who crosses a knee. problem: of the last frame; checks are not repeated.
    """

    sides: tuple[str, ...]
    rows: slice
    columns: slice
    joints: slice
    parameters: MuscleParameters
    dofs: tuple[str, ...]
    shared: tuple[str, ...]
    largest_arm: Array
    count: int = 1
    problem: Problem | None = None

    def share(
        self,
        state: MuscleState,
        loads: JointLoads,
        moment: Array,
        usable: Mask,
        expected: Array | None,
        sharing: Sharing,
    ) -> tuple[SolvedGroup, Array]:
        """Share the moments of the groups in one frame.

        Args:
            state: of the N muscles of all groups, one frame.
            loads: of the joints of all groups.
            moment: (M,) net moments of the degrees of freedom of all groups [N m].
            usable: (L,) whether these groups may be used.
            expected: (N,) activations that EMG lets expect, None without EMG.
            sharing: cost and solver.

        Returns:
            The groups with their solution, (L, ...), and the joint reactions (L J, 3) [N].
        """
        count = self.count
        loads = loads.alike(count, self.joints, self.columns)
        part = SharingGroup(
            sides=self.sides,
            dofs=self.dofs,
            shared=self.shared,
            state=state.alike(self.parameters, count, self.rows, self.columns),
            moment=moment[self.rows].reshape(count, -1),
            usable=usable,
            time=np.full(count, np.nan),
            loads=loads if sharing.reads_reactions else None,
            emg=None if expected is None else expected[self.columns].reshape(count, -1),
        )
        self.largest_arm = np.fmax(self.largest_arm, largest_size(part.state.moment_arm[:, part.rows]))
        part = replace(part, of_all_frames={"largest_arm": self.largest_arm})
        shared = share_part(part, sharing, self.problem)
        self.problem = shared.problem
        return shared, loads.forces(shared.tension).reshape(-1, 3)


def group_frames(parts: Sequence[SharingGroup], sharing: Sharing) -> list[GroupFrames]:
    """All groups together where one problem can have them, else each by itself; parts: of the body, with loads."""
    cost = sharing.cost
    first = [0, 0, 0]
    alone = list[GroupFrames]()
    for part in parts:
        assert part.loads is not None
        counts = len(part.dofs), len(part.state.parameters.names), len(part.loads.joints)
        rows, columns, joints = (slice(at, at + count) for at, count in zip(first, counts, strict=True))
        shared = part.sides, rows, columns, joints, part.state.parameters, part.dofs, part.shared
        alone.append(GroupFrames(*shared, largest_size(part.state.moment_arm[:, part.rows])))
        first = [rows.stop, columns.stop, joints.stop]
    needed = [x for x in _CONSTANTS if x == "max_isometric_force" or x in cost.data or not cost.built_in]
    one, last = alone[0], alone[-1]
    alike = all(
        [split_side(dof)[0] for dof in getattr(one, names)]
        == [split_side(dof)[0] for dof in getattr(other, names)]
        for other in alone[1:]
        for names in ("dofs", "shared")
    ) and all(
        np.array_equal(getattr(one.parameters, name), getattr(other.parameters, name))
        for other in alone[1:]
        for name in needed
    )
    if not alike:
        return alone
    return [
        replace(
            one,
            sides=tuple(side for g in alone for side in g.sides),
            rows=slice(0, last.rows.stop),
            columns=slice(0, last.columns.stop),
            joints=slice(0, last.joints.stop),
            largest_arm=np.max([g.largest_arm for g in alone], axis=0),
            count=len(alone),
        )
    ]
