"""The muscles of a body in the poses of strength tests, of a recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from strength_files import asked
from synthetic_trial import write_trial

from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.bodies.strength_geometry import strength_geometry
from musclesolve.laboratory.forces import prepare


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> RecordedBody:
    body = prepare(write_trial(tmp_path_factory.mktemp("strength")))
    assert isinstance(body, RecordedBody)
    return body


def test_the_pose_of_a_frame_is_that_of_the_motion(recorded: RecordedBody, tmp_path: Path) -> None:
    """All angles of a frame as the pose of a test: lengths and arms are those of the frame, for both legs."""
    frame = 20
    angles = dict(zip(recorded.dofs, np.degrees(recorded.angle[frame]).tolist(), strict=True))
    found = strength_geometry(recorded, asked(tmp_path, "knee_flexion_l", -100.0, 60.0, **angles))
    states = [leg.musculotendon_length[frame] for leg in (part.state for part in recorded.parts)]
    np.testing.assert_allclose(found.length[0], np.concatenate(states), atol=1e-9)
    right, left = (part.state for part in recorded.parts)
    arm = left.moment_arm[frame, left.muscles.dof_names.index("knee_flexion_l")]
    np.testing.assert_allclose(found.moment_arm[0], [*np.zeros(len(right.muscles.names)), *arm], atol=1e-9)
    np.testing.assert_allclose(found.velocity, -np.radians(60.0) * found.moment_arm, atol=1e-9)
    assert found.parameters.names == recorded.muscles


def test_both_directions_are_those_of_their_agonists(recorded: RecordedBody, tmp_path: Path) -> None:
    flexion, extension = (
        strength_geometry(recorded, asked(tmp_path, "knee_flexion_r", moment, knee_flexion_r=45.0)).moments()
        for moment in (100.0, -100.0)
    )
    assert flexion.moment[0] > 50.0 and extension.moment[0] < -50.0
    rectus = recorded.muscles.index("rectus_femoris_r")
    assert extension.tendon_force[0, rectus] > 3.0 * flexion.tendon_force[0, rectus]


def test_angles_beyond_the_range_are_warned_of(recorded: RecordedBody, tmp_path: Path) -> None:
    usual = strength_geometry(recorded, asked(tmp_path, "knee_flexion_r", -100.0, knee_flexion_r=60.0))
    assert usual.warnings == ()
    beyond = strength_geometry(recorded, asked(tmp_path, "knee_flexion_r", -100.0, knee_flexion_r=-40.0))
    assert len(beyond.warnings) == 1 and "knee_flexion_r is -40 degrees" in beyond.warnings[0]


@pytest.mark.parametrize(
    ("dof", "angles", "code", "parts"),
    [
        ("knee_flexio_r", {}, "unknown_name", ("line 2, [[test]] dof", "'knee_flexion_r'")),
        (
            "knee_flexion_r",
            {"knee_r": 10.0},
            "unknown_name",
            ("line 6, [[test]] angles_deg", "'knee_flexion_r'"),
        ),
        ("elbow_flexion_r", {}, "unknown_name", ("line 2, [[test]] dof",)),
    ],
)
def test_names_that_a_recorded_body_does_not_have(
    recorded: RecordedBody,
    tmp_path: Path,
    dof: str,
    angles: dict[str, float],
    code: str,
    parts: tuple[str, ...],
) -> None:
    with refused(code, "strength.toml", *parts):
        strength_geometry(recorded, asked(tmp_path, dof, 50.0, **angles))
