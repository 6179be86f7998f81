"""How the three processors that C3D files come from lay out their numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DEC = 85
"""Processor with Intel's integers and reals of its own."""
ORDERS = {84: "<", DEC: "<", 86: ">"}
"""Processor, as the parameter section names it -> order of its bytes: Intel, DEC, MIPS."""


@dataclass(frozen=True)
class Coding:
    """How the machine that wrote the file laid out its numbers: byte order, and whether reals are those of a VAX."""

    order: str
    dec: bool

    def integers(self, raw: bytes) -> NDArray[np.int16]:
        """Return 16-bit integers."""
        return np.frombuffer(raw, self.order + "i2")

    def reals(self, raw: bytes | NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return 32-bit reals.

        A real of DEC has its two halves exchanged and four times the value of the IEEE real of the same bits (VAX
        F_floating: exponent in excess of 128, mantissa from 1/2).
        """
        if not self.dec:
            return np.frombuffer(raw, self.order + "f4")
        halves = np.frombuffer(raw, "<u2").reshape(-1, 2).astype(np.uint32)
        bits = (halves[:, 0] << np.uint32(16)) | halves[:, 1]
        exponent = (bits >> np.uint32(23)) & np.uint32(0xFF)
        # Below this exponent a quarter of the number is smaller than any normal one: nothing that was measured.
        bits = np.where(exponent > 2, bits - np.uint32(2 << 23), np.uint32(0))
        return bits.view(np.float32)
