"""Peaks are quoted in stance, and with their own standard deviation and shares."""

from __future__ import annotations

import re

import numpy as np
import pytest
import xarray as xr
from said import uncertainty_document
from said import uncertainty_summary as summary
from synthetic_result import WEIGHT, result, set_status

from musclesolve import Status
from musclesolve.laboratory.results.facts import UncertaintyFacts, counted_frames, uncertain_peak

SOURCES = ("strength", "muscle_path", "hip_center")


def sampled(seed: int = 0) -> xr.Dataset:
    """An uncertainty.nc in which every frame has its own spread and its own shares, larger in swing than in stance."""
    random = np.random.default_rng(seed)
    data = result(n_frames=251)
    data["contact_force"] = np.sqrt((data["joint_reaction"] ** 2).sum("axis"))
    data["contact_force"] = data["contact_force"] * (1.0 + random.uniform(0.0, 0.5, (251, 6)))
    data = data.assign_coords(
        source=list(SOURCES), source_label=("source", [name.upper() for name in SOURCES])
    )
    for name, dim in (("contact_force", "joint"), ("muscle_force", "muscle")):
        size = data.sizes[dim]
        swing = np.stack(
            [data["ground_reaction_force"].sel(side=str(n)[-1], axis="z") == 0 for n in data[dim].values], 1
        )
        data[name] = data[name] + 5.0 * WEIGHT * swing  # the artefact: the largest numbers are in swing
        data[f"{name}_mean"] = data[name] * 1.1
        data[f"{name}_sd"] = (("time", dim), random.uniform(10.0, 100.0, (251, size)) + 1e4 * swing)
        share = random.dirichlet(np.ones(3), (251, size))
        data[f"{name}_contribution"] = (("source", "time", dim), np.moveaxis(share, 2, 0))
    data["reserve_share"] = (("time", "side"), np.zeros((251, 2)))
    data.attrs |= {"samples": 60, "seed": 0, "failed_samples": 0, "without_contributions": ""}
    return data


@pytest.mark.in_part(2)
@pytest.mark.parametrize("seed", range(5))
def test_value_spread_and_shares_are_of_the_largest_frame_of_stance(seed: int) -> None:
    found = sampled(seed)
    for name, dim in (("contact_force", "joint"), ("muscle_force", "muscle")):
        for which in map(str, found[dim].values[::7]):
            own = found.sel({dim: which})
            stance = (found["ground_reaction_force"].sel(side=which[-1], axis="z") > 20.0).values
            at, frame = uncertain_peak(found, name, which), None
            frame = int(np.flatnonzero(found["time"].values == at.time)[0])
            assert stance[frame] and at.value == own[name].values[stance].max() == own[name].values[frame]
            assert at.sd == own[f"{name}_sd"].values[frame] < 200.0
            assert at.mean == own[f"{name}_mean"].values[frame]
            np.testing.assert_array_equal(
                at.shares.values, own[f"{name}_contribution"].isel(time=frame).values
            )


def test_the_summary_quotes_them() -> None:
    found = sampled()
    at = uncertain_peak(found, "contact_force", "knee_l")
    line = next(line for line in summary(found).splitlines() if "left knee" in line)
    assert f"left knee {at.value / WEIGHT:.1f} ± {at.sd / WEIGHT:.1f} body weights at {at.time:.3f} s" in line
    for name, share in zip(SOURCES, at.shares.values, strict=True):
        assert f"{name.upper()} {100 * share:.0f} %" in line
    least = next(line for line in summary(found).splitlines() if line.startswith("least certain"))
    spreads = [float(part.split("±")[1].split()[0]) for part in least.split(",")]
    assert spreads == sorted(spreads, reverse=True) and max(spreads) < 200


def test_frames_that_are_not_valid_hold_no_peak() -> None:
    found = sampled()
    first = uncertain_peak(found, "contact_force", "hip_r")
    set_status(found, Status.INVALID_MOTION, int(np.flatnonzero(found["time"].values == first.time)[0]), 0)
    assert uncertain_peak(found, "contact_force", "hip_r").value < first.value
    set_status(found, Status.INVALID_MOTION, slice(None), 0)
    assert (
        uncertain_peak(found, "contact_force", "hip_r") is None
        and uncertain_peak(found, "contact_force", "hip_l") is not None
    )
    assert "right hip has no valid frame" in summary(found)


