"""The study file: what it holds, and one message for each fault in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from package_tables import trial_tables
from refusals import refused

from musclesolve.errors import InputError
from musclesolve.laboratory.recording.trial_document import trial_document
from musclesolve.studies import read_study
from musclesolve.studies.study.run_study import prepared, trial_file
from musclesolve.tables.document import is_study, tables_text

STUDY = """title = "Slow and fast"
trials = "trials.csv"
[design]
conditions = ["slow", "fast"]
[settings.sharing]
cost = "stress_cubed"
"""
TABLE = """\
name,subject,group,condition,session,mass_kg,age_years,numbers.pain_score,file,model,coordinates,loads,b3d,start_s,exclude
S01_1,S01,a,slow,,71.0,30,3,a.toml,,,,,0.5,
S01_2,S01,,fast,,,,,,m.osim,ik.mot,grf.mot,,,
S01_3,S01,,fast,,,,,,,,,,,a marker fell off
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    (tmp_path / "trials.csv").write_text(TABLE, encoding="utf-8")
    return path


def changed(path: Path, *changes: tuple[str, str]) -> Path:
    """The study with changed table."""
    table = TABLE
    for right, wrong in changes:
        assert right in table
        table = table.replace(right, wrong)
    path.with_name("trials.csv").write_text(table, encoding="utf-8")
    return path


def lines(*cells: str) -> tuple[str, str]:
    """Further lines of the table: name,subject,group,condition,session,file."""
    more = (line.split(",") for line in cells)
    return ",a marker fell off\n", ",a marker fell off\n" + "".join(
        f"{name},{subject},{group},{condition},{session},,,,{file},,,,,,\n"
        for name, subject, group, condition, session, file in more
    )


def test_what_a_study_file_says(path: Path) -> None:
    study = read_study(path)
    assert is_study(path)
    assert study.title == "Slow and fast"
    assert study.subjects["S01"] == {"group": "a", "mass_kg": 71.0, "age_years": 30.0, "pain_score": 3}
    assert study.units["moment"] == "N m/kg"
    assert [trial.name for trial in study.included] == ["S01_1", "S01_2"]
    assert study.trials[0].time == {"start_s": 0.5}
    assert study.trials[2].exclude == "a marker fell off"


def test_groups_and_conditions_have_the_order_of_the_design(path: Path) -> None:
    text = STUDY.replace('["slow", "fast"]', '["fast", "slow"]\ngroups = ["b", "a"]')
    changed(path, lines("S02_1,S02,b,fast,,b.toml")).write_text(text, encoding="utf-8")
    study = read_study(path)
    assert study.conditions == ["fast", "slow"]
    assert list(study.people_of_groups.items()) == [("b", ["S02"]), ("a", ["S01"])]


