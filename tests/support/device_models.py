"""The plain leg with a spring, bushing, ligament or limit, and their moments by OpenSim."""

from __future__ import annotations

from pathlib import Path

from plain_leg import TEXT
from small_model import point

ON_KNEE, ON_ANKLE = (f"<coordinate>{name}_angle_r</coordinate>" for name in ("knee", "ankle"))
THIGH_AND_SHANK = (
    "<socket_frame1>/bodyset/femur_r</socket_frame1><socket_frame2>/bodyset/tibia_r</socket_frame2>"
)
TILTED = "".join(
    f'<PhysicalOffsetFrame name="{name}"><socket_parent>/bodyset/{body}</socket_parent>'
    f"<translation>{place}</translation><orientation>{turn}</orientation></PhysicalOffsetFrame>"
    for name, body, place, turn in (
        ("f1", "tibia_r", "0.01 -0.38 0.02", "0.1 0.2 -0.3"),
        ("f2", "calcn_r", "0.02 0.01 -0.01", "0.3 -0.1 0.2"),
    )
)
POINTS = "<point1>-0.05 -0.1 0</point1><point2>-0.06 0.01 0.01</point2>"
PATH = (
    '<GeometryPath name="path"><PathPointSet><objects>'
    + point("PathPoint", "femur_r", "-0.03 -0.3 0")
    + point("PathPoint", "tibia_r", "-0.05 -0.1 0")
    + point("PathPoint", "calcn_r", "-0.06 0.01 0.01")
    + "</objects></PathPointSet></GeometryPath>"
)
DEVICES = {
    "SpringGeneralizedForce": (
        f"{ON_ANKLE}<stiffness>200</stiffness><rest_length>0.1</rest_length><viscosity>3</viscosity>",
        (0.0, -27.6),
    ),
    "CoordinateLimitForce": (
        f"{ON_KNEE}<upper_stiffness>5</upper_stiffness><upper_limit>-20</upper_limit><lower_stiffness>7"
        "</lower_stiffness><lower_limit>-10</lower_limit><damping>0.2</damping><transition>8</transition>",
        (113.34649444186338, 0.0),
    ),
    "ExpressionBasedCoordinateForce": (
        f"{ON_ANKLE}<expression>-30*q^2*sin(q) - 2*qdot + exp(-q)</expression>",
        (0.0, 1.914918359469174),
    ),
    "BushingForce": (
        f"<socket_frame1>f1</socket_frame1><socket_frame2>f2</socket_frame2><frames>{TILTED}</frames>"
        "<rotational_stiffness>20 30 40</rotational_stiffness><translational_stiffness>500 600 700"
        "</translational_stiffness><rotational_damping>1 2 3</rotational_damping><translational_damping>4 5 6"
        "</translational_damping>",
        (0.0, -25.104732140813088),
    ),
    "ExpressionBasedBushingForce": (
        f"{THIGH_AND_SHANK}<Mz_expression>5*theta_z^3 + delta_x*theta_z</Mz_expression><Fx_expression>100*delta_x"
        "</Fx_expression><rotational_damping>0 0 1</rotational_damping><translational_damping>1 0 0"
        "</translational_damping>",
        (-0.875, 0.0),
    ),
    "FunctionBasedBushingForce": (
        f"{THIGH_AND_SHANK}<m_z_theta_z_function><LinearFunction><coefficients>5 1</coefficients></LinearFunction>"
        "</m_z_theta_z_function>",
        (1.5, 0.0),
    ),
    "PointToPointSpring": (
        f"<socket_body1>/bodyset/tibia_r</socket_body1><socket_body2>/bodyset/calcn_r</socket_body2>{POINTS}"
        "<stiffness>1000</stiffness><rest_length>0.3</rest_length>",
        (0.0, -0.3321755559139522),
    ),
    "ExpressionBasedPointToPointForce": (
        f"<body1>tibia_r</body1><body2>calcn_r</body2>{POINTS}<expression>100*(d-0.2)^2 + 3*ddot</expression>",
        (0.0, -0.05844283247599802),
    ),
    "PathSpring": (
        f"{PATH}<resting_length>0.4</resting_length><stiffness>2000</stiffness><dissipation>0.5</dissipation>",
        (-10.451928014047187, -9.953935247429138),
    ),
    "Ligament": (
        f"{PATH}<resting_length>0.35</resting_length><pcsa_force>90</pcsa_force>",
        (-2.5865516050684945, -2.463312716695241),
    ),
    "Blankevoort1991Ligament": (
        f"{PATH}<linear_stiffness>3000</linear_stiffness><transition_strain>0.06</transition_strain>"
        "<damping_coefficient>0.02</damping_coefficient><slack_length>0.40</slack_length>",
        (-32.59477506195292, -31.041763771731688),
    ),
}
"""Kind -> content, and moments about knee and ankle [N m] of OpenSim 4.6 at POSE and RATE.

They are M (qdd with - qdd without the device), mass matrix times accelerations, of the package `opensim` 4.6.
"""
POSE = {"hip_flexion_r": 0.3, "hip_adduction_r": 0.1, "knee_angle_r": -0.5, "ankle_angle_r": 0.25}
RATE = {"hip_flexion_r": 0.5, "hip_adduction_r": -0.2, "knee_angle_r": 1.5, "ankle_angle_r": -0.8}


def with_force(folder: Path, kind: str, content: str) -> Path:
    """The plain leg with one force more."""
    path = folder / "with_device.osim"
    force = f'<{kind} name="device">{content}</{kind}></objects></ForceSet>'
    path.write_text(TEXT.replace("</objects></ForceSet>", force), encoding="utf-8")
    return path
