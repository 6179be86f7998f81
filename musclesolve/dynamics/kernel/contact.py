"""Contact and resistance in one state: contact between surfaces with its forces, and the resistance of joints.

Contact gives points of contact and relative velocities.

Gap, normal and point of a pair by Newton's method on the sphere of normals, with the support function of each surface:
derived in `contact.surfaces`.

Joint resistance gives couples on the bodies: `forward.joint_resistance`.
"""

from math import atan2, pi, sqrt

from musclesolve._util.compiled_code import compiled


@compiled
def place_surfaces(motions, shapes, placed):
    """Store centers and axes of all surfaces in space in `placed`."""
    for s in range(shapes.body.size):
        b = shapes.body[s]
        for x in range(3):
            center = motions.place[b, x]
            for y in range(3):
                center += motions.rotation[b, x, y] * shapes.center[s, y]
                axis = 0.0
                for z in range(3):
                    axis += motions.rotation[b, x, z] * shapes.axes[s, z, y]
                placed.axes[s, x, y] = axis
            placed.center[s, x] = center


@compiled
def find_gap(shapes, placed, pairs, pair, touches):
    """Gap, normal and point of one pair."""
    one, two = pairs.first[pair], pairs.second[pair]
    if pairs.plane[pair]:
        from_plane(shapes, placed, one, two, touches, pair)
        return
    distance = 0.0
    for x in range(3):
        apart = placed.center[two, x] - placed.center[one, x]
        touches.normal[pair, x] = apart
        touches.point[pair, x] = 0.5 * (placed.center[one, x] + placed.center[two, x])
        distance += apart * apart
    distance, size = sqrt(distance), shapes.extent[one] + shapes.extent[two]
    touches.gap[pair] = distance - size
    for x in range(3):
        touches.normal[pair, x] /= max(distance, 1e-300)
    if distance - size < pairs.apart[pair]:
        between(shapes, placed, one, two, pairs.far[pair], touches, pair)


@compiled
def find_slip(motions, shapes, pairs, pair, touches):
    """Rate of the gap, and the velocity of the second surface along the first."""
    one, two = shapes.body[pairs.first[pair]], shapes.body[pairs.second[pair]]
    twist, point, rate = motions.twist, touches.point, 0.0
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        spin_y, spin_z = twist[two, y] - twist[one, y], twist[two, z] - twist[one, z]
        relative = twist[two, 3 + x] - twist[one, 3 + x] + spin_y * point[pair, z] - spin_z * point[pair, y]
        touches.slip[pair, x] = relative
        rate += relative * touches.normal[pair, x]
    touches.rate[pair] = rate
    for x in range(3):
        touches.slip[pair, x] -= rate * touches.normal[pair, x]


ROUNDS = 50
CLOSE = 1e-13
"""Tangential distance of the nearest points, as a share of the size of the pair, at which the search ends."""
LONGEST_STEP = 0.7
"""Longest step on the sphere [rad]."""
FLOOR = 1e-3
"""Smallest curvature that divides a step, as a share of the largest."""

AHEAD = 0.5
"""How steep the gap may fall where a step ends, over how steep it rose where it began."""

NORMAL, TRIED, OFFSET, TANGENTS, SLOPE, STEP, LOCAL, WEIGHT, POINT, REACH = 0, 3, 6, 9, 15, 18, 21, 27, 33, 45
"""Places in the work array; the last four hold values of the first surface, then of the second."""


@compiled
def from_plane(shapes, placed, one, two, touches, pair):
    """Store gap, normal and point of the second surface above a plane."""
    work = placed.work
    gap = -shapes.radius[two]
    for x in range(3):
        work[NORMAL + x] = placed.axes[one, x, 2]
        gap += work[NORMAL + x] * (placed.center[two, x] - placed.center[one, x])
    reach = reach_along(shapes, placed, two, NORMAL, LOCAL, WEIGHT)
    point_along(shapes, placed, two, reach, LOCAL, WEIGHT, POINT)
    gap -= reach
    touches.gap[pair] = gap
    for x in range(3):
        normal = work[NORMAL + x]
        touches.normal[pair, x] = normal
        below = placed.center[two, x] - work[POINT + x] - shapes.radius[two] * normal
        touches.point[pair, x] = below - 0.5 * gap * normal


