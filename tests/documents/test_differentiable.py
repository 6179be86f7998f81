"""The examples of docs/differentiable.md run one after the other, and PyTorch and JAX give the same gradient."""

from __future__ import annotations

import numpy as np
from document_pages import DOCS, blocks
from packages import need

need("torch", "jax")


def test_both_libraries_give_the_gradient_of_the_page(capsys):
    names: dict = {}
    for block in blocks(DOCS / "differentiable.md", "python"):
        exec(compile(block, "docs/differentiable.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    shown = "".join(blocks(DOCS / "differentiable.md", "text")).splitlines()
    assert printed[: len(shown)] == shown and printed[2] == printed[1]
    np.testing.assert_allclose(names["by_weight"].force[0], [-5.59, 9.32, 0.0], atol=0.005)
    np.testing.assert_allclose(names["slope"], names["strength"].grad, rtol=1e-12)
