"""Every muscle of every set is in the group that anatomy gives it, whatever the source of the set says."""

from __future__ import annotations

import pytest

import muscle_db

# Of muscles by the beginning of their name; Standring (ed.), Gray's Anatomy, 41st ed., chapters 80 to 84.
ANATOMY = {
    "iliopsoas": ("iliacus", "psoas"),
    "hip_extensors": ("gluteus_maximus",),
    "hip_abductors": ("gluteus_medius", "gluteus_minimus", "tensor_fasciae_latae"),
    "hip_adductors": ("adductor_longus", "adductor_brevis", "adductor_magnus", "pectineus", "gracilis"),
    "hip_external_rotators": ("quadratus_femoris", "gemellus", "piriformis"),
    "quadriceps_femoris": ("rectus_femoris", "vastus_"),
    # the short head is no hamstring: it does not begin at the ischium, and does not cross the hip
    "hamstrings": ("semimembranosus", "semitendinosus", "biceps_femoris_long_head"),
    "knee_flexors": ("sartorius", "biceps_femoris_short_head"),
    "triceps_surae": ("gastrocnemius", "soleus"),
    "other_plantarflexors": ("tibialis_posterior", "flexor_", "peroneus_longus", "peroneus_brevis"),
    "ankle_dorsiflexors": ("tibialis_anterior", "extensor_", "peroneus_tertius"),
}


@pytest.mark.parametrize("name", ["silva_2003", "gait2392", "rajagopal_2023"])
def test_groups_are_those_of_anatomy(name: str) -> None:
    for muscle in muscle_db.load(name).muscles:
        (group,) = [group for group, names in ANATOMY.items() if muscle.name.startswith(names)]
        assert muscle.group == group, muscle.name
