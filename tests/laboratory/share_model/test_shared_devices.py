"""Springs, bushings and ligaments of a model in the sharing of moments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from plain_leg import TEXT, save_leg

import musclesolve as ms

ON_KNEE, ON_ANKLE = (f"<coordinate>{name}_angle_r</coordinate>" for name in ("knee", "ankle"))


def with_force(folder: Path, kind: str, content: str) -> Path:
    """The plain leg with one force more."""
    path = folder / "with_device.osim"
    force = f'<{kind} name="device">{content}</{kind}></objects></ForceSet>'
    path.write_text(TEXT.replace("</objects></ForceSet>", force), encoding="utf-8")
    return path


def test_muscles_get_the_moments_that_a_spring_leaves(tmp_path: Path) -> None:
    model, motion, loads = save_leg(tmp_path)
    spring = f"{ON_ANKLE}<stiffness>400</stiffness><rest_length>0</rest_length>"
    with_spring = with_force(tmp_path, "SpringGeneralizedForce", spring)
    alone, shared = (ms.share_model(each, motion, loads=loads) for each in (model, with_spring))
    ankle = dict(dof="ankle_angle_r")
    angle = shared["joint_angle"].sel(ankle)
    change = shared["joint_moment"].sel(ankle) - alone["joint_moment"].sel(ankle)
    np.testing.assert_allclose(change, 400.0 * angle, atol=1e-6)
    (note,) = [note for note in shared.attrs["notes"] if "Springs and ligaments" in note]
    assert "device (SpringGeneralizedForce, up to 40 N m of ankle_angle_r)" in note
    moments = {"time": motion["time"]} | {
        name: np.asarray(alone["joint_moment"].sel(dof=name)) for name in alone["dof"].values.tolist()
    }
    given = ms.share_model(with_spring, motion, moments)
    assert any("its usual setup, which excludes muscles alone" in note for note in given.attrs["notes"])
    np.testing.assert_allclose(given["joint_moment"].sel(ankle), alone["joint_moment"].sel(ankle))


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("PrescribedForce", ""),
        ("ExpressionBasedCoordinateForce", f"{ON_ANKLE}<expression>unknown(q)</expression>"),
        ("SpringGeneralizedForce", "<coordinate>none</coordinate><stiffness>1</stiffness>"),
    ],
)
def test_other_forces_are_a_warning(tmp_path: Path, kind: str, content: str) -> None:
    _, motion, loads = save_leg(tmp_path)
    path = with_force(tmp_path, kind, content)
    assert ms.read_osim(path).unsupported == {"force device": kind}
    shared = ms.share_model(path, motion, loads=loads)
    assert any("not computed: force device" in finding for finding in shared.attrs["warnings"])
