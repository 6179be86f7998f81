"""The nearest pose of one frame after the other: steps, normal equations and their solution.

The equations are derived in `kinematics.pose_fit`. Sums over the targets that a joint moves are gathered from the ends
of the tree to its base: every frame of the tree adds the sums of its targets to the sums of the frames beyond it.
"""

from math import cos, sin, sqrt

import numpy as np

from musclesolve._util.compiled_code import compiled

LARGEST_ROTATION = 0.5
"""Largest change of an angle in one step [rad]; keeps the first steps from a standing start on track."""
NEAR_OPTIMUM = 0.1
"""A frame whose last step was shorter than this [rad, m] is near the optimum."""
DAMPING = 1e-9
"""Keeps a step finite in a direction that moves no target at present [m2]; it does not move the optimum."""
SHORT = 1e-3
"""After a step of Newton that was shorter than this [rad, m] the next ones have its matrix: each leaves an error of
about its length times the length of that step, as long as they become shorter by ten.
"""
NEGLIGIBLE = 1e-14
"""Such an error at which the search may end."""
MOST_CARRIED = 5
"""Largest number of frames from which the start of the next one is extrapolated."""
SINGLE, FIRST, FURTHER = np.arange(3)
"""Kind of a joint: one axis; the first of the three of a spherical joint; another one of them."""
SUMS = 22
"""Sums of a frame: C (6), P (9), h (3), f (3), m (1)."""
C, P, H, F, M = 0, 6, 15, 18, 21


@compiled
def set_rotation(x, y, z, out):
    """Rotation matrix of a rotation vector, (3, 3)."""
    square = x * x + y * y + z * z
    if square < 1e-8:
        a, b = 1.0 - square / 6.0, 0.5 - square / 24.0
    else:
        angle = sqrt(square)
        a, b = sin(angle) / angle, (1.0 - cos(angle)) / square
    out[0, 0], out[1, 1], out[2, 2] = (
        1.0 - b * (y * y + z * z),
        1.0 - b * (x * x + z * z),
        1.0 - b * (x * x + y * y),
    )
    out[0, 1], out[1, 0] = b * x * y - a * z, b * x * y + a * z
    out[0, 2], out[2, 0] = b * x * z + a * y, b * x * z - a * y
    out[1, 2], out[2, 1] = b * y * z - a * x, b * y * z + a * x


@compiled
def set_product(one, other, out):
    """Matrix product (3, 3)."""
    for x in range(3):
        for y in range(3):
            out[x, y] = one[x, 0] * other[0, y] + one[x, 1] * other[1, y] + one[x, 2] * other[2, y]


@compiled
def place_frames(tree, angles, position, base, work):
    """Every frame of the tree as x = shift + rotation x_standing: `Tree.frames` for one pose."""
    rotation, shift = work.rotation, work.shift
    for x in range(3):
        shift[tree.root[0], x] = position[x]
        for y in range(3):
            rotation[tree.root[0], x, y] = base[x, y]
    for k in range(tree.parent.size):
        if tree.kind[k] == FURTHER:
            continue
        p, c = tree.parent[k], tree.child[k]
        count = 1 if tree.kind[k] == SINGLE else 3
        vx, vy, vz = 0.0, 0.0, 0.0
        for other in range(count):
            j = tree.triple[k, other]
            vx += angles[j] * tree.axis[j, 0]
            vy += angles[j] * tree.axis[j, 1]
            vz += angles[j] * tree.axis[j, 2]
        if vx == 0.0 and vy == 0.0 and vz == 0.0:
            for x in range(3):
                shift[c, x] = shift[p, x]
                for y in range(3):
                    rotation[c, x, y] = rotation[p, x, y]
            continue
        set_rotation(vx, vy, vz, work.turn)
        set_product(rotation[p], work.turn, rotation[c])
        for x in range(3):
            shift[c, x] = shift[p, x]
            for y in range(3):
                shift[c, x] += (rotation[p, x, y] - rotation[c, x, y]) * tree.pivot[k, y]


