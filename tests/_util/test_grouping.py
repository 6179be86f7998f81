"""Equal things are one group, also where they are not the same object; what has no hash stays alone."""

from musclesolve._util.grouping import equal_groups


def test_rows_that_are_equal_in_every_column_are_one_group():
    found = equal_groups(["a", "b", "a", "a"], [1.0, 1.0, 2.0, 1])
    assert [group.tolist() for group in found] == [[0, 3], [1], [2]]
    assert equal_groups([]) == []


def test_what_has_no_hash_is_equal_to_itself_alone():
    own = [0.0]
    assert [group.tolist() for group in equal_groups([own, [0.0], own])] == [[0, 2], [1]]
