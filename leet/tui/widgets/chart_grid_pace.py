"""How often a wall of charts is painted again while data come in."""

from __future__ import annotations

from leet.tui.pace import beat

BEAT = 1.0
"""Seconds between two repaints of the status line: what is painted together with it costs one picture less."""
FASTEST_DATA = 0.25
"""Seconds between two repaints for new data, at least."""
SLOWEST_DATA = 2.0
"""… and at most, unless they take so long that keys would wait for them."""
REST = 2.0
"""How much longer than a repaint the time after it is, which belongs to keys and to reading."""
AT_ONCE = 0.3
"""Seconds of a core that charts may be drawn for new data before keys are looked at; one chart always is."""
CPU_SHARE = 0.008
"""Share of a core that repainting for new data may take."""
CELLS_PER_SECOND = 1000.0
"""Cells that may change in a second for new data: 3 to 8 bytes each, so 3 to 8 kB/s to the terminal."""


def pause_after(cpu: float, cells: int) -> float:
    """Seconds from the start of a repaint to the next; it took `cpu` seconds of a core and changed so many cells."""
    pause = min(max(cpu / CPU_SHARE, cells / CELLS_PER_SECOND, FASTEST_DATA), SLOWEST_DATA)
    return max(pause, (1.0 + REST) * cpu)


def next_after(now: float, cpu: float, cells: int) -> float:
    """When to repaint next, by the clock of `now`: on a beat of the status line where one can wait that long."""
    pause = pause_after(cpu, cells)
    return beat(now + pause, BEAT) if pause > BEAT / 2 else now + pause
