"""Names of the points and channels of a C3D file: labels, or descriptions where labels are cut or repeat.

Some programs cut labels to a number of letters: "RKNE" is the label of R.Knee and of R.Knee.Medial, and the full names
stand in DESCRIPTIONS. Labels are cut where each of them is the beginning of its description, all that are shorter end
at one length, and none is longer. A label of its own that is described in words ("LFHD", "Left front head") stays.
"""

from collections import Counter
from collections.abc import Sequence

from musclesolve._util.names import folded


def full_names(labels: Sequence[str], descriptions: Sequence[str]) -> list[str]:
    """Return the names of points or channels, in the order of their labels; labels that nothing distinguishes stay.

    A description serves where it is cut into its label, or where the label repeats, if no other one is like it.
    """
    texts = [*descriptions[: len(labels)], *[""] * (len(labels) - len(descriptions))]
    described, count = Counter(texts), Counter(labels)
    pairs = list(zip(labels, texts, strict=True))
    cut = _are_cut([pair for pair in pairs if all(pair)])
    full = [
        text
        if text and described[text] == 1 and (count[label] > 1 or (cut and _longer(label, text)))
        else label
        for label, text in pairs
    ]
    # A description that is the label of another one would be a new repetition.
    again = Counter(full)
    return [label if again[name] > 1 else name for name, label in zip(full, labels, strict=True)]


def _are_cut(pairs: Sequence[tuple[str, str]]) -> bool:
    lengths = {len(folded(label)) for label, text in pairs if _longer(label, text)}
    return (
        len(lengths) == 1
        and all(folded(text).startswith(folded(label)) for label, text in pairs)
        and all(len(folded(label)) <= max(lengths) for label, _ in pairs)
    )


def _longer(label: str, text: str) -> bool:
    return len(folded(text)) > len(folded(label))
