"""The reference stride with arms that bend, straighten and go a little beyond, without medial markers at the elbows."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
from trial_copy import TrialCopy

from musclesolve.studies.synthetic import reference_stride

RATE, BEGINS = 100.0, 0.3  # [Hz]; when the stride begins in its recording [s]


def write_straight_arms(folder: Path, seed: int) -> Path:
    """Write the recording and return its trial file.

    The skin moves smoothly, below 3 Hz and by 2 to 6 mm; markers have a noise of 1 mm. Nothing shows the hands.
    """
    rng, copy, stride = np.random.default_rng(seed), TrialCopy(), reference_stride()
    time = np.arange(copy.walk.time[0], copy.walk.time[-1] + 1e-9, 1.0 / RATE)
    coordinates = stride.coordinates(time - BEGINS)
    low, high = rng.uniform(-10.0, 5.0), rng.uniform(5.0, 45.0)
    middle, swing = rng.uniform(-40.0, 60.0), rng.uniform(10.0, 60.0)
    aside, skin = rng.choice([0.0, 0.02, 0.036]), rng.uniform(0.002, 0.006)
    names, places, bodies = stride.person.markers
    places = places.copy()
    for side, outward in (("r", -1.0), ("l", 1.0)):
        bend, turn = np.sin(
            2.0 * np.pi * rng.uniform(0.5, 1.2, 2) * time[:, None] + rng.uniform(0.0, 6.0, 2)
        ).T
        elbow, shoulder = (
            stride.model.dof(f"{dof}_{side}") for dof in ("elbow_flexion", "shoulder_internal_rotation")
        )
        coordinates[:, elbow] = np.radians(0.5 * (low + high + (high - low) * bend))
        coordinates[:, shoulder] = np.radians(middle + swing * turn)
        places[names.index(f"elbow_lateral_{side}"), 1] += outward * (aside - 0.036)
    position = stride.posed(coordinates, places, bodies)[:, [names.index(name) for name in copy.walk.names]]
    for name in ("elbow_lateral_r", "elbow_lateral_l", "wrist_r", "wrist_l"):
        wave = np.sin(2.0 * np.pi * rng.uniform(0.3, 3.0, 3) * time[:, None] + rng.uniform(0.0, 6.0, 3))
        position[:, copy.walk.names.index(name)] += skin * np.sqrt(2.0) * wave
        position[:, copy.walk.names.index(name)] += 0.001 * rng.normal(size=(len(time), 3))
    copy.walk = replace(copy.walk, time=time, position=position)
    left_out = re.compile(r"(elbow_medial|hand_radial|hand_ulnar)_[rl] =")
    copy.lines = [line for line in copy.lines if not left_out.match(line)]
    copy.set_key("filter", "cutoff_hz", "6")
    return copy.write(folder)
