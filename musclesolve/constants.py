"""A constant of nature, and choices, that several parts need."""

from __future__ import annotations

STANDARD_GRAVITY = 9.80665
"""Standard acceleration of gravity [m/s2] (CGPM 1901)."""

USUAL_COST = "knee_sparing_activation"
"""The cost by which moments are shared unless asked otherwise, of recordings and of models alike."""

USUAL_SOLVER = "batch"
"""The solver unless asked otherwise: the compiled kernel, all frames at once."""

USUAL_LEAST_ACTIVATION = 0.01
"""Least activation of every muscle unless another one is chosen: that of OpenSim's muscles."""

SEXES = ("female", "male")
"""Sexes for which there are inertia tables."""

ADULT_AGE = 18.0
"""Age from which the inertia table of adults holds [years]."""

WALKING_CUTOFF_HZ, FLIGHT_CUTOFF_HZ, KEY_POINT_CUTOFF_HZ = 6.0, 15.0, 4.0
"""Cut-off of the low-pass filter that is not stated: usual, where there is flight, and of key points of video [Hz].

Key points have a noise of some 10 mm: forces and moments are nearer to the truth at 4 Hz (docs/predicted_forces.md).
Walking has little above 6 Hz, the first peak of the ground force in running has.
"""

USUAL_MASS = 70.0
"""Mass of a person whose mass is not known [kg]."""

LOADED_FROM_N = 20.0
"""A foot stands, and has a center of pressure, from this vertical force on [N]; below it plates show noise."""

SLOWEST_HZ = 5.0
"""No motion and no force is recorded more slowly [Hz]: such times are in another unit."""

TENDONS = RIGID, ELASTIC = "rigid", "elastic"
"""Kinds of tendons, the usual one first."""

SEED = 0
"""Seed of random numbers, unless another one is chosen."""

BAND_95 = 0.025, 0.975
"""Quantiles at the ends of a band of 95 %."""


FAST, DESIGNED = "fast", "designed"
"""In place of a number of Monte Carlo samples: few samples that are designed; and what the result calls these."""

TRIAL_FILE, RESULT_FILE, UNCERTAINTY_FILE = "trial.toml", "result.nc", "uncertainty.nc"
COMPARISON_FILE, AVERAGE_FILE, STUDY_FILE = "comparison.nc", "average.nc", "study.nc"
STUDY_DRAFT = "study.toml"
"""Names of drafted trial and study files, and of the files that commands write into a folder."""
BIORBD = ".biomod"
"""Suffix of the models of biorbd, in small letters."""


PREDICTED = "predicted"
"""Value in place of the file of forces or loads, for ground reactions predicted from the motion."""
NO_LOADS = "none"
"""Value in place of the file of loads of a model on which no external load acts."""
GIVEN = "given"
"""Origin of the joint moments of a model whose joint forces follow from loads, where moments are not from the loads."""
NO_CONTACTS, ALL_CONTACTS = "none", "all"
"""Values in place of names of geoms and bodies whose contacts in a simulator act."""
ALL_ACTUATORS = "all"
"""Value in place of names of actuators of a model that bear moments beside its muscles."""
TODO = "# TODO: "
"""Beginning of every line of a trial file with an open decision."""
