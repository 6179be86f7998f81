"""Files of strength tests."""

from __future__ import annotations

from pathlib import Path

from musclesolve.muscles.strength_tests import StrengthTests, read_strength_tests


def asked(folder: Path, dof: str, moment: float, velocity: float = 0.0, **angles: float) -> StrengthTests:
    """One test of a degree of freedom; velocity [deg/s], angles [deg]."""
    stated = ", ".join(f"{name} = {angle:.12f}" for name, angle in angles.items())
    path = folder / "strength.toml"
    path.write_text(
        f'[[test]]\ndof = "{dof}"\nmoment_N_m = {moment}\nvelocity_deg_s = {velocity}\nerror_N_m = 10.0\n'
        f"angles_deg = {{ {stated} }}\n",
        encoding="utf-8",
    )
    return read_strength_tests(path)