@compiled
def find_misfit(tree, targets, values, rest, angles, work):
    """Place the targets, (n, 3) in work.place, and return the sum of weighted squares [m2].

    rest: the angles (K,) [rad] to which angles are drawn, and the weights (K,) [m2] by which they are.
    """
    toward, weight = rest
    total = 0.0
    for n in range(targets.slot.size):
        s = targets.slot[n]
        f = tree.owner[s]
        for x in range(3):
            at = work.shift[f, x] if targets.point[n] else 0.0
            for y in range(3):
                at += work.rotation[f, x, y] * tree.standing[s, y]
            work.place[n, x] = at
            total += targets.weight[n] * (values[n, x] - at) * (values[n, x] - at)
    for k in range(angles.size):
        total += weight[k] * (angles[k] - toward[k]) * (angles[k] - toward[k])
    return total


@compiled
def set_speeds(tree, position, work):
    """Axes a and offsets c, from the base position, of all speeds (K+6, 3)."""
    axis, offset, joints = work.axis, work.offset, tree.parent.size
    for k in range(joints):
        p = tree.parent[k]
        for x in range(3):
            axis[k, x] = 0.0
            work.arm[x] = work.shift[p, x] - position[x]
            for y in range(3):
                axis[k, x] += work.rotation[p, x, y] * tree.axis[k, y]
                work.arm[x] += work.rotation[p, x, y] * tree.center[k, y]
        for x in range(3):
            y, z = (x + 1) % 3, (x + 2) % 3
            offset[k, x] = work.arm[y] * axis[k, z] - work.arm[z] * axis[k, y]
    for x in range(3):
        for y in range(3):
            axis[joints + x, y] = offset[joints + 3 + x, y] = 0.0
            offset[joints + x, y] = axis[joints + 3 + x, y] = 1.0 if x == y else 0.0


@compiled
def add_target(sums, weight, point, place, pull):
    """Add a target at a place (3,) from the base with its pull (3,) to the sums of its frame."""
    x, y, z = place[0], place[1], place[2]
    sums[C] += weight * x * x
    sums[C + 1] += weight * x * y
    sums[C + 2] += weight * x * z
    sums[C + 3] += weight * y * y
    sums[C + 4] += weight * y * z
    sums[C + 5] += weight * z * z
    for i in range(3):
        for j in range(3):
            sums[P + 3 * i + j] += place[i] * pull[j]
        if point:
            sums[H + i] += weight * place[i]
            sums[F + i] += pull[i]
    if point:
        sums[M] += weight


@compiled
def set_gradient(tree, free, work):
    """Set the gradient over the free speeds, from the sums of every frame, which are gathered, and axes and offsets."""
    sums, joints = work.sums, tree.parent.size
    for back in range(joints):
        k = joints - 1 - back
        if tree.kind[k] != FURTHER:
            for i in range(SUMS):
                sums[tree.parent[k], i] += sums[tree.child[k], i]
    for j in range(free.size):
        s = free[j]
        load = sums[tree.child[s] if s < joints else tree.root[0]]
        a, c = work.axis[s], work.offset[s]
        torque_x = load[P + 5] - load[P + 7]
        torque_y = load[P + 6] - load[P + 2]
        torque_z = load[P + 1] - load[P + 3]
        work.gradient[j] = a[0] * torque_x + a[1] * torque_y + a[2] * torque_z
        for x in range(3):
            work.gradient[j] += c[x] * load[F + x]


@compiled
def set_hessian(tree, free, near, work):
    """Set H - near S over the free speeds, from the sums that `set_gradient` gathered and the axes and offsets."""
    sums, joints = work.sums, tree.parent.size
    for j in range(free.size):
        s = free[j]
        load = sums[tree.child[s] if s < joints else tree.root[0]]
        a, c, angular, linear = work.axis[s], work.offset[s], work.angular[j], work.linear[j]
        for x in range(3):
            y, z = (x + 1) % 3, (x + 2) % 3
            angular[x] = load[H + y] * c[z] - load[H + z] * c[y]
            linear[x] = a[y] * load[H + z] - a[z] * load[H + y] + load[M] * c[x]
        angular[0] += (load[C + 3] + load[C + 5]) * a[0] - load[C + 1] * a[1] - load[C + 2] * a[2]
        angular[1] += (load[C] + load[C + 5]) * a[1] - load[C + 1] * a[0] - load[C + 4] * a[2]
        angular[2] += (load[C] + load[C + 3]) * a[2] - load[C + 2] * a[0] - load[C + 4] * a[1]
        if near > 0.0 and not (joints <= s < joints + 3):
            # P a - a tr P + c x f of S, zero for the speeds that are no rotations
            trace = load[P] + load[P + 4] + load[P + 8]
            for x in range(3):
                y, z = (x + 1) % 3, (x + 2) % 3
                bent = c[y] * load[F + z] - c[z] * load[F + y] - a[x] * trace
                for i in range(3):
                    bent += load[P + 3 * x + i] * a[i]
                angular[x] -= near * bent
    for i in range(free.size):
        for j in range(i + 1):
            total = 0.0
            for one, other in ((i, j), (j, i)):
                share = tree.share[free[one], free[other]]
                if share > 0.0:
                    value = 0.0
                    for x in range(3):
                        value += work.axis[free[one], x] * work.angular[other, x]
                        value += work.offset[free[one], x] * work.linear[other, x]
                    total += share * value
            work.hessian[i, j] = work.hessian[j, i] = total


