"""Cycles of a study of random smooth curves, for tests of statistics, tables and figures."""

from __future__ import annotations

import numpy as np
import xarray as xr
from scipy.ndimage import gaussian_filter1d

PERCENT = np.linspace(0.0, 100.0, 101)
MARGIN = 80


def smooth(rng, *shape, fwhm=20.0):
    """Gaussian random curves (*shape, 101) of unit variance; FWHM in percent."""
    sigma = fwhm / np.sqrt(8.0 * np.log(2.0))
    noise = rng.standard_normal((*shape, PERCENT.size + 2 * MARGIN))
    kernel = gaussian_filter1d(np.eye(1, 401, 200)[0], sigma)
    smoothed = gaussian_filter1d(noise, sigma, axis=-1) / np.sqrt((kernel**2).sum())
    return smoothed[..., MARGIN:-MARGIN]


def bump(at, width=8.0):
    """A bell (101,) of height 1 at a percentage."""
    return np.exp(-0.5 * ((PERCENT - at) / width) ** 2)


def cycles(curves, *, groups=None, conditions=None, repeats=2, noise=0.0, seed=0, units="N m/kg"):
    """Study cycles from curves (S, C, K, 101) of subjects, conditions and degrees of freedom: `repeats` of each.

    `groups` (S,) and `conditions` (C,) are names; noise is that from cycle to cycle.
    """
    rng = np.random.default_rng(seed)
    subjects, of_conditions, dofs = curves.shape[:3]
    row, column, _ = (
        axis.ravel()
        for axis in np.meshgrid(*map(np.arange, (subjects, of_conditions, repeats)), indexing="ij")
    )
    values = curves[row, column] + noise * smooth(rng, row.size, dofs)
    names = [f"S{k + 1:02d}" for k in range(subjects)]
    over = {"subject": np.array(names)[row]}
    over |= {"group": np.array(groups)[row]} if groups is not None else {}
    over |= {"condition": np.array(conditions)[column]} if conditions is not None else {}
    over["cycle_side"] = np.where(np.arange(row.size) % 2, "l", "r")
    return xr.Dataset(
        {"joint_moment": (("cycle", "percent", "dof"), np.moveaxis(values, 1, 2), {"units": units})},
        {
            **{name: ("cycle", each) for name, each in over.items()},
            "dof": [f"dof_{k}" for k in range(dofs)],
            "percent": ("percent", PERCENT, {"units": "%"}),
        },
    )


WALKING = {
    # name: mean curve of healthy adults in level walking, drawn as bells (height, percent, width); the unit
    ("joint_angle", "hip_flexion"): ("deg", 12.0, [(22, 0, 14), (-24, 52, 13), (18, 86, 12), (18, 100, 9)]),
    ("joint_angle", "knee_flexion"): ("deg", 6.0, [(14, 15, 8), (56, 72, 10)]),
    ("joint_angle", "ankle_dorsiflexion"): ("deg", 0.0, [(-5, 6, 5), (11, 42, 14), (-21, 63, 6)]),
    ("joint_moment", "hip_flexion"): ("N m/kg", 0.0, [(-0.75, 8, 8), (0.85, 52, 9), (-0.3, 94, 6)]),
    ("joint_moment", "knee_flexion"): (
        "N m/kg",
        0.0,
        [(0.25, 3, 3), (-0.55, 14, 7), (0.25, 40, 8), (-0.2, 57, 6)],
    ),
    ("joint_moment", "ankle_dorsiflexion"): ("N m/kg", 0.0, [(0.1, 5, 4), (-0.7, 30, 13), (-1.35, 48, 8)]),
    ("ground_reaction_force", "x"): ("BW", 0.0, [(-0.18, 10, 6), (0.2, 53, 6)]),
    ("ground_reaction_force", "y"): ("BW", 0.0, [(0.05, 15, 8), (0.05, 45, 8)]),
    ("ground_reaction_force", "z"): ("BW", 0.0, [(1.05, 14, 8), (0.7, 31, 8), (1.05, 48, 7.5)]),
}
BETWEEN = {
    "joint_angle": (5.0, 3.0, 0.08),
    "joint_moment": (0.0, 0.08, 0.17),
    "ground_reaction_force": (0.0, 0.01, 0.06),
}
"""Standard deviations between subjects: of the zero, of the shape at each percentage, of the size [share]; of the size
and order that Kadaba et al. (1989, J Orthop Res 7:849-860) and Winter (1984, Hum Mov Sci 3:51-76) report."""


