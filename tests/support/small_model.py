"""A small OpenSim model as text: pelvis, femur, patella, tibia and talus, three muscles, one wrap object."""

from __future__ import annotations

from pathlib import Path

BODIES = ("pelvis", "femur_r", "patella_r", "tibia_r", "talus_r")


def joint(kind: str, name: str, parent: str, child: str, coordinates: str = "", inside: str = "") -> str:
    """A joint between offset frames; coordinates: names, separated by spaces; inside: more of its elements."""
    listed = "".join(
        f'<Coordinate name="{each}"><default_value>0.1</default_value><range>-2 2</range></Coordinate>'
        for each in coordinates.split()
    )
    place = "/bodyset/" if parent != "ground" else "/"
    return f"""
<{kind} name="{name}">
  <socket_parent_frame>parent_offset</socket_parent_frame>
  <socket_child_frame>child_offset</socket_child_frame>
  <coordinates>{listed}</coordinates>
  <frames>
    <PhysicalOffsetFrame name="parent_offset"><socket_parent>{place}{parent}</socket_parent>
      <translation>0.01 -0.4 0.02</translation><orientation>0.1 0.2 -0.3</orientation></PhysicalOffsetFrame>
    <PhysicalOffsetFrame name="child_offset"><socket_parent>/bodyset/{child}</socket_parent>
      <translation>0 0.01 0</translation><orientation>0.1 0.2 -0.3</orientation></PhysicalOffsetFrame>
  </frames>
  {inside}
</{kind}>"""


def axis(kind: str, coordinates: str, direction: str, function: str) -> str:
    """One axis of a custom joint."""
    return f"""<TransformAxis name="{kind}"><coordinates>{coordinates}</coordinates>
<axis>{direction}</axis>{function}</TransformAxis>"""


ZERO = "<Constant><value>0</value></Constant>"
FLEXION = "<LinearFunction><coefficients>-1 0</coefficients></LinearFunction>"
TURN = "<PolynomialFunction><coefficients>.1 .2 0</coefficients></PolynomialFunction>"
FORWARD = "<SimmSpline><x>-1 0 .5 1 2</x><y>.01 0 .002 .004 .01</y></SimmSpline>"
PIECES = "<PiecewiseLinearFunction><x>0 1 2</x><y>0 .01 .015</y></PiecewiseLinearFunction>"
UP = f"<MultiplierFunction><scale>.5</scale><function>{PIECES}</function></MultiplierFunction>"
KNEE = "".join(
    [
        "<SpatialTransform>",
        axis("rotation1", "knee_r", "0 0 1", FLEXION),
        axis("rotation2", "knee_r", "0 1 0", TURN),
        axis("rotation3", "", "1 0 0", ZERO),
        axis("translation1", "knee_r", "1 0 0", FORWARD),
        axis("translation2", "knee_r", "0 1 0", UP),
        axis("translation3", "", "0 0 1", ZERO),
        "</SpatialTransform>",
    ]
)
JOINTS = "".join(
    [
        joint("FreeJoint", "ground_pelvis", "ground", "pelvis", "px py pz tx ty tz"),
        joint("BallJoint", "hip_r", "pelvis", "femur_r", "hip_a_r hip_b_r hip_c_r"),
        joint("CustomJoint", "knee_joint_r", "femur_r", "tibia_r", "knee_r", KNEE),
        joint("PlanarJoint", "patella_joint_r", "femur_r", "patella_r", "beta_r slide_a_r slide_b_r"),
        joint("UniversalJoint", "ankle_r", "tibia_r", "talus_r", "ankle_a_r ankle_b_r"),
    ]
)
COUPLER = """<CoordinateCouplerConstraint name="patella_r">
  <coupled_coordinates_function><LinearFunction><coefficients>0.5 0.1</coefficients></LinearFunction>
  </coupled_coordinates_function>
  <independent_coordinate_names>knee_r</independent_coordinate_names>
  <dependent_coordinate_name>beta_r</dependent_coordinate_name><scale_factor>2</scale_factor>
</CoordinateCouplerConstraint>"""


