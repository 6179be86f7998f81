"""Compiled steps along a series of samples: banded equations."""

from pathlib import Path

from musclesolve._util.compiled_code import on_disk


def solve_band(band, right):
    """Solve A x = b in place by elimination without row exchanges; b becomes x.

    band (n, 2 w + 1): element (i, j) of A at (i, w + j - i), zero beyond A; right (n, m): b. The elimination is stable
    for A positive definite, and for values of B-splines (de Boor & Pinkus 1977, Numer Math 27:485-90).
    """
    count, half = band.shape[0], band.shape[1] // 2
    for i in range(count):
        for j in range(i + 1, min(i + half + 1, count)):
            share = band[j, half + i - j] / band[i, half]
            if share != 0.0:
                for k in range(1, half + 1):
                    band[j, half + i - j + k] -= share * band[i, half + k]
                for m in range(right.shape[1]):
                    right[j, m] -= share * right[i, m]
    for i in range(count - 1, -1, -1):
        for m in range(right.shape[1]):
            for j in range(i + 1, min(i + half + 1, count)):
                right[i, m] -= band[i, half + j - i] * right[j, m]
            right[i, m] /= band[i, half]


BAND = on_disk("compiling splines for this machine, once (a few seconds)", Path(__file__))(
    solve_band, "r2 r2"
)
