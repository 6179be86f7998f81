"""Designed samples: few of them give the spread that many random samples would.

The variance of a quantity F that depends on the standard normal numbers z_j as sum_j J_j z_j is sum_j J_j^2. K samples
estimate it by

    1/K sum_k (sum_j J_j z_kj)^2 = sum_j J_j^2 |z_j|^2 / K + sum_i!=j J_i J_j z_i . z_j / K

The columns z_j of a design are orthogonal, have the mean 0 and the square length K, so that the second sum vanishes:
the estimate is exact where F is linear, and an estimate by samples where F is not. K samples have K - 1 such
columns. More parameters take further blocks of K - 1, each turned at random, and the products between blocks add noise
as in drawn samples; columns of parameters that never meet in one part of the body are shared. Each column is
one of random normal numbers made orthogonal (QR), so that every parameter has its tails, and co-contraction, the size
of a number, its spread. Compare orthogonal Latin hypercubes (Owen 1994, J Am Stat Assoc 89:1517-22).
"""

from math import prod

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.studies.uncertainty.replay import Replay

RUNS = 64
"""Samples of a design: their 63 columns hold the parameters that matter most, and one in forty lies beyond either end
of the band of 95 %."""


def designed_numbers(replay: Replay, seed: int) -> Array:
    """Standard normal numbers of all parameters in designed samples, (RUNS, count).

    Sources with few parameters share the first block; a source that does not fit into what is left of a block begins
    one of its own.
    """
    shapes, random = replay.parameters.shapes, np.random.default_rng(np.random.SeedSequence(seed))
    first = dict(zip(shapes, np.cumsum([0, *map(prod, shapes.values())])[:-1].tolist(), strict=True))
    numbers, width = np.empty((RUNS, replay.parameters.count)), RUNS - 1
    block, used = np.empty((RUNS, 0)), width
    for source in sorted(shapes, key=lambda name: prod(shapes[name])):
        size, places = prod(shapes[source]), replay.meeting(source)
        count = int(places.max(initial=-1)) + 1
        if used + count > width:
            used = width
        for start in range(0, count, width):
            if used == width:
                block, used = _orthogonal(random), 0
            here = np.flatnonzero((places >= start) & (places < start + width))
            numbers[:, first[source] + here] = block[:, used + places[here] - start]
            used += min(count - start, width)
        numbers[:, first[source] : first[source] + size] *= random.choice([-1.0, 1.0], size)
    return numbers


def _orthogonal(random: np.random.Generator) -> Array:
    """Random normal numbers (RUNS, RUNS - 1) whose columns are orthogonal, with the mean 0 and the variance 1."""
    drawn = random.standard_normal((RUNS, RUNS - 1))
    columns, triangle = np.linalg.qr(drawn - drawn.mean(axis=0))
    return np.asarray(np.sqrt(RUNS) * columns * np.sign(np.diag(triangle)))
