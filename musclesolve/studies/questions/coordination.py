"""Coordination of muscles: synergies, co-contraction, and the stiffness that muscles give to the joints.

Synergies describe activations by few patterns, a = sum_k w_k c_k(t) with weights and courses of zero or more (d'Avella
and Bizzi 2005, PNAS 102:3076-3081). Activations of static optimization follow from few joint moments: their synergies
describe these, too, and are no proof of a neural organization.

The stiffness of a joint is the decrease of its moment per angle in a quick change, before activation changes:

    K_d = sum_i r_di^2 k_i,      1 / k_i = 1 / k_fibers + 1 / k_tendon,      k_fibers = 23.4 F_i / L0_i

with the short-range stiffness of active fibers (Cui, Perreault, Maas and Sandercock 2008, J Biomech 41:1945-1952; Hu,
Murray and Perreault 2011, J Neurophysiol 105:1297-1308, for limbs) and the tendon's tangent stiffness by the curve of
Thelen (2003, J Biomech Eng 125:70-77). The change of moment arms, F dr/dq, is left out.
"""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve._util.sides import side_of
from musclesolve.errors import input_error
from musclesolve.laboratory.results.dataset.checked import as_dataset, check_parts
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, explained
from musclesolve.laboratory.results.dataset.result_quantities import shared_dofs
from musclesolve.laboratory.results.facts import Facts
from musclesolve.muscles.muscle_parameters import TENDON_STRAIN
from musclesolve.sharing.status import is_solved
from musclesolve.studies.compare import co_contraction
from musclesolve.studies.written_answer import judgement_of

MOST_SYNERGIES = 8
"""Largest number of synergies that are tried."""
WHOLE, EACH = 0.90, 0.75
"""Variance accounted for, of all muscles together and of each, from which a number of synergies is enough.

As Torres-Oviedo, Macpherson and Ting (2006, J Neurophysiol 96:1530-1546) and others chose.
"""
ACTIVE = 0.05
"""Peak activation below which a muscle is left out: its pattern would only show the least activation."""
STARTS, ROUNDS = 5, 400
"""Number of random starts of the factorization, and largest number of iterations."""
SHORT_RANGE = 23.4
"""Short-range stiffness of fibers over force and optimal fiber length."""


def coordination(result: xr.Dataset) -> xr.Dataset:
    """Synergies of each leg, co-contraction and stiffness of each joint of a result.

    Args:
        result: of `run`, `share` or `read_result`.

    Returns:
        Dataset over time, side, number (1 to MOST_SYNERGIES), synergy, muscle and dof. Synergies: variance_accounted
        (side, number) [1] and least_of_muscle (side, number), the value of the muscle that is described worst;
        synergies (side), the least number with which the first is at least WHOLE and the second at least EACH,
        MOST_SYNERGIES if none; synergy_weight (muscle, synergy), of muscles with their peak activation as 1, the
        largest of a synergy 1; synergy_course (time, side, synergy) with that number, ordered by the time of their
        peak. co_contraction (time, dof) [1], see `compare.co_contraction`. joint_stiffness (time, dof) [N m/rad].
        Frames without a solution are NaN.

    Raises:
        InputError: the dataset is no result, or has no frame with activations.
    """
    needed, result = ("activation", "muscle_force", "passive_force"), as_dataset(result)
    missing = [name for name in needed if name not in result or {*result[name].dims} != {"time", "muscle"}]
    check_parts(result, [f"{name} over time and muscle" for name in missing])
    answers = synergies(result)
    answers = answers.assign(co_contraction(result)).assign(joint_stiffness=joint_stiffness(result))
    return explained(answers).assign_attrs(
        subject=str(result.attrs.get("subject", "")),
        cost=str(result.attrs.get("cost", "")),
        tendon=str(result.attrs.get("tendon", "")),
        **judgement_of(result),
    )


def synergies(result: xr.Dataset) -> xr.Dataset:
    """Synergies of the muscles of each side by non-negative factors of their activations; see `coordination`.

    All frames of whole strides count where there are any, else all frames with a solution. Each muscle counts with its
    peak activation as 1.
    """
    sides = [str(side) for side in result["side"].values]
    names = np.array([str(name) for name in result["muscle"].values])
    activation = result["activation"].transpose("time", "muscle").values
    strides = Facts(result).whole_strides
    frames = np.ones(len(activation), bool) if strides is None else strides[0]
    variance, worst = (np.full((len(sides), MOST_SYNERGIES), np.nan) for _ in range(2))
    count = np.zeros(len(sides), int)
    weight = np.full((len(names), MOST_SYNERGIES), np.nan)
    course = np.full((len(activation), len(sides), MOST_SYNERGIES), np.nan)
    for place, side in enumerate(sides):
        columns = np.flatnonzero([side_of(name) == side for name in names])
        solved = is_solved(result["status"].sel(side=side).values) & np.isfinite(activation[:, columns]).all(
            axis=1
        )
        rows = np.flatnonzero(solved & frames)
        if not rows.size or not columns.size:
            continue
        peak = activation[np.ix_(rows, columns)].max(axis=0)
        columns, peak = columns[peak > ACTIVE], peak[peak > ACTIVE]
        pattern = activation[np.ix_(rows, columns)] / peak
        fits = {}
        for number in range(1, min(MOST_SYNERGIES, *pattern.shape) + 1):
            fits[number] = nonnegative_factors(pattern, number)
            rest = np.square(pattern - fits[number][0] @ fits[number][1])
            square = np.square(pattern)
            variance[place, number - 1] = 1.0 - rest.sum() / square.sum()
            worst[place, number - 1] = (1.0 - rest.sum(axis=0) / square.sum(axis=0)).min()
        enough = (variance[place] >= WHOLE) & (worst[place] >= EACH)
        count[place] = int(enough.argmax()) + 1 if enough.any() else len(fits)
        courses, weights = fits[count[place]]
        order = np.argsort(courses.argmax(axis=0))
        weight[columns, : count[place]] = weights[order].T
        course[rows, place, : count[place]] = courses[:, order]
    if not count.any():
        raise input_error(
            "no_overlap",
            where="synergies",
            problem="no frame of the result has activations",
            expected="a result with solved frames",
            remedy="look at its verdict: musclesolve check names what is wrong with the trial",
        )
    return xr.Dataset(
        {
            "variance_accounted": (("side", "number"), variance),
            "least_of_muscle": (("side", "number"), worst),
            "synergies": (("side",), count),
            "synergy_weight": (("muscle", "synergy"), weight),
            "synergy_course": (("time", "side", "synergy"), course),
        },
        {
            "time": result["time"],
            "side": sides,
            "muscle": names,
            "number": np.arange(1, MOST_SYNERGIES + 1),
            "synergy": np.arange(1, MOST_SYNERGIES + 1),
            "dof": result["dof"],
        },
    )


