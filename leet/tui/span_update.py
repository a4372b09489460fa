"""Sends to the terminal what changed, and little else.

Textual repaints a changed region from the left edge of its widget, and writes both colours before and a reset
after every piece of text: some 40 bytes around a braille dot of three. On a screen that is derived from
`SpanScreen`, a region is sent from its own left edge, and a colour only where it differs from the one before.
Over ssh that is the difference between 30 and 5 kB/s for a page of live charts.

This reaches into Textual's compositor; the dependency is bounded below its next major version for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import COLOR_SYSTEMS, Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual.geometry import Region
from textual.screen import Screen, ScreenResultType
from textual.strip import Strip
from textual.widget import Widget

from leet.tui.sure_timers import SureTimers

Pen = tuple[str, str, str]
"""Attributes, foreground and background as the terminal holds them: parameters of its SGR sequence."""

RESET: Pen = ("", "39", "49")
INK_ON_BLANKS = ("underline", "underline2", "overline", "reverse", "strike", "frame", "encircle")
"""Attributes that show on a blank."""


class Writer:
    """Builds one frame. It knows where the cursor is and which colours are set, and tells the terminal the rest."""

    def __init__(self, console: Console) -> None:
        self._system = COLOR_SYSTEMS.get(console.color_system or "", ColorSystem.TRUECOLOR)
        self._parts: list[str] = []
        self._pen = RESET
        self._at: tuple[int, int] | None = None

    def put(self, x: int, y: int, segments: Iterable[Segment], width: int) -> None:
        """Write `segments`, `width` cells in all, from cell (x, y)."""
        if self._at != (x, y):
            if self._at is not None and self._at[1] == y and x > self._at[0]:
                self._parts.append(f"\x1b[{x - self._at[0]}C")
            else:
                self._parts.append(f"\x1b[{y + 1};{x + 1}H")
        for segment in segments:
            self._segment(segment)
        self._at = (x + width, y)

    def end_of_line(self) -> None:
        """The last cell of a line was written: some terminals wrap then, so where the cursor is nobody knows."""
        self._at = None

    def text(self) -> str:
        return "".join([*self._parts, "" if self._pen == RESET else "\x1b[0m"])

    def _segment(self, segment: Segment) -> None:
        text, style, control = segment
        if control or not text:
            return
        if style is None:
            self._take(RESET)
        elif style.link:
            self._take(RESET)
            text = Strip.render_style(style, text, self._system)
        else:
            pen, blank_pen = _pens(style, self._system)
            if text.isspace() and blank_pen is not None:
                pen = (self._pen[0], self._pen[1], blank_pen) if not _marks_blanks(self._pen[0]) else pen
            self._take(pen)
        self._parts.append(text)

    def _take(self, pen: Pen) -> None:
        if pen == self._pen:
            return
        attributes, foreground, background = pen
        if pen == RESET:
            self._parts.append("\x1b[0m")
        elif attributes != self._pen[0]:
            # Attributes cannot be taken away one by one on every terminal.
            wanted = [attributes, foreground, background]
            kept = [p for p, plain in zip(wanted, RESET, strict=True) if p != plain]
            self._parts.append(f"\x1b[{';'.join(['0', *kept])}m")
        else:
            changed = [new for new, old in zip(pen[1:], self._pen[1:], strict=True) if new != old]
            self._parts.append(f"\x1b[{';'.join(changed)}m")
        self._pen = pen


@lru_cache(maxsize=4096)
def _pens(style: Style, system: ColorSystem) -> tuple[Pen, str | None]:
    """The pen of a style, and the background that is all of it that a blank shows, unless an attribute does."""
    foreground, background = "39", "49"
    if style.color is not None:
        foreground = ";".join(style.color.downgrade(system).get_ansi_codes())
    if style.bgcolor is not None:
        background = ";".join(style.bgcolor.downgrade(system).get_ansi_codes(foreground=False))
    attributes = Strip.render_ansi(style.without_color, system)
    shows = any(getattr(style, name) for name in INK_ON_BLANKS)
    return (attributes, foreground, background), None if shows else background


@lru_cache(maxsize=256)
def _marks_blanks(attributes: str) -> bool:
    """Whether one of these attributes, by its SGR number, shows on a blank."""
    return bool({"4", "7", "9", "21", "51", "52", "53"} & set(attributes.split(";")))


def part(strip: Strip, left: int, right: int) -> Iterable[Segment]:
    """The segments of cells `left` to `right` of a strip. As `Strip.crop`, without what a new strip costs."""
    if (left, right) == (0, strip.cell_length):
        return strip
    found = []
    at = 0
    for segment in strip:
        text = segment.text
        if not text.isascii() and cell_len(text) != len(text):
            return strip.crop(left, right)
        end = at + len(text)
        if end > left:
            found.append(Segment(text[max(0, left - at) : right - at], segment.style))
        if end >= right:
            break
        at = end
    return found


Cell = tuple[str, Style | None]
"""A character and its style; the right half of a wide character has no text."""


class Shown:
    """What the terminal shows, cell by cell, so that what is there already is not sent again.

    Textual paints more often than there is something new: the whole screen three times at the start, and whenever
    a screen comes or goes. One object is shared by all screens of an app, and told when somebody else has written.
    """

    def __init__(self) -> None:
        self._rows: dict[int, list[Cell | None]] = {}

    def forget(self) -> None:
        """Anything may be on the terminal: it was resized, or others have written to it."""
        self._rows.clear()

    def put(self, x: int, y: int, segments: Iterable[Segment]) -> tuple[int, int] | None:
        """Take `segments` to be at cell (x, y) from now on; which of their columns have to be sent for that."""
        new = cells_of(segments)
        row = self._rows.setdefault(y, [])
        row.extend([None] * (x + len(new) - len(row)))
        old = row[x : x + len(new)]
        if old == new:
            return None
        row[x : x + len(new)] = new
        return differing(old, new)


def differing(old: Sequence[Cell | None], new: Sequence[Cell]) -> tuple[int, int]:
    """First column, and column after the last, in which two rows of one length differ; no wide character is cut.

    Raises ValueError when they do not differ.
    """
    columns = [i for i, (before, after) in enumerate(zip(old, new, strict=True)) if before != after]
    first, last = min(columns), max(columns)
    while first and not new[first][0]:
        first -= 1
    while last + 1 < len(new) and not new[last + 1][0]:
        last += 1
    return first, last + 1


def cells_of(segments: Iterable[Segment]) -> list[Cell]:
    """Segments cell by cell."""
    cells: list[Cell] = []
    for text, style, control in segments:
        if control:
            continue
        if text.isascii() or cell_len(text) == len(text):
            cells += [(char, style) for char in text]
        else:
            for char in text:
                cells += [(char, style), *[("", style)] * (cell_len(char) - 1)]
    return cells


def send(writer: Writer, shown: Shown | None, x: int, y: int, segments: Iterable[Segment], width: int) -> None:
    """Write `segments` at cell (x, y), or that part of them which is not there yet."""
    if shown is None:
        writer.put(x, y, segments, width)
        return
    row = Strip(segments, width)
    columns = shown.put(x, y, row)
    if columns is not None:
        writer.put(x + columns[0], y, part(row, *columns), columns[1] - columns[0])


class SpanUpdate(ChopsUpdate):
    """Changed spans, each from its own left edge."""

    shown: Shown | None = None

    def render_segments(self, console: Console) -> str:
        writer = Writer(console)
        for y, x1, x2 in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                if strip is None or x >= x2 or end <= x1:
                    continue
                left, right = max(x, x1), min(end, x2)
                send(writer, self.shown, left, y, part(strip, left - x, right - x), right - left)
            if x2 >= self.chop_ends[y][-1]:
                writer.end_of_line()
        return writer.text()


class FrameUpdate(LayoutUpdate):
    """The whole screen."""

    shown: Shown | None = None

    def render_segments(self, console: Console) -> str:
        writer = Writer(console)
        for y, line in enumerate(self.strips, self.region.y):
            strips = list(line)
            width = sum(strip.cell_length for strip in strips)
            send(writer, self.shown, self.region.x, y, [segment for strip in strips for segment in strip], width)
            writer.end_of_line()
        return writer.text()


class SpanCompositor(Compositor):
    """Textual's compositor, whose updates are written by `Writer`, and who asks only those widgets that changed.

    Textual asks every widget that touches the rectangle around all changes, which is most of the screen as soon
    as two corners of it change.
    """

    def __init__(self, shown: Callable[[], Shown | None] = lambda: None) -> None:
        super().__init__()
        self._shown = shown
        self._updating: list[Region] | None = None
        """What an update in progress is about."""

    @property
    def visible_widgets(self) -> dict[Widget, tuple[Region, Region]]:
        """Widgets on the screen with their regions and what clips them; those concerned, during an update."""
        widgets = super().visible_widgets
        if self._updating is None:
            return widgets
        around = Region.from_union(self._updating)
        found = {}
        for widget, (region, clip) in widgets.items():
            seen = region.intersection(clip)
            # There may be hundreds of changed regions, and most widgets lie beside them all.
            if seen.overlaps(around) and any(map(seen.overlaps, self._updating)):
                found[widget] = region, clip
        return found

    def render_partial_update(self) -> ChopsUpdate | None:
        cuts = self.cuts  # made of all widgets, and kept, before some are left out
        self._updating = list(self._dirty_regions)
        try:
            update = super().render_partial_update()
        finally:
            self._updating = None
        if update is None:
            return None
        made = SpanUpdate(update.chops, update.spans, [line[1:] for line in cuts])
        made.shown = self._shown()
        return made

    def render_full_update(self, simplify: bool = False) -> LayoutUpdate:
        update = super().render_full_update(simplify)
        if simplify:
            return update
        made = FrameUpdate(update.strips, update.region)
        made.shown = self._shown()
        return made


class SpanScreen(SureTimers, Screen[ScreenResultType]):
    """A screen that sends only what changed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._compositor = SpanCompositor(lambda: getattr(self.app, "shown", None))
