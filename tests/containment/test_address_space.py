"""Reading a file takes memory in proportion to the file, not to the largest that is allowed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from small_model import save_model

from muscle_db.regular_file import MEBIBYTE, RECORDING, UnsuitableFileError, read_regular

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")

READ = """
import re, sys
from pathlib import Path
import musclesolve as ms, muscle_db
from muscle_db.regular_file import RECORDING, read_regular
def peak():
    return int(re.search(r"VmPeak:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
ms.read_osim, muscle_db.load
before = peak()
ms.read_osim(sys.argv[1])
print(peak() - before)
"""


def test_a_model_is_read_in_little_memory(tmp_path: Path) -> None:
    """With all that has to be imported for it; the largest file that is allowed has 4096 MiB."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(save_model(tmp_path))], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 400 * 1024


def test_a_model_is_read_where_memory_is_limited(tmp_path: Path) -> None:
    limited = "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n" + READ
    done = subprocess.run(
        [sys.executable, "-c", limited, str(save_model(tmp_path))], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("size", [0, 1, MEBIBYTE - 1, MEBIBYTE, 3 * MEBIBYTE + 5])
def test_files_of_any_size_come_whole(tmp_path: Path, size: int) -> None:
    content = bytes(range(251)) * (size // 251 + 1)
    (tmp_path / "a").write_bytes(content[:size])
    assert read_regular(tmp_path / "a", RECORDING) == content[:size]
    assert read_regular(tmp_path / "a", size) == content[:size]
    if size:
        with pytest.raises(UnsuitableFileError):
            read_regular(tmp_path / "a", size - 1)


def test_a_file_that_does_not_know_its_size_is_read(tmp_path: Path) -> None:
    status = Path("/proc/self/status")
    assert status.stat().st_size == 0 and b"VmPeak" in read_regular(status, MEBIBYTE)
