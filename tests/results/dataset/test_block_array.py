"""Moment arms without their zeros: whatever is selected is what the full array has."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import xarray as xr

from musclesolve.results.dataset.block_array import BlockArray

ROWS, COLUMNS = ([4, 1], [0, 3, 2]), ([5, 0, 2], [1, 3])


def arrays() -> tuple[np.ndarray, xr.DataArray]:
    rng = np.random.default_rng(5)
    full, blocks = np.zeros((7, 6, 8)), []
    for rows, columns in zip(ROWS, COLUMNS, strict=True):
        block = rng.normal(size=(7, len(rows), len(columns)))
        full[:, np.array(rows)[:, None], columns] = block
        blocks.append((np.array(rows), np.array(columns), block))
    names = {"dof": [f"dof {k}" for k in range(6)], "muscle": [f"muscle {k}" for k in range(8)]}
    data = BlockArray(full.shape, blocks).variable_data()
    return full, xr.DataArray(xr.Variable(("time", "dof", "muscle"), data), coords=names)


@pytest.mark.parametrize(
    "selected",
    [
        {},
        {"time": 3},
        {"time": slice(1, 6, 2)},
        {"time": [6, 0, 0]},
        {"dof": 2, "muscle": slice(None, None, -1)},
        {"dof": [5, 1, 4], "muscle": [0, 7]},
        {"time": -1, "dof": -2, "muscle": -6},
        {"time": slice(0, 0)},
    ],
)
def test_a_selection_is_that_of_the_full_array(selected: dict[str, object]) -> None:
    full, lazy = arrays()
    expected = xr.DataArray(full, dims=lazy.dims, coords=lazy.coords).isel(selected)
    xr.testing.assert_identical(lazy.isel(selected), expected)


def test_it_behaves_as_an_array() -> None:
    full, lazy = arrays()
    force = xr.DataArray(np.ones((7, 8)), dims=("time", "muscle"))
    np.testing.assert_allclose((lazy * force).sum("muscle"), full.sum(axis=2), atol=1e-15)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(lazy)).values, full)
    changed = lazy.copy()
    changed[0, 4, 5] = 9.0
    assert changed.values[0, 4, 5] == 9.0 and lazy.values[0, 4, 5] == full[0, 4, 5]


def test_a_value_set_in_all_values_is_set_in_the_variable() -> None:
    full, lazy = arrays()
    copied = lazy.copy(deep=True)
    lazy.values[0, 4, 5] = 9.0
    assert lazy.values[0, 4, 5] == 9.0 and lazy[0, 4, 5].item() == 9.0
    assert copied.values[0, 4, 5] == full[0, 4, 5]


def test_a_block_without_muscles_adds_nothing() -> None:
    none, rows = np.array([], int), np.array([0, 1])
    blocks = [(rows, none, np.zeros((3, 2, 0))), (rows, rows, np.ones((3, 2, 2)))]
    lazy = xr.Variable(("time", "dof", "muscle"), BlockArray((3, 2, 4), blocks).variable_data())
    assert lazy.values.sum() == 12.0 and not lazy[:, :, 2:].values.any()
