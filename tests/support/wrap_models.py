"""Models of many muscles over one or two wrap objects of any kind, as text: to be compared with what OpenSim computes.

The objects stand on the ground; every muscle runs from the ground to a body that turns with a hinge beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CENTER = np.array([0.01, 0.02, -0.01])
HINGE = np.array([0.02, 0.07, -0.03])


@dataclass(frozen=True)
class Thing:
    """A wrap object: its class in OpenSim, half and method, radii (3,) and center (3,) [m], orientation (3,) [rad]."""

    kind: str
    quadrant: str
    method: str
    radii: np.ndarray
    turn: np.ndarray
    center: np.ndarray

    @property
    def text(self) -> str:
        """Its element, without the name."""
        size = {
            "WrapCylinder": f"<radius>{self.radii[0]:.6f}</radius><length>0.5</length>",
            "WrapSphere": f"<radius>{self.radii[0]:.6f}</radius>",
            "WrapEllipsoid": f"<dimensions>{_text(self.radii)}</dimensions>",
            "WrapTorus": f"<inner_radius>{0.2 * self.radii[0]:.6f}</inner_radius>"
            f"<outer_radius>{self.radii[1]:.6f}</outer_radius>",
        }[self.kind]
        return (
            f"<active>true</active><xyz_body_rotation>{_text(self.turn)}</xyz_body_rotation>"
            f"<translation>{_text(self.center)}</translation><quadrant>{self.quadrant}</quadrant>{size}"
        )


def random_thing(kind: str, quadrant: str, method: str, seed: int, along: float = 0.0) -> Thing:
    """Return a wrap object of any size and orientation, at a place along x."""
    rng = np.random.default_rng(seed)
    radii, turn = rng.uniform(0.025, 0.06, 3), rng.uniform(-1.5, 1.5, 3)
    return Thing(kind, quadrant, method, radii, turn, CENTER + np.array([along, 0.0, 0.0]))


def random_places(count: int, seed: int) -> np.ndarray:
    """Two places for each muscle (n, 2, 3) [m], so that the objects are in the way of most."""
    rng = np.random.default_rng(seed)
    along = rng.normal(size=(count, 3))
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    reach = rng.uniform(0.06, 0.2, (count, 2, 1))
    ends = along[:, None] * np.array([[-1.0], [1.0]]) * reach + rng.normal(0.0, 0.02, (count, 2, 3))
    return ends + CENTER + np.array([[[0.0], [1.0]]]) * -HINGE


def model_text(things: Sequence[Thing], places: np.ndarray) -> str:
    """A muscle for each pair of places over all objects."""
    surfaces = "".join(
        f'<{each.kind} name="thing{k}">{each.text}</{each.kind}>' for k, each in enumerate(things)
    )
    wraps = "".join(
        f'<PathWrap name="w{k}"><wrap_object>thing{k}</wrap_object><method>{each.method}</method></PathWrap>'
        for k, each in enumerate(things)
    )
    muscles = "".join(_muscle(k, wraps, *pair) for k, pair in enumerate(places))
    return f"""<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40000"><Model name="wraps">
<Ground name="ground"><WrapObjectSet name="wrapobjectset"><objects>{surfaces}</objects></WrapObjectSet></Ground>
<BodySet name="bodyset"><objects><Body name="arm"><mass>1</mass><mass_center>0 0 0</mass_center>
<inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet>
<JointSet name="jointset"><objects><PinJoint name="hinge">
<socket_parent_frame>base</socket_parent_frame><socket_child_frame>/bodyset/arm</socket_child_frame>
<coordinates><Coordinate name="turn"><default_value>0</default_value><range>-3 3</range></Coordinate></coordinates>
<frames><PhysicalOffsetFrame name="base"><socket_parent>/ground</socket_parent>
<translation>{_text(HINGE)}</translation><orientation>0.4 -0.3 0.2</orientation></PhysicalOffsetFrame></frames>
</PinJoint></objects></JointSet>
<ForceSet name="forceset"><objects>{muscles}</objects></ForceSet></Model></OpenSimDocument>"""


def _muscle(number: int, wraps: str, first: np.ndarray, last: np.ndarray) -> str:
    return f"""<Thelen2003Muscle name="m{number}"><GeometryPath name="path"><PathPointSet><objects>
<PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame><location>{_text(first)}</location></PathPoint>
<PathPoint name="b"><socket_parent_frame>/bodyset/arm</socket_parent_frame>
<location>{_text(last)}</location></PathPoint></objects></PathPointSet>
<PathWrapSet><objects>{wraps}</objects></PathWrapSet></GeometryPath>
<optimal_fiber_length>0.1</optimal_fiber_length></Thelen2003Muscle>"""


def _text(values: np.ndarray) -> str:
    return " ".join(f"{value:.6f}" for value in values)
