"""Sums over the nodes of a muscle that are on one carrier, and moment arms from them."""

from __future__ import annotations

from musclesolve.muscles.paths.kernel.compile import compiled


@compiled
def gather_wrenches(position, gradient, group, wrench):
    """Sums of r x dL/dr and dL/dr, (T, G, 6), over the nodes (N) of each group; group (N,)."""
    for t in range(wrench.shape[0]):
        for g in range(wrench.shape[1]):
            for k in range(6):
                wrench[t, g, k] = 0.0
        for node in range(group.size):
            g = group[node]
            x, y, z = position[t, node, 0], position[t, node, 1], position[t, node, 2]
            u, v, w = gradient[t, node, 0], gradient[t, node, 1], gradient[t, node, 2]
            wrench[t, g, 0] += y * w - z * v
            wrench[t, g, 1] += z * u - x * w
            wrench[t, g, 2] += x * v - y * u
            wrench[t, g, 3] += u
            wrench[t, g, 4] += v
            wrench[t, g, 5] += w


@compiled
def sum_powers(wrench, muscle, moved, screw, power):
    """Rates of length (T, m, n) for screw motions (T, m, 6) of the groups that each moves, (m, G)."""
    for t in range(power.shape[0]):
        for row in range(power.shape[1]):
            for n in range(power.shape[2]):
                power[t, row, n] = 0.0
            for g in range(muscle.size):
                if moved[row, g]:
                    total = 0.0
                    for k in range(6):
                        total += wrench[t, g, k] * screw[t, row, k]
                    power[t, row, muscle[g]] += total