@compiled
def factorize(matrix):
    """Replace the lower half of a symmetric matrix with its factors L^T D L, D L in place of L.

    Speeds are eliminated from the last to the first, distal ones first; elements between two branches of the tree
    stay zero (Featherstone 2008, 6.5).
    """
    count = matrix.shape[0]
    for back in range(count):
        k = count - 1 - back
        for i in range(k):
            if matrix[k, i] != 0.0:
                factor = matrix[k, i] / matrix[k, k]
                for j in range(i + 1):
                    matrix[i, j] -= factor * matrix[k, j]


@compiled
def substitute(factors, right):
    """Replace the right-hand side of a system, whose matrix `factorize` took, with the solution."""
    count = right.size
    for back in range(count):
        k = count - 1 - back
        scaled = right[k] / factors[k, k]
        for i in range(k):
            right[i] -= factors[k, i] * scaled
    for i in range(count):
        for j in range(i):
            right[i] -= factors[i, j] * right[j]
        right[i] /= factors[i, i]


@compiled
def compose(tree, k, step, angles, tried):
    """Rotation vector of a spherical joint, the first of whose axes is k, after a step along its speeds.

    Quaternions of step and rotation are multiplied; the result is a rotation of at most 180 degrees.
    """
    w1, x1, y1, z1 = 1.0, 0.0, 0.0, 0.0
    for turn in range(2):
        vx, vy, vz = 0.0, 0.0, 0.0
        for other in range(3):
            j = tree.triple[k, other]
            size = angles[j] if turn == 0 else step[j]
            vx += size * tree.axis[j, 0]
            vy += size * tree.axis[j, 1]
            vz += size * tree.axis[j, 2]
        angle = sqrt(vx * vx + vy * vy + vz * vz)
        w, half = cos(0.5 * angle), 0.5 if angle < 1e-8 else sin(0.5 * angle) / angle
        x, y, z = half * vx, half * vy, half * vz
        w1, x1, y1, z1 = (
            w * w1 - x * x1 - y * y1 - z * z1,
            w * x1 + x * w1 + y * z1 - z * y1,
            w * y1 - x * z1 + y * w1 + z * x1,
            w * z1 + x * y1 - y * x1 + z * w1,
        )
    if w1 < 0.0:
        w1, x1, y1, z1 = -w1, -x1, -y1, -z1
    sine = sqrt(x1 * x1 + y1 * y1 + z1 * z1)
    factor = 2.0 if sine < 1e-16 else 2.0 * np.arctan2(sine, w1) / sine
    for other in range(3):
        j = tree.triple[k, other]
        tried[j] = factor * (x1 * tree.axis[j, 0] + y1 * tree.axis[j, 1] + z1 * tree.axis[j, 2])


@compiled
def move_pose(tree, angles, position, base, work):
    """Store the pose after work.step in the speeds (K+6,) in work.angles, work.position and work.base."""
    joints, step = tree.parent.size, work.step
    for k in range(joints):
        if tree.kind[k] == SINGLE:
            work.angles[k] = angles[k] + step[k]
        elif tree.kind[k] == FIRST:
            compose(tree, k, step, angles, work.angles)
    for x in range(3):
        work.position[x] = position[x] + step[joints + x]
    set_rotation(step[joints + 3], step[joints + 4], step[joints + 5], work.turn)
    set_product(work.turn, base, work.base)


@compiled
def add_turn(share, rotation, start, turn):
    """Add a share of a small rotation from one matrix (3, 3) to another to a rotation vector (3,)."""
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        for k in range(3):
            turn[x] += 0.5 * share * (rotation[z, k] * start[y, k] - rotation[y, k] * start[z, k])


