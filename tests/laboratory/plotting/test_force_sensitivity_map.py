"""The map of forces against parameters shows the numbers of one instant."""

from __future__ import annotations

import numpy as np
import xarray as xr
from refusals import refused

from musclesolve.laboratory.plotting import force_sensitivity_map


def found(unique=(True, True, False)):
    frames = ("side", "time")
    values = np.arange(12.0).reshape(1, 3, 2, 2) * 100.0
    return xr.Dataset(
        {
            "by_max_isometric_force": ((*frames, "muscle", "changed"), values),
            "muscle_force": ((*frames, "muscle"), np.array([[[1.0, 9.0], [50.0, 60.0], [90.0, 90.0]]])),
            "status": (frames, np.array([[0, 1, 0]])),
            "unique": (frames, np.array([unique])),
        },
        coords={
            "side": ["l"],
            "time": [0.0, 0.1, 0.2],
            "muscle": ["soleus", "psoas"],
            "changed": ["soleus", "psoas"],
        },
        attrs={"cost": "stress_cubed"},
    )


def drawn(figure):
    axes = figure.axes[0]
    return np.asarray(axes.images[0].get_array()), [label.get_text() for label in axes.get_yticklabels()]


def test_one_per_cent_at_the_strongest_instant_without_reserves():
    values, rows = drawn(force_sensitivity_map(found(), side="l"))
    np.testing.assert_allclose(values, [[0.0, 1.0], [2.0, 3.0]])
    assert rows == ["soleus, 1 N", "psoas, 9 N"]


def test_the_nearest_instant_that_has_a_derivative():
    values, rows = drawn(force_sensitivity_map(found(), side="l", time=0.19))
    np.testing.assert_allclose(values, [[4.0, 5.0], [6.0, 7.0]])
    assert rows == ["soleus, 50 N", "psoas, 60 N"]


def test_what_cannot_be_drawn_is_refused():
    with refused("unknown_name", "'pennation'"):
        force_sensitivity_map(found(), "pennation", "l")
    with refused("unknown_name", "'r'"):
        force_sensitivity_map(found())
    with refused("bad_result"):
        force_sensitivity_map(found((False, False, False)), side="l")
