"""Equations of the pages, written in LaTeX in blocks ```math, as MathML."""

from __future__ import annotations

import re

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

    return str(convert(latex, display="block"))
