"""`--json` prints one document with stable keys, also for errors; `--quiet` prints nothing but errors."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import typed
from many_trials import write_stride
from said import run_document
from small_model import save_model
from small_model_motion import DOFS, save_inputs
from stored_results import write_result
from synthetic_result import few_muscles, result, with_troubles

from musclesolve import read_osim, read_result
from musclesolve.cli.printing import json_text, mode
from musclesolve.cli.result_documents import benchmark_document
from musclesolve.data import reference_stride
from musclesolve.laboratory.plotting.page import page_style
from musclesolve.studies.benchmark.benchmark import BenchmarkReport
from musclesolve.studies.benchmark.measure import Latency, Row, SingleFrame

RUN_KEYS = {
    *("command", "exit_code", "version", "trial", "subject", "choices", "frames", "legs", "files"),
    *("largest_gap", "tendons", "fiber_lengths", "contact_force_peaks_body_weights", "consistency"),
    *("knee_contact_peaks_body_weights", "knee_contact_spacing"),
    *("judgement", "plausibility", "pelvis_residual", "motion_change", "emg", "fascicles", "strides"),
    "metabolic_rate",
    *("warnings", "notes", "completed", "uncertainty"),
}
LEG_KEYS = {
    *(
        "solved",
        "with_reserve",
        "not_analyzed",
        "without_valid_solution",
        "largest_reserve",
        "failures",
        "reasons",
    )
}
ERROR_KEYS = {"code", "file", "place", "problem", "expected", "remedy"}


def strictly(text: str):
    """The document, refusing NaN and Infinity, which are no JSON."""

    def refuse(name: str):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def texts_that_are_numbers(value: object) -> list[str]:
    """Values of a document that should have been numbers."""
    if isinstance(value, dict):
        return [each for own in value.values() for each in texts_that_are_numbers(own)]
    if isinstance(value, list):
        return [each for own in value for each in texts_that_are_numbers(own)]
    try:
        return [value] if isinstance(value, str) and math.isfinite(float(value)) else []
    except ValueError:
        return []


def test_run_prints_what_the_result_holds(tmp_path):
    done = typed(
        "run", write_stride(tmp_path), "-o", tmp_path / "out", "--side", "r", "--no-figures", "--json"
    )
    assert done.exit_code == 0, done.output
    document = strictly(done.stdout)
    assert set(document) >= RUN_KEYS and set(document["legs"]) == {"right"}
    assert set(document["legs"]["right"]) == LEG_KEYS and texts_that_are_numbers(document) == []
    found = read_result(tmp_path / "out" / "result.nc")
    assert document["legs"]["right"]["solved"] == found.sizes["time"] == document["frames"]["count"]
    assert document["files"] == [(tmp_path / "out" / "result.nc").as_posix()]
    knee = np.linalg.norm(found["joint_reaction"].sel(joint="knee_r").values, axis=1).max()
    weight = 9.80665 * float(found.attrs["subject_mass_kg"])
    peak = document["contact_force_peaks_body_weights"]["knee"]["right"]
    assert peak == pytest.approx(knee / weight, rel=1e-9)
    medial = found["knee_contact_medial"].sel(side="r").where(found["valid"].sel(side="r")).max()
    peak = document["knee_contact_peaks_body_weights"]["medial"]["right"]
    assert peak == pytest.approx(float(medial) / weight, rel=1e-9)
    (spacing,) = document["knee_contact_spacing"]
    assert spacing.startswith("knee_r 0.0") and spacing.endswith(" m, by the breadth of the knee")
    assert document["uncertainty"] is None and document["emg"] is None


def test_the_keys_are_there_whatever_a_result_lacks():
    bare = result().drop_vars(["pelvis_residual", "consistency_shift", "joint_reaction"])
    document = strictly(json_text(run_document(bare)))
    assert set(document) >= RUN_KEYS - {"command", "exit_code", "files"}
    assert document["pelvis_residual"] is document["contact_force_peaks_body_weights"] is None


def test_reasons_and_reserves_are_numbers_with_their_times():
    data = with_troubles(result())
    legs = strictly(json_text(run_document(data)))["legs"]
    time = data["time"].values
    assert legs["right"]["with_reserve"] == 6 and legs["right"]["without_valid_solution"] == 3
    largest = {"moment_nm": 12.5, "dof": "knee_flexion_r", "time_s": time[20]}
    assert legs["right"]["largest_reserve"] == pytest.approx(largest)
    (failure,) = legs["right"]["failures"]
    assert (failure["reason"], failure["frames"]) == ("infeasible", 3)
    assert failure["stretches_s"] == [[pytest.approx(time[40]), pytest.approx(time[42])]]


def test_what_is_not_finite_is_null():
    data = result()
    data["gap"][:] = np.nan
    assert strictly(json_text(run_document(data)))["largest_gap"] is None
    numbers = {
        "a": np.float64("nan"),
        "b": np.inf,
        "c": np.array([1, 2]),
        "d": Path("x") / "y",
        "e": np.bool_(True),
    }
    assert strictly(json_text(numbers)) == {"a": None, "b": None, "c": [1, 2], "d": "x/y", "e": True}


def test_compare_and_average_and_many_trials(tmp_path, monkeypatch):
    monkeypatch.setattr(page_style, "figures_of", lambda *_: {})
    costs = ["--cost", "stress_cubed", "--cost", "force_squared"]
    done = typed("compare", reference_stride(), *costs, "--side", "r", "-o", tmp_path / "c", "--json")
    assert done.exit_code == 0, done.output
    document = strictly(done.stdout)
    assert (
        list(document["costs"]) == ["stress_cubed", "force_squared"] and document["against"] == "stress_cubed"
    )
    own, other = document["muscles"]["soleus_r"].values()
    assert own["rms_difference_n"] == 0 and other["peak_ratio"] == pytest.approx(
        other["peak_n"] / own["peak_n"]
    )
    assert texts_that_are_numbers(document) == []

    write_result(few_muscles(result(n_frames=251)), tmp_path / "result.nc")
    document = strictly(typed("average", tmp_path / "result.nc", "-o", tmp_path / "a", "--json").stdout)
    assert document["legs"]["right"]["cycles"] == 2 and len(document["persons"]) == 1
    assert set(document["legs"]["right"]["walking_speed"]) == {"mean", "standard_deviation"}

    write_stride(tmp_path)
    (tmp_path / "bad.toml").write_text("[subject]\n", encoding="utf-8")
    trials = (tmp_path / "trial.toml", tmp_path / "bad.toml")
    done = typed("run", *trials, "-o", tmp_path / "m", "--no-figures", "--side", "r", "--json", "--jobs", "1")
    document = strictly(done.stdout)
    assert done.exit_code == document["exit_code"] == 3
    assert [each["status"] for each in document["trials"]] == ["computed", "refused"]
    assert document["counts"]["refused"] == 1 and document["trials"][1]["leg_frames"] is None
    assert "bad" in done.stderr


def test_benchmark_and_share(tmp_path):
    single = SingleFrame("force_squared", Latency.from_seconds([1e-5, 2e-5]), Latency.from_seconds([3e-5]))
    row = Row("recorded leg", 5, 43, "force_squared", "slsqp", remark="not installed")
    found = strictly(
        json_text(benchmark_document(BenchmarkReport({"cores": "2", "numpy": "2.1"}, [row], [single])))
    )
    assert found["machine"] == {"cores": 2, "numpy": "2.1"}
    assert found["solvers"][0]["us_per_frame"] is None and found["solvers"][0]["solver"] == "slsqp"
    assert found["single_frames"][0]["solve"]["median"] == pytest.approx(1.5e-5)

    model = save_model(tmp_path)
    coordinates, moments = save_inputs(tmp_path, read_osim(model))
    chosen = [part for dof in DOFS for part in ("--coordinate", dof)]
    words = ["--model", model, "--coordinates", coordinates, "--moments", moments, *chosen]
    words += ["--passive", "table", "--no-figures"]
    document = strictly(typed("share", *words, "-o", tmp_path / "out", "--json").stdout)
    assert set(document) >= RUN_KEYS and document["legs"]["right"]["solved"] == 61
    assert document["trial"] == coordinates.resolve().as_posix() and len(document["files"]) == 4


@pytest.mark.every_pair
@pytest.mark.parametrize("json_first", [True, False])
@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (["run", "absent.toml", "-o", "out"], "missing_file", "absent.toml"),
        (["run", "проба.toml", "-o", "out"], "missing_file", "проба.toml"),
        (["run", "absent.toml"], "missing_file", "absent.toml"),
        (["run", "absent.toml", "-o", "out", "--side", "q"], "bad_usage", "run"),
        (["run", "absent.toml", "-o", "out", "--seed", "one"], "bad_usage", "run"),
        (["share", "--model", "absent.osim", "--coordinates", "a", "-o", "out"], None, ""),
        (["compare", "absent.toml", "--cost", "force", "-o", "out"], "missing_file", "absent.toml"),
        (["benchmark", "--solver", "ipot"], "unknown_name", ""),
        (["benchmark", "--cost", "force"], "unknown_name", ""),
        (["average", "absent.nc", "-o", "out"], "missing_file", "absent.nc"),
    ],
)  # fmt: skip
def test_an_error_is_a_document_too(words, code, part, json_first, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [words[0], "--json", *words[1:]] if json_first else [*words, "--json"]
    done = typed(*words)
    assert done.exit_code == 2, done.output
    document = strictly(done.stdout)
    assert document["exit_code"] == 2 and set(document["error"]) == ERROR_KEYS
    assert code is None or document["error"]["code"] == code
    assert part in f"{document['error']['file']} {document['error']['place']}"
    assert done.stderr.startswith("musclesolve: ") and not (tmp_path / "out").exists()


def test_a_stop_and_a_refusal_of_the_system_are_documents_too(tmp_path, monkeypatch):
    for error, code, exit_code in ((KeyboardInterrupt(), "interrupted", 130), (MemoryError(), "out_of_memory", 2),
                                   (PermissionError(13, "not allowed", "x.nc"), "system", 2)):  # fmt: skip

        def fail(*given, stop=error, **more):
            raise stop

        monkeypatch.setattr("musclesolve.studies.many_trials.one_trial.read_in_time_range", fail)
        done = typed("run", "a.toml", "-o", tmp_path / "out", "--json")
        assert done.exit_code == exit_code
        assert strictly(done.stdout)["error"]["code"] == code


def test_quiet_prints_nothing_and_writes_the_same(tmp_path):
    trial = write_stride(tmp_path)
    done = typed("run", trial, "-o", tmp_path / "out", "--side", "r", "--no-figures", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    assert (tmp_path / "out" / "result.nc").is_file()
    for words in (["check", trial, "-q"], ["export", tmp_path / "out" / "result.nc", "--format", "csv", "-q"],
                  ["synthesize", "-o", tmp_path / "syn", "-q"]):  # fmt: skip
        done = typed(*words)
        assert (done.exit_code, done.output) == (0, "")


def test_quiet_prints_errors_and_frames_without_solution(tmp_path, monkeypatch):
    monkeypatch.setattr(page_style, "figures_of", lambda *_: {})
    done = typed("run", tmp_path / "absent.toml", "-o", tmp_path / "out", "-q")
    assert done.exit_code == 2 and done.stdout == "" and "absent.toml" in done.stderr
    done = typed("check", tmp_path / "absent.toml", "-q")
    assert done.exit_code == 2 and done.stdout == "" and "absent.toml" in done.stderr
    write_result(with_troubles(few_muscles(result(n_frames=251))), tmp_path / "bad.nc")
    done = typed("average", tmp_path / "bad.nc", "-o", tmp_path / "mean", "-q")
    assert done.exit_code == 3 and done.stdout == "" and done.stderr.count("\n") == 1


def test_quiet_and_json_together_print_the_document_alone(tmp_path):
    words = ("run", write_stride(tmp_path), "-o", tmp_path / "out", "--side", "r", "--no-figures")
    done = typed(*words, "--json", "--quiet")
    assert strictly(done.stdout)["exit_code"] == 0 and done.stderr == ""
    assert mode.json and mode.quiet
    typed("list", "markers")
    assert not (mode.json or mode.quiet)  # of the next command


@pytest.mark.parametrize(
    "words, key, name",
    [
        (["list", "muscles"], "muscles", "soleus"),
        (["list", "muscles", "silva_2003"], "muscles", "soleus"),
        (["list", "muscles", "soleus", "--database", "silva_2003"], "muscles", "soleus"),
        (["list", "markers"], "markers", "plug_in_gait"),
        (["list", "markers", "plug_in_gait"], "markers", "plug_in_gait"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_lists_of_what_there_is_are_documents(words, key, name):
    """A muscle set is found by its name alone, too."""
    found = strictly(typed(*words, "--json").stdout)
    assert name in [each["name"] for each in found[key]]
    assert len(found[key]) == 1 or len(words) < 3 or found["database"] == words[2]


def test_a_reader_that_has_gone_and_a_narrow_encoding(tmp_path):
    command = [sys.executable, "-m", "musclesolve", "check", "проба.toml", "--json"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2 and strictly(done.stdout)["trial"] == "проба.toml" and done.stderr == ""
    gone = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    gone.stdout.close()
    assert (gone.stderr.read(), gone.wait()) == (b"", 2)
    gone.stderr.close()


def test_numbers_are_written_as_people_write_them():
    """A number without an end, 1 / 3, is written with fifteen digits."""
    text = json_text({"numbers": [0.1 + 0.2, 12.000000000000002, 1.0 / 3.0, 1e-300, -2e300]})
    assert text.split()[3:5] == ["0.3,", "12.0,"] and "0.333333333333333," in text
    np.testing.assert_allclose(
        json.loads(text)["numbers"], [0.3, 12.0, 1.0 / 3.0, 1e-300, -2e300], rtol=1e-14
    )
