"""Units as files of many laboratories write them: in any case, padded, spelled out, cut off; others are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from c3d_files import PlateOnPaper, write_c3d
from hypothesis import given
from hypothesis import strategies as st

from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory import read_c3d, read_markers
from musclesolve.laboratory.files.c3d.force_platforms import read_plates
from musclesolve.laboratory.files.text.csv_file import read_csv_forces
from musclesolve.tables.units import meters_in, newton_meters_in, newtons_in
from tests.support.refusals import refused

LENGTHS = {
    1e-3: ["mm", "mm.", "mill", "millimeter", "Millimetres", "millim", "[mm]"],
    1e-2: ["cm", "CM", "cent", "centimeters", "Centimetre"],
    0.1: ["dm", "deci"],
    1.0: ["m", "mete", "metr", "meter", "METERS", "metre", "metres"],
    0.0254: ["in", "inch", "Inches"],
    0.3048: ["ft", "feet"],
}
POUND = 0.45359237 * STANDARD_GRAVITY
FORCES = {
    POUND: ["lb", "lbf", "LBS"],
    1.0: ["N", "n", "nt", "Nt", "NTS", "newt", "newton", "Newtons", "(N)"],
    1e3: ["kN", "kilonewton"],
}
MOMENTS = {
    1.0: [
        "Nm",
        "N.m",
        "N m",
        "N*m",
        "N·m",
        "N∙m",
        "N×m",
        "N-m",
        "nt.m",
        "Newton-meters",
        "newtonmetre",
        "NTm",
    ],
    1e-3: ["Nmm", "N.mm", "nmm", "N mm", "NMM", "mNm", "newton millimeters", "newtmill"],
    1e-2: ["Ncm", "N.cm"],
    0.3048 * POUND: ["ft-lbf", "lb.ft"],
    1e3: ["kNm", "kN.m", "kilonewton metres"],
}
UNKNOWN = [
    "ell",
    "met",
    "mil",
    "newto n s x",
    "N/m",
    "Nm/kg",
    "kilo",
    "m/s",
    "",
    "fathom",
    "km",
    "um",
    "mN",
    "mm N",
    "g",
    "N/A",
    "mm2",
    "mm²",
    "mm^2",
    "N%",
]


@pytest.mark.parametrize(
    ("size_of", "known"), [(meters_in, LENGTHS), (newtons_in, FORCES), (newton_meters_in, MOMENTS)]
)
def test_units_are_known_by_many_names(size_of, known: dict[float, list[str]]) -> None:
    for size, names in known.items():
        for name in names:
            for written in (name, name.upper(), f"  {name} ", name + "\0"):
                assert size_of(written) == pytest.approx(size), written
    others = {
        name
        for table in (LENGTHS, FORCES, MOMENTS)
        if table is not known
        for n in table.values()
        for name in n
    }
    assert all(size_of(name) is None for name in (*UNKNOWN, *others))


@given(st.text(max_size=12))
def test_any_text_is_a_unit_or_none(text: str) -> None:
    found = [size_of(text) for size_of in (meters_in, newtons_in, newton_meters_in)]
    assert sum(size is not None for size in found) <= 1
    assert all(size is None or 1e-6 <= size <= 1e3 for size in found)


@pytest.mark.parametrize(
    ("unit", "meters"), [("mete", 1.0), ("MM", 1e-3), ("mill", 1e-3), ("inch", 0.0254), (" cm ", 0.01)]
)
def test_markers_of_a_c3d_file(tmp_path: Path, unit: str, meters: float) -> None:
    points = np.random.default_rng(3).normal(size=(9, 2, 3))
    path = write_c3d(tmp_path / "a.c3d", 100.0, ["A", "B"], points, unit=unit)
    np.testing.assert_allclose(read_markers(path).position, meters * points, rtol=1e-6)
    assert read_c3d(path).notes == ()


@pytest.mark.parametrize(
    ("force", "moment", "newtons", "newton_meters"),
    [
        ("nt", "ntmm", 1.0, 1e-3),
        ("Newtons", "N.mm", 1.0, 1e-3),
        ("NEWT", "Nm", 1.0, 1.0),
        ("kN", "kN.m", 1e3, 1e3),
        ("lbf", "in-lbf", 0.45359237 * STANDARD_GRAVITY, 0.45359237 * STANDARD_GRAVITY * 0.0254),
    ],
)
def test_plates_of_a_c3d_file(
    tmp_path: Path, force: str, moment: str, newtons: float, newton_meters: float
) -> None:
    plate = PlateOnPaper(2, (0.1, 0.2, 0.0), np.diag([1.0, -1.0, -1.0]))
    loads = np.tile([[10.0, -20.0, 700.0]], (9, 1))
    point, free = np.tile([[0.15, 0.22, 0.0]], (9, 1)), np.tile([[0.0, 0.0, 3.0]], (9, 1))
    channels = plate.channels(loads, point, free) / np.r_[[newtons] * 3, [1e3 * newton_meters] * 3]

    def state(file) -> None:
        file["parameters"]["ANALOG"]["UNITS"]["value"] = [force] * 3 + [moment] * 3

    path = write_c3d(tmp_path / "a.c3d", 100.0, ["A"], np.ones((9, 1, 3)), [plate], [channels], change=state)
    (found,) = read_plates(read_c3d(path), np.eye(3)).recordings
    np.testing.assert_allclose(found.force, loads, rtol=1e-5)
    np.testing.assert_allclose(found.point, point, atol=1e-5)


def test_columns_of_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("time,f (Newtons),p [mete],m [N.mm]\n0,1,2,3\n0.1,1,2,3\n0.2,1,2,3\n", encoding="utf-8")
    table = read_csv_forces(path)
    assert table.names == ("f", "p", "m") and table.roles == ("force", "point", "moment")
    np.testing.assert_allclose(table.values[0], [1.0, 2.0, 0.003])
    path.write_text("time,f [ell]\n0,1\n0.1,1\n", encoding="utf-8")
    with refused("unknown_unit", "'ell'"):
        read_csv_forces(path)
