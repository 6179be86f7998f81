"""Couples of joint resistance on the bodies in one state: `JointResistance` without arrays over frames."""

from math import atan2, pi, sqrt

from musclesolve._util.compiled_code import compiled
from musclesolve.dynamics.kernel.bodies import difference


@compiled
def rise(x):
    """3 x^2 - 2 x^3 between 0 and 1, constant outside."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@compiled
def add_couple(wrench, distal, proximal, x, value):
    """Add a component of a couple to the distal body and subtract it from the proximal one."""
    wrench[distal, x] += value
    wrench[proximal, x] -= value


@compiled
def axis_of(q, joints, motions, k, x):
    """Component of the axis of joint k."""
    if joints.scale[k] != 0.0:
        return joints.scale[k] * difference(q, joints.axis[k, 0], joints.axis[k, 1], x)
    value = 0.0
    for y in range(3):
        value += motions.rotation[joints.proximal[k], x, y] * joints.fixed_axis[k, y]
    return value


@compiled
def damp_joints(q, joints, motions, wrench):
    """Viscous couples of all joints (3.3)."""
    for k in range(joints.damping.size):
        distal, proximal = joints.distal[k], joints.proximal[k]
        rate = 0.0
        for x in range(3):
            rate += axis_of(q, joints, motions, k, x) * (
                motions.twist[distal, x] - motions.twist[proximal, x]
            )
        for x in range(3):
            moment = -joints.damping[k] * rate * axis_of(q, joints, motions, k, x)
            add_couple(wrench, distal, proximal, x, moment)


@compiled
def stop_joints(q, joints, stops, motions, wrench):
    """Couples where the range of single angles ends (3.8)."""
    for s in range(stops.joint.size):
        k = stops.joint[s]
        distal, proximal = joints.distal[k], joints.proximal[k]
        sine, trace = 0.0, -1.0
        for x in range(3):
            y, z = (x + 1) % 3, (x + 2) % 3
            for g in range(
                3
            ):  # the relative rotation is that of the proximal body, transposed, times the distal one
                one, two = motions.rotation[proximal, g, x], motions.rotation[distal, g, x]
                trace += one * two
                up = motions.rotation[proximal, g, z] * motions.rotation[distal, g, y]
                down = motions.rotation[proximal, g, y] * motions.rotation[distal, g, z]
                sine += stops.axis[s, x] * (up - down)
        middle = 0.5 * (stops.limits[s, 0] + stops.limits[s, 1])
        angle = atan2(sine, trace) - middle
        if angle > pi:
            angle -= 2.0 * pi
        elif angle < -pi:
            angle += 2.0 * pi
        angle += middle
        margin = stops.limits[s, 2]
        beyond = rise((angle - stops.limits[s, 1]) / margin) - rise((stops.limits[s, 0] - angle) / margin)
        for x in range(3):
            moment = -stops.limits[s, 3] * beyond * axis_of(q, joints, motions, k, x)
            add_couple(wrench, distal, proximal, x, moment)


@compiled
def frame_part(rotation, parent, frame, cone, k, x):
    """Component of front, side or axis of a cone in space."""
    value = 0.0
    for y in range(3):
        value += rotation[parent, x, y] * frame[cone, k, y]
    return value


@compiled
def lean(q, cones, motions, cone):
    """Components of the unit line of a cone along front, side and axis."""
    parent, rotation = cones.bodies[cone, 0], motions.rotation
    pivot, tip = cones.line[cone, 0], cones.line[cone, 1]
    length, east, north, up = 0.0, 0.0, 0.0, 0.0
    for x in range(3):
        part = q[tip, x] - q[pivot, x]
        length += part * part
        east += part * frame_part(rotation, parent, cones.frame, cone, 0, x)
        north += part * frame_part(rotation, parent, cones.frame, cone, 1, x)
        up += part * frame_part(rotation, parent, cones.frame, cone, 2, x)
    length = sqrt(length)
    return east / length, north / length, up / length


@compiled
def limit_cones(q, cones, motions, wrench):
    """Couples where the cones of the spherical joints end (3.4-3.8), in the frames of the cones."""
    for cone in range(cones.bodies.shape[0]):
        east, north, up = lean(q, cones, motions, cone)
        across = sqrt(east * east + north * north)
        cosine, sine = (east / across, north / across) if across > 0.0 else (1.0, 0.0)
        ahead = cones.limits[cone, 0] if cosine >= 0.0 else cones.limits[cone, 2]
        aside = cones.limits[cone, 1] if sine >= 0.0 else cones.limits[cone, 3]
        over = atan2(across, up) - (ahead * cosine * cosine + aside * sine * sine)
        if over <= 0.0:
            continue
        slope = 2.0 * (aside - ahead) * sine * cosine
        # steepest = across (up outward - across axis) - slope around; about = line x steepest
        f = across * up * cosine + slope * sine
        g = across * up * sine - slope * cosine
        h = -across * across
        a, b, c = north * h - up * g, up * f - east * h, east * g - north * f
        size = max(sqrt(a * a + b * b + c * c), 1e-12)
        size = cones.limits[cone, 5] * rise(over / cones.limits[cone, 4]) / size
        parent, child = cones.bodies[cone, 0], cones.bodies[cone, 1]
        # front, side and axis need not be right-handed: the product of two vectors changes its sign with their hand
        size *= hand(cones.frame, cone)
        for x in range(3):
            about = a * frame_part(motions.rotation, parent, cones.frame, cone, 0, x)
            about += b * frame_part(motions.rotation, parent, cones.frame, cone, 1, x)
            about += c * frame_part(motions.rotation, parent, cones.frame, cone, 2, x)
            add_couple(wrench, child, parent, x, -size * about)


@compiled
def hand(frame, cone):
    """1 for a right-handed triad of rows, -1 for a left-handed one."""
    value = 0.0
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        value += frame[cone, 0, x] * (
            frame[cone, 1, y] * frame[cone, 2, z] - frame[cone, 1, z] * frame[cone, 2, y]
        )
    return value
