"""A forearm that turns about an elbow fixed to the ground: a pendulum between two muscles."""

from __future__ import annotations

from pathlib import Path

GRAVITY, MASS, LENGTH, INERTIA = 9.80665, 1.5, 0.3, 0.02
MODEL = f"""<?xml version="1.0"?><OpenSimDocument Version="40000"><Model name="forearm">
<gravity>0 {-GRAVITY} 0</gravity>
<Ground name="ground"/><BodySet><objects><Body name="forearm"><mass>{MASS}</mass>
<mass_center>0 {-LENGTH} 0</mass_center>
<inertia>{INERTIA} {INERTIA} {INERTIA} 0 0 0</inertia></Body></objects></BodySet><JointSet><objects>
<PinJoint name="elbow"><socket_parent_frame>upper</socket_parent_frame><socket_child_frame>lower</socket_child_frame>
<coordinates><Coordinate name="flexion"><range>-1 3</range></Coordinate></coordinates><frames>
<PhysicalOffsetFrame name="upper"><socket_parent>/ground</socket_parent></PhysicalOffsetFrame>
<PhysicalOffsetFrame name="lower"><socket_parent>/bodyset/forearm</socket_parent></PhysicalOffsetFrame></frames>
</PinJoint></objects></JointSet><ForceSet><objects>
{{muscles}}</objects></ForceSet></Model></OpenSimDocument>"""
MUSCLE = """<Thelen2003Muscle name="{name}"><GeometryPath><PathPointSet><objects>
<PathPoint name="{name}-1"><socket_parent_frame>/ground</socket_parent_frame><location>{x} 0.25 0</location></PathPoint>
<PathPoint name="{name}-2"><socket_parent_frame>/bodyset/forearm</socket_parent_frame><location>{x} -0.05 0</location>
</PathPoint></objects></PathPointSet></GeometryPath><max_isometric_force>1000</max_isometric_force>
<optimal_fiber_length>0.15</optimal_fiber_length><tendon_slack_length>0.15</tendon_slack_length></Thelen2003Muscle>"""


def save_forearm(folder: Path) -> Path:
    """Write the model with a biceps and a triceps."""
    path = folder / "arm.osim"
    muscles = MUSCLE.format(name="biceps", x=0.04) + MUSCLE.format(name="triceps", x=-0.02)
    path.write_text(MODEL.format(muscles=muscles), encoding="utf-8")
    return path
