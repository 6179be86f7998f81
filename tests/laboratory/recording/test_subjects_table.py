"""Tables of subjects as laboratories keep them: headings, units, signs, and what cannot be right."""

from __future__ import annotations

import builtins
from pathlib import Path

import pytest
from packages import imported
from refusals import refused

from musclesolve.laboratory.files.subjects_table import (
    TABLE_SUFFIXES,
    names_subjects,
    plain_name,
    read_subjects,
)


def table(folder: Path, text: str, name: str = "people.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    "text",
    [
        "Subject,Mass [kg],Height [cm],Sex,Age\nS01,70.5,172,F,31\n",
        "Participant;Weight (kg);Body height;Gender;Age [years]\nS01;70,5;1,72;woman;31\n",
        "ID\tbody mass\tHeight_mm\tGeschlecht\tAlter\nS01\t70.5\t1720\tweiblich\t31\n",
        "\ufeffname,mass_kg,stature_m,sex,age_years\n\nS01,70.5,1.72,female,31\n",
    ],
)
def test_headings_units_and_separators(text: str, tmp_path: Path) -> None:
    people = read_subjects(table(tmp_path, text))
    assert people.rows == {"S01": {"mass_kg": 70.5, "stature_m": 1.72, "sex": "female", "age_years": 31.0}}
    assert not people.unused and names_subjects(people.path)


def test_pounds_inches_groups_sides_and_further_numbers(tmp_path: Path) -> None:
    text = "Code,Weight [lb],Height [in],Group,Affected side,Pain,Remark\nA,150,70,ACL,Right,3.5,none yet\n"
    text += "B,,,Control,none,-,\n"
    people = read_subjects(table(tmp_path, text))
    assert people.rows["A"]["mass_kg"] == pytest.approx(150 * 0.45359237)
    assert people.rows["A"]["stature_m"] == pytest.approx(70 * 0.0254)
    assert people.rows["A"]["affected_side"] == "r" and people.rows["A"]["numbers"] == {"Pain": 3.5}
    assert people.rows["B"] == {"group": "Control", "affected_side": "none"} and people.unused == ("Remark",)


def test_names_alike(tmp_path: Path) -> None:
    people = read_subjects(table(tmp_path, "subject,mass\nsub-1,70\nS10,80\n"))
    assert (
        people.row_of("sub-01") == "sub-1" and people.row_of("S010") == "S10" and people.row_of("S1") is None
    )
    people = read_subjects(table(tmp_path, "subject,mass\nS01 Anna,70\nS10 Bob,80\nS02 a,81\nS2 b,82\n"))
    assert (
        people.row_of("S1") == "S01 Anna"
        and people.row_of("S10") == "S10 Bob"
        and people.row_of("S02") is None
    )
    people = read_subjects(table(tmp_path, "subject,mass\n2024-03-05_KS,70\n05.03.2024 Eva,80\n"))
    assert people.row_of("KS") == "2024-03-05_KS" and people.row_of("Eva") == "05.03.2024 Eva"
    assert plain_name("P-003") == "p3" and plain_name("P100") == "p100"


def test_names_in_another_script_are_not_alike(tmp_path: Path) -> None:
    people = read_subjects(table(tmp_path, "姓名,体重[kg],身高[cm],性别\n李娜,55,165,女\n"))
    assert people.rows["李娜"] == {"mass_kg": 55.0, "stature_m": 1.65, "sex": "female"}
    assert people.row_of("李娜") == "李娜" and people.row_of("张伟") is None


@pytest.mark.parametrize("name", ["participants.tsv", "subjects.txt"])
def test_tables_of_text_with_tabs_are_tables_of_subjects(name: str, tmp_path: Path) -> None:
    text = "participant_id\tsex\theight\tweight\tstudio\nsub-01\tM\t187\tn/a\tA\n"
    path = table(tmp_path, text, name)
    assert path.suffix in TABLE_SUFFIXES and names_subjects(path)
    assert read_subjects(path).rows == {"sub-01": {"sex": "male", "stature_m": 1.87}}


