"""Two chains of bodies that a constraint closes, as text of a model, and states that OpenSim 4.6 gives."""

from __future__ import annotations

BODIES = "".join(
    f'<Body name="{name}"><mass>{mass}</mass><mass_center>0.1 -0.05 0.02</mass_center>'
    "<inertia>0.02 0.03 0.04 0.001 0 0</inertia></Body>"
    for name, mass in (("crank", 2), ("rod", 1), ("rocker", 3))
)


POSE = {"shaft": 0.3, "rod_x": 0.1, "rod_y": -0.1, "rod_z": 0.2, "rock_x": 0.1, "rock_y": 0.2, "rock_z": 0.5}


def offset(name: str, body: str, place: str, turn: str = "0 0 0") -> str:
    return (
        f'<PhysicalOffsetFrame name="{name}"><socket_parent>{body}</socket_parent><translation>{place}</translation>'
        f"<orientation>{turn}</orientation></PhysicalOffsetFrame>"
    )


def joint(kind: str, name: str, parent: str, place: str, child: str, coordinates: str, more: str = "") -> str:
    listed = "".join(
        f'<Coordinate name="{each}"><default_value>{POSE[each]}</default_value></Coordinate>'
        for each in coordinates.split()
    )
    return (
        f'<{kind} name="{name}"><socket_parent_frame>pf</socket_parent_frame><socket_child_frame>cf'
        f"</socket_child_frame><coordinates>{listed}</coordinates><frames>{offset('pf', parent, place, '0.1 0.2 0')}"
        f"{offset('cf', f'/bodyset/{child}', '0 0 0', '0.1 0.2 0')}</frames>{more}</{kind}>"
    )


JOINTS = "".join(
    [
        joint("PinJoint", "shaft", "/ground", "0 0 0", "crank", "shaft"),
        joint("GimbalJoint", "pivot", "/bodyset/crank", "0.3 0 0", "rod", "rod_x rod_y rod_z"),
        joint("GimbalJoint", "hinge", "/ground", "0.5 0.1 0.05", "rocker", "rock_x rock_y rock_z"),
    ]
)
SOCKETS = "<socket_body_1>/bodyset/rod</socket_body_1><socket_body_2>/bodyset/rocker</socket_body_2>"
PLACES = "<location_body_1>0.3 0.1 0</location_body_1><location_body_2>0.2 0.1 0.1</location_body_2>"
CONSTRAINTS = {
    "PointConstraint": SOCKETS + PLACES,
    "ConstantDistanceConstraint": f"{SOCKETS}{PLACES}<constant_distance>0.2</constant_distance>",
    "WeldConstraint": "<socket_frame1>a</socket_frame1><socket_frame2>b</socket_frame2><frames>"
    + offset("a", "/bodyset/rod", "0.3 0.1 0", "0 0.1 0")
    + offset("b", "/bodyset/rocker", "0.1012 0.1749 -0.0087", "-0.1041 -0.1459 -0.0156")
    + "</frames>",
}


def model_text(kind: str) -> str:
    """Two chains of bodies from the ground, closed by a constraint."""
    path = "".join(
        f'<PathPoint name="p"><socket_parent_frame>{body}</socket_parent_frame><location>{place}</location></PathPoint>'
        for body, place in (("/ground", "-0.1 0.1 0"), ("/bodyset/rocker", "0.1 0.1 0"))
    )
    return (
        f'<OpenSimDocument Version="40500"><Model name="loop"><BodySet><objects>{BODIES}</objects></BodySet>'
        f"<JointSet><objects>{JOINTS}</objects></JointSet><ConstraintSet><objects>"
        f'<{kind} name="link">{CONSTRAINTS[kind]}</{kind}></objects></ConstraintSet><ForceSet><objects>'
        '<Thelen2003Muscle name="pull"><appliesForce>false</appliesForce><GeometryPath name="path"><PathPointSet>'
        f"<objects>{path}</objects></PathPointSet></GeometryPath><max_isometric_force>100</max_isometric_force>"
        "<optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>0.3</tendon_slack_length>"
        "<pennation_angle_at_optimal>0</pennation_angle_at_optimal></Thelen2003Muscle></objects></ForceSet></Model>"
        "</OpenSimDocument>"
    )


AT_REST: dict[str, dict[str, tuple[float, float]]] = {
    "PointConstraint": {
        "shaft": (0.4548470249153575, -12.512652873367871),
        "rod_x": (0.2052147173731057, -4.671670065958738),
        "rod_y": (-0.25241331665603844, -0.18642404773507515),
        "rod_z": (0.11444496661156613, 24.189479138239406),
        "rock_x": (-0.26757724339846656, 2.7999408202750997),
        "rock_y": (-0.15850406223004124, -20.682480710003286),
        "rock_z": (1.0662602109593746, -3.3824822629476676),
    },
    "ConstantDistanceConstraint": {
        "shaft": (0.35186177042688643, -31.682591130477178),
        "rod_x": (0.08197619208238166, 3.787491047623109),
        "rod_y": (-0.08426972567950401, -6.284295877963439),
        "rod_z": (0.23063297745347733, 27.119672674830134),
        "rock_x": (0.11783068635120542, 16.248995820122616),
        "rock_y": (0.19932312839008595, -10.162737961130608),
        "rock_z": (0.48275354280575644, -39.594685854560566),
    },
    "WeldConstraint": {
        "shaft": (0.2988207704938711, 2.0016515654198708e-13),
        "rod_x": (0.09946958940943712, -10.525455409456592),
        "rod_y": (-0.09979306291867875, 1.7417809946241305),
        "rod_z": (0.20246917659132063, -4.2409918337864925),
        "rock_x": (0.09900045604256247, -9.495592444418197),
        "rock_y": (0.19987252971310654, -1.3108246439221527),
        "rock_z": (0.5012839979504019, -3.995214446580944),
    },
}
"""Values and accelerations [rad, rad/s2] of the falling model of OpenSim 4.6, assembled near POSE and at rest."""


def independent(model) -> list[str]:
    driven = {coupler.dependent for coupler in model.couplers}
    return [name for name in model.coordinates if name not in driven]
