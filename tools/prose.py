"""Plain words: sentence lengths of pages, phrases, spelling and terms of pages, messages, docstrings and names.

    python tools/prose.py            # every fault with its place; exit code 1 where there is one
    python tools/prose.py docs/x.md  # the long sentences of pages, longest first

`prose.toml` has the rules. Sentences are counted in paragraphs and lists; words are read in headings and tables, too.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "musclesolve"
RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MESSAGES = sorted(
    {file for name in ("errors", "findings", "facts", "verdicts") for file in PACKAGE.rglob(f"{name}.toml")}
)
CODE_FILES = [
    file
    for folder in ("benchmarks", "examples", "muscle_db", "musclesolve", "tools")
    for file in sorted((ROOT / folder).rglob("*.py"))
]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
STRINGS = [
    *PACKAGE.rglob("*.py"),
    *(file for file in PACKAGE.rglob("*.toml") if file.name != "citations.toml"),
]
SAID = ("problem", "expected", "remedy", "about", "what", "sentence", "otherwise")
"""Keys of the messages that a reader sees."""

CODE = re.compile(
    r"^(```+)[^\n]*\n.*?^\1[ ]*$|^ *>>> [^\n]*|<!--.*?-->|`[^`\n]*`|\]\([^()\s]+\)",
    flags=re.DOTALL | re.MULTILINE,
)
NO_SUBJECT = re.compile(r"^```(?!math)[^\n]*\n(?:(?!```).*\n)*?```[ ]*\n\n(?=[a-z])", flags=re.MULTILINE)
ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")
SHORT_FORMS = re.compile(r"\b(et al|e\.g|i\.e|Fig|eq|vs|cf|No)\.")
END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[A-Z0-9\"'(*\[])")


def patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return each pattern of a fault with the words to write in its place."""
    words = [
        (r"\s+".join(map(re.escape, phrase.split())), instead)
        for group in ("banned", "terms")
        for phrase, instead in RULES[group].items()
    ]
    return compiled(words) + SPELLING


def compiled(words: Iterable[tuple[str, str]]) -> list[tuple[re.Pattern[str], str]]:
    """Return the patterns of whole words, in any case."""
    return [(re.compile(rf"\b{word}\b", re.IGNORECASE), instead) for word, instead in words]


SPELLING = compiled(RULES["spelling"].items())
PATTERNS = patterns()


def begun(rules: Iterable[tuple[re.Pattern[str], str]]) -> re.Pattern[str]:
    """Return a pattern that is in every text, in small letters, where one of the patterns of whole words is."""
    words = [pattern.pattern.removeprefix(r"\b").removesuffix(r"\b") for pattern, _ in rules]
    return re.compile(
        "|".join(
            re.sub(r"(?<!\\)[A-Z]", lambda found: found[0].lower(), word.removeprefix(r"(\w*)"))
            for word in words
        )
    )


ANY, ANY_NAME = begun(PATTERNS), begun(SPELLING)
"""Find quickly whether a text, and a name, can have a fault at all, which few have."""
BEGINNINGS = {
    of_tests: re.compile(rf"({'|'.join(RULES[key])})\b")
    for of_tests, key in ((False, "bad_beginnings"), (True, "bad_beginnings_of_tests"))
}