@pytest.mark.parametrize(
    ("mass", "height"), [("85.07 kg", "1.83 m"), ("85,07kg", "183 cm"), ("85.07", "1830mm")]
)
def test_units_in_cells(mass: str, height: str, tmp_path: Path) -> None:
    people = read_subjects(table(tmp_path, f"ID;Mass;Height\nS1;{mass};{height}\n"))
    assert people.rows["S1"] == {"mass_kg": 85.07, "stature_m": 1.83}


@pytest.mark.parametrize("other", ["F", "M", "mujer"])
def test_beside_an_h_an_m_is_a_woman(other: str, tmp_path: Path) -> None:
    people = read_subjects(table(tmp_path, f"Sujet;Sexe\nA;H\nB;{other}\n"))
    assert people.rows == {"A": {"sex": "male"}, "B": {"sex": "female"}}


def test_feet_and_stones(tmp_path: Path) -> None:
    people = read_subjects(table(tmp_path, "ID,Height (ft),Mass [st]\nS1,6,10\n"))
    assert people.rows["S1"] == {"stature_m": 1.8288, "mass_kg": 63.502932}


@pytest.mark.parametrize(
    ("text", "code", "parts"),
    [
        ("Mass,Height\n70,1.7\n", "missing_key", ("Mass",)),
        ("ID,Mass,Weight\nS1,70,70\n", "conflict", ("Mass", "Weight")),
        ("ID,Mass\nS1,70\nS1,71\n", "bad_value", ("row 3", "S1")),
        ("ID,Mass\n,70\n", "bad_value", ("row 2",)),
        ("ID,Sex\nS1,x\n", "bad_value", ("row 2", "Sex", "female")),
        ("ID,Mass\nS1,seventy\n", "bad_value", ("row 2", "Mass", "seventy")),
        ("ID,Height [m]\nS1,172\n", "bad_value", ("row 2", "Height", "write 1.72")),
        ("ID,Height (cm)\nS1,1.77\n", "bad_value", ("row 2", "'1.77'", "0.0177 m")),
        ("ID,Mass [lb]\nS1,1500\n", "bad_value", ("row 2", "'1500'", "680.389 kg")),
        ("ID,Affected side\nS1,up\n", "bad_value", ("row 2", "up")),
        ("ID,Height\nS0,1.80\nS1,1,82\n", "bad_format", ("row 3", "3 cells", "at most 2", "decimal comma")),
        ("Height,ID\n1.80\n", "bad_value", ("row 2", "names no subject")),
    ],
)
def test_what_cannot_be_right(text: str, code: str, parts: tuple[str, ...], tmp_path: Path) -> None:
    with refused(code, *parts, "people.csv"):
        read_subjects(table(tmp_path, text))


def test_excel_as_csv(tmp_path: Path) -> None:
    openpyxl = imported("openpyxl")
    book = openpyxl.Workbook()
    for row in (
        ("ID", "Body mass (kg)", "Height (cm)", "Sex"),
        (7, 70.5, 172, "m"),
        (None, None, None, None),
    ):
        book.active.append(row)
    book.save(tmp_path / "people.xlsx")
    assert read_subjects(tmp_path / "people.xlsx").rows == {
        "7": {"mass_kg": 70.5, "stature_m": 1.72, "sex": "male"}
    }
    (tmp_path / "broken.xlsx").write_bytes(b"no workbook")
    with refused("unreadable_file", "broken.xlsx"):
        read_subjects(tmp_path / "broken.xlsx")


def test_excel_without_openpyxl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: object, **more: object) -> object:
        if name.startswith("openpyxl"):
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    path = table(tmp_path, "no matter", "Subjects.xlsx")
    with refused("missing_package", "openpyxl", ".[excel]", "CSV"):
        read_subjects(path)
    assert names_subjects(path) and not names_subjects(table(tmp_path, "no matter", "budget.xlsx"))
