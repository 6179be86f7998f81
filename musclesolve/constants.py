"""A constant of nature, and choices, that several parts need."""

from __future__ import annotations

STANDARD_GRAVITY = 9.80665
"""Standard acceleration of gravity [m/s2] (CGPM 1901)."""

USUAL_COST = "joint_weighted_activation"
"""The cost by which moments are shared unless asked otherwise, of recordings and of models alike."""

ADULT_AGE = 18.0
"""Age from which the inertia table of adults holds [years]."""

WALKING_CUTOFF_HZ, FLIGHT_CUTOFF_HZ = 6.0, 15.0
"""Cut-off of the low-pass filter that is not stated: usual, and where there is flight [Hz].

Walking has little above 6 Hz, the first peak of the ground force in running has.
"""