@compiled
def between(shapes, placed, one, two, far, touches, pair):
    """Store gap, normal and point of two convex surfaces that do not contain each other's centers."""
    work, ball = placed.work, shapes.radius[one] + shapes.radius[two]
    distance = 0.0
    for x in range(3):
        work[OFFSET + x] = placed.center[two, x] - placed.center[one, x]
        distance += work[OFFSET + x] * work[OFFSET + x]
    distance = sqrt(distance)
    for x in range(3):
        work[NORMAL + x] = work[OFFSET + x] / distance if distance > 0.0 else (1.0 if x == 2 else 0.0)
    bare = _reaches(shapes, placed, one, two, NORMAL)
    for _ in range(ROUNDS):
        if bare - ball > far:  # the gap along any direction is a lower bound
            break
        if _slope(shapes, placed, one, two) <= CLOSE * (shapes.extent[one] + shapes.extent[two]):
            break
        _newton_step(shapes, placed, one, two, bare)
        bare = _improve(shapes, placed, one, two, bare)
    _slope(shapes, placed, one, two)
    touches.gap[pair] = bare - ball
    half = 0.5 * (shapes.radius[one] - shapes.radius[two])
    for x in range(3):
        touches.normal[pair, x] = work[NORMAL + x]
        nearest = placed.center[one, x] + placed.center[two, x] + work[POINT + x] - work[POINT + 6 + x]
        touches.point[pair, x] = 0.5 * nearest + half * work[NORMAL + x]


@compiled
def _reaches(shapes, placed, one, two, at):
    """Gap along the direction at a place of the work array, without the balls."""
    work, gap = placed.work, 0.0
    for x in range(3):
        gap += work[at + x] * work[OFFSET + x]
    work[REACH] = reach_along(shapes, placed, one, at, LOCAL, WEIGHT)
    work[REACH + 1] = reach_along(shapes, placed, two, at, LOCAL + 3, WEIGHT + 3)
    return gap - work[REACH] - work[REACH + 1]


@compiled
def _slope(shapes, placed, one, two):
    """Set the points of both surfaces and the tangential gradient of the gap; return the size of the gradient."""
    work = placed.work
    point_along(shapes, placed, one, work[REACH], LOCAL, WEIGHT, POINT)
    point_along(shapes, placed, two, work[REACH + 1], LOCAL + 3, WEIGHT + 3, POINT + 6)
    along, size = 0.0, 0.0
    for x in range(3):
        work[SLOPE + x] = work[OFFSET + x] - work[POINT + x] - work[POINT + 6 + x]
        along += work[SLOPE + x] * work[NORMAL + x]
    for x in range(3):
        work[SLOPE + x] -= along * work[NORMAL + x]
        size += work[SLOPE + x] * work[SLOPE + x]
    return sqrt(size)


@compiled
def _newton_step(shapes, placed, one, two, bare):
    """Set the step on the sphere toward the largest gap: |H|^-1 times the gradient, H of two rows in closed form."""
    work = placed.work
    _tangents(work)
    first = bend_along(shapes, placed, one, work[REACH], (LOCAL, WEIGHT, POINT), TANGENTS)
    second = bend_along(shapes, placed, two, work[REACH + 1], (LOCAL + 3, WEIGHT + 3, POINT + 6), TANGENTS)
    one_one, one_two, two_two = first[0] + second[0] + bare, first[1] + second[1], first[2] + second[2] + bare
    middle, half = 0.5 * (one_one + two_two), 0.5 * (one_one - two_two)
    radius = sqrt(half * half + one_two * one_two)
    high, low = abs(middle + radius), abs(middle - radius)
    floor = FLOOR * max(high, low, 1e-12)
    high, low = 1.0 / max(high, floor), 1.0 / max(low, floor)
    mean, share = 0.5 * (high + low), (0.5 * (high - low) / radius if radius > 0.0 else 0.0)
    u, v = 0.0, 0.0
    for x in range(3):
        u += work[TANGENTS + x] * work[SLOPE + x]
        v += work[TANGENTS + 3 + x] * work[SLOPE + x]
    s, t = mean * u + share * (half * u + one_two * v), mean * v + share * (one_two * u - half * v)
    limit = min(1.0, LONGEST_STEP / max(sqrt(s * s + t * t), 1e-300))
    for x in range(3):
        work[STEP + x] = limit * (s * work[TANGENTS + x] + t * work[TANGENTS + 3 + x])


