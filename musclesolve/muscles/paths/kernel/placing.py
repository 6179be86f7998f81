"""Positions of path points, wrap objects and moving frames in a pose.

A body moves a point at the standing position s to x = p + R s; a frame on the body, with its pivot at o in standing,
moves it to x = r + R_f (s - o).
"""

from math import cos, sin, sqrt

from musclesolve._util.compiled_code import compiled_in_order

NEARLY_ZERO = 1e-4
"""Rotations below this are expanded in a series [rad]."""


@compiled_in_order
def set_spline(first, last, knots, values, curvatures, x, value, slope):
    """Values and slopes (6,) at x of the natural spline whose knots are from `first` to `last`: `NaturalSpline.at`."""
    inside = min(max(x, knots[first]), knots[last])
    k = first
    while k < last - 1 and knots[k + 1] <= inside:
        k += 1
    gap = knots[k + 1] - knots[k]
    b = (inside - knots[k]) / gap
    a = 1.0 - b
    for c in range(value.size):
        low, high = values[k, c], values[k + 1, c]
        bent_low, bent_high = curvatures[k, c] * gap * gap / 6.0, curvatures[k + 1, c] * gap * gap / 6.0
        rise = high - low + (1.0 - 3.0 * a * a) * bent_low + (3.0 * b * b - 1.0) * bent_high
        slope[c] = rise / gap
        value[c] = a * low + b * high + (a * a * a - a) * bent_low + (b * b * b - b) * bent_high
        value[c] += slope[c] * (x - inside)


@compiled_in_order
def set_turn(vector, rate, rotation, spin):
    """Rotation (3, 3) of a rotation vector r (3,), and the angular velocity (3,) for its rate r'.

    With phi = |r| and S = [r]x: R = 1 + sin(phi)/phi S + (1 - cos(phi))/phi^2 S^2 (Rodrigues' formula),
    omega = r' + (1 - cos(phi))/phi^2 r x r' + (phi - sin(phi))/phi^3 r x (r x r').
    """
    square = vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2
    first, second, third = 1.0 - square / 6.0, 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    if square >= NEARLY_ZERO * NEARLY_ZERO:
        phi = sqrt(square)
        first, second, third = sin(phi) / phi, (1.0 - cos(phi)) / square, (phi - sin(phi)) / (phi * square)
    along = vector[0] * rate[0] + vector[1] * rate[1] + vector[2] * rate[2]
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        # S^2 = r r^T - phi^2 and r x (r x r') = r (r . r') - phi^2 r'
        spin[x] = rate[x] + second * (vector[y] * rate[z] - vector[z] * rate[y])
        spin[x] += third * (vector[x] * along - square * rate[x])
        rotation[x, x] = 1.0 - second * (vector[y] ** 2 + vector[z] ** 2)
        rotation[x, y] = second * vector[x] * vector[y] - first * vector[z]
        rotation[x, z] = second * vector[x] * vector[z] + first * vector[y]


@compiled_in_order
def set_place(rotation, origin, standing, out):
    """Set out = r + R s (3,)."""
    for x in range(3):
        out[x] = origin[x]
        for y in range(3):
            out[x] += rotation[x, y] * standing[y]


@compiled_in_order
def set_on_frame(carried, space, t, f, standing, out):
    """Set out = r + R (s - o) (3,), the position of the standing point s on frame f."""
    for x in range(3):
        out[x] = space.origin[t, f, x]
        for y in range(3):
            out[x] += space.rotation[t, f, x, y] * (standing[y] - carried.pivot[f, y])


@compiled_in_order
def place_frames(carried, bodies, relative, space, t):
    """Set the moving frames in space from their motion relative to their bodies."""
    for f in range(carried.frame_body.size):
        b = carried.frame_body[f]
        turned = bodies.rotation[b]
        set_place(turned, bodies.place[b], relative.origin[t, f], space.origin[t, f])
        for x in range(3):
            space.velocity[t, f, x] = space.spin[t, f, x] = 0.0
            for y in range(3):
                space.velocity[t, f, x] += turned[x, y] * relative.velocity[t, f, y]
                space.spin[t, f, x] += turned[x, y] * relative.spin[t, f, y]
                space.rotation[t, f, x, y] = 0.0
                for k in range(3):
                    space.rotation[t, f, x, y] += turned[x, k] * relative.rotation[t, f, k, y]


@compiled_in_order
def place_points(carried, bodies, space, coordinates, poses, t):
    """Points of the paths, and which of them are on the path at joint coordinates (K+6,)."""
    for p in range(carried.point_body.size):
        poses.on[t, p] = True
        f, b = carried.point_frame[p], carried.point_body[p]
        if f >= 0:
            set_on_frame(carried, space, t, f, carried.standing[p], poses.position[t, p])
        else:
            set_place(bodies.rotation[b], bodies.place[b], carried.standing[p], poses.position[t, p])
    for c in range(carried.switched.size):
        angle = coordinates[carried.switch_dof[c]]
        inside = angle >= carried.switch_lower[c] and angle <= carried.switch_upper[c]
        poses.on[t, carried.switched[c]] = inside


@compiled_in_order
def place_objects(carried, bodies, space, poses, t):
    """Centers and axes of the wrap objects."""
    for o in range(carried.object_body.size):
        f, b = carried.object_frame[o], carried.object_body[o]
        turned = space.rotation[t, f] if f >= 0 else bodies.rotation[b]
        if f >= 0:
            set_on_frame(carried, space, t, f, carried.center[o], poses.center[t, o])
        else:
            set_place(turned, bodies.place[b], carried.center[o], poses.center[t, o])
        for x in range(3):
            for y in range(3):
                poses.rotation[t, o, x, y] = 0.0
                for k in range(3):
                    poses.rotation[t, o, x, y] += turned[x, k] * carried.axes[o, k, y]