def point(kind: str, frame: str, place: str, inside: str = "") -> str:
    """One point of a path."""
    return f"""<{kind} name="p"><socket_parent_frame>/bodyset/{frame}</socket_parent_frame>
<location>{place}</location>{inside}</{kind}>"""


def muscle(name: str, points: str, wraps: str = "") -> str:
    """A muscle of Thelen (2003); what it does not state stands in the defaults of the file."""
    return f"""<Thelen2003Muscle name="{name}">
  <GeometryPath name="path"><PathPointSet><objects>{points}</objects></PathPointSet>
  <PathWrapSet><objects>{wraps}</objects></PathWrapSet></GeometryPath>
  <optimal_fiber_length>0.1</optimal_fiber_length>
</Thelen2003Muscle>"""


MUSCLES = "".join(
    [
        muscle(
            "one_r",
            point("PathPoint", "pelvis", "0.05 -0.1 0.1")
            + point(
                "ConditionalPathPoint",
                "femur_r",
                "0.05 -0.3 0",
                "<socket_coordinate>/jointset/knee_joint_r/knee_r</socket_coordinate><range>0.2 2</range>",
            )
            + point("PathPoint", "patella_r", "0.05 0 0"),
        ),
        muscle(
            "two_r",
            point("PathPoint", "femur_r", "-0.05 -0.2 0") + point("PathPoint", "talus_r", "-0.05 0 0"),
            '<PathWrap name="w"><wrap_object>bump</wrap_object><range>1 2</range></PathWrap>',
        ),
        muscle("three_r", point("PathPoint", "tibia_r", "0 -0.2 0.1") + point("PathPoint", "talus_r", "0.05 0 0")),
    ]
)  # fmt: skip
WRAP = """<WrapSphere name="bump"><xyz_body_rotation>0.1 0 0</xyz_body_rotation>
<translation>-0.03 -0.35 0</translation><radius>0.04</radius></WrapSphere>"""

WRAPS = f"<WrapObjectSet><objects>{WRAP}</objects></WrapObjectSet>"


def mass_properties(number: int) -> str:
    """Mass properties of a body, of other numbers for every body."""
    inertia = f"{0.02 * number + 0.01:g} 0.03 {0.01 * number + 0.02:g} 0.001 -0.002 {0.0005 * number:g}"
    return (
        f"<mass>{number + 1}</mass><mass_center>0.01 {-0.05 * number:g} 0.02</mass_center>"
        f"<inertia>{inertia}</inertia>"
    )


BODY_SET = "".join(
    f'<Body name="{body}">{mass_properties(k)}{WRAPS if body == "femur_r" else ""}</Body>'
    for k, body in enumerate(BODIES)
)

TEXT = f"""<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40500">
<Model name="small">
<defaults><Thelen2003Muscle name="default"><max_isometric_force>900</max_isometric_force>
<FmaxMuscleStrain>0.5</FmaxMuscleStrain></Thelen2003Muscle></defaults>
<credits>nobody</credits>
<BodySet><objects>{BODY_SET}</objects></BodySet>
<JointSet><objects>{JOINTS}
</objects></JointSet>
<ConstraintSet><objects>{COUPLER}</objects></ConstraintSet>
<ForceSet><objects>{MUSCLES}</objects></ForceSet>
</Model>
</OpenSimDocument>
"""


OPTIMAL_LENGTH = {"one_r": 0.65, "two_r": 0.4, "three_r": 0.035}
"""With which the muscles of the small model work near their optimal length [m]."""


def near_optimal_lengths(text: str = TEXT) -> str:
    """The model whose muscles have optimal fiber lengths near which they work."""
    for name, length in OPTIMAL_LENGTH.items():
        before, mark, own = text.partition(f'<Thelen2003Muscle name="{name}">')
        text = (
            before + mark + own.replace("<optimal_fiber_length>0.1<", f"<optimal_fiber_length>{length}<", 1)
        )
    return text


def save_model(folder: Path, text: str = TEXT) -> Path:
    """The model as a file."""
    path = folder / "small.osim"
    path.write_text(text, encoding="utf-8")
    return path