@compiled
def _tangents(work):
    """Two unit vectors that are perpendicular to the normal and to each other."""
    least = 0
    for x in range(1, 3):
        if abs(work[NORMAL + x]) < abs(work[NORMAL + least]):
            least = x
    one, two = (least + 1) % 3, (least + 2) % 3
    size = sqrt(work[NORMAL + one] * work[NORMAL + one] + work[NORMAL + two] * work[NORMAL + two])
    work[TANGENTS + least] = 0.0
    work[TANGENTS + one], work[TANGENTS + two] = work[NORMAL + two] / size, -work[NORMAL + one] / size
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        work[TANGENTS + 3 + x] = work[NORMAL + y] * work[TANGENTS + z] - work[NORMAL + z] * work[TANGENTS + y]


@compiled
def _improve(shapes, placed, one, two, bare):
    """Take the step, shortened until it neither lessens the gap nor overshoots the largest gap; return the new gap.

    Flat faces make the gap almost a ridge, over which steps of Newton's method would jump to and fro.
    """
    work, before = placed.work, 0.0
    for x in range(3):
        before += work[SLOPE + x] * work[STEP + x]
    for _ in range(ROUNDS):
        size = 0.0
        for x in range(3):
            work[TRIED + x] = work[NORMAL + x] + work[STEP + x]
            size += work[TRIED + x] * work[TRIED + x]
        size = sqrt(size)
        for x in range(3):
            work[TRIED + x] /= size
        gap = _reaches(shapes, placed, one, two, TRIED)
        after = _slope_ahead(shapes, placed, one, two)
        if gap >= bare - 1e-14 * max(abs(bare), 1.0) and after >= -AHEAD * before:
            for x in range(3):
                work[NORMAL + x] = work[TRIED + x]
            return gap
        share = before / (before - after) if after < 0.0 else 0.5
        for x in range(3):
            work[STEP + x] *= min(max(share, 0.1), 0.7)
    return _reaches(shapes, placed, one, two, NORMAL)


@compiled
def _slope_ahead(shapes, placed, one, two):
    """Change of the gap with the step, at the trial normal."""
    work = placed.work
    point_along(shapes, placed, one, work[REACH], LOCAL, WEIGHT, POINT)
    point_along(shapes, placed, two, work[REACH + 1], LOCAL + 3, WEIGHT + 3, POINT + 6)
    along, radial, slope = 0.0, 0.0, 0.0
    for x in range(3):
        apart = work[OFFSET + x] - work[POINT + x] - work[POINT + 6 + x]
        slope += apart * work[STEP + x]
        radial += apart * work[TRIED + x]
        along += work[STEP + x] * work[TRIED + x]
    return slope - radial * along


EDGE = 1e-5
"""Added to the squared components of the normal for orders above 2, whose second derivatives would be infinite where a
component is zero. Flat faces bulge, and reach farther by 0.07 % of the semi-axis for order 4, 0.3 % for order 10 and
0.4 % for order 20 (equal semi-axes)."""


