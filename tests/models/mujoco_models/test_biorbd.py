"""Muscles of a biorbd model share what its inverse dynamics needs; skipped without the package biorbd."""

from __future__ import annotations

import locale
from pathlib import Path

from packages import need

import musclesolve as ms

need("biorbd")
SEGMENT = """segment {}
 parent {}
 rt 0 0 0 xyz 0 0 {}
 rotations y
 mass 2
 inertia
 0.02 0 0
 0 0.02 0
 0 0 0.002
 com 0 0 -0.15
endsegment
"""
MUSCLE = """musclegroup {0}s
 originparent trunk
 insertionparent fore
endmusclegroup
muscle {0}
 type hilldegroote
 statetype degroote
 musclegroup {0}s
 originposition {1} 0 0.05
 insertionposition {1} 0 -0.05
 optimallength 0.2
 maximalforce 800
 tendonslacklength 0.2
 pennationangle 0.1
endmuscle
"""
ARM = (
    "version 4\ngravity 0 0 -9.81\nsegment trunk\nendsegment\n"
    + SEGMENT.format("upper", "trunk", 0.0)
    + SEGMENT.format("fore", "upper", -0.3)
    + MUSCLE.format("front", 0.04)
    + MUSCLE.format("back", -0.04)
)


def test_reading_a_model_leaves_the_region_of_the_process(tmp_path: Path) -> None:
    """biorbd sets the region "C", in which files opened after it would be ASCII."""
    path = tmp_path / "arm.bioMod"
    path.write_text(ARM, encoding="utf-8")
    before = locale.setlocale(locale.LC_ALL)
    ms.models.biorbd.BiorbdModel.read(path)
    assert locale.setlocale(locale.LC_ALL) == before
