"""Writes docs/stride.gif, the moving picture of the bundled stride for readers without the site.

python tools/site/small_picture.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image
from places import ROOT

import musclesolve as ms
from musclesolve.data import reference_stride

TARGET = ROOT / "docs" / "stride.gif"
HEIGHT = 420
"""Of the picture [px]."""
COLORS = 48


def main() -> None:
    """Draw a film of the stride, and write every second frame of it smaller and in few colors."""
    with tempfile.TemporaryDirectory() as folder:
        ms.save_picture(ms.run(reference_stride()), film := Path(folder, "stride.gif"))
        with Image.open(film) as large:
            frames = []
            for number in range(0, large.n_frames, 2):
                large.seek(number)
                pause = 2 * large.info["duration"]
                small = large.convert("RGB").crop((0, 80, large.width, large.height))
                small = small.resize(
                    (round(small.width * HEIGHT / small.height), HEIGHT), Image.Resampling.LANCZOS
                )
                frames.append(small.quantize(COLORS, dither=Image.Dither.NONE))
    frames[0].save(TARGET, save_all=True, append_images=frames[1:], duration=pause, loop=0, optimize=True)
    print(f"{TARGET}: {TARGET.stat().st_size / 1000:.0f} kB, {len(frames)} frames")


if __name__ == "__main__":
    main()
