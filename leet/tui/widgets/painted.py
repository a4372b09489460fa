"""A widget that paints whole lines and, when its data changes, sends only the pieces that look different."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from leet.tui.span_update import cells_of, differing
from leet.tui.sure_timers import SureTimers
from leet.tui.unscrolled import Unscrolled


class Painted(Unscrolled, SureTimers, Widget):
    """Subclasses make their lines in `paint`; whoever changes the data calls `repaint`."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes=classes)
        self._lines: list[Strip] = []
        self._part_styles: dict[str, Style] = {}
        self._painted_size = (-1, -1)

    def paint(self, width: int, height: int) -> list[Strip]:
        """The lines to show, at most `height`, each `width` cells."""
        raise NotImplementedError

    def repaint(self) -> None:
        """The data changed: refresh what differs. Costs nothing while hidden."""
        width, height = self.size
        if not (width and height) or not self.display:
            self._painted_size = (-1, -1)
            return
        if (width, height) != self._painted_size:
            self.refresh()
            return
        before, after = self._lines, self._fresh(width, height)
        regions = [
            Region(start, y, end - start, 1)
            for y, (old, new) in enumerate(zip(before, after, strict=True))
            if old != new
            for start, end in (_difference(old, new),)
        ]
        if regions:
            self.refresh(*regions)

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        if (width, height) != self._painted_size:
            self._fresh(width, height)
        return self._lines[y] if y < len(self._lines) else Strip.blank(width, self.rich_style)

    def notify_style_update(self) -> None:
        self._painted_size = (-1, -1)
        self._part_styles.clear()
        super().notify_style_update()

    def part(self, name: str) -> Style:
        """The style of the component class `name`."""
        style = self._part_styles.get(name)
        if style is None:
            style = self._part_styles[name] = self.get_component_rich_style(name)
        return style

    def _fresh(self, width: int, height: int) -> list[Strip]:
        # A blank without a style has the terminal's background, which need not be that of the theme.
        ground = self.rich_style
        painted = self.paint(width, height)[:height] if width and height else ()
        lines = [strip.adjust_cell_length(width, ground) for strip in painted]
        lines += [Strip.blank(width, ground)] * (height - len(lines))
        self._lines = lines
        self._painted_size = (width, height)
        return lines


def cut(text: str, width: int) -> str:
    """`text` in at most `width` cells; what is left out is marked with an ellipsis."""
    if width <= 0:
        return ""
    if len(text) <= width and cell_len(text) <= width:
        return text
    if width == 1:
        return "…"
    return set_cell_size(text[:width], width - 1).rstrip(" ") + "…"


def pad(text: str, width: int) -> str:
    """`text` cut or filled to exactly `width` cells."""
    text = cut(text, width)
    return text + " " * (width - cell_len(text))


def _difference(old: Strip, new: Strip) -> tuple[int, int]:
    """First column, and column after the last, of what differs between two strips of one length."""
    a, b = cells_of(old), cells_of(new)
    return differing(a, b) if len(a) == len(b) and a != b else (0, new.cell_length)


def strip_of(*parts: tuple[str, Style]) -> Strip:
    """A strip of (text, style) pieces."""
    return Strip([Segment(text, style) for text, style in parts if text])
