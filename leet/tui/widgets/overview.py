"""The run overview: sections of keys and values, each as high as it needs and there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.strip import Strip
from textual.timer import Timer

from leet.charts.lettering import shorten
from leet.model.units import ranged
from leet.tui.layout import section_heights
from leet.tui.messages import PaneNoteChanged, RowSelected, SectionsResized, ValueOpened
from leet.tui.widgets.overview_sections import Keep, Row, Section, ShownSection, ShownSections
from leet.tui.widgets.painted import Painted, pad, strip_of
from leet.tui.widgets.tag_colors import tag_pieces

SIFT_SECONDS = 0.01
"""For which rows that pass a filter are sought between two looks at what else there is to do,"""
PAUSE_SECONDS = 0.005
"""with so long a pause for it."""
LEAST_ROWS = 2
"""Of a section, its heading among them, however its borders are moved."""
RESIZE_ROWS = 2
"""By which a key moves a border."""


def section_key(title: str) -> str:
    """Under what name the height of a section is kept among the sizes of panes."""
    return f"overview/{title}"


class Overview(Painted, can_focus=True):
    """Sections of rows with one cursor that moves through all of them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "overview--heading",
        "overview--heading-focused",
        "overview--count",
        "overview--key",
        "overview--value",
        "overview--strong",
        "overview--good",
        "overview--warn",
        "overview--bad",
        "overview--live",
        "overview--tag",
        "overview--quiet",
        "overview--cursor",
    }

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self._sections = ShownSections()
        self.shares: dict[str, float] = {}
        """Shares of the height that a person has given to sections, by `section_key` of their titles."""
        self._border: tuple[int, int] | None = None
        """The section whose lower border is being dragged, and how far under it the pointer is."""
        self._sift_timer: Timer | None = None
        self._late_timer: Timer | None = None
        self._unmoved = False
        """Nobody has moved the cursor since the filter was typed."""
        self._cursor = (0, 0)

    # What it shows

    def show(self, sections: Sequence[Section]) -> None:
        """Show these sections; cursor and scroll position stay with their rows' numbers."""
        self._sections.show(sections)
        self._show_found()

    def filter(self, keep: Keep | None) -> tuple[int, int]:
        """Show only rows that `keep` accepts (None: all); (shown, all)."""
        self._unmoved = keep is not None
        self._sections.filter(keep)
        self._show_found()
        return self.count

    @property
    def count(self) -> tuple[int, int]:
        """(rows shown, rows in all)."""
        return self._sections.count

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        section, index = self._cursor
        if section < len(self._sections) and index < len(self._sections[section].rows):
            return self._sections[section].rows[index]
        return None

    @property
    def section(self) -> str:
        """Title of the section that the cursor is in."""
        return self._sections[self._cursor[0]].section.title if self._sections else ""

    def _show_found(self) -> None:
        """Show the rows that are known to pass. Others are sought between keys, newer values shown in their time."""
        left = self._sections.left
        if left and self._sift_timer is None:
            self._sift_timer = self.set_timer(PAUSE_SECONDS, self._sift_on)
        if not left and self._sections.late is not None and self._late_timer is None:
            self._late_timer = self.set_timer(max(PAUSE_SECONDS, self._sections.wait), self._show_late)
        if self._unmoved:
            # The section with most hits is what was looked for.
            most = max(range(len(self._sections)), key=lambda i: len(self._sections[i].rows), default=0)
            self._cursor = (most, 0)
            self._unmoved = left
        self._settle()
        self.repaint()

    def _sift_on(self) -> None:
        self._sift_timer = None
        self._sections.sift(SIFT_SECONDS)
        self._show_found()
        if self._sections.keep is not None:
            self.post_message(PaneNoteChanged("overview", "{:,}/{:,}".format(*self.count)))

    def _show_late(self) -> None:
        self._late_timer = None
        if self._sections.late is not None:
            self.show(self._sections.late)

    # Moving

    def action_move(self, direction: str) -> None:
        """Up and down by a row, through all sections and around; left and right by a page."""
        if direction in ("up", "down"):
            self._step(1 if direction == "down" else -1)
        else:
            self._page(1 if direction == "right" else -1)

    def action_previous_page(self) -> None:
        self._page(-1)

    def action_next_page(self) -> None:
        self._page(1)

    def action_first_page(self) -> None:
        self._move(self._cursor[0], 0)

    def action_last_page(self) -> None:
        if self._sections:
            self._move(self._cursor[0], len(self._sections[self._cursor[0]].rows) - 1)

    def action_open(self) -> None:
        if self.row is not None:
            self.post_message(ValueOpened(self.row.key, self.row.value))

    def next_section(self, step: int) -> bool:
        """Go to the next (previous, -1) section that has rows; False where there is none."""
        at = self._cursor[0] + step
        while 0 <= at < len(self._sections):
            if self._sections[at].rows:
                self._move(at, self._sections[at].top)
                return True
            at += step
        return False

    def enter_from(self, step: int) -> None:
        """Come in by tab (1) or shift+tab (-1): to the first or the last section."""
        filled = [i for i, shown in enumerate(self._sections) if shown.rows]
        if filled:
            at = filled[0] if step > 0 else filled[-1]
            self._move(at, self._sections[at].top)

    def _step(self, by: int) -> None:
        """One row on, through all sections and around."""
        at, index = self._cursor
        filled = [i for i, shown in enumerate(self._sections) if shown.rows]
        if not filled:
            return
        if at not in filled:
            at, index = filled[0], 0
        elif 0 <= index + by < len(self._sections[at].rows):
            index += by
        else:
            at = filled[(filled.index(at) + by) % len(filled)]
            index = 0 if by > 0 else len(self._sections[at].rows) - 1
        self._move(at, index)

    def _page(self, by: int) -> None:
        at, index = self._cursor
        if at < len(self._sections):
            shown = self._sections[at]
            height = max(1, shown.height - bool(shown.section.title))
            last = len(shown.rows) - 1
            shown.top = max(0, min(shown.top + by * height, last))
            self._move(at, max(0, min(index + by * height, last)))

    def _move(self, at: int, index: int) -> None:
        self._unmoved = False
        self._cursor = (at, max(0, index))
        self._settle()
        self.repaint()
        if self.row is not None:
            self.post_message(RowSelected(self.row.key, self.row.value))

    def _settle(self) -> None:
        """Bring the cursor into what there is."""
        at, index = self._cursor
        at = min(at, max(0, len(self._sections) - 1))
        if self._sections and not self._sections[at].rows:
            at = next((i for i, shown in enumerate(self._sections) if shown.rows), at)
        rows = len(self._sections[at].rows) if self._sections else 0
        self._cursor = (at, max(0, min(index, rows - 1)))

    # Mouse and focus

    def on_click(self, event: events.Click) -> None:
        for at, shown in enumerate(self._sections):
            index = event.y - shown.y - bool(shown.section.title) + shown.top
            if shown.y <= event.y < shown.y + shown.height and shown.top <= index < len(shown.rows):
                self._move(at, index)
                if event.chain == 2:
                    self.action_open()
                return

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._scroll(event.y, 3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._scroll(event.y, -3)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        at = next((i for i, shown in enumerate(self._sections) if shown.y == event.y and i and shown.height), None)
        if event.button == 1 and at is not None and self._sections[at].section.title:
            event.stop()
            self.capture_mouse()
            above = self._sections[at - 1]
            self._border = at - 1, event.y - above.y - above.height

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._border is not None:
            at, under = self._border
            self._give(at, event.y - under - self._sections[at].y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._border is not None:
            event.stop()
            self.release_mouse()
            self._border = None
            self.post_message(SectionsResized())

    def action_resize(self, direction: str) -> None:
        """Move the border over the section of the cursor (of the first one: under it) `up` or `down`."""
        at = max(0, self._cursor[0] - 1)
        if at < len(self._sections):
            self._give(at, self._sections[at].height + (-RESIZE_ROWS if direction == "up" else RESIZE_ROWS))
            self.post_message(SectionsResized())

    def _give(self, at: int, rows: int) -> None:
        """Give a section so many rows; those below share what is left."""
        height = self.size.height
        most = height - self._sections[at].y - LEAST_ROWS * (len(self._sections) - at - 1)
        share = max(LEAST_ROWS, min(rows, most)) / max(1, height)
        key = section_key(self._sections[at].section.title)
        if self.shares.get(key) != share:
            self.shares[key] = share
            self.repaint()

    def _scroll(self, y: int, by: int) -> None:
        for at, shown in enumerate(self._sections):
            if shown.y <= y < shown.y + shown.height:
                room = shown.height - bool(shown.section.title)
                shown.top = max(0, min(shown.top + by, len(shown.rows) - room))
                if at == self._cursor[0]:
                    self._cursor = (at, min(max(self._cursor[1], shown.top), shown.top + room - 1))
                self.repaint()

    def on_focus(self) -> None:
        self.repaint()

    def on_blur(self) -> None:
        self.repaint()

    # Painting

    def paint(self, width: int, height: int) -> list[Strip]:
        self._arrange(width, height)
        lines: list[Strip] = []
        for at, shown in enumerate(self._sections):
            if not shown.height:
                continue
            room = shown.height
            if shown.section.title:
                lines.append(self._heading(shown, room - 1, width, at == self._cursor[0] and self.has_focus))
                room -= 1
            for index in range(shown.top, min(shown.top + room, len(shown.rows))):
                here = self.has_focus and (at, index) == self._cursor
                lines.append(self._row(shown.rows[index], shown.key_width, width, here))
            while len(lines) < shown.y + shown.height:
                lines.append(Strip.blank(width, self.part("overview--value")))
        return lines

    def _arrange(self, width: int, height: int) -> None:
        # A blank line stands under every section but the last, as long as there is room for it.
        needs = []
        for i, shown in enumerate(self._sections):
            needs.append(len(shown.rows) + 1 if shown.section.title else len(shown.rows))
            if needs[-1] and i < len(self._sections) - 1:
                needs[-1] += 1
        given = self._heights(needs, height)
        y = 0
        for at, (shown, rows) in enumerate(zip(self._sections, given, strict=True)):
            shown.y, shown.height = y, rows
            y += rows
            room = max(1, rows - bool(shown.section.title))
            if at == self._cursor[0]:
                shown.top = min(shown.top, self._cursor[1])
                shown.top = max(shown.top, self._cursor[1] - room + 1)
            shown.top = max(0, min(shown.top, len(shown.rows) - min(room, len(shown.rows))))
            visible = shown.rows[shown.top : shown.top + room]
            longest = max((cell_len(row.key) for row in visible), default=0)
            widest = max((cell_len(row.value) for row in visible), default=0)
            shown.key_width = min(longest, max(6, width * 45 // 100, width - widest - 4))

    def _heights(self, needs: list[int], height: int) -> list[int]:
        """Rows of the sections: those that a person has given some, the others by need and weight."""
        chosen: dict[int, int] = {}
        left = height
        for at, shown in enumerate(self._sections):
            share = self.shares.get(section_key(shown.section.title))
            if share is not None:
                room = left - LEAST_ROWS * (len(self._sections) - len(chosen) - 1)
                chosen[at] = max(0, min(max(LEAST_ROWS, round(share * height)), room))
                left -= chosen[at]
        others = [at for at in range(len(self._sections)) if at not in chosen]
        weights = [self._sections[at].section.weight for at in others]
        shared = section_heights([needs[at] for at in others], weights, max(0, left))
        return [chosen[at] if at in chosen else shared[others.index(at)] for at in range(len(self._sections))]

    def _heading(self, shown: ShownSection, room: int, width: int, focused: bool) -> Strip:
        count = ""
        if self._sections.keep is not None:
            count = f"{len(shown.rows):,}/{shown.total:,}"
        elif len(shown.rows) > room:
            last = min(shown.top + room, len(shown.rows))
            count = ranged(shown.top + 1, last, len(shown.rows)) if room else f"{len(shown.rows):,}"
        elif not shown.rows:
            count = "none"
        style = self.part("overview--heading-focused" if focused else "overview--heading")
        title = f" {shown.section.title} "
        rule = "─" * max(0, width - cell_len(title) - cell_len(count) - (2 if count else 0))
        tail = f" {count} " if count else ""
        return strip_of((title, style), (rule, self.part("overview--quiet")), (tail, self.part("overview--count")))

    def _row(self, row: Row, key_width: int, width: int, cursor: bool) -> Strip:
        key = " " + pad_key(row.key, key_width) + "  "
        value = pad(row.value, max(0, width - cell_len(key) - 1)) + " "
        if cursor:
            style = self.part("overview--cursor")
            return strip_of((key, style), (value, style))
        if row.tone == "overview--tag":
            return strip_of((key, self.part("overview--key")), *tag_pieces(self, value, self._tone(row.tone)))
        return strip_of((key, self.part("overview--key")), (value, self._tone(row.tone)))

    def _tone(self, name: str) -> Style:
        return self.part(name if name in self.COMPONENT_CLASSES else "overview--value")


def pad_key(key: str, width: int) -> str:
    """A key in exactly `width` cells; of a long one both ends are kept."""
    return pad(shorten(key, width) if cell_len(key) == len(key) else key, width)
