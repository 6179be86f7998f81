"""Read the bank of force-sharing problems and check solutions, with numpy alone: copy this file beside the bank.

python read_bank.py force_sharing_bank.npz

A problem has T frames, m moments and n muscles: minimize f(a) subject to A a = moment and lower <= a <= upper, with
A = moment_arm * force_capacity. With x = coefficient * a the cost is, by its form in the index,

    power        f = sum_i x_i^p
    saturation   f = sum_i 1 - (1 - x_i^2)^(1/2),   x_i <= 1 - 1e-9
    largest      f = max_i x_i

A gap compares f with a lower bound that the multipliers prove (weak duality), so a small gap proves an optimum,
whoever found the solution. A frame out of reach has NaN as its solution, and a proof y (Farkas): y . A a < y . moment
for every a within the bounds.
"""

import json
import sys

import numpy as np


def read_bank(path):
    """Return the index, and the problems by name: arrays by name, and under "costs" the arrays of each cost."""
    with np.load(path, allow_pickle=False) as file:
        index = json.loads(str(file["index"]))
        bank = {name: {"costs": {cost: {} for cost in index["costs"]}} for name in index["problems"]}
        for key in file.files:
            if key != "index":
                problem, *cost, array = key.split("/")
                (bank[problem]["costs"][cost[0]] if cost else bank[problem])[array] = file[key]
    for problem in bank.values():
        problem["costs"] = {cost: arrays for cost, arrays in problem["costs"].items() if arrays}
    return index, bank


def terms(form, x):
    """The terms of each muscle, (T, n), of the forms `power` (with its exponent) and `saturation`."""
    kind, exponent = form["form"], form["exponent"]
    return x**exponent if kind == "power" else x * x / (1.0 + np.sqrt(np.maximum((1.0 - x) * (1.0 + x), 0.0)))


def value(form, coefficient, activation):
    """The cost f of every frame, (T,)."""
    x = coefficient * activation
    return x.max(axis=1) if form["form"] == "largest" else terms(form, x).sum(axis=1)


def missed(problem, activation):
    """The largest miss of a moment, relative to max(1 N m, |moment|), or of a bound, in every frame, (T,)."""
    produced = np.einsum("tmn,tn->tm", problem["moment_arm"], problem["force_capacity"] * activation)
    moment = problem["moment"]
    beyond = np.maximum(problem["lower"] - activation, activation - problem["upper"])
    moments = np.abs(produced - moment) / np.maximum(1.0, np.abs(moment))
    return np.maximum(moments.max(axis=1), beyond.max(axis=1))


def gap(form, problem, coefficient, activation, multiplier):
    """The cost over the lower bound that the multipliers (T, m) prove, as a share of the cost, (T,)."""
    lower, upper, moment = problem["lower"], problem["upper"], problem["moment"]
    matrix = problem["moment_arm"] * problem["force_capacity"][:, None, :]
    pull, c = np.einsum("tm,tmn->tn", multiplier, matrix), np.broadcast_to(coefficient, lower.shape)
    cost = value(form, c, activation)
    with np.errstate(divide="ignore", invalid="ignore"):
        if form["form"] == "largest":  # no a with all x <= cost reaches more than `most`
            most, least = (
                np.maximum(pull * lower, pull * np.fmin(upper, level[:, None] / c)).sum(axis=1)
                for level in (cost, 0.0 * cost)
            )
            reached = np.einsum("tm,tm->t", multiplier, moment)
            return np.where(most > least, (most - reached) / (most - least), 0.0)
        push = np.maximum(pull, 0.0) / c  # the slope by x; below, the a of least f(a) - pull . a
        if form["form"] == "power":
            x = (push / form["exponent"]) ** (1.0 / (form["exponent"] - 1.0))
        else:
            x, upper = push / np.sqrt(1.0 + push**2), np.minimum(upper, (1.0 - 1e-9) / c)
        best = np.clip(np.where(c > 0.0, x / c, np.where(pull > 0.0, upper, lower)), lower, upper)
        above = terms(form, c * activation) - terms(form, c * best) - pull * (activation - best)
        produced = np.einsum("tmn,tn->tm", matrix, activation)
        excess = above.sum(axis=1) + np.einsum("tm,tm->t", multiplier, produced - moment)
    return np.abs(excess) / np.maximum(cost, 1e-12 * value(form, c, 0.1 * upper))


def farkas_ratio(form, problem, coefficient, proof):
    """The margin by which y . moment exceeds all y . A a, without unit, (T,): positive where y is a proof."""
    upper, moment = problem["upper"], problem["moment"]
    if form["form"] == "saturation":
        with np.errstate(divide="ignore"):
            upper = np.minimum(upper, 1.0 / coefficient)
    pull = np.einsum("tm,tmn->tn", proof, problem["moment_arm"] * problem["force_capacity"][:, None, :])
    reach = np.maximum(pull * problem["lower"], pull * upper).sum(axis=1)
    size = (np.abs(proof) * np.maximum(1.0, np.abs(moment))).sum(axis=1)
    return (np.einsum("tm,tm->t", proof, moment) - reach) / size


def check(form, problem, solution):
    """The worst miss and gap of the solved frames, the smallest Farkas ratio of the others (NaN: none)."""
    a, c = solution["activation"], np.broadcast_to(solution["coefficient"], solution["activation"].shape)
    solved = np.isfinite(a).all(axis=1)
    here = {
        name: problem[name][solved] for name in ("moment_arm", "moment", "force_capacity", "lower", "upper")
    }
    rest = {name: problem[name][~solved] for name in here}
    gaps = gap(form, here, c[solved], a[solved], solution["multiplier"][solved])
    ratio = farkas_ratio(form, rest, c[~solved], solution["proof"][~solved]) if not solved.all() else [np.nan]
    return missed(here, a[solved]).max(initial=0.0), gaps.max(initial=0.0), np.min(ratio)


def main(path):
    """Check every solution of a bank and print what it misses."""
    index, bank = read_bank(path)
    print(f"{index['name']}, version {index['version']}: {len(bank)} problems")
    print(f"{'problem':24}{'T':>3}{'m':>4}{'n':>5}  {'cost':36}{'miss':>9}{'gap':>9}{'proof':>9}")
    for name, problem in bank.items():
        for cost, solution in problem["costs"].items():
            size = "{:3}{:4}{:5}".format(*problem["moment_arm"].shape)
            miss, over, proof = check(index["costs"][cost], problem, solution)
            print(f"{name:24}{size}  {cost:36}{miss:9.0e}{over:9.0e}{proof:9.0e}")


if __name__ == "__main__":
    main(sys.argv[1])
