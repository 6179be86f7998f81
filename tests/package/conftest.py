"""Sources are parsed once for all tests of this folder, and forgotten after them: they are millions of objects."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.package.test_imports import calls, nodes, tree


@pytest.fixture(scope="package", autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    for kept in (tree, nodes, calls):
        kept.cache_clear()
