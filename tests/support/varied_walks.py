"""Sound walks of varied subjects: other sizes, masses, speeds, mass distributions, markers beside their places, skin.

The forces balance the motion of the body as it is, exactly; the trial file knows that body as well as a laboratory
does: its mass to 1 %, its stature to 0.7 %, the landmarks to 5 mm (the width of knees and ankles to 3 mm), the masses
of its segments to 8 %, the center of the trunk to 12 mm.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import other_walks as walks
from other_subjects import subject_recording
from trial_copy import TrialCopy

from musclesolve.dynamics import human_model
from musclesolve.dynamics.model.human_model import with_mass_factors
from musclesolve.studies.synthetic import reference_stride
from musclesolve.studies.synthetic.reference_stride import ReferenceStride, StrideSubject, foot_offsets

LANDMARKS = (
    "asis psis knee_lateral knee_medial ankle_lateral ankle_medial heel toe metatarsal_5 shoulder elbow_lateral "
    "elbow_medial wrist"
).split()
LIMBS = tuple(
    f"{name}_{side}" for name in ("thigh", "shank", "foot", "upper_arm", "forearm") for side in "rl"
)
TRUNK = ("lower_torso", "upper_torso", "head")
# Standard deviations: of the mass of a segment, and of the center of mass of trunk and head, forward and left [m].
MASSES, TRUNK_CENTER = 0.08, (0.012, 0.004)
PLACED = 0.005  # standard deviation of a landmark's marker along an axis [m]
ON_BONE = 0.002  # of a marker on a bone under the skin, across it [m]


def varied_stride(rng: np.random.Generator) -> ReferenceStride:
    """The reference stride of another mass distribution, walked up to 12 % faster or slower with the same steps."""
    stride = reference_stride()
    settings = deepcopy(stride.person.settings)
    subject, pace = settings["subject"], rng.uniform(0.88, 1.12)
    settings["timing"]["marker_rate_hz"] *= pace
    subject["sex"] = str(rng.choice(["male", "female"]))
    size = subject["mass_kg"], subject["stature_m"], subject["sex"], foot_offsets(settings["foot"])
    factors = {name: float(np.exp(MASSES * rng.normal())) for name in (*TRUNK, *LIMBS)}
    model = with_mass_factors(human_model(*size), factors)
    center = model.mass.center.copy()
    trunk = [k for k, body in enumerate(model.topology.bodies) if body.segment in TRUNK]
    center[trunk, :2] += TRUNK_CENTER * rng.normal(size=2)
    person = StrideSubject(replace(model, mass=replace(model.mass, center=center)), settings)
    coefficients = stride.coefficients.copy()
    coefficients[stride.layout.slices["speed"]] *= pace
    return ReferenceStride(replace(stride.layout, person=person), coefficients)


def _across(landmark: str) -> float:
    """Return the shift sideways: epicondyles and malleoli lie under the skin."""
    return ON_BONE if landmark.endswith(("lateral", "medial")) else PLACED


def varied_walk(folder: Path, seed: int) -> Path:
    """Record the walk of one subject; returns the trial file."""
    rng = np.random.default_rng([5, seed])
    stature = rng.uniform(1.5, 1.95)
    mass = stature**2 * rng.uniform(19.0, 30.0)
    moved = {
        f"{name}_{side}": np.clip(rng.normal(size=3), -2.0, 2.0) * [PLACED, _across(name), PLACED]
        for name in LANDMARKS
        for side in "rl"
    }
    noise = str(rng.choice(["skin", "white"]))
    path = subject_recording(
        folder,
        moved,
        stature=stature,
        mass=mass,
        stride=varied_stride(rng),
        noise=noise,
        noise_mm=rng.uniform(0.3, 1.2) if noise == "white" else rng.uniform(1.0, 4.0),
        force_noise_n=rng.uniform(0.5, 3.0),
        strides=int(rng.integers(1, 3)),
        seed=seed,
    )
    copy = TrialCopy(path)
    copy.set_key("subject", "mass_kg", repr(mass * (1.0 + 0.01 * rng.normal())))
    copy.set_key("subject", "stature_m", repr(stature * (1.0 + 0.007 * rng.normal())))
    walks.walk_obliquely(copy, degrees=rng.uniform(-30.0, 30.0))
    return copy.write(folder)
