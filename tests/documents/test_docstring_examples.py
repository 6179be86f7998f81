"""Examples in docstrings of public functions and classes print what they show, and each of them has one."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms

NAMESPACES = ("tables", "dynamics", "symbolic", "trajectory", "models", "laboratory")
NEED_FILES = {
    "calibrate_muscles",  # trials with EMG or fascicle lengths: docs/calibration.md
    "opensim_problem",  # an OpenSim model: docs/opensim.md
    "share_model",
    "laboratory.read_b3d",  # a B3D file: docs/study.md
    "laboratory.unpack_b3d",
    "laboratory.read_c3d",  # a C3D file: docs/recordings.md
    "models.read_person",  # one person's muscles: docs/calibration.md
    "models.write_person",
    "symbolic.predicted_motion",  # an OpenSim model: examples/squat_jump.py
    "trajectory.solve_motion",  # docs/elastic_tendons.md
    "models.verify_solution",  # forces of another program: docs/verify.md
}
"""Functions whose examples stand in a page, with the files that they need; tests of the pages run these examples."""
RETURNED = {
    "laboratory.C3D",  # by read_c3d
    "laboratory.PlateForce",  # in Trial.forces
    "laboratory.Calibration",  # by calibrate_cameras
    "laboratory.CameraFile",  # by read_camera_file
    "laboratory.Reconstruction",  # by reconstruct
    "trajectory.MotionProblem",
    "models.VerifiedSolution",  # by verify_solution
}
"""Classes whose objects a function returns or takes; the example stands with the function or in a page."""


def public_names() -> Iterator[str]:
    names = [*dir(ms), *(f"{space}.{name}" for space in NAMESPACES for name in getattr(ms, space).__all__)]
    for name in names:
        thing = inspect.unwrap(attrgetter(name)(ms))
        if inspect.isfunction(thing) or (inspect.isclass(thing) and not name.startswith("dynamics.")):
            yield name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.mark.in_part(6)
@pytest.mark.parametrize("name", list(public_names()))
def test_the_example_prints_what_it_shows(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    text = inspect.getdoc(attrgetter(name)(ms)) or ""
    test = doctest.DocTestParser().get_doctest(text, {"ms": ms, "np": np}, name, None, None)
    assert bool(test.examples) is not (name in NEED_FILES | RETURNED)
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)
