"""The plain leg with a soleus whose path is a polynomial of two coordinates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from plain_leg import TEXT

COEFFICIENTS = np.array([0.3, 0.02, -0.03, 0.04, 0.05, -0.06])
"""Of 1, b, b^2, a, a b, a^2: the last coordinate fastest."""


def function_path(name: str, coordinates: str, kind: str = "MultivariatePolynomialFunction") -> str:
    """A path by a polynomial of second order of two coordinates."""
    return (
        f'<FunctionBasedPath name="{name}"><coordinate_paths>{coordinates}</coordinate_paths><length_function><{kind}>'
        f"<coefficients>{' '.join(map(str, COEFFICIENTS))}</coefficients><dimension>2</dimension><order>2</order>"
        f"</{kind}></length_function></FunctionBasedPath>"
    )


KNEE_AND_ANKLE = "/jointset/knee_r/knee_angle_r /jointset/ankle_r/ankle_angle_r"


def with_function(path: Path, text: str = TEXT) -> Path:
    """The plain leg whose soleus is a function of knee and ankle, without points."""
    start = text.index('<GeometryPath name="path">', text.index('name="soleus_r"'))
    end = text.index("</GeometryPath>", start) + len("</GeometryPath>")
    path.write_text(text[:start] + function_path("path", KNEE_AND_ANKLE) + text[end:], encoding="utf-8")
    return path
