"""Resistance of passive joints: viscous damping, and moments that rise where the range of motion ends (Silva 2003,
3.3).

    m_r = m_d + m_p                                            (3.2)
    m_d = -j (w_child - w_parent)                              (3.3)
    m_p = m_max (3 x^2 - 2 x^3) n,  x = (beta - beta_max) / Delta_beta between 0 and 1     (3.8, correction C11)

beta is the latitude of the child's line u_r about the axis of the joint's cone, theta its longitude, and beta_max
depends on theta. n is the unit vector about which u_r rotates back the shortest way, -u_r x grad(beta -
beta_max(theta)): the axis of (3.8) for a round cone, normalised, and tangent to the cone where it is not round. The
parent receives the opposite of all.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics.inverse.joint_couples import Couples
from musclesolve.dynamics.kernel.arrays import BodyMotions, ConeArrays, JointArrays, StopArrays, contiguous
from musclesolve.dynamics.kinematics.motion_derivatives import joint_angles
from musclesolve.dynamics.model.data_files import locate, read_text
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError

FORWARD = "forward_resistance"
_BUNDLED = {"inverse_human": "inverse_resistance"}


@dataclass(frozen=True)
class Cones:
    """Cones of circumduction (C). parent, child: bodies; pivot, tip: slots of the line; frame (C, 3, 3): front, side
    and axis in the parent as rows; limits (C, 4) [rad]: front, side, back, opposite; margin [rad], moment [N m] (C,).
    """

    parent: Indices
    child: Indices
    pivot: Indices
    tip: Indices
    frame: Array
    limits: Array
    margin: Array
    moment: Array


@dataclass(frozen=True)
class Stops:
    """Ends of the range of angles (S), those of universal joints too.

    joint: which; lower, upper [rad], margin [rad], moment [N m].
    """

    joint: Indices
    lower: Array
    upper: Array
    margin: Array
    moment: Array


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
    ) -> JointResistance:
        """Resistance from a data file, bundled (by name) or a user's own (by path); None: that of the human model.

        `damping` and `limits` say whether viscous and motion-limiting moments are included.

        Raises:
            InputError: the file is no such table, or names what the model does not have.
        """
        path = locate(_BUNDLED.get(model.topology.name, FORWARD) if table is None else table)
        raw = tomllib.loads(read_text(path, "table of joint resistance"))
        what = f"not a table of joint resistance for the model {model.topology.name!r}"
        try:
            cones, stops = _cones(model, raw.get("cone", [])), _stops(model, raw.get("stop", []))
            viscous = _damping(model, raw)
        except InputError as fault:
            remedy = fault.remedy or "pass table=, a file of your own for this model"
            raise InputError(
                f"{what}: {fault.problem}",
                code="bad_model",
                file=path,
                expected=fault.expected,
                remedy=remedy,
            ) from fault
        except (KeyError, ValueError, TypeError, IndexError) as fault:
            raise InputError(f"{what}: {fault}", code="bad_model", file=path) from fault
        if (viscous < 0.0).any() or (cones.margin <= 0.0).any() or (stops.margin <= 0.0).any():
            raise InputError(
                "damping must not be negative, margins must be positive", code="bad_model", file=path
            )
        if not limits:
            cones, stops = (
                replace(cones, moment=0.0 * cones.moment),
                replace(stops, moment=0.0 * stops.moment),
            )
        return cls(Couples.build(model), viscous if damping else 0.0 * viscous, cones, stops)

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        if len(q) == 1 and not self.couples.groups:
            return self._of_one(q[0], qd[0])[None]
        moments = self.moments(q, qd)
        return self.couples.force(q, moments) + self.couples.body_force(q, self.cone_couples(q))

    def _of_one(self, q: Array, qd: Array) -> Array:
        """The same of one state (N, 3), in compiled code."""
        from musclesolve.dynamics.kernel.entry import RESIST

        bodies = len(self.couples.spread)
        force, wrench, motions = np.zeros(q.shape), np.zeros((bodies, 6)), BodyMotions.of(bodies)
        state = contiguous(q), contiguous(qd)
        joints, limits = self._compiled
        RESIST.load()(state, self.couples.model.rigid_bodies.compiled, motions, joints, limits, wrench, force)
        return force

    @cached_property
    def _compiled(self) -> tuple[JointArrays, tuple[StopArrays, ConeArrays]]:
        """Joints, and stops and cones, for compiled code."""
        tree, cones, stops = self.couples.model.tree, self.cones, self.stops
        balls, fixed_axes = tree.spherical.ravel(), np.zeros((tree.joint_count, 3))
        scale = tree.sign / tree.axis_length
        scale[balls], fixed_axes[balls] = 0.0, tree.fixed_axes.reshape(-1, 3)
        joints = JointArrays(
            proximal=contiguous(self.couples.proximal, np.intp),
            distal=contiguous(self.couples.distal, np.intp),
            axis=contiguous(tree.axis, np.intp),
            scale=scale,
            fixed_axis=fixed_axes,
            damping=contiguous(self.damping),
        )
        standing = tree.axes(self.couples.model.standing[None])[0, stops.joint]
        ends = np.column_stack([stops.lower, stops.upper, stops.margin, stops.moment])
        bodies, lines = (
            np.column_stack(pair) for pair in ((cones.parent, cones.child), (cones.pivot, cones.tip))
        )
        return joints, (
            StopArrays(contiguous(stops.joint, np.intp), contiguous(standing), contiguous(ends)),
            ConeArrays(
                contiguous(bodies, np.intp),
                contiguous(lines, np.intp),
                contiguous(cones.frame),
                np.column_stack([cones.limits, cones.margin, cones.moment]),
            ),
        )

    def moments(self, q: Array, qd: Array) -> Array:
        """Damping of all joints and stops of the single ones, (T, K) [N m] about the joint axes (3.3, 3.8)."""
        moments = -self.damping * self.couples.rates(q, qd)
        stops = self.stops
        if len(stops.joint):
            model = self.couples.model
            angles = joint_angles(model, model.rigid_bodies.rotation(q))[:, stops.joint]
            middle = 0.5 * (stops.lower + stops.upper)
            angles = middle + (angles - middle + np.pi) % (2.0 * np.pi) - np.pi
            beyond = rise((angles - stops.upper) / stops.margin) - rise((stops.lower - angles) / stops.margin)
            moments[:, stops.joint] -= stops.moment * beyond
        return moments

    def cone_couples(self, q: Array) -> Array:
        """Motion-limiting couples of the spherical joints on all bodies, (T, B, 3) [N m] (3.4-3.8)."""
        cones = self.cones
        couples = np.zeros((len(q), len(self.couples.spread), 3))
        if not len(cones.parent):
            return couples
        rotation = self.couples.model.rigid_bodies.rotation(q)[:, cones.parent]
        front, side, axis = np.moveaxis(cones.frame @ np.swapaxes(rotation, -1, -2), 2, 0)
        line = q[:, cones.tip] - q[:, cones.pivot]
        line = line / np.linalg.norm(line, axis=2, keepdims=True)
        east, north, up = _dot(line, front), _dot(line, side), _dot(line, axis)
        across = np.hypot(east, north)
        latitude, longitude = np.arctan2(across, up), np.arctan2(north, east)
        cosine, sine = np.cos(longitude), np.sin(longitude)
        ahead = np.where(cosine >= 0.0, cones.limits[:, 0], cones.limits[:, 2])
        aside = np.where(sine >= 0.0, cones.limits[:, 1], cones.limits[:, 3])
        limit = ahead * cosine**2 + aside * sine**2
        slope = 2.0 * (aside - ahead) * sine * cosine
        outward = cosine[..., None] * front + sine[..., None] * side
        away = up[..., None] * outward - across[..., None] * axis
        around = cosine[..., None] * side - sine[..., None] * front
        # grad = away - slope / sin(latitude) around, times sin(latitude) so that it exists at the poles too
        steepest = across[..., None] * away - slope[..., None] * around
        about = np.cross(line, steepest)
        about = about / np.maximum(np.linalg.norm(about, axis=2, keepdims=True), 1e-12)
        size = cones.moment * rise((latitude - limit) / cones.margin)
        for c, (parent, child) in enumerate(zip(cones.parent, cones.child, strict=True)):
            couples[:, child] -= size[:, c, None] * about[:, c]
            couples[:, parent] += size[:, c, None] * about[:, c]
        return couples


def rise(x: Array) -> Array:
    """3 x^2 - 2 x^3 between 0 and 1, constant outside: the print falls again beyond 1 (3.8, correction C11)."""
    x = np.clip(x, 0.0, 1.0)
    return x**2 * (3.0 - 2.0 * x)


def _damping(model: Model, raw: dict) -> Array:
    """(K,) [N m s] about each joint axis."""
    viscous = np.zeros(model.tree.joint_count)
    for row in raw.get("cone", []):
        viscous[[model.dof(name) for name in row["dofs"]]] = row["damping"]
    for row in raw.get("stop", []):
        viscous[model.dof(row["dof"])] = row["damping"]
    return viscous


def _cones(model: Model, rows: list[dict]) -> Cones:
    frames = np.array([[row["front"], row["side"], row["axis"]] for row in rows]).reshape(-1, 3, 3)
    if not np.allclose(frames @ np.swapaxes(frames, 1, 2), np.eye(3), atol=1e-9):
        raise ValueError("front, side and axis of a cone must be perpendicular unit vectors")
    ranges = [[row[f"{key}_deg"] for key in ("front", "side", "back", "opposite")] for row in rows]
    return Cones(
        np.array([model.body(row["parent"]) for row in rows], dtype=int),
        np.array([model.body(row["child"]) for row in rows], dtype=int),
        np.array([model.slot(row["pivot"]) for row in rows], dtype=int),
        np.array([model.slot(row["tip"]) for row in rows], dtype=int),
        frames,
        np.deg2rad(np.array(ranges, dtype=float).reshape(-1, 4)),
        *_margin_and_moment(rows),
    )


def _stops(model: Model, rows: list[dict]) -> Stops:
    lower, upper = (np.array([row[key] for row in rows], dtype=float) for key in ("lower_deg", "upper_deg"))
    joints = np.array([model.dof(row["dof"]) for row in rows], dtype=int)
    balls = set(model.tree.spherical.ravel().tolist())
    if others := [row["dof"] for row in rows if model.joint(row["dof"]) in balls]:
        raise ValueError(
            f"a limit for {others[0]}, one of the rotations of a spherical joint, which needs a cone"
        )
    if (lower >= upper).any():
        raise ValueError(f"the range of {rows[int(np.argmax(lower - upper))]['dof']} is empty")
    return Stops(joints, np.deg2rad(lower), np.deg2rad(upper), *_margin_and_moment(rows))


def _margin_and_moment(rows: list[dict]) -> tuple[Array, Array]:
    margin, moment = (np.array([row[key] for row in rows], dtype=float) for key in ("margin_deg", "moment"))
    return np.deg2rad(margin), moment


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("...x,...x->...", a, b)