def without_code(text: str) -> str:
    """Return the text with a word in the place of code, as many characters and lines as before."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group()).replace("  ", "X ", 1 if match.group()[0] == "`" else 0)

    return CODE.sub(blank, text)


def sentences(text: str) -> list[str]:
    """Return the sentences of paragraphs and lists of a page, without headings, tables and code."""
    paragraphs: list[list[str]] = [[]]
    for line in without_code(text).splitlines():
        if not line.strip() or line.lstrip().startswith(("#", "|", "!")):
            paragraphs.append([])
        elif item := ITEM.match(line):
            paragraphs.append([line[item.end() :]])
        else:
            paragraphs[-1].append(line.strip())
    joined = (SHORT_FORMS.sub(r"\1", " ".join(lines)) for lines in paragraphs)
    return [sentence for paragraph in joined for sentence in END.split(paragraph.strip()) if sentence]


def lengths(text: str) -> list[int]:
    """Return the number of words of each sentence."""
    return [len(re.findall(r"[^\W_][^\s]*", sentence)) for sentence in sentences(text)]


INVERTED = re.compile(RULES["inverted"])


def inversions(text: str, place: str) -> Iterator[str]:
    """Yield a sentence on each one that does not begin with its subject."""
    for sentence in sentences(text) if INVERTED.search(text) else ():
        if INVERTED.match(sentence):
            yield f"{place}: begin with the subject: {' '.join(sentence.split())[:60]}"


def word_faults(text: str) -> Iterator[tuple[int, str]]:
    """Yield the place of each banned phrase, wrong term and British spelling with a sentence on it."""
    for pattern, instead in PATTERNS if ANY.search(text.lower()) else ():
        for match in pattern.finditer(text):
            yield match.start(), f"{match.group()!r}: write {instead}"


def page_faults(page: Path) -> Iterator[str]:
    """Yield the faults of a page."""
    text, name = page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix()
    plain = without_code(text)
    for place, fault in word_faults(plain):
        yield f"{name}:{plain.count(chr(10), 0, place) + 1}: {fault}"
    for match in NO_SUBJECT.finditer(text):
        yield f"{name}:{text.count(chr(10), 0, match.end()) + 1}: a sentence after a code block needs a subject"
    yield from inversions(text, name)
    counted = lengths(text)
    if fmean(counted) >= RULES["longest_mean_sentence"]:
        yield f"{name}: the mean sentence has {fmean(counted):.1f} words (python tools/prose.py {name} lists long ones)"
    if max(counted) > RULES["longest_sentence"]:
        yield f"{name}: a sentence has {max(counted)} words"


def message_faults(file: Path) -> Iterator[str]:
    """Yield the faults in the sentences of a file of messages."""
    for entry, keys in tomllib.loads(file.read_text(encoding="utf-8")).items():
        for key, place, text in said(keys, ""):
            for _, fault in word_faults(re.sub(r"\{[^{}]*\}", "X", text)):
                yield f"{file.relative_to(ROOT).as_posix()}: [{entry}{place}] {key}: {fault}"


def string_faults(file: Path) -> Iterator[str]:
    """Yield the faults in the strings of a module, which are parts of messages, and in all texts of a TOML file."""
    text = file.read_text(encoding="utf-8")
    if not ANY.search(text.lower()):
        return
    texts = [*texts_of(tomllib.loads(text))] if file.suffix == ".toml" else strings_of(parsed(file))
    for fault in (fault for said in texts for _, fault in word_faults(without_code(said))):
        yield f"{file.relative_to(ROOT).as_posix()}: {fault}"


@cache
def parsed(file: Path) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(file.read_text(encoding="utf-8"))


def strings_of(tree: ast.Module) -> list[str]:
    """Return the strings of more than a word in a module, without docstrings."""
    nodes = list(ast.walk(tree))
    documents = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    strings = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in documents]
    return [text for text in strings if isinstance(text, str) and " " in text]


def texts_of(value: object) -> Iterator[str]:
    """Yield the texts of more than a word below a value of a TOML file."""
    if isinstance(value, str) and " " in value:
        yield value
    for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_of(below)


def said(keys: object, place: str) -> Iterator[tuple[str, str, str]]:
    """Yield key, place below the entry, and text of each sentence of a message and of its variants."""
    for key, value in keys.items() if isinstance(keys, dict) else ():
        if isinstance(value, dict):
            yield from said(value, f"{place}.{key}")
        elif key in SAID:
            yield from ((key, place, text) for text in (value if isinstance(value, list) else [value]))


def docstring_faults(file: Path) -> Iterator[str]:
    """Yield the bad beginnings of the docstrings of a module, the faults of their words, and British names.

    Tests are checked for the worst beginnings and for names only.
    """
    of_tests = file.is_relative_to(ROOT / "tests")
    waiting: list[ast.AST] = [parsed(file)]
    while waiting:  # statements, not the expressions in them
        node = waiting.pop(0)
        for field in ("body", "orelse", "finalbody"):
            waiting += getattr(node, field, ())
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        text, name = ast.get_docstring(node) or "", getattr(node, "name", "the module")
        place = f"{file.relative_to(ROOT).as_posix()}: {name}"
        if beginning := BEGINNINGS[of_tests].match(text):
            yield f"{place}: a docstring does not begin with {beginning[1]!r}"
        for _, fault in () if of_tests else word_faults(without_code(text)):
            yield f"{place}: {fault}"
        yield from () if of_tests else inversions(text, place)
        words = " ".join(WORD.findall(name))
        for pattern, instead in SPELLING if ANY_NAME.search(words.lower()) else ():
            if found := pattern.search(words):
                yield f"{place}: {found.group()!r} in a name: write {instead}"


def faults() -> list[str]:
    """Return every fault of pages, messages and docstrings."""
    checked = (
        (page_faults, PAGES),
        (message_faults, MESSAGES),
        (docstring_faults, [*CODE_FILES, *TESTS]),
        (string_faults, sorted({*STRINGS} - {*MESSAGES})),
    )
    return [fault for check, files in checked for file in files for fault in check(file)]


def show_long_sentences(page: Path) -> None:
    """Print the mean sentence length of a page and its sentences of more than 25 words, longest first."""
    text = page.read_text(encoding="utf-8")
    counted = lengths(text)
    print(*page_faults(page.resolve()), sep="\n")
    print(f"{page}: {fmean(counted):.1f} words, {len(counted)} sentences")
    for count, sentence in sorted(zip(counted, sentences(text), strict=True), reverse=True):
        if count > 25:
            print(f"{count:4d}  {' '.join(sentence.split())}")


if __name__ == "__main__":
    if sys.argv[1:]:
        for argument in sys.argv[1:]:
            show_long_sentences(Path(argument))
        sys.exit(0)
    every = faults()
    print(*every, sep="\n")
    print(f"{len(every)} faults" if every else "plain words")
    sys.exit(bool(every))
