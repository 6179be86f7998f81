"""Poses, velocities and accelerations along the joints, and loads summed from the ends to the base, pose by pose.

A point at r on a frame of the tree has the velocity v = w x r + u and the acceleration alpha x r + w x v + b. w and
alpha are angular velocity and acceleration of the frame, u the velocity of its material point at the global origin, and
b = du/dt. Beyond a joint with axes a through o and speeds s

    w_c = w_p + sum a s,    alpha_c = alpha_p + sum (a ds/dt + w_p x a s)
    u_c = u_p - (w_c - w_p) x o,    b_c = b_p - (alpha_c - alpha_p) x o - (w_c - w_p) x do/dt

which is qd = D s and qdd = D ds/dt + Ddot s of `Tree`.
"""

from math import cos, sin

from musclesolve._util.compiled_code import compiled
from musclesolve.dynamics.kernel.nearest_pose import FURTHER, SINGLE, place_frames, set_product, set_rotation


@compiled
def add_cross(one, other, factor, out):
    """Add a factor times the vector product of (3,) and (3,)."""
    out[0] += factor * (one[1] * other[2] - one[2] * other[1])
    out[1] += factor * (one[2] * other[0] - one[0] * other[2])
    out[2] += factor * (one[0] * other[1] - one[1] * other[0])


@compiled
def set_base(tree, coordinates, rates, second, speeds, speed_rates, work):
    """Rotation, angular velocity and acceleration of the base from its Cardan angles: `cardan_rates`."""
    k = tree.parent.size + 3
    tilt, lift, turn = coordinates[k], coordinates[k + 1], coordinates[k + 2]
    set_rotation(0.0, 0.0, turn, work.base)
    set_rotation(lift, 0.0, 0.0, work.turn)
    set_product(work.base, work.turn, work.product)
    set_rotation(0.0, tilt, 0.0, work.turn)
    set_product(work.product, work.turn, work.base)
    along, about, fall = work.axes[0], work.axes[1], work.axes[2]
    along[0], along[1], along[2] = cos(turn), sin(turn), 0.0
    about[0], about[1], about[2] = -sin(turn) * cos(lift), cos(turn) * cos(lift), sin(lift)
    for x in range(3):
        fall[x] = rates[k + 1] * along[x] + (rates[k + 2] if x == 2 else 0.0)
        speeds[k + x] = fall[x] + rates[k] * about[x]
        speed_rates[k + x] = (
            second[k + 1] * along[x] + second[k] * about[x] + (second[k + 2] if x == 2 else 0.0)
        )
    speed_rates[k] -= rates[k + 1] * rates[k + 2] * along[1]
    speed_rates[k + 1] += rates[k + 1] * rates[k + 2] * along[0]
    add_cross(fall, about, rates[k], speed_rates[k : k + 3])
    for x in range(3):
        speeds[k - 3 + x], speed_rates[k - 3 + x] = rates[k - 3 + x], second[k - 3 + x]


@compiled
def move_frames(tree, coordinates, speeds, speed_rates, axes, work):
    """Every frame of the tree in motion, from coordinates and speeds (K+6,) and the rotation work.base.

    axes (K, 3): filled with the axes of the joints in this pose.
    """
    joints, root = tree.parent.size, tree.root[0]
    origin = coordinates[joints : joints + 3]
    place_frames(tree, coordinates, origin, work.base, work)
    spin, flow, twist, drift = work.spin, work.flow, work.twist, work.drift
    for x in range(3):
        spin[root, x], twist[root, x] = speeds[joints + 3 + x], speed_rates[joints + 3 + x]
        flow[root, x], drift[root, x] = speeds[joints + x], speed_rates[joints + x]
    add_cross(spin[root], origin, -1.0, flow[root])
    add_cross(twist[root], origin, -1.0, drift[root])
    add_cross(spin[root], speeds[joints : joints + 3], -1.0, drift[root])
    for k in range(joints):
        if tree.kind[k] == FURTHER:
            continue
        p, c = tree.parent[k], tree.child[k]
        pivot, more, twisted = work.axes[0], work.axes[1], work.axes[2]
        for x in range(3):
            pivot[x], more[x], twisted[x] = work.shift[p, x], 0.0, 0.0
            for y in range(3):
                pivot[x] += work.rotation[p, x, y] * tree.center[k, y]
        for other in range(1 if tree.kind[k] == SINGLE else 3):
            j = tree.triple[k, other]
            axis = axes[j]
            for x in range(3):
                axis[x] = 0.0
                for y in range(3):
                    axis[x] += work.rotation[p, x, y] * tree.axis[j, y]
                more[x] += speeds[j] * axis[x]
                twisted[x] += speed_rates[j] * axis[x]
        add_cross(spin[p], more, 1.0, twisted)
        moved = work.axes[3]
        for x in range(3):
            spin[c, x], twist[c, x] = spin[p, x] + more[x], twist[p, x] + twisted[x]
            flow[c, x], drift[c, x], moved[x] = flow[p, x], drift[p, x], flow[p, x]
        add_cross(spin[p], pivot, 1.0, moved)
        add_cross(more, pivot, -1.0, flow[c])
        add_cross(twisted, pivot, -1.0, drift[c])
        add_cross(more, moved, -1.0, drift[c])


