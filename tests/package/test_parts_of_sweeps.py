"""What runs of a sweep by default, and that a thorough run leaves nothing out: `tests/support/thorough.py`."""

from __future__ import annotations

import pytest
import thorough


class Item:
    """A case of a test, with its marks."""

    def __init__(self, nodeid: str, *marks: pytest.MarkDecorator) -> None:
        self.nodeid = nodeid
        self.marks = [each.mark for each in marks]

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return [each for each in self.marks if each.name == name]

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next(iter(self.iter_markers(name)), None)


IN_PART, LONG = pytest.mark.in_part(2), pytest.mark.thorough
ITEMS = [
    Item("test_short"),
    Item("test_long", LONG),
    # as pytest sorts the cases of a fixture with parameters: not after each other
    *(
        Item(f"{name}[{k}]", *marks)
        for k in range(5)
        for name, *marks in (("test_few", IN_PART), ("test_every",))
    ),
    Item("test_one_is_long[short]"),
    Item("test_one_is_long[long]", LONG),
]


def test_every_other_case_and_no_long_form_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thorough, "THOROUGH", False)
    left_out = {"test_long", "test_few[1]", "test_few[3]", "test_one_is_long[long]"}
    assert thorough.left_out(ITEMS) == left_out
    assert thorough.of_each(range(10), lambda k: k % 3, 2) == [0, 1, 2, 3, 4, 5]


def test_a_thorough_run_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thorough, "THOROUGH", True)
    assert thorough.left_out(ITEMS) == set()
    assert thorough.of_each(range(10), lambda k: k % 3) == list(range(10))


def test_crossed_values_run_along_a_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thorough, "THOROUGH", False)
    crossed = [pytest.mark.parametrize("one", "ab"), pytest.mark.parametrize("other", "xyz")]
    items = [Item(f"test_crossed[{one}-{other}]", *crossed) for one in "ab" for other in "xyz"]
    kept = {each.nodeid for each in items} - thorough.left_out(items)
    assert kept == {"test_crossed[a-x]", "test_crossed[b-y]", "test_crossed[a-z]"}
