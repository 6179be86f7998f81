"""Fiber and tendon lengths on a person in the results of trials."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from many_trials import write_stride
from refusals import refused

import muscle_db
import musclesolve as ms
from muscle_db.model import FRAMES
from muscle_db.toml_text import to_toml
from musclesolve.muscles.scaling.scaled_paths import frame_maps, reference_model, scaled_paths


@cache
def own(name):
    """A set, its skeleton, and its paths there with via points as tabulated."""
    database = muscle_db.load(name)
    model = reference_model(database.reference)
    return database, model, scaled_paths(model, database, "r", frame_maps(model, database, "r"))


def test_a_set_of_a_user_is_refused_when_a_trial_is_run(tmp_path):
    """By one message with the name of the muscle, on the command line too."""
    database = replace(muscle_db.load("gait2392"), name="own", frames={}, calibrated_passive=None)
    muscles = [muscle for muscle in database if {point.frame for point in muscle.path} <= set(FRAMES)]
    broken = [
        replace(muscle, tendon_slack_length=0.6) if muscle.name == "soleus" else muscle for muscle in muscles
    ]
    (tmp_path / "own.toml").write_text(to_toml(replace(database, muscles=tuple(broken))), encoding="utf-8")
    trial = write_stride(tmp_path, old="[mapping]", new='[muscles]\ndatabase = "own.toml"\n[mapping]')
    with refused("bad_muscle_set", "soleus", "path"):
        ms.run(trial)