def walkers(count, rng, *, normal=True, spread=1.0, conditions=1, groups=None):
    """Mean curves of so many healthy subjects in level walking, as `subject_means` returns them.

    `normal=False`: with heavy tails, Student's t of 5 degrees of freedom. `spread` widens what is between subjects, and
    may be of each subject (S,).
    """
    wide = np.broadcast_to(np.asarray(spread, float), (count,))

    def draw(*shape):
        return rng.standard_normal(shape) if normal else rng.standard_t(5, shape) * np.sqrt(3.0 / 5.0)

    found = {}
    for (name, label), (unit, zero, bells) in WALKING.items():
        mean = zero + sum(height * bump(at, width) for height, at, width in bells)
        zero_sd, shape_sd, size_sd = BETWEEN[name]
        size_sd = (
            0.02 if label == "z" else size_sd
        )  # its mean over a cycle is the body weight, by Newton's law
        weights = draw(count, conditions, 9) / np.repeat([1, 2, 3, 4, 1], 2)[:9] / 1.7
        phase = 2.0 * np.pi * PERCENT / 100.0
        waves = np.stack([f(k * phase) for k in (1, 2, 3, 4) for f in (np.sin, np.cos)] + [np.sin(5 * phase)])
        shape = np.einsum("sck,kp->scp", weights, waves)
        moving = np.abs(mean - zero) / np.abs(mean - zero).max() if name == "ground_reaction_force" else 1.0
        apart = wide[:, None, None] * (zero_sd * draw(count, conditions, 1) + shape_sd * shape * moving)
        size = np.exp(size_sd * wide[:, None, None] * draw(count, conditions, 1))
        found.setdefault(name, {})[label] = (unit, zero + size * (mean - zero) + apart)
    variables = {}
    for name, curves in found.items():
        dim = "axis" if name == "ground_reaction_force" else "dof"
        values = np.stack([each for _, each in curves.values()], -1)
        unit = next(iter(curves.values()))[0]
        variables[name] = (("subject", "condition", "percent", dim), values, {"units": unit})
    for name, unit, mean, share in (("stride_time", "s", 1.08, 0.06), ("speed", "m/s", 1.3, 0.12)):
        values = mean * np.exp(share * wide[:, None] * draw(count, conditions))
        variables[name] = (("subject", "condition"), values, {"units": unit})
    variables["cycles"] = (("subject", "condition"), np.full((count, conditions), 4))
    groups = [""] * count if groups is None else list(groups)
    coords = {
        "subject": [f"S{k + 1:02d}" for k in range(count)],
        "condition": [f"C{k + 1}" for k in range(conditions)],
        "group": ("subject", groups),
        "percent": PERCENT,
        "dof": [label for name, label in WALKING if name == "joint_moment"],
        "axis": list("xyz"),
    }
    attrs = {"groups": list(dict.fromkeys(groups)), "movements": ["walking"]}
    return xr.Dataset(variables, coords, attrs)


def _turned(values):
    """Curves (percent, K) half a cycle later."""
    return values[np.append((np.arange(100) + 50) % 100, 50)]


SUBJECT_FAULTS = {
    "N m/kg": ("subject_scale", {"joint_moment": lambda x: x / 75.0}),
    "N mm": ("subject_scale", {"joint_moment": lambda x: 1000.0 * x}),
    "kgf": ("subject_scale", {"ground_reaction_force": lambda x: x / 9.80665}),
    "radians": ("subject_scale", {"joint_angle": np.radians}),
    "stature in cm": ("subject_scale", {"joint_moment": lambda x: x / 100.0}),
    "external moments": ("subject_sign", {"joint_moment": lambda x: -x}),
    "knee angle": ("subject_sign", {"joint_angle": lambda x: x * [1.0, -1.0, 1.0]}),
    "ankle moment": ("subject_sign", {"joint_moment": lambda x: x * [1.0, 1.0, -1.0]}),
    "mass in lb": (
        "subject_mass",
        {"joint_moment": lambda x: x / 2.20462, "ground_reaction_force": lambda x: x / 2.20462},
    ),
    "feet": ("subject_sides", {"joint_moment": _turned, "ground_reaction_force": _turned}),
    "legs of markers": ("subject_sides", {"joint_angle": _turned}),
}
"""Fault of a subject -> code of its finding, and what becomes of its curves (percent, K)."""


def with_fault(means, subject, fault):
    """Mean curves of which those of one subject, by its place, have a fault of `SUBJECT_FAULTS` in all conditions."""
    means = means.copy(deep=True)
    for name, change in SUBJECT_FAULTS[fault][1].items():
        for condition in range(means.sizes["condition"]):
            means[name].values[subject, condition] = change(means[name].values[subject, condition])
    return means
