"""Ctrl-C is heeded wherever it comes."""

from __future__ import annotations

import signal
import sys
import weakref

import pytest

from musclesolve._util.processes import interrupts


class Thing:
    pass


def test_ctrl_c_is_raised_where_it_comes():
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts():
        signal.raise_signal(signal.SIGINT)
        reached.append("the next line")
    assert reached == []


def test_ctrl_c_that_a_callback_drops_is_raised_at_the_next_question(capfd):
    answers = []
    with pytest.raises(KeyboardInterrupt), interrupts() as ask:
        ask()
        thing = Thing()
        reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
        del thing
        answers.append(reference())
        ask()
        answers.append("too far")
    assert answers == [None]
    assert capfd.readouterr().err == ""


def test_another_signal_can_be_heeded_instead():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), interrupts(signal.SIGTERM):
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_everything_is_as_before_afterward():
    before = signal.getsignal(signal.SIGINT), sys.unraisablehook
    with interrupts():
        assert signal.getsignal(signal.SIGINT) is not before[0]
    assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == before