def test_a_leg_that_never_stands_has_the_peak_of_its_swing() -> None:
    found = sampled()
    found["ground_reaction_force"].loc[{"side": "r"}] = 0.0
    assert counted_frames(found, "r").all() and not counted_frames(found, "l").all()
    assert (
        uncertain_peak(found, "contact_force", "hip_r").value
        == found["contact_force"].sel(joint="hip_r").max()
    )


def test_without_contributions_there_are_no_shares() -> None:
    found = sampled().drop_vars(["contact_force_contribution", "muscle_force_contribution"])
    assert uncertain_peak(found, "contact_force", "hip_r").shares is None
    assert "STRENGTH" not in summary(found)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("seed", range(3))
def test_every_number_of_a_sentence_is_of_the_frame_that_it_names(seed: int) -> None:
    """Every frame has other numbers: those printed are looked up again at the time that stands beside them."""
    found = sampled(seed)
    for line in (line for line in summary(found).splitlines() if "body weights at" in line):
        side, joint = re.search(r"(right|left) (hip|knee|ankle)", line).groups()
        time = float(re.search(r"at (\d+\.\d+) s", line).group(1))
        own = found.sel(joint=f"{joint}_{side[0]}").sel(time=time, method="nearest")
        value, sd = (float(own[name]) / WEIGHT for name in ("contact_force", "contact_force_sd"))
        mean = float(own["contact_force_mean"]) / WEIGHT
        assert f"{value:.1f} ± {sd:.1f} body weights" in line and f"samples {mean:.1f})" in line
        shares = dict(zip(SOURCES, own["contact_force_contribution"].values, strict=True))
        for name, share in re.findall(r"([A-Z_]+) (\d+) %", line):
            assert f"{100 * shares[name.lower()]:.0f}" == share


def test_so_it_is_in_the_document() -> None:
    found = sampled()
    document = uncertainty_document(found)
    for dim, name, unit in (("joint", "contact_force", WEIGHT), ("muscle", "muscle_force", 1.0)):
        key = f"{name}_peaks_" + ("body_weights" if dim == "joint" else "n")
        for which, numbers in document[key].items():
            own = found.sel({dim: which}).sel(time=numbers["time_s"], method="nearest")
            for part, suffix in (("value", ""), ("mean", "_mean"), ("sd", "_sd")):
                assert numbers[part] == pytest.approx(float(own[f"{name}{suffix}"]) / unit)
            np.testing.assert_allclose(
                [*numbers["shares_of_variance"].values()], own[f"{name}_contribution"].values
            )


@pytest.mark.thorough
def test_it_says_where_a_bound_changes() -> None:
    """The first order holds where a muscle stays between its bounds, here the first, and two frames have one side."""
    found = sampled()
    spread, quantile = found["muscle_force_sd"], xr.DataArray([0.025, 0.975], dims="quantile")
    held = xr.zeros_like(spread)
    held[:, 1:] = 1.0
    found = found.assign_coords(quantile=quantile)
    found["activation_quantile"] = xr.where(held > 0.0, 0.01, 0.3) + 0.1 * xr.ones_like(quantile)
    found["activation_quantile"][{"muscle": slice(1, None)}] = 0.01
    found["muscle_force_first_order_sd"] = spread * (1.0 + held)
    found["first_order_unique"] = (("time", "side"), np.ones((251, 2), bool))
    facts = UncertaintyFacts(found)
    assert facts.first_order_between_bounds == 1.0 and facts.one_sided_frames == 0
    assert facts.first_order_shares["muscle_force"] == pytest.approx(1.0 / spread.sizes["muscle"], rel=0.2)
    assert "stay between theirs it agrees in 100 %" in summary(
        found
    ) and "belongs to one side" not in summary(found)
    found["first_order_unique"][7:9, 0] = False
    assert UncertaintyFacts(found).one_sided_frames == 2 and "in 2 frames" in summary(found)
