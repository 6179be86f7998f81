"""What the option --tendon-strain of `share` states: a number for all muscles, or WORD=NUMBER."""

from __future__ import annotations

from collections.abc import Sequence

OPTION = "--tendon-strain"


def stated_strains(given: Sequence[str]) -> dict[str, float] | None:
    """Numbers by word, as `share_model` takes them; a number alone is that of all muscles; None of nothing.

    Raises:
        InputError: what is no number, or a word that stands twice.
    """
    from musclesolve.errors import InputError
    from musclesolve.muscles.tendon_strain import ALL  # loads numpy: only where the command runs

    found: dict[str, float] = {}
    for text in given:
        word, equals, value = text.rpartition("=")
        word = word.strip() if equals else ALL
        if word in found:
            raise InputError(
                f"{word!r} stands twice",
                code="duplicate_name",
                where=OPTION,
                expected="every word once",
                remedy="remove one of them",
            )
        try:
            found[word] = float(value)
        except ValueError:
            raise InputError(
                f"{text!r} does not end in a number",
                code="bad_number",
                where=OPTION,
                expected="a strain such as 0.06, or WORD=0.06",
                remedy=f"{OPTION} achilles=0.08",
            ) from None
    return found or None
