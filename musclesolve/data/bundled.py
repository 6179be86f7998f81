"""Recordings that come with the package."""

from pathlib import Path


def reference_stride() -> Path:
    """Path of the trial file of the bundled stride of level walking, for `read_trial`.

    The stride is computed, not recorded: see tools/reference_stride in the repository.
    """
    return Path(__file__).with_name("reference_stride") / "trial.toml"
