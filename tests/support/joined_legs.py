"""The small model changed in its text: sockets, components, joints."""

from __future__ import annotations

from small_model import TEXT

OLD_PATH = TEXT.replace('Version="40500"', 'Version="40000"')
"""In a layout that OpenSim reads: paths directly in their muscles."""


def reversed_joint(name: str, text: str = OLD_PATH) -> str:
    """The text with parent and child of a joint exchanged: the child is then nearer to the ground."""
    start = text.index(f'name="{name}"')
    end = text.index("</frames>", start)
    joint = text[start:end]
    joint = joint.replace("<socket_parent_frame>parent", "<socket_parent_frame>other")
    joint = joint.replace("<socket_child_frame>child", "<socket_child_frame>parent")
    joint = joint.replace("<socket_parent_frame>other", "<socket_parent_frame>child")
    return text[:start] + joint + text[end:]


def with_components(inside: str, body: str = "", text: str = OLD_PATH) -> str:
    """The text with components in the model, and in the body femur_r."""
    text = text.replace("<credits>", f"<components>{inside}</components><credits>") if inside else text
    return text.replace('<Body name="femur_r">', f'<Body name="femur_r"><components>{body}</components>')


def offset_frame(name: str, parent: str, x: float) -> str:
    """An offset frame along x."""
    return f"""<PhysicalOffsetFrame name="{name}"><socket_parent>{parent}</socket_parent>
<translation>{x} 0 0</translation><orientation>0 0 0</orientation></PhysicalOffsetFrame>"""
