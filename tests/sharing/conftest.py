from __future__ import annotations

from collections.abc import Callable

import pytest
from sharing_cases import leg

from musclesolve import Problem


@pytest.fixture(scope="session")
def make_leg() -> Callable[..., Problem]:
    return leg
