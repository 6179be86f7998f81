"""The largest isometric moments of the standard subject against those of young men (Anderson et al. 2007)."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.strength import EXERTIONS, largest, measured


@pytest.mark.parametrize(("database", "most"), [("gait2392", 2.5), ("rajagopal_2023", 4.0)])
def test_the_sets_are_those_of_strong_men(database: str, most: float) -> None:
    """They can do what young men do, in nearly the same order of exertions."""
    found = {name: largest(database, exertion, elastic=True) for name, exertion in EXERTIONS.items()}
    ratio = [found[name][0] / measured(exertion)[0] for name, exertion in EXERTIONS.items()]
    assert 0.9 < min(ratio) and max(ratio) < most
    assert 40.0 <= found["knee extension"][1] <= 80.0  # measured: 65 degrees
    moments = np.array([[found[name][0], measured(exertion)[0]] for name, exertion in EXERTIONS.items()])
    ranks = np.argsort(np.argsort(moments, axis=0), axis=0)
    assert np.corrcoef(ranks.T)[0, 1] > 0.7


def test_knee_extension_of_gait2392_is_that_of_young_men() -> None:
    mean, sd = measured(EXERTIONS["knee extension"])
    assert abs(largest("gait2392", EXERTIONS["knee extension"], elastic=True)[0] - mean) < sd