@compiled
def carry(starts, poses, t, back, work):
    """Move the start of a frame as the frames before it were moved: their moves, extrapolated from `back` of them.

    starts, poses: angles, positions and rotations of the base, at the starts and as found in the frames before. The
    polynomial through the moves m of the frames before gives n m_1 - n (n - 1) / 2 m_2 + ..., n of them, the last one
    first.
    """
    first_angles, first_position, start = starts
    angles, position, base = poses
    share = -1.0
    work.arm[:] = 0.0
    for k in range(1, back + 1):
        share *= -(back - k + 1) / k
        for j in range(angles.shape[1]):
            angles[t, j] += share * (angles[t - k, j] - first_angles[t - k, j])
        for x in range(3):
            position[t, x] += share * (position[t - k, x] - first_position[t - k, x])
        add_turn(share, base[t - k], start[t - k], work.arm)
    set_rotation(work.arm[0], work.arm[1], work.arm[2], work.turn)
    set_product(work.turn, start[t], base[t])


@compiled
def find_nearest(tree, targets, values, rest, angles, position, base, limits, work):
    """Take steps from a pose to the nearest one, in place; return the length of the last step [rad or m].

    Gauss-Newton far from the optimum, Newton near it, in the end with the matrix of an earlier step; steps are damped
    where the fit gets worse. rest: see `find_misfit`. limits: the length of a step that ends the search, the largest
    number of steps, and the distance of the optimum as far as it is known.
    """
    joints, free = tree.parent.size, targets.free
    toward, weight = rest
    damping, largest = DAMPING, limits[2]
    held = 0.0  # length of the step whose matrix is still in use
    place_frames(tree, angles, position, base, work)
    misfit = find_misfit(tree, targets, values, rest, angles, work)
    for _ in range(int(limits[1])):
        near = 1.0 if largest < NEAR_OPTIMUM else 0.0
        set_speeds(tree, position, work)
        work.sums[:, :] = 0.0
        for n in range(targets.slot.size):
            for x in range(3):
                work.pull[x] = targets.weight[n] * (values[n, x] - work.place[n, x])
                work.arm[x] = work.place[n, x] - (position[x] if targets.point[n] else 0.0)
            total = work.sums[tree.owner[targets.slot[n]]]
            add_target(total, targets.weight[n], targets.point[n], work.arm, work.pull)
        set_gradient(tree, free, work)
        for j in range(free.size):
            if free[j] < joints:
                work.gradient[j] -= weight[free[j]] * (angles[free[j]] - toward[free[j]])
        if held == 0.0:
            set_hessian(tree, free, near, work)
            for j in range(free.size):
                work.hessian[j, j] += damping
                if free[j] < joints:
                    work.hessian[j, j] += weight[free[j]]
            factorize(work.hessian)
        substitute(work.hessian, work.gradient)
        work.step[:] = 0.0
        turned, length = 0.0, 0.0
        for j in range(free.size):
            work.step[free[j]] = work.gradient[j]
            if free[j] < joints:
                turned = max(turned, abs(work.gradient[j]))
        shorter = min(1.0, LARGEST_ROTATION / max(turned, 1e-12))
        for k in range(work.step.size):
            work.step[k] *= shorter
            length = max(length, abs(work.step[k]))
        move_pose(tree, angles, position, base, work)
        # A short step of Gauss-Newton, which converges but linearly, does not show that the solution is as near.
        last = near > 0.0 and length < limits[0] and held * length < NEGLIGIBLE
        tried = misfit
        if not last:
            place_frames(tree, work.angles, work.position, work.base, work)
            tried = find_misfit(tree, targets, values, rest, work.angles, work)
        # Near the optimum the misfit no longer falls: what is left is round-off.
        if tried <= misfit * (1.0 + 1e-9) + 1e-18:
            for k in range(joints):
                angles[k] = work.angles[k]
            for x in range(3):
                position[x] = work.position[x]
                for y in range(3):
                    base[x, y] = work.base[x, y]
            if held > 0.0:
                held = held if length < 0.1 * largest else 0.0
            elif near > 0.0 and damping == DAMPING and length < SHORT:
                held = length
            misfit, largest = tried, length
            damping = max(0.1 * damping, DAMPING)
        else:
            largest, damping, held = np.inf, min(100.0 * damping, 1.0), 0.0
            place_frames(tree, angles, position, base, work)
            find_misfit(tree, targets, values, rest, angles, work)
        if last:
            break
    return largest
