"""Results of a model whose paths are functions of coordinates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from plain_leg import TEXT, save_leg

import musclesolve as ms

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


def beside(folder: Path, *paths: str) -> Path:
    file = folder / "paths.xml"
    file.write_text(
        '<OpenSimDocument Version="40600"><Set_FunctionBasedPath_><objects>'
        + "".join(paths)
        + "</objects></Set_FunctionBasedPath_></OpenSimDocument>",
        encoding="utf-8",
    )
    return file


def test_contact_forces_need_a_line_of_action(tmp_path: Path) -> None:
    plain, motion, loads = save_leg(tmp_path)
    model = with_function(tmp_path / "function.osim")
    shared = ms.share_model(model, motion, loads=loads)
    assert shared["contact_force_component"].sizes["joint"] == 1  # the hip alone
    assert any("no line of action" in note for note in shared.attrs["notes"])
    # a file beside the model leaves the points, which show it
    file = beside(tmp_path, function_path("/forceset/soleus_r", KNEE_AND_ANKLE))
    with_lines = ms.share_model(plain, motion, loads=loads, paths=file)
    assert with_lines["contact_force_component"].sizes["joint"] == 3
    np.testing.assert_allclose(with_lines["muscle_force"], shared["muscle_force"], rtol=1e-9, atol=1e-9)
