"""Where the right foot of a runner is: planted, rolling over its ball, swinging through under the pelvis.

The stance follows from the ground forces: the center of pressure lies below the center of mass at mid-stance, and there
is the middle of the foot. The swing is a periodic cubic spline through a few plausible places, seen from a point that
goes on at the mean speed. Where the foot goes in the swing is no more than plausible; what matters is its smoothness.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from musclesolve._util.arrays import Array
from musclesolve.synthetic.running.runner_ground import RunGround
from musclesolve.synthetic.stride.stride_subject import StrideSubject

BESIDE = 0.05
"""Distance of the planted foot from the line of progression [m]."""
MIDDLE = 0.09
"""The middle of the center of pressure ahead of the ankle [m]."""
HEEL_OFF, LIFTED = -0.3, np.deg2rad(50.0)
"""Where in the stance (u) the heel begins to rise, and how far the foot is pitched at its end [rad]."""
SWING = (
    # share of the swing, ankle ahead of the pelvis as a share of the way in a stance, height [m], pitch [rad]
    (0.22, -0.78, 0.25, 0.95),
    (0.45, -0.20, 0.27, 0.75),
    (0.65, 0.40, 0.20, 0.28),
    (0.82, 0.76, 0.13, 0.0),
    (0.93, 0.78, 0.09, -0.05),
)
PLANTED = np.linspace(-1.0, 1.0, 15)


def foot_path(person: StrideSubject, ground: RunGround) -> CubicSpline:
    """Ankle ahead of where the mean speed has led [m], its height [m], and the pitch of the foot [rad] over a stride.

    A spline (3,) over the time from right foot strike to the next one [s].
    """
    middle, reach = 0.5 * ground.contact, ground.speed * ground.contact
    center = float(ground.center(np.array([middle]))[0][0, 0])
    time, places = [], []
    for u in PLANTED:
        at = middle * (1.0 + u)
        # The cube begins with two derivatives zero.
        pitch = LIFTED * max((u - HEEL_OFF) / (1.0 - HEEL_OFF), 0.0) ** 3
        ahead, height = _over_ball(person, pitch)
        time.append(at)
        places.append((center - MIDDLE + ahead - ground.speed * at, height, pitch))
    for share, ahead, height, pitch in SWING:
        time.append(ground.contact + share * (ground.period - ground.contact))
        places.append((0.5 * ahead * reach, height, pitch))
    # The moving point starts level with the center of mass.
    return CubicSpline([*time, ground.period], [*places, places[0]], bc_type="periodic")


def _over_ball(person: StrideSubject, pitch: float) -> tuple[float, float]:
    """How far the ankle has moved ahead, and its height, once the foot is pitched over its ball [m]."""
    ball = np.array(person.settings["foot"]["ball"])
    sine, cosine = np.sin(pitch), np.cos(pitch)
    # From the ball to the ankle, pitched forward.
    x = -ball[0] * cosine - ball[2] * sine
    z = ball[0] * sine - ball[2] * cosine
    return float(ball[0] + x), float(z)


def foot_points(person: StrideSubject, ground: RunGround, path: CubicSpline, time: Array) -> dict[str, Array]:
    """Ankle, heel and toe of the right foot (T, 3) [m] at times (T,) [s]."""
    ahead, height, pitch = path(np.mod(time, ground.period)).T
    ankle = np.stack([ahead + ground.speed * time, np.full(time.size, -BESIDE), height], axis=1)
    points = {"ankle": ankle}
    out = person.toe_out
    for name, key in (("heel", "heel"), ("toe", "ball")):
        x, _, z = person.settings["foot"][key]
        along, up = x * np.cos(pitch) + z * np.sin(pitch), z * np.cos(pitch) - x * np.sin(pitch)
        points[name] = ankle + np.stack([along * np.cos(out), -along * np.sin(out), up], axis=1)
    return points
