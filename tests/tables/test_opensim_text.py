"""OpenSim itself reads the written files back: the same labels, times, numbers, units and gaps."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packages import need
from refusals import refused

from musclesolve.tables import Markers, Table, read_mot, write_mot, write_trc

TIME = 0.5 + np.arange(30) / 120.0
NAMES = ("ground_force_r_vx", "1_ground|px", "knee_angle_l/value")

# In a process of its own: OpenSim writes a log where it stands, and its bindings can bring a process down.
READ_BACK = """
import json, sys
import opensim

opensim.Logger.removeFileSink()
opensim.Logger.setLevelString("Off")


def table_of(table, keys):
    numbers = table.getMatrix().to_numpy().tolist()
    labels, time = list(table.getColumnLabels()), list(table.getIndependentColumn())
    return dict(labels=labels, time=time, numbers=numbers, **keys)


def markers(path):
    table = opensim.TimeSeriesTableVec3(path)
    keys = {key: table.getTableMetaDataString(key) for key in ("Units", "DataRate")}
    older = opensim.MarkerData(path)
    keys["older"] = [older.getNumMarkers(), older.getNumFrames(), older.getUnits().getLabel()]
    names = table.getColumnLabels()
    return table_of(table.flatten(opensim.StdVectorString(["_x", "_y", "_z"])), {**keys, "names": list(names)})


def columns(path):
    table = opensim.TimeSeriesTable(path)
    storage = opensim.Storage(path)
    older = {}
    for name in table.getColumnLabels():
        column = opensim.ArrayDouble()
        storage.getDataColumn(name, column)
        older[name] = [column.get(k) for k in range(column.getSize())]
    keys = {"inDegrees": table.getTableMetaDataString("inDegrees"), "older": older}
    return table_of(table, {**keys, "older_in_degrees": storage.isInDegrees()})


print("FOUND" + json.dumps([markers(p) if p.endswith("trc") else columns(p) for p in sys.argv[1:]]))
"""


def read_back(*paths: Path) -> list[dict[str, Any]]:
    need("opensim")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READ_BACK, *map(str, paths)],
        cwd=paths[0].parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout.partition("FOUND")[2])
    return found


def test_markers(tmp_path: Path) -> None:
    position = np.random.default_rng(6).normal(size=(TIME.size, 4, 3))
    position[0, 0] = position[3:6, 1] = position[7, 3] = position[8] = position[-1, 3] = np.nan
    names = ("R.ASIS", "Sacrum Top", "P:A-1", "x")
    units = {"mm": (0.001, "millimeters"), "m": (1.0, "meters")}
    for unit in units:
        path = tmp_path / f"{unit}.trc"
        write_trc(path, Markers(TIME, names, position, path), units=unit, decimals=6)
    for unit, found in zip(units, read_back(*(tmp_path / f"{unit}.trc" for unit in units)), strict=True):
        meters, label = units[unit]
        assert tuple(found["names"]) == names
        assert found["Units"] == unit and float(found["DataRate"]) == pytest.approx(120.0)
        assert found["older"] == [4, TIME.size, label]
        np.testing.assert_allclose(found["time"], TIME, atol=1e-8)
        numbers = meters * np.array(found["numbers"]).reshape(position.shape)
        np.testing.assert_allclose(numbers, position, atol=1e-6)


def test_columns(tmp_path: Path) -> None:
    values = 800.0 * np.random.default_rng(7).normal(size=(TIME.size, 3))
    paths = {tmp_path / "x.mot": False, tmp_path / "y.sto": True}
    for path, in_degrees in paths.items():
        write_mot(path, Table(TIME, NAMES, values, in_degrees, path))
    for in_degrees, found in zip(paths.values(), read_back(*paths), strict=True):
        assert tuple(found["labels"]) == NAMES
        assert found["inDegrees"] == ("yes" if in_degrees else "no")
        assert found["older_in_degrees"] == in_degrees
        np.testing.assert_allclose(found["time"], TIME, atol=1e-8)
        np.testing.assert_allclose(found["numbers"], values, atol=1e-6)
        for k, name in enumerate(NAMES):
            np.testing.assert_allclose(found["older"][name], values[:, k], atol=1e-6)


def test_a_missing_number_is_missing_there_too(tmp_path: Path) -> None:
    values = np.random.default_rng(8).normal(size=(TIME.size, 3))
    values[5, 1] = np.nan
    path = tmp_path / "x.sto"
    write_mot(path, Table(TIME, NAMES, values, False, path))
    (found,) = read_back(path)
    np.testing.assert_allclose(found["numbers"], values, atol=1e-6)


def test_a_file_of_markers_is_called_one(tmp_path: Path) -> None:
    path = tmp_path / "walk.trc"
    path.write_text("PathFileType\t4\t(X/Y/Z)\twalk.trc\nDataRate\tCameraRate\n100\t100\n", encoding="utf-8")
    with refused("bad_format", "file of markers (TRC)", "musclesolve init"):
        read_mot(path)
