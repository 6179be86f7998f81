"""Errors by their code and place: what tests ask of a refusal, whatever its wording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from musclesolve.errors import InputError


@contextmanager
def refused(
    code: str, *parts: str, error: type[Exception] = InputError
) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect an error of this code, or of this template, whose message has these parts: a file, a name, a number.

    Args:
        code: see `musclesolve/error_codes.toml`; or the key of a template, such as "opensim.no_column".
        parts: of the message. Names and numbers of the input, not the wording.
        error: the kind of exception.
    """
    with pytest.raises(error) as raised:
        yield raised
    assert code in (getattr(raised.value, "code", None), getattr(raised.value, "key", None)), raised.value
    message = str(raised.value)
    for part in parts:
        assert part in message, message
