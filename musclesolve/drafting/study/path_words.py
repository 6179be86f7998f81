"""Subjects, sessions, groups and conditions of trials, by the words of their paths.

A path such as control/P03/slow/walk_02.toml has levels, the folders and the name of the trial, and a level has words,
each with the number that ends it: control; P 03; slow; walk, 02. What a word means follows from what varies:

- The subject is the first level or word of the kind S01, sub-07, "patient 3": letters and a number, of which several
  have the same letters. Where there is none, a service gives every subject a folder or file of its own; of other
  trials it is the folder that varies and in which others repeat what is beside it. Trials in one folder are of one
  subject.
- A group is a level above the subject that parts the subjects: each is in one of its folders. Where a name stands in
  several of them the folders are groups if one is called so ("control", "patients"), and the persons are several.
- A session is named by a word for one and its number ("session2", "day 1").
- A condition is what is left and varies, the words that repeat over the subjects. Numbers at the end of a word count
  repetitions, unless they are too large to count (run200, walk 1.25): these are part of the condition.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

_PART = re.compile(r"[\s_\-]+|(?<=[a-z])(?=[A-Z][a-z])|\.(?!\d)|(?<!\d)\.")
_WORD = re.compile(r"^(?P<letters>.*?)(?P<number>\d+(?:[.p]\d+)?)?$")
_SUBJECT_WORDS = frozenset(
    "s p sub subj subject participant part patient pat pt person proband vp id control ctrl hc healthy case".split()
)
_SESSION_WORDS = frozenset("ses sess session visit day week month".split())
_GROUP_WORDS = frozenset(
    "control controls ctrl healthy hc patient patients case cases group young old elderly stroke cp oa pd acl".split()
)
_IDLE = frozenset(
    "trial trials data results segment seg ik id grf kinematics recordings c3d osim opensim opencap toml study".split()
)
"""Words that name no condition, even where they vary."""
_COUNTS_TO = 20
"""Greatest number that counts repetitions."""
_FEWEST_IDS, _LONGEST_ID = 2, 3
"""Fewest numbers that letters of folders have in the names of subjects, and the most letters."""
_SHARE = 0.8
ORDERED = (
    ("control", "controls", "healthy", "ctrl", "hc", "reference", "norm"),
    ("baseline", "pre", "before"),
    ("slow", "slower", "low"),
    ("normal", "comfortable", "self", "free", "preferred", "usual", "medium"),
    ("fast", "faster", "high"),
    ("post", "after", "followup"),
)
"""Words in the order in which groups and conditions are listed: what others are compared with first."""
_CONDITION_WORDS = frozenset(word for words in ORDERED[1:] for word in words)


@dataclass(frozen=True)
class Role:
    """What the path of a trial says of it, "" where it says nothing; doubt: what may be meant otherwise."""

    subject: str
    group: str = ""
    session: str = ""
    condition: str = ""
    doubt: str = ""


@dataclass(frozen=True)
class Word:
    """A word of a level, and the number that ends it, "" for none."""

    letters: str
    number: str

    @property
    def text(self) -> str:
        """Both."""
        return self.letters + self.number

    @property
    def is_number(self) -> bool:
        """Whether it is a number alone."""
        return not self.letters and bool(self.number)


def words_of(level: str) -> list[Word]:
    """The words of a folder or trial: subject_walk2_fast is subject, walk 2, fast."""
    found: list[Word] = []
    for part in _PART.split(level):
        if not part:
            continue
        match = _WORD.match(part)
        word = Word(match["letters"], match["number"] or "") if match else Word(part, "")
        if word.is_number and found and not found[-1].number:
            found[-1] = Word(found[-1].letters, word.number)  # walk_02 is walk02
        else:
            found.append(word)
    return found


def roles(paths: Sequence[tuple[str, ...]], own_source: Sequence[str] = ()) -> list[Role]:
    """Roles of trials by the levels of their paths, outermost first, the name of the trial last.

    Args:
        paths: of the trials.
        own_source: for each trial the folder or file of its subject, of trials of a service; "" for the others.
    """
    if not paths:
        return []
    parsed = [[words_of(level) for level in path] for path in paths]
    subjects = _subjects(paths, parsed, own_source or [""] * len(paths))
    level = _group_level(paths, subjects)
    groups = ["" if level is None else path[level] for path in paths]
    # the same name in two groups is of two persons
    owners = defaultdict(set)
    for found, group in zip(subjects, groups, strict=True):
        owners[found.name].add(group)
    names = [
        f"{group}_{found.name}" if len(owners[found.name]) > 1 else found.name
        for found, group in zip(subjects, groups, strict=True)
    ]
    doubts = [
        f"{found.name} stands in {' and '.join(sorted(owners[found.name]))}: taken for two persons"
        if len(owners[found.name]) > 1
        else ""
        for found in subjects
    ]
    rest = [_rest(words, found, level) for words, found in zip(parsed, subjects, strict=True)]
    sessions = ["_".join(word.text for word in each if _is_session(word)) for each in rest]
    left = [[word for word in each if not _is_session(word)] for each in rest]
    conditions = _conditions(left, names)
    return [Role(*each) for each in zip(names, groups, sessions, conditions, doubts, strict=True)]


@dataclass(frozen=True)
class _Subject:
    """Name of a subject, its level, and the word of the level, None: the whole level is its name."""

    name: str
    level: int
    word: int | None = None


def _subjects(
    paths: Sequence[tuple[str, ...]], parsed: list[list[list[Word]]], own_source: Sequence[str]
) -> list[_Subject]:
    """The subject of every trial: by a word like S01, by its own source, by a folder, or one for all."""
    # letters of folders -> number -> the folders above: the same T1 below several persons is no person
    above: defaultdict[str, defaultdict[str, set[tuple[str, ...]]]] = defaultdict(lambda: defaultdict(set))
    for path, names in zip(parsed, paths, strict=True):
        for level, words in enumerate(path[:-1]):
            for word in words:
                above[word.letters.casefold()][word.number].add(names[:level])

    def like_id(word: Word, is_folder: bool) -> bool:
        letters = word.letters.casefold()
        if not word.number or not letters or _is_session(word) or letters in _SUBJECT_WORDS:
            return bool(word.number) and letters in _SUBJECT_WORDS
        several = len(above[letters]) >= _FEWEST_IDS and all(
            len(each) == 1 for each in above[letters].values()
        )
        return is_folder and several and len(letters) <= _LONGEST_ID

    def by_word(path: list[list[Word]], names: tuple[str, ...]) -> _Subject | None:
        for level, words in enumerate(path):
            for k, word in enumerate(words):
                if like_id(word, level < len(path) - 1):
                    alone = len(words) == 1
                    return _Subject(names[level] if alone else word.text, level, None if alone else k)
        return None

    by_words = [by_word(path, names) for path, names in zip(parsed, paths, strict=True)]
    if sum(each is not None for each in by_words) >= _SHARE * len(paths):
        return [
            found or (_Subject(names[0], 0) if len(names) > 1 else _Subject("S1", -1))
            for found, names in zip(by_words, paths, strict=True)
        ]
    named = _source_names({source for source in own_source if source})
    others = [path for path, source in zip(paths, own_source, strict=True) if not source]
    folder = _varying_level(others)
    return [
        _of_source(path, source, named[source])
        if source
        else (_Subject("S1", -1) if folder is None else _Subject(path[folder], folder))
        for path, source in zip(paths, own_source, strict=True)
    ]


def _varying_level(paths: Sequence[tuple[str, ...]]) -> int | None:
    """The level of folders that are those of subjects: it varies, and below it the same names stand again."""
    depth = min((len(path) for path in paths), default=1) - 1
    varying = [k for k in range(depth) if len({path[k] for path in paths}) > 1]
    for k in varying:
        below = defaultdict(set)
        for path in paths:
            below[path[k]].add(
                "/".join(word.letters.casefold() for level in path[k + 1 :] for word in words_of(level))
            )
        if max(Counter(name for names in below.values() for name in names).values()) > 1:
            return k
    return varying[0] if varying else 0 if depth > 0 else None


def _source_names(sources: set[str]) -> dict[str, str]:
    """Names of subjects by the folder or file of each: the last part of its path that differs from all others."""
    parts = {source: source.removesuffix(".b3d").split("/") for source in sources}
    for k in range(1, min((len(part) for part in parts.values()), default=0) + 1):
        if len({part[-k].casefold() for part in parts.values()}) == len(parts):
            return {source: part[-k] for source, part in parts.items()}
    return {source: "_".join(part) for source, part in parts.items()}


def _of_source(path: tuple[str, ...], source: str, name: str) -> _Subject:
    """The subject of a service: its level where the path has its name, else the level of the trial."""
    return _Subject(name, path.index(name) if name in path else -1)


def _group_level(paths: Sequence[tuple[str, ...]], subjects: Sequence[_Subject]) -> int | None:
    """The level of the groups: above the subjects, it varies and parts them."""
    for k in range(min(found.level for found in subjects)):
        placed = defaultdict(set)
        for path, found in zip(paths, subjects, strict=True):
            placed[path[k]].add(found.name)
        words = [word for value in placed for word in words_of(value)]
        called = {word.letters.casefold() for word in words}
        if len(placed) < 2 or all(map(_is_session, words)) or called <= _CONDITION_WORDS:
            continue
        apart = sum(map(len, placed.values())) == len(set().union(*placed.values()))
        if apart or called & _GROUP_WORDS:
            return k
    return None


def _rest(path: list[list[Word]], subject: _Subject, group_level: int | None) -> list[Word]:
    """The words of a trial that name neither its subject nor its group."""
    found: list[Word] = []
    for level, words in enumerate(path):
        if level == group_level or (level == subject.level and subject.word is None):
            continue
        found += [w for k, w in enumerate(words) if (level, k) != (subject.level, subject.word)]
    return found


def _is_session(word: Word) -> bool:
    return bool(word.number) and word.letters.casefold() in _SESSION_WORDS


def _conditions(left: list[list[Word]], subjects: Sequence[str]) -> list[str]:
    """What is left of the words of every trial and varies; "" for all where nothing does."""
    numbers: defaultdict[str, set[str]] = defaultdict(set)
    spelled: dict[str, str] = {}
    for words in left:
        for word in words:
            numbers[word.letters.casefold()].add(word.number)
            spelled.setdefault(word.letters.casefold(), word.letters)

    def is_value(letters: str) -> bool:
        return any(
            number and (not number.isdecimal() or int(number) > _COUNTS_TO) for number in numbers[letters]
        )

    texts = []
    for words in left:
        named = []
        for word in words:
            letters = word.letters.casefold()
            if letters in _IDLE:
                continue
            text = spelled[letters] + (word.number if is_value(letters) else "")
            if text and text not in named:
                named.append(text)
        texts.append(named)
    own = {name.casefold() for name in subjects}
    everywhere = set(texts[0]).intersection(*texts[1:]) if len(texts) > 1 else set(texts[0])
    found = [
        "_".join(text for text in named if text not in everywhere and text.casefold() not in own)
        for named in texts
    ]
    if any(found) and not all(found):
        # a trial of the shared words alone, beside others that have more: walk, and walk_fast
        shared = ["_".join(text for text in named if text in everywhere) for named in texts]
        found = [each or whole or "usual" for each, whole in zip(found, shared, strict=True)]
    return found


def in_order(names: set[str]) -> list[str]:
    """Groups or conditions in the order of a list of them: what others are compared with first, numbers by size."""

    def place(name: str) -> tuple[int, list[tuple[int, float, str]]]:
        words = {word.letters.casefold() for word in words_of(name)}
        rank = next((k for k, usual in enumerate(ORDERED) if words & set(usual)), len(ORDERED))
        parts = re.split(r"(\d+(?:\.\d+)?)", name.casefold())
        return rank, [(1, float(part), "") if k % 2 else (0, 0.0, part) for k, part in enumerate(parts)]

    return sorted(names, key=place)
