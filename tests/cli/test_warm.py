"""`musclesolve warm` knows every module with compiled functions."""

from __future__ import annotations

import re
from pathlib import Path

import musclesolve
from musclesolve.cli.commands.desk_commands import KERNELS


def test_every_module_with_compiled_functions_is_warmed():
    root = Path(musclesolve.__file__).parent
    found = {
        ".".join(path.relative_to(root.parent).with_suffix("").parts)
        for path in root.rglob("*.py")
        if re.search(r"^(    return|\w+ =) (CompiledFunction|on_disk)\(", path.read_text("utf-8"), re.M)
    }
    assert found == set(KERNELS)
