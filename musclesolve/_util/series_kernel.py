"""Compiled steps along a series of samples: banded equations, and the running median."""

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


def running_median(signal, window, out):
    """The median (S,) of the samples around each sample of a signal (S,); the first and last samples go on at its ends.

    window (2 h + 1,): work, from h samples before to h samples after.
    """
    last, half = signal.size - 1, window.size // 2
    for k in range(window.size):  # sorted samples around the first one
        new, place = signal[min(max(k - half, 0), last)], k
        while place > 0 and window[place - 1] > new:
            window[place] = window[place - 1]
            place -= 1
        window[place] = new
    out[0] = window[half]
    for t in range(1, signal.size):
        old, new, place = signal[max(t - 1 - half, 0)], signal[min(t + half, last)], 0
        while place < window.size - 1 and window[place] != old:
            place += 1
        while place > 0 and window[place - 1] > new:
            window[place] = window[place - 1]
            place -= 1
        while place < window.size - 1 and window[place + 1] < new:
            window[place] = window[place + 1]
            place += 1
        window[place] = new
        out[t] = window[half]


_MESSAGE = "compiling {} for this machine, once (a few seconds)"
BAND = on_disk(_MESSAGE.format("splines"), Path(__file__))(solve_band, "r2 r2")
MEDIAN = on_disk(_MESSAGE.format("checks of EMG"), Path(__file__))(running_median, "r1 r1 r1")
