"""Pages know the place of every muscle group."""

from __future__ import annotations

from musclesolve.laboratory.plotting.page.panels import GROUPS

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


def test_pages_know_the_place_of_every_group() -> None:
    assert set(GROUPS) == set(ANATOMY)
