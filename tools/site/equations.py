"""Equations of the pages, written in LaTeX in blocks ```math, as MathML."""

from __future__ import annotations

import re
from xml.etree import ElementTree

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
UNDER = ("min", "max", "argmin")
"""Operators whose index stands below them."""
BLOCK = re.compile(r"\A```math\n(?P<latex>.*?)\n```\s*\Z", flags=re.DOTALL)


def with_mathml(block: str) -> str:
    """A block of equations as MathML, one line of the block a line of the page; another block as it is."""
    found = BLOCK.match(block)
    if found is None:
        return block
    lines = [line for line in found["latex"].split("\n") if line.strip()]
    return "\n".join(f'<div class="equation">{mathml(line)}</div>' for line in lines)


def mathml(latex: str) -> str:
    """One equation."""
    from latex2mathml.converter import convert

    ElementTree.register_namespace("", NAMESPACE)
    root = ElementTree.fromstring(convert(latex, display="block"))
    for node in root.iter(f"{{{NAMESPACE}}}msub"):
        if "".join(node[0].itertext()) in UNDER:
            node.tag = f"{{{NAMESPACE}}}munder"
    return ElementTree.tostring(root, encoding="unicode")