@pytest.mark.parametrize(
    ("right", "wrong", "code", "line", "named"),
    [
        ('["slow", "fast"]', '["slow", "fats"]', "unknown_name", 4, "did you mean 'fast'"),
        ('["slow", "fast"]', '["slow"]', "unknown_name", 4, "'fast' is not among them"),
        ("cost =", "cots =", "unknown_key", 6, "did you mean 'cost'"),
        ("stress_cubed", "stress_cube", "unknown_name", 6, "did you mean 'stress_cubed'"),
        (
            "[design]",
            '[design]\nquantities = ["joint_angel"]',
            "unknown_name",
            4,
            "did you mean 'joint_angle'",
        ),
        ("settings.sharing", "settings.shring", "unknown_key", 5, "did you mean 'sharing'"),
        ("settings.sharing", "settings.subject", "bad_value", 5, "state it in the table"),
        ('trials = "trials.csv"\n', "", "missing_key", None, 'trials = "trials.csv"'),
        ("trials.csv", "trails.csv", "missing_file", None, "did you mean 'trials.csv'"),
        ("[design]", "[subjects]", "unknown_key", 3, "one of design, settings, units"),
        ('"Slow and fast"', "3", "bad_value", None, "title"),
        ('conditions = ["slow", "fast"]', 'covariate = "age"', "unknown_name", 4, "age_years"),
        (
            'conditions = ["slow", "fast"]',
            'legs = "inner"',
            "missing_key",
            4,
            "r or l in the column inner_leg",
        ),
        (
            'trials = "trials.csv"\n[design]',
            '[design]\ntrials = "trials.csv"',
            "missing_key",
            None,
            "above all",
        ),
    ],
)
def test_one_message_for_each_fault(
    path: Path, right: str, wrong: str, code: str, line: int | None, named: str
) -> None:
    assert right in STUDY
    path.write_text(STUDY.replace(right, wrong), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_study(path)
    assert raised.value.code == code
    assert named in str(raised.value)
    assert line is None or f"line {line}" in str(raised.value)


@pytest.mark.parametrize(
    ("right", "wrong", "code", "named"),
    [
        ("name,subject", "name,subjct", "unknown_key", "did you mean 'subject'"),
        ("name,subject", "name,numbers.code", "missing_key", "the column 'subject' is missing"),
        ("mass_kg", "mas_kg", "unknown_key", "did you mean 'mass_kg'"),
        ("age_years", "mass_kg", "conflict", "two columns are called 'mass_kg'"),
        (TABLE.partition("\n")[2], "", "missing_key", "a line for every trial"),
        (
            ",file,model,coordinates,loads,b3d,",
            ",static,forces,sex,keep,inner_leg,",
            "missing_key",
            "names the files",
        ),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(
    path: Path, right: str, wrong: str, code: str, named: str
) -> None:
    with refused(code, "trials.csv", named):
        read_study(changed(path, (right, wrong)))


@pytest.mark.parametrize(
    ("right", "wrong", "code", "place", "named"),
    [
        ("S01_1,S01", "S01_1,", "missing_key", "line 2, column 'subject'", "the cell is empty"),
        ("S01_1,S01", ",S01", "bad_value", "line 2, column 'name'", "the cell is empty"),
        ("S01_1,S01", "S/1,S01", "bad_value", "line 2, column 'name'", "name of a folder"),
        ("71.0", "71 kg?", "bad_value", "line 2, column 'mass_kg'", "a number: body mass"),
        ("71.0", "7100", "bad_value", "line 2, column 'mass_kg'", "body mass"),
        (",30,3,", ",30,much,", "bad_value", "line 2, column 'numbers.pain_score'", "a number"),
        ("0.5,", "soon,", "bad_value", "line 2, column 'start_s'", "'soon'"),
        (",a.toml,", ",,", "missing_key", "line 2", "no file is named"),
        ("a.toml,,,,,", "a.toml,,,,b,", "conflict", "line 2, column 'b3d'", "file and b3d"),
        ("0.5,", "0.5,,9", "bad_format", "line 2", "16 cells"),
    ],
)
def test_a_line_at_fault_costs_its_trial_alone(
    path: Path, right: str, wrong: str, code: str, place: str, named: str
) -> None:
    study = read_study(changed(path, (right, wrong)))
    (faulty,) = study.faulty
    assert (faulty.fault.code, faulty.fault.where) == (code, place) and named in str(faulty.fault)
    assert faulty.fault.file == path.with_name("trials.csv") and faulty.fault.remedy
    assert [trial.name for trial in study.included] == ["S01_2"]


def test_a_line_twice_costs_the_second_one(path: Path) -> None:
    study = read_study(
        changed(
            path,
            lines(*(f"{row}.toml" for row in ("S01_4,S01,,slow,,b", "S01_4,S01,,slow,,c", "x,S01,,fast,,b"))),
        )
    )
    assert [(trial.line, trial.fault.code) for trial in study.faulty] == [
        (6, "duplicate_name"),
        (7, "duplicate_name"),
    ]
    assert "line 5 has the name 'S01_4'" in str(study.faulty[0].fault)
    assert "line 5 names the same files" in str(study.faulty[1].fault)


def test_other_masses_of_a_subject_are_refused_with_their_lines(path: Path) -> None:
    """Three people of 75, 65 and 48 kg are not one subject; in sessions that lie apart a mass may change."""
    head = "name,subject,session,mass_kg,stature_m,sex,file\n"
    rows = [
        "a,S1,,75,1.8,male,a.toml",
        "b,S1,,65,1.8,male,b.toml",
        "c,S1,,48,1.8,male,c.toml",
        "d,S2,,70,,,d.toml",
    ]
    table = path.with_name("trials.csv")
    path.write_text('trials = "trials.csv"\n', encoding="utf-8")
    table.write_text(head + "\n".join(rows), encoding="utf-8")
    study = read_study(path)
    assert [trial.name for trial in study.faulty] == ["a", "b", "c"] and [t.name for t in study.included] == [
        "d"
    ]
    said = str(study.faulty[2].fault)
    assert "line 4, column 'mass_kg'" in said and "75 in line 2 and 65 in line 3 and 48 in line 4" in said
    assert "within 5 %" in said and "a subject of its own" in said
    table.write_text(
        head + "\n".join(rows).replace("65", "73").replace("S1,,48", "S1,later,48"), encoding="utf-8"
    )
    study = read_study(path)
    assert not study.faulty and [trial.body["mass_kg"] for trial in study.trials] == [75.0, 73.0, 48.0, 70.0]
    table.write_text(head + "\n".join(rows).replace("65,1.8,male", ",,female").replace("S1,,48", "S3,,48"))
    assert [trial.fault.where for trial in read_study(path).faulty] == [
        "line 2, column 'sex'",
        "line 3, column 'sex'",
    ]


def test_other_masses_in_the_files_of_a_subject_are_refused(path: Path) -> None:
    """The table states no mass; the trial files do."""
    path.write_text('trials = "trials.csv"\n', encoding="utf-8")
    path.with_name("trials.csv").write_text("name,subject,file\na,S1,a.toml\nb,S1,b.toml\nc,S2,a2.toml\n")
    for name, mass in (("a", 75.0), ("b", 48.0), ("a2", 60.0)):
        text = f'[subject]\nmass_kg = {mass}\nstature_m = 1.7\nsex = "male"\n[files]\nmarkers = "w.trc"\n'
        (path.parent / f"{name}.toml").write_text(text, encoding="utf-8")
    jobs, refusals, _ = prepared(read_study(path), path.parent / "out")
    assert [job.name for job in jobs] == ["c"] and [record.name for record in refusals] == ["a", "b"]
    assert "mass_kg of S1 is 75 in line 2 and 48 in line 3" in refusals[0].message


def test_a_table_of_a_spreadsheet_with_decimal_commas_is_read(path: Path) -> None:
    table = TABLE.replace(",", ";").replace("71.0", "71,0").replace("0.5", "0,5")
    path.with_name("trials.csv").write_text("\ufeff" + table, encoding="utf-8")
    study = read_study(path)
    assert study.subjects["S01"]["mass_kg"] == 71.0 and study.trials[0].time == {"start_s": 0.5}


def test_faults_of_cells_show_what_is_there(path: Path) -> None:
    path.write_text('trials = "trials.csv"\n[design]\ncovariate = "age_years"\n', encoding="utf-8")
    table = path.with_name("trials.csv")
    table.write_text("name,subject,file\na,S1,a.toml\nA,S1,b.toml\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"in a column age_years or numbers\.NAME"):
        read_study(path)
    path.write_text('trials = "trials.csv"\n', encoding="utf-8")
    assert "line 2 has the name 'a' already" in str(read_study(path).faulty[0].fault)
    table.write_text("name,subject,side,file\na,S1,nan,a.toml\nb,S1,,b.toml\n", encoding="utf-8")
    assert "the cell is 'nan'\n  expected: one of both, r, l" in str(read_study(path).faulty[0].fault)


def test_settings_of_a_trial_are_columns(path: Path) -> None:
    head = "name,subject,file,settings.laboratory.forward,settings.filter.cutoff_hz,cycles_s\n"
    table = path.with_name("trials.csv")
    path.write_text('trials = "trials.csv"\n', encoding="utf-8")
    table.write_text(
        f'{head}a,S1,a.toml,-x,8.0,"[[0.1, 1.2]]"\nb,S1,b.toml,,soon or late,\n', encoding="utf-8"
    )
    study = read_study(path)
    (first,) = study.included
    assert first.settings == {"laboratory": {"forward": "-x"}, "filter": {"cutoff_hz": 8.0}}
    assert first.time["cycles_s"] == [[0.1, 1.2]]
    assert study.faulty[0].fault.where == "line 3, column 'settings.filter.cutoff_hz'"


def test_what_is_unusual_is_a_note_and_no_error(path: Path) -> None:
    changed(path, ("slow,,71", "slow,pre,71"), lines("S01_4,S01,,slow,post,d.toml", "S02_1,S02,,,,e.toml"))
    notes = "\n".join(read_study(path).notes)
    assert "1 subjects have no group, others have a: they are in no mean and no test" in notes
    assert "1 trials have no condition, others have slow, fast" in notes
    assert "sessions of a subject (pre, post) are averaged" in notes


def test_a_condition_of_one_subject_alone_may_be_misspelt(path: Path) -> None:
    more = [
        f"S0{k}_{n}_{label},S0{k},,{label},,w{k}{n}{label}.toml"
        for k, label in ((2, "fast"), (3, "fast"), (4, "Fsat"))
        for n in (1, 2)
    ]
    path.write_text(STUDY.replace('["slow", "fast"]', '["slow", "fast", "Fsat"]'), encoding="utf-8")
    said = "the condition 'Fsat' is of S04 alone; was 'fast' meant?"
    assert said in read_study(changed(path, lines(*more))).notes
    other = "S04_3_fast,S04,,fast,,w9.toml"
    assert said not in read_study(changed(path, lines(*more, other))).notes  # this subject has both


def test_a_design_need_not_name_what_is_excluded(path: Path) -> None:
    path.write_text(STUDY.replace('["slow", "fast"]', '["slow"]'), encoding="utf-8")
    changed(path, ("grf.mot,,,", "grf.mot,,,no forces"))
    assert read_study(path).design.conditions == ("slow",)


def test_a_trial_file_is_no_study(tmp_path: Path) -> None:
    path = tmp_path / "trial.toml"
    path.write_text('[files]\nmarkers = "walk.trc"\n', encoding="utf-8")
    assert not is_study(path)
    with pytest.raises(InputError, match="this is a trial file"):
        read_study(path)


def test_the_trial_file_has_what_the_study_says(path: Path) -> None:
    own = path.parent / "a.toml"
    own.write_text(
        '[subject]\nname = "x"\nmass_kg = 70.0\nstature_m = 1.7\nsex = "male"\n[files]\nmarkers = "rec/walk.trc"\n'
        '[muscles]\ndatabase = "own.osim"\n[[force]]\nside = "r"\n',
        encoding="utf-8",
    )
    study, written = read_study(path), path.parent / "out" / "trials" / "S01_1" / "trial.toml"
    made, _, notes = trial_file(study, study.trials[0], study.trials[0].source, written)
    written.parent.mkdir(parents=True)
    written.write_text(made, encoding="utf-8")
    content = trial_document(written).content
    own_and_said = {"name": "S01", "mass_kg": 71.0, "stature_m": 1.7, "sex": "male", "age_years": 30}
    assert content["subject"] == own_and_said
    assert content["files"]["markers"] == "../../../rec/walk.trc"
    assert content["muscles"]["database"] == "../../../own.osim"
    assert content["sharing"] == {"cost": "stress_cubed"}
    assert content["time"] == {"start_s": 0.5}
    assert content["force"] == [{"side": "r"}]
    assert notes == ["subject mass_kg is 71.0 by the study and 70.0 by its own file"]


def test_the_trial_file_of_a_model_lacks_what_no_model_has(path: Path) -> None:
    path.write_text(f'{STUDY}[settings.laboratory]\nforward = "+x"\n', encoding="utf-8")
    for name in ("m.osim", "ik.mot", "grf.mot"):
        (path.parent / name).touch()
    study, written = read_study(path), path.parent / "out" / "trial.toml"
    made = trial_file(study, study.trials[1], study.trials[1].source, written)[0]
    assert "laboratory" not in made
    assert 'model = "../m.osim"' in made
    assert 'cost = "stress_cubed"' in made


def test_toml_is_read_back_as_it_was(tmp_path: Path) -> None:
    content = {
        "subject": {"name": 'a "quoted" \\ name', "mass_kg": 70.5, "segments": {"shank_r": {"mass_kg": 2.0}}},
        "mapping": {"heel r": "R.HEEL", "asis_r": "a"},
        "force": [{"side": "r", "plate": 1}, {"side": "l", "plate": 2}],
    }
    path = tmp_path / "trial.toml"
    path.write_text(tables_text(content), encoding="utf-8")
    assert trial_document(path).content == content


def test_settings_are_those_of_trial_files(path: Path) -> None:
    """Every value that a trial file may state once for all is a setting; a default of each reads back."""
    assert {"sharing", "muscles", "filter", "mapping", "force"} <= set(trial_tables())
    text = STUDY.replace("[settings.sharing]", "[settings.filter]\ncutoff_hz = 8\n[settings.sharing]")
    path.write_text(text, encoding="utf-8")
    assert read_study(path).settings["filter"] == {"cutoff_hz": 8}
