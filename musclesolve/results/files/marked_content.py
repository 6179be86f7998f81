"""Files that are made anew only where what they were made of has changed: a mark at their end says it.

The mark is a hash of the content and of all that the content follows from. A file that was damaged, and one that a
person changed, has another mark, and is made anew.
"""

import hashlib
from pathlib import Path


def marked(content: bytes, *made_of: object) -> bytes:
    """Return a content with its mark; made_of: values whose `repr` differs where the content would be another."""
    whole = repr((hashlib.sha256(content).digest(), *made_of)).encode("utf-8", "replace")
    return content + f"<!-- {hashlib.sha256(whole).hexdigest()} -->".encode()


LENGTH = len(marked(b""))
"""Length of a mark, which is a comment of a page [bytes]."""


def unchanged(path: Path, *made_of: object) -> bytes | None:
    """Return the content of a file without its mark; None where it is missing, damaged or made of other values."""
    try:
        stored = path.read_bytes()
    except OSError:
        return None
    content = stored[:-LENGTH]
    return content if stored == marked(content, *made_of) else None