def nonnegative_factors(pattern: Array, number: int) -> tuple[Array, Array]:
    """Courses C (T, k) and weights W (k, n), both zero or more, with C W nearest to a pattern (T, n) of zero or more.

    Hierarchical alternating least squares: each column of C, then each row of W, is the best one while all others rest
    (Cichocki and Phan 2009, IEICE Trans Fundamentals E92-A:708-721). The best of STARTS starts; the largest weight of
    each row is 1.
    """
    random, best = np.random.default_rng(0), None
    for _ in range(STARTS):
        courses = random.random((len(pattern), number))
        weights = random.random((number, pattern.shape[1]))
        before = np.inf
        for _ in range(ROUNDS):
            for one, other, whole in ((courses.T, weights, pattern.T), (weights, courses.T, pattern)):
                # rows of `one` are improved: whole ~ other^T one
                gram, cross = other @ other.T, other @ whole
                for k in range(number):
                    step = (cross[k] - gram[k] @ one) / max(gram[k, k], 1e-12)
                    one[k] = np.maximum(one[k] + step, 1e-12)
            error = float(np.square(pattern - courses @ weights).sum())
            if before - error < 1e-7 * error:
                break
            before = error
        if best is None or error < best[0]:
            best = error, courses.copy(), weights.copy()
    assert best is not None
    _, courses, weights = best
    scale = np.maximum(weights.max(axis=1), 1e-12)
    return courses * scale, weights / scale[:, None]


def joint_stiffness(result: xr.Dataset) -> xr.DataArray:
    """Stiffness that the muscles give to each degree of freedom (time, dof) [N m/rad]; see the module.

    It is known for degrees of freedom whose moments the muscles share; NaN elsewhere and in frames without a solution.
    """
    force = (result["muscle_force"] - result["passive_force"]).clip(min=0.0)
    whole = result["muscle_force"].clip(min=0.0)
    fibers = SHORT_RANGE * force / result["optimal_fiber_length"]
    strain = _tendon_strain(result.attrs)
    tendon = (
        tendon_stiffness((whole / result["max_isometric_force"]).values, strain)
        * (result["max_isometric_force"] / result["tendon_slack_length"]).values
    )
    tendon = xr.DataArray(tendon, dims=whole.dims, coords=whole.coords)
    series = fibers * tendon / (fibers + tendon)
    series = series.where(result["tendon_slack_length"] > 0.0, fibers)
    of_muscles = result["moment_arm"] ** 2 * series
    reaches = result["moment_arm"] != 0
    shared = result["dof"].isin(shared_dofs(result))
    known = shared & (force.notnull() | ~reaches).all("muscle")
    stiffness = of_muscles.sum("muscle", skipna=True).where(known).transpose("time", "dof")
    return stiffness.assign_attrs(QUANTITIES["joint_stiffness"].attrs)


def _tendon_strain(attributes: Mapping[str, object]) -> float:
    """The strain of tendons at one maximum isometric force that a result states as one number, else TENDON_STRAIN."""
    try:
        strain = float(str(attributes["tendon_strain"]))
    except (KeyError, ValueError):
        return TENDON_STRAIN
    return check_number(strain, "tendon_strain", "a number above zero", above=0.0)


def tendon_stiffness(force: Array, strain: float) -> Array:
    """Slope of the tendon curve of Thelen (2003) at normalized forces, per strain [1].

    Below 0.33 of the maximum isometric force f = 0.33 (exp(3 e / e_toe) - 1) / (exp(3) - 1), e_toe = 0.609 e0, so that
    df/de = 3 / e_toe (f + 0.33 / (exp(3) - 1)); beyond a line of slope 1.712 / e0.
    """
    toe = 0.609 * strain
    bent = 3.0 / toe * (np.maximum(force, 0.0) + 0.33 / (np.exp(3.0) - 1.0))
    return np.where(force < 0.33, bent, 1.712 / strain)
