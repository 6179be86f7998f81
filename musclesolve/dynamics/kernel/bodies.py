"""Rigid bodies in natural coordinates, one state at a time: `RigidBodies` without arrays over frames."""

from musclesolve._util.compiled_code import compiled


@compiled
def difference(q, start, end, x):
    """Component of the line between two slots; the slot beyond the last is zero."""
    value = 0.0
    if end < q.shape[0]:
        value = q[end, x]
    if start < q.shape[0]:
        value -= q[start, x]
    return value


@compiled
def set_columns(q, qd, bodies, b, work):
    """r_ij, u and v of a body as columns of work[0], and their rates in work[1]."""
    slots, length = bodies.slots, bodies.length
    for x in range(3):
        for k in range(3):
            start, end = slots[b, 2 * k], slots[b, 2 * k + 1]
            size = 1.0 if k == 0 else length[b, k - 1]
            work[0, x, k] = difference(q, start, end, x) / size
            work[1, x, k] = difference(qd, start, end, x) / size
    if bodies.crossed[b]:
        for x in range(3):
            y, z = (x + 1) % 3, (x + 2) % 3
            work[0, x, 2] = (work[0, y, 1] * work[0, z, 0] - work[0, z, 1] * work[0, y, 0]) / length[b, 1]
            rate = work[1, y, 1] * work[0, z, 0] + work[0, y, 1] * work[1, z, 0]
            rate -= work[1, z, 1] * work[0, y, 0] + work[0, z, 1] * work[1, y, 0]
            work[1, x, 2] = rate / length[b, 1]


@compiled
def move_body(q, qd, bodies, b, motions, at):
    """Store rotation, place and twist of body b at the number `at`."""
    work, rotation, twist = motions.work, motions.rotation, motions.twist
    set_columns(q, qd, bodies, b, work)
    for x in range(3):
        for a in range(3):
            turned, rate = 0.0, 0.0
            for k in range(3):
                turned += work[0, x, k] * bodies.inverse[b, k, a]
                rate += work[1, x, k] * bodies.inverse[b, k, a]
            rotation[at, x, a] = turned
            work[2, x, a] = rate
    i = bodies.slots[b, 0]
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        spin, shift = 0.0, 0.0
        for a in range(3):
            spin += rotation[at, y, a] * work[2, z, a] - rotation[at, z, a] * work[2, y, a]
            shift += rotation[at, x, a] * bodies.origin[b, a]
        twist[at, x] = 0.5 * spin
        motions.place[at, x] = q[i, x] - shift
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        twist[at, 3 + x] = qd[i, x] - (twist[at, y] * q[i, z] - twist[at, z] * q[i, y])


@compiled
def push_body(q, qd, bodies, b, motions, at, wrench, force):
    """Add the wrench of body b to a generalized force (N, 3).

    A wrench (6,) is the moment about the global origin, then the force; see `RigidBodies.moment_forces`
    and `slot_forces`.
    """
    work, slots, rotation = motions.work, bodies.slots, motions.rotation
    set_columns(q, qd, bodies, b, work)
    i = slots[b, 0]
    for x in range(3):  # the couple about r_i on the axes: work[1]; then on the columns: work[2]
        y, z = (x + 1) % 3, (x + 2) % 3
        for a in range(3):
            couple_y = wrench[at, y] - (q[i, z] * wrench[at, 3 + x] - q[i, x] * wrench[at, 3 + z])
            couple_z = wrench[at, z] - (q[i, x] * wrench[at, 3 + y] - q[i, y] * wrench[at, 3 + x])
            work[1, x, a] = 0.5 * (couple_y * rotation[at, z, a] - couple_z * rotation[at, y, a])
    for k in range(3):
        for x in range(3):
            total = 0.0
            for a in range(3):
                total += bodies.inverse[b, k, a] * work[1, x, a]
            work[2, x, k] = total
    for x in range(3):
        force[i, x] += wrench[at, 3 + x] - work[2, x, 0]
        force[slots[b, 1], x] += work[2, x, 0]
        work[2, x, 2] /= bodies.length[b, 1]
    if bodies.crossed[b]:
        for x in range(3):
            y, z = (x + 1) % 3, (x + 2) % 3
            line = work[2, y, 2] * work[0, z, 1] - work[2, z, 2] * work[0, y, 1]
            force[i, x] -= line
            force[slots[b, 1], x] += line
            work[2, x, 1] += work[0, y, 0] * work[2, z, 2] - work[0, z, 0] * work[2, y, 2]
    for k in range(1, 2 if bodies.crossed[b] else 3):
        size = bodies.length[b, 0] if k == 1 else 1.0
        for x in range(3):
            add(force, slots[b, 2 * k + 1], x, work[2, x, k] / size)
            add(force, slots[b, 2 * k], x, -work[2, x, k] / size)


@compiled
def add(force, slot, x, value):
    """Add to a slot, unless it is the one beyond the last."""
    if slot < force.shape[0]:
        force[slot, x] += value
