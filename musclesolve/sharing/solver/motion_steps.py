"""Limits and scales of the steps of interior points that solve a whole motion as one program."""

import numpy as np

from musclesolve._util.arrays import Array

FIRST_SIGMA, FIRST_LEAST = 0.1, 1e-13
"""Sigma at the start, over the size of multipliers; the least sigma until the first certificate."""
FIRST_SLACK = 0.01  # least distance from a limit of activation at the start
SHARE_OF_PULL = 0.01  # of the pull of the multipliers expected at the start: the size of multipliers
TO_BOUNDARY = 0.995  # share of the way to the nearest bound that a step may go
LEAST_WIDTH = 1e-7  # least distance between two bounds; coincident ones are moved apart
LEAST_DISTANCE = 1e-14  # from a bound, over the largest activation: less is round-off of the unknowns
CLOSE = 1e-9  # products of multipliers and distances from which on certificates are worth computing
LITTLE_OF_GAP = 0.02
"""Share of the gap of a certificate that the products of multipliers and distances may make up in the end.

Smaller products would cost digits: round-off is multiplied by the ratios of multipliers and distances.
"""
GOOD_ENOUGH, PATIENCE = 1.0, 4
"""Share of the limits of the certificate that ends a method after so many iterations without improvement."""
STUCK, STUCK_STEPS = 0.02, 12  # a length of steps, and so many shorter ones in a row that end a method
LEAST_OMEGA = 1e-4  # over the largest omega of the motion
UNWEIGHED = 1e-11  # sigma over the size of multipliers, from which on muscles have scales of their own


def scales_of_step(omega: Array, sigma: float, size: float, marginal: Array) -> Array:
    """The scales omega (n,) of a step: near the end the largest marginal cost of each muscle in the motion.

    So a muscle whose multipliers are small gets as near to its bounds as one whose multipliers are large.

    Args:
        omega: (n,) of the step before.
        sigma: mean product of multipliers and distances, over omega.
        size: of the multipliers.
        marginal: (T, n) sizes of the marginal costs of the activations.
    """
    if not sigma <= UNWEIGHED * size:
        return omega
    largest = marginal.max(axis=0)
    return np.asarray(np.maximum(largest, LEAST_OMEGA * largest.max()))
