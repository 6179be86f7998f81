"""Soleus force learned from joint angles and moments: ridge regression on a data set, tested on other subjects.

One learns how `make_dataset` turns folders of trials into one data set, how frames of many trials become a table, and
that a split by subject, not by frame, shows what a regression knows of people it has not seen. The six subjects are
made up. For real recordings: musclesolve dataset FOLDER -o forces, then the lines below from `open_dataset` on.
"""

import runpy
import sys
from pathlib import Path

import numpy as np

import musclesolve as ms

MAKE = Path(__file__).with_name("study") / "make_study.py"
INPUTS, TARGET = ["joint_angle", "joint_moment"], "muscle_force soleus_r"
RIDGE = 1e-3  # weight of the squared coefficients


def features(values: np.ndarray) -> np.ndarray:
    """The inputs (N, k), their products, and one."""
    products = values[:, :, None] * values[:, None, :]
    first, second = np.triu_indices(values.shape[1])
    return np.hstack([np.ones((len(values), 1)), values, products[:, first, second]])


def main(folder: Path) -> None:
    """Make the data set, fit on the subjects for training, predict the force of the subjects for the test."""
    runpy.run_path(str(MAKE))["write_trials"](folder / "subjects", subjects=6, trials=1)
    ms.studies.make_dataset(folder / "subjects", folder / "forces", keep=["force", "angle", "moment"], jobs=1)

    data = ms.studies.open_dataset(folder / "forces")
    rows = data.frames([*INPUTS, TARGET], data.names(verdicts=None)).dropna()
    train, test = (rows[rows["split"] == split] for split in ("train", "test"))
    columns = [name for name in rows if name.startswith(tuple(INPUTS))]
    mean, spread = train[columns].mean(), train[columns].std()
    x, x_test = (features(((part[columns] - mean) / spread).to_numpy()) for part in (train, test))
    y, y_test = (part[TARGET].to_numpy(dtype=float) for part in (train, test))

    # minimize |X b - y|^2 + RIDGE N |b|^2
    coefficients = np.linalg.solve(x.T @ x + RIDGE * len(x) * np.eye(x.shape[1]), x.T @ y)
    error = x_test @ coefficients - y_test
    explained = 1.0 - np.var(error) / np.var(y_test)
    people = train["subject"].nunique(), test["subject"].nunique()
    print(f"{len(train)} frames of {people[0]} subjects to learn, {len(test)} of {people[1]} to test")
    print(
        f"soleus: root mean square error {np.sqrt(np.mean(error**2)):.0f} N, {100 * explained:.0f} % explained"
    )


if __name__ == "__main__":  # make_dataset starts processes, and they read this script again
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("learned-forces"))
