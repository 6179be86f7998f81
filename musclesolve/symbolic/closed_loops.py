"""Coordinates of closed loops of an OpenSim model as CasADi functions of the independent coordinates.

Constraints c(d, x) = 0 of a loop determine its dependent coordinates d by the independent ones x (`read_joints`). With
the Jacobian C_d of c by d in the default pose,

    C_d^T c(d, x) = 0

has as many equations as unknowns, also where constraints are redundant. Newton's method solves it from the defaults of
d. The derivatives follow from the implicit function theorem, dd/dx = -(C_d^T dc/dd)^-1 C_d^T dc/dx. Where constraints
stay open, d has no value (NaN).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from musclesolve._util.casadi_module import casadi as ca
from musclesolve.models.opensim.model import Coupler, Frame, Link, OpenSimModel
from musclesolve.models.opensim.read_joints import OPEN, Loop, LoopCoordinate
from musclesolve.symbolic.path_length import Pose, all_coordinates, model_poses

_OPTIONS = {"abstol": 1e-13, "abstolStep": 1e-13, "max_iter": 50, "error_on_fail": False}


@dataclass(frozen=True, eq=False)
class ClosedCoordinates:
    """All coordinates of an OpenSim model, as expressions of symbols: of some independent ones and of loops.

    symbols: SX column of the independent coordinates `dofs` and of the coordinates that loops determine, `dependent`.
    values: every coordinate as an expression of the symbols. closed: function of the independent ones (m,), whose value
    are the symbols; None without loops, where the symbols are the independent coordinates.
    """

    dofs: tuple[str, ...]
    dependent: tuple[str, ...]
    symbols: Any
    values: Mapping[str, Any]
    closed: Any


def closed_coordinates(model: OpenSimModel, dofs: Sequence[str], name: str) -> ClosedCoordinates:
    """All coordinates for independent ones `dofs`, in SX symbols of this name; others stay at their defaults."""
    loops: dict[int, list[Coupler]] = {}
    for coupler in model.couplers:
        if isinstance(coupler.function, LoopCoordinate) and set(_moving(coupler)) & set(dofs):
            loops.setdefault(id(coupler.function.loop), []).append(coupler)
    dependent = tuple(coupler.dependent for group in loops.values() for coupler in group)
    symbols = ca.SX.sym(name, len(dofs) + len(dependent))
    named = dict(zip((*dofs, *dependent), ca.vertsplit(symbols), strict=True))
    closed = None
    if loops:
        q = ca.MX.sym("q", len(dofs))
        solved = [
            _solved(model, group, dict(zip(dofs, ca.vertsplit(q), strict=True))) for group in loops.values()
        ]
        closed = ca.Function("closed", [q], [ca.vertcat(q, *solved)], ["q"], ["coordinates"])
    return ClosedCoordinates(tuple(dofs), dependent, symbols, all_coordinates(model, named), closed)


def links_of(model: OpenSimModel) -> list[Link]:
    """The constraints that close loops of a model."""
    found = {
        id(f.loop): f.loop for f in (c.function for c in model.couplers) if isinstance(f, LoopCoordinate)
    }
    return [link for loop in found.values() for link in loop.links]


def _solved(model: OpenSimModel, couplers: Sequence[Coupler], given: Mapping[str, Any]) -> Any:
    """The dependent coordinates of a loop, MX in the order of its couplers, for given coordinates of the model."""
    loop = _loop_of(couplers[0])
    defaults = {name: coordinate.default for name, coordinate in model.coordinates.items()}
    independent = _moving(couplers[0])
    dependent = [coupler.dependent for coupler in couplers]
    d, x = ca.SX.sym("d", len(dependent)), ca.SX.sym("x", len(independent))
    named = dict(zip((*dependent, *independent), (*ca.vertsplit(d), *ca.vertsplit(x)), strict=True))
    poses = model_poses(loop.tree, all_coordinates(loop.tree, defaults | named))
    gap = ca.vertcat(*(_gap(link, poses) for link in loop.links))
    start = np.array([defaults[name] for name in dependent])
    at = np.array([defaults[name] for name in independent])
    slope = np.array(ca.Function("slope", [d, x], [ca.jacobian(gap, d)])(start, at))
    violation = ca.Function("violation", [d, x], [gap])
    equations = ca.Function("equations", [d, x], [slope.T @ gap])
    given_x = ca.vertcat(*(given.get(name, defaults[name]) for name in independent))
    found = ca.rootfinder("loop", "fast_newton", equations, _OPTIONS)(start, given_x)
    is_closed = ca.norm_inf(violation(found, given_x)) < OPEN
    return ca.if_else(is_closed, found, np.full(len(dependent), np.nan))


def _loop_of(coupler: Coupler) -> Loop:
    assert isinstance(coupler.function, LoopCoordinate)
    return coupler.function.loop


def _moving(coupler: Coupler) -> tuple[str, ...]:
    """The coordinates that move a loop: its independent ones, and locked ones, to which a pose can give a value."""
    loop = _loop_of(coupler)
    between = {
        name
        for link in loop.links
        for name in loop.tree.coordinates_between([frame.body for frame in link.frames])
    }
    locked = (name for name, of in loop.tree.coordinates.items() if of.locked and name in between)
    return *coupler.independent, *locked


def _gap(link: Link, poses: Mapping[str, Pose]) -> Any:
    """Violations of a link, in the axes of the ground; of a weld with the sines of the turn between its frames."""
    (turn_one, place_one), (turn_other, place_other) = (_in_ground(frame, poses) for frame in link.frames)
    gap = place_other - place_one
    if link.distance is not None:
        return 0.5 * (ca.sumsqr(gap) / link.distance - link.distance)
    if link.is_weld:
        turned = turn_one.T @ turn_other
        return ca.vertcat(gap, 0.5 * turn_one @ ca.inv_skew(turned - turned.T))
    return gap


def _in_ground(frame: Frame, poses: Mapping[str, Pose]) -> Pose:
    rotation, shift = poses[frame.body]
    return rotation @ ca.DM(frame.rotation), shift + rotation @ ca.DM(frame.position)
