"""Messages about names that do not exist."""

from musclesolve._util.messages import unknown_name


def test_without_a_similar_name_all_of_them_are_listed() -> None:
    known = [f"muscle_{k}" for k in range(43)]
    alone, near = unknown_name("xyz", "muscle", known), unknown_name("muscle_4x", "muscle", known)
    assert alone.expected == f"one of {', '.join(known)}" and alone.remedy
    assert near.remedy and "muscle_4" in near.remedy and "(43 names)" in (near.expected or "")


def test_a_part_of_a_name_finds_what_a_long_list_leaves_out() -> None:
    known = [f"muscle_of_the_leg_{k}" for k in range(80)] + ["soleus_r"]
    remedy = unknown_name("xyz", "muscle", known).remedy
    assert remedy and remedy.endswith("a part of a name shows names that contain it")
    assert "soleus_r" in (unknown_name("sol", "muscle", known).remedy or "")


def test_a_single_name_is_never_only_counted() -> None:
    known = [f"cost_{k}" for k in range(13)]
    assert unknown_name("cost_1x", "cost", known).expected == f"one of {', '.join(known)}"
