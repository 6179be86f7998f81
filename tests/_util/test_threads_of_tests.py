"""Tests run side by side: threads of their linear algebra would wait for each other."""

from __future__ import annotations

import os

import numpy as np
import pytest
from threadpoolctl import threadpool_info

STATED = {os.environ.get(name, "1") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}


@pytest.mark.skipif(STATED != {"1"}, reason="the environment states another number")
def test_linear_algebra_of_tests_has_one_thread():
    np.linalg.solve(np.eye(3), np.ones(3))
    assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}
