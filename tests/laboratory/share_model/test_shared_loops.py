"""Results of a model whose constraints close a loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from recorded_data import recorded

import musclesolve as ms
from musclesolve.tables import Table


def test_a_shrug_with_a_weight_in_the_hand(tmp_path: Path) -> None:
    """A load that pulls down is no ground reaction in other units, and nothing measures what holds the thorax."""
    path = recorded("models_of_today") / "thoracoscapular.osim"
    model, time = ms.read_osim(path), np.linspace(0.0, 1.0, 41)
    motion = {name: np.full(time.size, each.default) for name, each in model.coordinates.items()}
    motion["clav_elev"] = motion["clav_elev"] + 0.1 * (1.0 - np.cos(2.0 * np.pi * time))
    columns = [f"f_{kind}{axis}" for kind in "vp" for axis in "xyz"]
    values = np.zeros((time.size, 6))
    values[:, 1] = -30.0
    ms.tables.write_mot(tmp_path / "hand.mot", Table(time, tuple(columns), values, False, Path()))
    places = {
        "applied_to_body": "hand",
        "force_expressed_in_body": "ground",
        "point_expressed_in_body": "hand",
    }
    places |= {"force_identifier": "f_v", "point_identifier": "f_p"}
    text = "".join(f"<{tag}>{value}</{tag}>" for tag, value in places.items())
    (tmp_path / "loads.xml").write_text(
        f'<OpenSimDocument><ExternalLoads><objects><ExternalForce name="weight">{text}</ExternalForce></objects>'
        "<datafile>hand.mot</datafile></ExternalLoads></OpenSimDocument>",
        encoding="utf-8",
    )
    result = ms.share_model(path, motion | {"time": time}, loads=tmp_path / "loads.xml")
    assert result["valid"].all() and '"error"' not in result.attrs["findings"]
    assert "root_residual_n" not in result.attrs
    lost = [note for note in result.attrs["notes"] if "joints of the loop are not computed" in note]
    assert len(lost) == 1 and "sternoclavicular, scapulothoracic" in lost[0]
    assert float(result["reserve_moment"].fillna(0.0).max()) == 0.0
    elevation = result["joint_moment"].sel(dof="clav_elev").values
    assert elevation.min() > 5.0  # the weight of the arm and 30 N are lifted
