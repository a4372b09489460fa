"""Units of measure and how a number in one is written in a few columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scaling = Literal["none", "si", "binary", "decimal-rate", "watt", "megahertz"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its sign, how large values are scaled, and what to multiply raw values by before that."""

    sign: str = ""
    scaling: Scaling = "si"
    factor: float = 1.0


NUMBER = Unit()
