"""Resistance of passive joints: viscous damping, and moments that rise where the range of motion ends (Silva 2003,
3.3).

    m_r = m_d + m_p                                            (3.2)
    m_d = -j (w_child - w_parent)                              (3.3)
    m_p = m_max (3 x^2 - 2 x^3) n,  x = (beta - beta_max) / Delta_beta between 0 and 1     (3.8, correction C11)

beta is the latitude of the child's line u_r about the axis of the joint's cone, theta its longitude, and beta_max
depends on theta. n is the unit vector of the shortest rotation of u_r back into the range, -u_r x grad(beta -
beta_max(theta)): the axis of (3.8) for a round cone, normalized, and tangent to the cone where it is not round. The
parent receives the opposite moments.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from musclesolve._util.arrays import Array, contiguous
from musclesolve._util.bundled_toml import locate, read_text, toml_of
from musclesolve.dynamics.inverse.lagrange_multipliers import Couples
from musclesolve.dynamics.kernel.arrays import BodyMotions, Cones, JointArrays, Stops
from musclesolve.dynamics.model.model import Model, check_model
from musclesolve.errors import InputError, file_error

FORWARD = "forward_resistance"
_TABLES = "musclesolve.dynamics.model", "definitions"
_BUNDLED = {"inverse_human": "inverse_resistance"}


@dataclass(frozen=True)
class JointResistance:
    """Damping and motion-limiting moments, a force for `simulate`. damping (K,) [N m s] about each joint axis."""

    couples: Couples
    damping: Array
    cones: Cones
    stops: Stops

    @classmethod
    def build(
        cls, model: Model, table: str | Path | None = None, damping: bool = True, limits: bool = True
    ) -> Self:
        """Resistance from a data file, bundled (by name) or a user's own (by path); None: the table of the human model.

        damping, limits: include viscous moments, include motion-limiting moments.

        Raises:
            InputError: the file is no such table, or names what the model does not have.
        """
        path = locate(
            _BUNDLED.get(check_model(model).topology.name, FORWARD) if table is None else table, *_TABLES
        )
        raw = toml_of(read_text(path, "table of joint resistance"))
        base = (
            toml_of(read_text(locate(raw["extends"], *_TABLES), "table of joint resistance"))
            if "extends" in raw
            else {}
        )
        problem = f"not a table of joint resistance for the model {model.topology.name!r}"

        def ranges(rows: list[dict], *keys: str) -> Array:
            """Angles [rad], then the moment [N m], of the rows of a table."""
            numbers = np.array([[row[key] for key in keys] for row in rows], dtype=float)
            numbers = numbers.reshape(-1, len(keys))
            numbers[:, :-1] = np.deg2rad(numbers[:, :-1])
            return numbers

        try:
            round_, single = (
                _both_sides([*base.get(kind, []), *raw.get(kind, [])]) for kind in ("cone", "stop")
            )
            frames = np.array([[row["front"], row["side"], row["axis"]] for row in round_]).reshape(-1, 3, 3)
            if not np.allclose(frames @ np.swapaxes(frames, 1, 2), np.eye(3), atol=1e-9):
                raise ValueError("front, side and axis of a cone must be perpendicular unit vectors")
            bodies = [[model.body(row[key]) for key in ("parent", "child")] for row in round_]
            lines = [[model.slot(row[key]) for key in ("pivot", "tip")] for row in round_]
            cones = Cones(
                contiguous(np.reshape(bodies, (-1, 2)), np.intp),
                contiguous(np.reshape(lines, (-1, 2)), np.intp),
                contiguous(frames),
                ranges(round_, "front_deg", "side_deg", "back_deg", "opposite_deg", "margin_deg", "moment"),
            )
            joints = contiguous([model.dof(row["dof"]) for row in single], np.intp)
            ends = ranges(single, "lower_deg", "upper_deg", "margin_deg", "moment")
            balls = set(model.tree.spherical.ravel().tolist())
            if spherical := [row["dof"] for row in single if model.joint(row["dof"]) in balls]:
                raise ValueError(
                    f"a limit for {spherical[0]}, one of the rotations of a spherical joint, which needs a cone"
                )
            if (empty := ends[:, 0] >= ends[:, 1]).any():
                raise ValueError(f"the range of {single[int(np.argmax(empty))]['dof']} is empty")
            stops = Stops(joints, contiguous(model.tree.axes(model.standing[None])[0, joints]), ends)
            viscous = np.zeros(model.tree.joint_count)
            for row, pair in zip(round_, bodies, strict=True):
                between = model.topology.dofs_between(model.topology.bodies[body].name for body in pair)
                viscous[[model.dof(name) for name in between]] = row["damping"]
            for row in single:
                viscous[model.dof(row["dof"])] = row["damping"]
        except InputError as fault:
            raise file_error(
                "bad_model",
                path,
                f"{problem}: {fault.problem}",
                fault.expected,
                fault.remedy or "pass table=, a file of your own for this model",
            ) from fault
        except (KeyError, ValueError, TypeError, IndexError) as fault:
            raise file_error("bad_model", path, f"{problem}: {fault}") from fault
        if (viscous < 0.0).any() or (cones.limits[:, 4] <= 0.0).any() or (stops.limits[:, 2] <= 0.0).any():
            raise file_error("bad_model", path, "damping must not be negative, margins must be positive")
        if not limits:
            cones.limits[:, 5] = stops.limits[:, 3] = 0.0
        return cls(Couples.build(model), viscous if damping else 0.0 * viscous, cones, stops)

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        return self.loads(q, qd)[0]

    def loads(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """Generalized force (T, N, 3), and moment [N m] and force [N] on the bodies, (T, B, 6).

        In poses q (T, N, 3) [m] with velocities qd [m/s].
        """
        from musclesolve.dynamics.kernel.entry import RESIST

        couples, resist, limits = self.couples, RESIST.load(), (self.stops, self.cones)
        bodies, rigid_bodies = len(couples.spread), couples.model.rigid_bodies.compiled
        force, wrench = np.zeros(q.shape), np.zeros((len(q), bodies, 6))
        motions, joints = (
            BodyMotions.unset(bodies),
            JointArrays(couples.proximal, couples.distal, self.damping),
        )
        axes, q, qd = contiguous(couples.axes(q)), contiguous(q), contiguous(qd)
        for t in range(len(q)):
            resist((q[t], qd[t]), rigid_bodies, motions, axes[t], joints, limits, wrench[t], force[t])
        return force, wrench


def _both_sides(rows: list[dict]) -> list[dict]:
    """The rows of a table; a row of {side} is one of the right side and its mirror image."""

    def of_side(value: Any, key: str, side: str) -> Any:
        if isinstance(value, str):
            return value.replace("{side}", side)
        return [value[0], -value[1], value[2]] if side == "l" and key in ("front", "side", "axis") else value

    return [
        {key: of_side(value, key, side) for key, value in row.items()}
        for row in rows
        for side in ("rl" if "{side}" in str(row) else "r")
    ]