@compiled
def set_accelerated(place, f, work, velocity, acceleration):
    """Set velocity and acceleration (3,) of a point at a place (3,) on a frame."""
    for x in range(3):
        velocity[x], acceleration[x] = work.flow[f, x], work.drift[f, x]
    add_cross(work.spin[f], place, 1.0, velocity)
    add_cross(work.twist[f], place, 1.0, acceleration)
    add_cross(work.spin[f], velocity, 1.0, acceleration)


@compiled
def place_slots(tree, points, q, work):
    """Natural coordinates (N, 3) on the frames; the first `points` are points."""
    for s in range(tree.owner.size):
        f = tree.owner[s]
        for x in range(3):
            q[s, x] = work.shift[f, x] if s < points else 0.0
            for y in range(3):
                q[s, x] += work.rotation[f, x, y] * tree.standing[s, y]


@compiled
def move_slots(tree, points, q, qd, qdd, work):
    """Natural coordinates and their derivatives (N, 3) on the frames in motion; the first `points` are points."""
    place_slots(tree, points, q, work)
    for s in range(tree.owner.size):
        f = tree.owner[s]
        if s < points:
            set_accelerated(q[s], f, work, qd[s], qdd[s])
            continue
        qd[s], qdd[s] = 0.0, 0.0
        add_cross(work.spin[f], q[s], 1.0, qd[s])
        add_cross(work.twist[f], q[s], 1.0, qdd[s])
        add_cross(work.spin[f], qd[s], 1.0, qdd[s])


@compiled
def sum_loads(tree, masses, segments, t, wrench, force, moment, work):
    """Return the loads that each frame and the frames distal to it need from the proximal side: force and moment about
    the origin, (F, 3) each.

    F = sum m (a - g) - F_ext,  M = sum d(I w)/dt + r x m (a - g) - M_ext; wrench (B, 6): the external ones.
    """
    force[:, :] = 0.0
    moment[:, :] = 0.0
    push, momentum, turned = work.axes[0], work.axes[1], work.axes[2]
    for b in range(masses.mass.size):
        rotation, spin, twist = segments.rotation[t, b], segments.velocity[t, b], segments.acceleration[t, b]
        # I = R I' R^T, times twist and times spin
        set_product(rotation, masses.inertia[b], work.turn)
        for x in range(3):
            momentum[x], turned[x] = 0.0, 0.0
            for y in range(3):
                value = 0.0
                for i in range(3):
                    value += work.turn[x, i] * rotation[y, i]
                momentum[x] += value * spin[y]
                turned[x] += value * twist[y]
            push[x] = masses.mass[b] * (segments.center_acceleration[t, b, x] - masses.gravity[x])
        for x in range(3):
            force[b, x] = push[x] - wrench[b, x]
            moment[b, x] = turned[x] - wrench[b, 3 + x]
        add_cross(spin, momentum, 1.0, moment[b])
        add_cross(segments.center[t, b], push, 1.0, moment[b])
    for back in range(tree.parent.size):
        k = tree.parent.size - 1 - back
        if tree.kind[k] != FURTHER:
            for x in range(3):
                force[tree.parent[k], x] += force[tree.child[k], x]
                moment[tree.parent[k], x] += moment[tree.child[k], x]
