"""One step of the interior point of a motion beside its linear system, compiled: each function is one pass.

All distances x from bounds and their multipliers k stand in one table (6 T - 2, n): T rows each of z above its lower
bound, z below its upper bound, and a likewise, then T - 1 rows each of the limits of falling and of rising. With

    da = e + u dz + v dy,   e = E / g,      w = G e + the excess of x,      k' = push - (k / x) dx,

(banded_interior_point.py, rate_limits.py), the slopes with the activation eliminated are

    by z    r_z + L_za e + u s,      by y    L_ya e + v s,      s = r_a + L_aa e - G^T (push - (k / x) w),

where r_z and r_a are the slopes of the Lagrangian less the pushes of the bounds. After the step the slope by a is zero:

    mu' g + r_a + L_za dz + L_ya dy + L_aa da - G^T k' = 0.

`L_aa` contains the ratios k / x of the bounds of a.
"""

from pathlib import Path
from typing import NamedTuple

from numba import types

from musclesolve._util.arrays import Array
from musclesolve._util.compiled_code import on_disk, types_of
from musclesolve.trajectory.chain_kernel import BASIS, MESSAGE


class Terms(NamedTuple):
    """The linearized conditions, (T, n) each: g, u, v, L_za, L_ya, L_aa, slopes by z and a without terms in mu, E."""

    capacity: Array
    by_z: Array
    by_y: Array
    za: Array
    ya: Array
    aa: Array
    slope_z: Array
    slope_a: Array
    missing: Array


def right_side(basis, rate, terms, e_a, e_d, ratio, excess, push, of_y, out, work):
    """Z^T and Y^T times the slopes by z and y with the activation eliminated, and the sign changed, (T, n).

    rate (T, 3): of Y; e_a, e_d (T-1,); ratio, excess (2 T - 2, n): k / x and missing slack of the limits; push
    (6 T - 2, n); of_y (T, n): further slopes by y; work (3, n).
    """
    frames, muscles = out.shape
    out[:, :] = 0.0
    work[:, :] = 0.0
    carried, by_z, by_y = work[0], work[1], work[2]
    for t in range(frames):
        g, e, u, v = terms.capacity[t], terms.missing[t], terms.by_z[t], terms.by_y[t]
        za, ya, aa, slope_z, slope_a = (
            terms.za[t],
            terms.ya[t],
            terms.aa[t],
            terms.slope_z[t],
            terms.slope_a[t],
        )
        p0, p1, p2, p3, more = push[t], push[frames + t], push[2 * frames + t], push[3 * frames + t], of_y[t]
        for i in range(muscles):
            first = e[i] / g[i]
            by_z[i] = slope_a[i] - p2[i] + p3[i] + aa[i] * first - carried[i]
        if t + 1 < frames:
            a, d, fall, rise = e_a[t], e_d[t], push[4 * frames + t], push[5 * frames - 1 + t]
            of_fall, of_rise, more_fall, more_rise = (
                ratio[t],
                ratio[frames - 1 + t],
                excess[t],
                excess[frames - 1 + t],
            )
            g_ahead, e_ahead = terms.capacity[t + 1], terms.missing[t + 1]
            for i in range(muscles):
                first, ahead = e[i] / g[i], e_ahead[i] / g_ahead[i]
                down = fall[i] - of_fall[i] * (more_fall[i] + ahead - d * first)
                up = rise[i] - of_rise[i] * (more_rise[i] + a * first - ahead)
                by_z[i] -= a * up - d * down
                carried[i] = down - up
        for i in range(muscles):
            first, slope = e[i] / g[i], by_z[i]
            by_z[i] = slope_z[i] - p0[i] + p1[i] + za[i] * first + u[i] * slope
            by_y[i] = more[i] + ya[i] * first + v[i] * slope
        f = basis.first[t]
        for j in range(3):
            z, y, row = basis.value[t, j], rate[t, j], out[f + j]
            for i in range(muscles):
                row[i] -= z * by_z[i] + y * by_y[i]