@compiled
def reach_along(shapes, placed, s, normal, local, weight):
    """Reach of surface s, without the ball, along a direction in work; its own components and their weights in work."""
    work, square_sum, p = placed.work, 0.0, shapes.order[s] / (shapes.order[s] - 1.0)
    edge = EDGE if p < 2.0 else 0.0
    for a in range(3):
        semi = shapes.semi_axes[s, a]
        along = 0.0
        for x in range(3):
            along += placed.axes[s, x, a] * work[normal + x]
        work[local + a] = along
        size = semi * semi * (along * along + edge)
        work[weight + a] = 0.0 if size <= 0.0 else (1.0 if p == 2.0 else size ** (0.5 * p - 1.0))
        square_sum += size * work[weight + a]
    return sqrt(square_sum) if p == 2.0 else square_sum ** (1.0 / p)


@compiled
def point_along(shapes, placed, s, reach, local, weight, point):
    """Vector from the center to the point where a surface touches its tangent plane, in space, then in own axes."""
    work, p = placed.work, shapes.order[s] / (shapes.order[s] - 1.0)
    factor = 1.0 if reach <= 0.0 else (1.0 / reach if p == 2.0 else reach ** (1.0 - p))
    for a in range(3):
        semi = shapes.semi_axes[s, a]
        work[point + 3 + a] = semi * semi * work[local + a] * work[weight + a] * factor
    for x in range(3):
        total = 0.0
        for a in range(3):
            total += placed.axes[s, x, a] * work[point + 3 + a]
        work[point + x] = total


@compiled
def bend_along(shapes, placed, s, reach, support, tangents):
    """Second derivatives of the reach along two tangents in work: (1, 1), (1, 2), (2, 2)."""
    local, weight, point = support
    work, p = placed.work, shapes.order[s] / (shapes.order[s] - 1.0)
    scale = reach if reach > 0.0 else 1.0
    factor = 1.0 / scale if p == 2.0 else scale ** (1.0 - p)
    one_one, one_two, two_two, along_one, along_two = 0.0, 0.0, 0.0, 0.0, 0.0
    edge = EDGE if p < 2.0 else 0.0
    for a in range(3):
        square, along = shapes.semi_axes[s, a] * shapes.semi_axes[s, a], work[local + a]
        size = square * (along * along + edge)
        straight = 1.0 + (p - 2.0) * (square * along * along / size if size > 0.0 else 0.0)
        diagonal = square * work[weight + a] * straight * factor
        first, second = 0.0, 0.0
        for x in range(3):
            first += placed.axes[s, x, a] * work[tangents + x]
            second += placed.axes[s, x, a] * work[tangents + 3 + x]
        one_one += diagonal * first * first
        one_two += diagonal * first * second
        two_two += diagonal * second * second
        along_one += work[point + 3 + a] * first
        along_two += work[point + 3 + a] * second
    share = (p - 1.0) / scale
    return (
        one_one - share * along_one * along_one,
        one_two - share * along_one * along_two,
        two_two - share * along_two * along_two,
    )


@compiled
def rise(x):
    """3 x^2 - 2 x^3 between 0 and 1, constant outside: the print falls again beyond 1 (3.8, correction C11)."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@compiled
def add_couple(wrench, distal, proximal, x, value):
    """Add a component of a couple to the distal body and subtract it from the proximal one."""
    wrench[distal, x] += value
    wrench[proximal, x] -= value


@compiled
def damp_joints(axes, joints, motions, wrench):
    """Viscous couples of all joints (3.3)."""
    for k in range(joints.damping.size):
        distal, proximal = joints.distal[k], joints.proximal[k]
        rate = 0.0
        for x in range(3):
            rate += axes[k, x] * (motions.twist[distal, x] - motions.twist[proximal, x])
        for x in range(3):
            add_couple(wrench, distal, proximal, x, -joints.damping[k] * rate * axes[k, x])


@compiled
def stop_joints(axes, joints, stops, motions, wrench):
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
            add_couple(wrench, distal, proximal, x, -stops.limits[s, 3] * beyond * axes[k, x])


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
