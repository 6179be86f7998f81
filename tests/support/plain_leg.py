"""A right leg on a fixed pelvis as an OpenSim model, with a motion and a load on its foot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from small_model import ZERO, axis, muscle, point

_ONE = "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
_ALONG = ("1 0 0", "0 1 0", "0 0 1")
BODIES = {
    "pelvis": (11, "0 0 0", "0.1 0.1 0.1"),
    "femur_r": (9, "0 -0.17 0", "0.13 0.03 0.14"),
    "tibia_r": (3.7, "0 -0.21 0", "0.086 0.004 0.086"),
    "calcn_r": (1.2, "0.05 -0.02 0", "0.001 0.004 0.004"),
}
_BODY_SET = "".join(
    f'<Body name="{name}"><mass>{mass}</mass><mass_center>{center}</mass_center>'
    f"<inertia>{inertia} 0 0 0</inertia></Body>"
    for name, (mass, center, inertia) in BODIES.items()
)


def _joint(name: str, parent: str, child: str, place: str, turns: dict[str, str]) -> str:
    """A custom joint; turns: coordinate -> axis. Without turns a weld, as OpenSim crashes otherwise."""
    listed = "".join(f'<Coordinate name="{each}"><range>-10 10</range></Coordinate>' for each in turns)
    parts = [
        axis(f"rotation{k}", each, along, _ONE) for k, (each, along) in enumerate(turns.items(), start=1)
    ]
    parts += [axis(f"rotation{k}", "", _ALONG[k - 2], ZERO) for k in range(len(parts) + 1, 4)]
    parts += [axis(f"translation{k}", "", along, ZERO) for k, along in enumerate(_ALONG, start=1)]
    frames = "".join(
        f'<PhysicalOffsetFrame name="{role}"><socket_parent>{body}</socket_parent>'
        f"<translation>{at}</translation><orientation>0 0 0</orientation></PhysicalOffsetFrame>"
        for role, body, at in (("pf", parent, place), ("cf", f"/bodyset/{child}", "0 0 0"))
    )
    if not turns:
        return (
            f'<WeldJoint name="{name}"><socket_parent_frame>pf</socket_parent_frame><socket_child_frame>cf'
            f"</socket_child_frame><frames>{frames}</frames></WeldJoint>"
        )
    return (
        f'<CustomJoint name="{name}"><socket_parent_frame>pf</socket_parent_frame><socket_child_frame>cf'
        f"</socket_child_frame><coordinates>{listed}</coordinates><frames>{frames}</frames>"
        f"<SpatialTransform>{''.join(parts)}</SpatialTransform></CustomJoint>"
    )


_JOINTS = "".join(
    [
        _joint("ground_pelvis", "/ground", "pelvis", "0 0.93 0", {}),
        _joint(
            "hip_r",
            "/bodyset/pelvis",
            "femur_r",
            "0 0 0",
            {"hip_flexion_r": "0 0 1", "hip_adduction_r": "1 0 0"},
        ),
        _joint("knee_r", "/bodyset/femur_r", "tibia_r", "0 -0.4 0", {"knee_angle_r": "0 0 1"}),
        _joint("ankle_r", "/bodyset/tibia_r", "calcn_r", "0 -0.4 0", {"ankle_angle_r": "0 0 1"}),
    ]
)
_PATHS = {
    "semimem_r": "pelvis -0.06 -0.06 0, tibia_r -0.035 -0.05 0.02",
    "bfsh_r": "femur_r -0.02 -0.2 0.01, tibia_r -0.035 -0.05 0.02",
    "vas_int_r": "femur_r 0.03 -0.2 0, femur_r 0.05 -0.37 0, tibia_r 0.045 -0.07 0",
    "psoas_r": "pelvis 0.04 0.05 0, femur_r 0.01 -0.06 0",
    "glut_max_r": "pelvis -0.09 0.05 0, femur_r -0.04 -0.1 0",
    "glut_med_r": "pelvis -0.02 0.08 0.05, femur_r 0 -0.03 0.06",
    "add_mag_r": "pelvis 0 -0.06 -0.06, femur_r 0 -0.2 0.01",
    "soleus_r": "tibia_r -0.02 -0.1 0, calcn_r -0.05 -0.03 0",
    "tib_ant_r": "tibia_r 0.02 -0.15 0, tibia_r 0.04 -0.38 0, calcn_r 0.1 -0.03 0",
}
_MUSCLES = "".join(
    muscle(name, "".join(point("PathPoint", *each.split(maxsplit=1)) for each in path.split(", ")))
    for name, path in _PATHS.items()
)
TEXT = f"""<OpenSimDocument Version="40000"><Model name="plain_leg">
<defaults><Thelen2003Muscle name="default"><max_isometric_force>4500</max_isometric_force>
<tendon_slack_length>0.15</tendon_slack_length></Thelen2003Muscle></defaults>
<gravity>0 -9.80665 0</gravity><BodySet><objects>{_BODY_SET}</objects></BodySet>
<JointSet><objects>{_JOINTS}</objects></JointSet><ForceSet><objects>{_MUSCLES}</objects></ForceSet>
</Model></OpenSimDocument>"""


def save_leg(folder: Path) -> tuple[Path, dict[str, np.ndarray], Path]:
    """The model as a file, its motion, and a file with the load on its foot."""
    model, loads = folder / "leg.osim", folder / "loads.mot"
    model.write_text(TEXT, encoding="utf-8")
    time = np.linspace(0.0, 1.0, 41)
    wave = np.sin(2.0 * np.pi * time)
    motion = {
        "time": time,
        "hip_flexion_r": 0.3 * wave,
        "hip_adduction_r": 0.05 * wave,
        "knee_angle_r": -0.4 + 0.2 * np.cos(2.0 * np.pi * time),
        "ankle_angle_r": 0.1 * wave,
    }
    names = [f"ground_force_r_{kind}{axis}" for kind in "vp" for axis in "xyz"]
    names += [f"ground_torque_r_{axis}" for axis in "xyz"]
    none = np.zeros_like(time)
    force, point = (60.0 * wave, 500.0 + 100.0 * wave, none), (0.1 + 0.1 * wave, 0.1 + none, none - 0.03)
    columns = [time, *force, *point]
    rows = "\n".join(
        "\t".join(f"{value:.9g}" for value in row) for row in np.stack([*columns, *[none] * 3], axis=1)
    )
    header = f"loads\nversion=1\nnRows={len(time)}\nnColumns=10\ninDegrees=no\nendheader\n"
    loads.write_text(header + "\t".join(["time", *names]) + "\n" + rows + "\n", encoding="utf-8")
    return model, motion, loads
