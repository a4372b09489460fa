"""How often a wall of charts is painted again while data come in."""

from __future__ import annotations

FASTEST_DATA = 0.25
"""Seconds between two repaints for new data, at least."""
SLOWEST_DATA = 2.0
"""… and at most, however much they cost."""
CPU_SHARE = 0.008
"""Share of a core that repainting for new data may take."""
CELLS_PER_SECOND = 1000.0
"""Cells that may change in a second for new data: 3 to 8 bytes each, so 3 to 8 kB/s to the terminal."""


def pause_after(cpu: float, cells: int) -> float:
    """Seconds from a repaint to the next, after one that took `cpu` seconds of a core and changed so many cells."""
    return min(max(cpu / CPU_SHARE, cells / CELLS_PER_SECOND, FASTEST_DATA), SLOWEST_DATA)
