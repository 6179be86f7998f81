"""Checks of arguments: what passes, and what is refused with which code."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from musclesolve._util.checks import (
    check_array,
    check_increasing,
    check_integer,
    check_number,
    check_real_array,
)
from musclesolve.errors import InputError


@pytest.mark.parametrize("given", [0.5, np.float32(0.5), Fraction(1, 2), np.array(0.5), np.float64(0.5)])
def test_a_number_of_any_kind_becomes_a_float(given):
    found = check_number(given, "x", "a number", above=0.0, below=1.0)
    assert found == 0.5 and type(found) is float


@pytest.mark.parametrize(
    "given",
    [
        *("0.5", None, True, np.True_, np.array(True), 0.5j, [0.5], np.array([0.5]), np.ma.masked),
        *(np.nan, np.inf, 10**400, 0.0, 1.0),
    ],
)
def test_what_is_no_number_or_out_of_range_is_refused(given):
    with pytest.raises(InputError) as raised:
        check_number(given, "x", "a number between 0 and 1", above=0.0, below=1.0)
    assert (raised.value.code, raised.value.where) == ("bad_number", "x")


def test_least_and_most_are_allowed_themselves():
    assert [check_number(x, "x", "", least=0.0, most=1.0) for x in (0, 1)] == [0.0, 1.0]


@pytest.mark.parametrize("given", [True, 2.0, "2", 1, np.array(2.0), None])
def test_what_is_no_integer_is_refused(given):
    with pytest.raises(InputError) as raised:
        check_integer(given, "n", 2)
    assert raised.value.code == "bad_number"


def test_real_arrays_have_double_precision_and_none_is_missing():
    assert check_array(np.zeros(2, np.float32), "x", (2,), real=True).dtype == np.float64
    pixels = check_array([[1, 2], [None, None]], "x", ("n", 2), real=True, finite=False)
    assert np.isnan(pixels[1]).all() and pixels[0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (["1", "2"], "not_numbers"),
        ([1j, 2], "not_numbers"),
        ([object(), 1], "not_numbers"),
        ([None, 1], "not_finite"),
        ([1, 2, 3], "bad_shape"),
        ([[1], [2, 3]], "bad_shape"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(given, code):
    with pytest.raises(InputError) as raised:
        check_array(given, "x", (2,), real=True)
    assert raised.value.code == code


def test_masked_numbers_are_missing():
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    assert np.isnan(check_real_array(masked, "x", "numbers")).tolist() == [False, True]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ([0.0, 1.0, 1.0], "time_not_increasing"),
        ([0.0, 1j], "not_numbers"),
        (["0", "1"], "not_numbers"),
        ([[0.0, 1.0]], "bad_shape"),
        ([0.0, np.nan], "not_finite"),
        (np.ma.masked_array([0.0, 1.0], [False, True]), "not_finite"),
        ([0.0], "too_few_frames"),
    ],
)
def test_times_that_do_not_increase_are_refused_where_they_were_given(given, code):
    with pytest.raises(InputError) as raised:
        check_increasing(given, 2, where="time")
    assert (raised.value.code, raised.value.where) == (code, "time")