def changes(basis, rate, terms, e_a, e_d, ratio, excess, push, d_c, x, k, d_z, d_a, dx, dk, balance):
    """The changes of z, a, x and k and the new mu, for changes d_c of coefficients, (T, n).

    Returns the least dx / x and dk / k.
    """
    frames, muscles = d_c.shape
    least = 0.0
    for t in range(frames):
        f = basis.first[t]
        c0, c1, c2 = d_c[f], d_c[f + 1], d_c[f + 2]
        z0, z1, z2 = basis.value[t, 0], basis.value[t, 1], basis.value[t, 2]
        y0, y1, y2 = rate[t, 0], rate[t, 1], rate[t, 2]
        g, e, u, v = terms.capacity[t], terms.missing[t], terms.by_z[t], terms.by_y[t]
        za, ya, aa, slope = terms.za[t], terms.ya[t], terms.aa[t], terms.slope_a[t]
        p2, p3, of_z, of_a, left = push[2 * frames + t], push[3 * frames + t], d_z[t], d_a[t], balance[t]
        x0, x1, x2, x3 = dx[t], dx[frames + t], dx[2 * frames + t], dx[3 * frames + t]
        for i in range(muscles):
            z = z0 * c0[i] + z1 * c1[i] + z2 * c2[i]
            y = y0 * c0[i] + y1 * c1[i] + y2 * c2[i]
            a = e[i] / g[i] + u[i] * z + v[i] * y
            of_z[i], of_a[i] = z, a
            left[i] = slope[i] - p2[i] + p3[i] + za[i] * z + ya[i] * y + aa[i] * a
            x0[i], x1[i], x2[i], x3[i] = z, -z, a, -a
    for t in range(frames - 1):
        a, d, here, ahead, left, left_ahead = e_a[t], e_d[t], d_a[t], d_a[t + 1], balance[t], balance[t + 1]
        down, up, fall, rise = (
            dx[4 * frames + t],
            dx[5 * frames - 1 + t],
            push[4 * frames + t],
            push[5 * frames - 1 + t],
        )
        of_fall, of_rise, more_fall, more_rise = (
            ratio[t],
            ratio[frames - 1 + t],
            excess[t],
            excess[frames - 1 + t],
        )
        for i in range(muscles):
            down[i] = more_fall[i] + ahead[i] - d * here[i]
            up[i] = more_rise[i] + a * here[i] - ahead[i]
            low, high = fall[i] - of_fall[i] * down[i], rise[i] - of_rise[i] * up[i]
            left[i] -= a * high - d * low
            left_ahead[i] -= low - high
    for t in range(frames):
        for i in range(muscles):
            balance[t, i] = -balance[t, i] / terms.capacity[t, i]
    for r in range(x.shape[0]):
        for i in range(muscles):
            inverse = 1.0 / x[r, i]
            share = dx[r, i] * inverse
            part = push[r, i] / k[r, i] - 1.0 - share
            dk[r, i] = part * k[r, i]
            least = min(least, min(share, part))
    return least


def pushes(x, dx, dk, target, bent, push):
    """The pushes (target - bent dx dk) / x toward products of the target (n,)."""
    for r in range(x.shape[0]):
        for i in range(x.shape[1]):
            push[r, i] = (target[i] - bent * dx[r, i] * dk[r, i]) / x[r, i]


def centered(x, k, dx, dk, t, target, low, high, push):
    """Add to the pushes what the products after a step t lack to the range from low to high times the target (n,)."""
    for r in range(x.shape[0]):
        for i in range(x.shape[1]):
            product = (x[r, i] + t * dx[r, i]) * (k[r, i] + t * dk[r, i])
            lack = min(max(product, low * target[i]), high * target[i]) - product
            push[r, i] += max(lack, -high * target[i]) / x[r, i]


def products(x, k, dx, dk, t, omega):
    """The mean of the products over omega (n,), now and after a step t."""
    now = then = 0.0
    for r in range(x.shape[0]):
        for i in range(x.shape[1]):
            weight = 1.0 / omega[i]
            now += weight * x[r, i] * k[r, i]
            then += weight * (x[r, i] + t * dx[r, i]) * (k[r, i] + t * dk[r, i])
    return now / x.size, then / x.size


_TERMS = types.NamedUniTuple(types_of("r2")[0], len(Terms._fields), Terms)
_on_disk = on_disk(MESSAGE, Path(__file__))
RIGHT_SIDE = _on_disk(right_side, BASIS, "r2", _TERMS, "r1 r1 r2 r2 r2 r2 r2 r2")
CHANGES = _on_disk(changes, BASIS, "r2", _TERMS, "r1 r1 r2 r2 r2 r2 r2 r2 r2 r2 r2 r2 r2")
PUSHES = _on_disk(pushes, "r2 r2 r2 r1 r r2")
CENTERED = _on_disk(centered, "r2 r2 r2 r2 r r1 r r r2")
PRODUCTS = _on_disk(products, "r2 r2 r2 r2 r r1")
