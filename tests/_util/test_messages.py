"""Messages stay short, whatever was given."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import musclesolve as ms
from muscle_db.similar_names import similar
from musclesolve._util.messages import as_text, few
from musclesolve.errors import LONGEST_PART

LONGEST = 1000
"""Most characters of a message: a dozen lines."""

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=400) | st.binary(max_size=400),
    lambda part: (
        st.lists(part, max_size=30) | st.tuples(part, part) | st.dictionaries(st.text(), part, max_size=30)
    ),
    max_leaves=60,
)


@given(value=ANY)
def test_a_value_has_a_short_text(value: object) -> None:
    assert len(as_text(value)) <= 200


def test_the_first_values_and_their_number() -> None:
    assert as_text(np.arange(80) / 4.0) == "[0.0, 0.25, 0.5, 0.75, 1.0, 1.25, ...] (shape (80,))"
    assert as_text([np.float64(0.5)] * 80) == "[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, ...] (80 values)"
    assert as_text("ab") == "'ab'" and as_text((1, 2)) == "(1, 2)" and as_text(np.float64(2.5)) == "2.5"
    assert as_text(np.eye(2)) == "array([[1., 0.], [0., 1.]])"
    assert few("abc") == "a, b, c" and few("abcd") == "a, b, c ... (4 in all)"


def test_whatever_a_representation_does() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert as_text(Odd()) == "an object of Odd (RuntimeError)"


def test_no_part_of_a_message_is_endless() -> None:
    error = ms.InputError("x" * 10**6, where="y" * 10**6, expected="z" * 10**6, remedy="u" * 10**6)
    assert len(str(error)) < 4 * LONGEST_PART + 300 and len(error.problem) < LONGEST_PART + 40
    assert "1000000 characters" in error.problem
    assert ms.InputError("short").problem == "short"


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("gender", ("age_years", "name", "sex"), []),
        ("age", ("name", "age_years"), ["age_years"]),
        ("STRN", ("wrist_r", "neck_base"), []),
        ("upd", ("udp", "lsl"), ["udp"]),
        ("stature", ("stature_m", "mass_kg"), ["stature_m"]),
    ],
)
def test_a_name_is_suggested_where_most_of_it_was_written(
    name: str, known: tuple[str, ...], near: list[str]
) -> None:
    assert similar(name, known) == near


LARGE = {
    "array": np.linspace(-1.0, 1.0, 80) / 3.0,
    "matrix": np.full((80, 80), -1.0 / 3.0),
    "nan": np.full(80, np.nan),
    "list": [k / 3.0 for k in range(300)],
    "names": [f"name_{k}" for k in range(300)],
    "text": "x" * 5000,
    "nested": [[1.0 / 3.0] * 80] * 80,
    "dictionary": {f"key_{k}": k / 3.0 for k in range(300)},
    "objects": np.array([None] * 200),
}


def problem(**changes: object) -> ms.Problem:
    sizes = {"moment_arm": np.full((50, 5, 80), 0.05), "moment": np.ones((50, 5))}
    forces = {"force_capacity": np.ones((50, 80)), "max_isometric_force": np.ones(80)}
    return ms.Problem(**{**sizes, **forces, **changes})  # type: ignore[arg-type]


def signal(**changes: object) -> np.ndarray:
    given = {"signal": np.ones(100), "rate_hz": 100.0, "cutoff_hz": 6.0, "order": 2} | changes
    return ms.dynamics.low_pass(**given)  # type: ignore[arg-type]


TAKERS: dict[str, tuple[Callable[..., object], tuple[str, ...]]] = {
    "Problem": (
        problem,
        (
            *(
                "moment_arm",
                "moment",
                "force_capacity",
                "max_isometric_force",
                "lower",
                "upper",
                "muscle",
                "dof",
            ),
            *("reserve_weight", "fiber_velocity", "optimal_fiber_length", "passive_force", "emg"),
        ),
    ),
    "solve": (lambda **more: ms.solve(problem(), **more), ("cost", "solver", "warm_start", "on_infeasible")),
    "force_range": (lambda **more: ms.sharing.force_range(problem(), **more), ("muscles",)),
    "check_reserves": (
        lambda **more: ms.sharing.check_reserves(
            problem(), ms.solve(problem(), on_infeasible="reserve"), **more
        ),
        ("moment", "limits"),
    ),
    "diagnose": (lambda **more: ms.diagnose(problem(), **more), ("frames",)),
    "low_pass": (signal, ("signal", "rate_hz", "cutoff_hz", "order")),
    "RateLimits": (ms.sharing.RateLimits, ("activation_time", "deactivation_time")),
    "share_model": (
        lambda **more: ms.share_model("a.osim", "b.mot", "c.sto", **more),
        ("cost", "solver", "passive", "tendon", "tendon_strain", "reserve_weight"),
    ),
    "read_trial": (ms.read_trial, ("path",)),
    "read_mot": (ms.tables.read_mot, ("path",)),
    "read_markers": (ms.laboratory.read_markers, ("path",)),
    "synthetic_recording": (
        lambda **more: ms.studies.synthetic_recording("nowhere/at/all", **more),
        ("marker_set", "noise", "gaps", "marker_rate_hz", "forward", "up", "cutoff_hz"),
    ),
}


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("taker", "name"), [(t, name) for t, (_, names) in TAKERS.items() for name in names])
def test_no_message_lists_a_large_argument(taker: str, name: str) -> None:
    refusals = 0
    for kind, value in LARGE.items():
        if taker.startswith("read_") and kind == "text":
            continue  # the name of the file, which is said in full
        try:
            TAKERS[taker][0](**{name: value})
        except ms.MuscleSolveError as error:
            refusals += 1
            assert len(str(error)) < LONGEST, (kind, str(error)[:2000])
    assert refusals
