"""The wall on which charts are painted, a page at a time.

    sources (any number) ─► the page's charts ─► drawn Cells ─► one wall of Cells ─► strips ─► screen
                            changed ones only      blitted        compared with what is shown:
                                                                  only changed spans are sent

A chart is drawn when it stands on the visible page and its source has a new version or its view changed;
what is on other pages costs nothing. The wall is compared with what the screen shows, so that a chart
whose picture did not change sends no bytes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, TypeAlias

from textual.geometry import Region, Size
from textual.reactive import var
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from leet.charts.cells import Cells, Role
from leet.charts.line import draw_chart
from leet.model.units import ranged
from leet.tui.favourites import MARK, Favourites
from leet.tui.widgets import chart_grid_messages as messages
from leet.tui.widgets.cell_strips import changed_spans, strips
from leet.tui.widgets.chart_grid_chart import ChartSource, DrawnChart, KeyedSources
from leet.tui.widgets.chart_grid_colors import RoleStyles
from leet.tui.widgets.chart_grid_crosshair import CrosshairCharts, read_exactly
from leet.tui.widgets.chart_grid_layout import PageLayout, lay_out
from leet.tui.widgets.chart_grid_limits import ChartLimits
from leet.tui.widgets.chart_grid_looks import GUIDES
from leet.tui.widgets.chart_grid_pace import AT_ONCE, next_after
from leet.tui.widgets.chart_view import ChartView


class ChartWall(CrosshairCharts, can_focus=True):
    """Pages, painting, and what is chosen: focus, views, crosshair. See the module."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = RoleStyles.COMPONENT_CLASSES
    DEFAULT_CSS = RoleStyles.CSS

    rows: var[int] = var(4, init=False)
    columns: var[int] = var(3, init=False)
    empty: var[str] = var("", init=False)
    """What to say where there is no chart."""

    PageChanged: TypeAlias = messages.PageChanged
    Focused: TypeAlias = messages.Focused
    ViewChanged: TypeAlias = messages.ViewChanged
    CrosshairMoved: TypeAlias = messages.CrosshairMoved

    def __init__(
        self,
        *,
        rows: int = 4,
        columns: int = 3,
        smallest: tuple[int, int] = (20, 5),
        ascii: bool = False,  # noqa: A002 - named like the setting
        palette: str = "",
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.set_reactive(ChartWall.rows, rows)
        self.set_reactive(ChartWall.columns, columns)
        self.set_reactive(ChartWall.ascii, ascii)
        self.set_reactive(ChartWall.palette, palette)
        self.views: dict[str, ChartView] = {}
        """The view of each chart that was ever changed."""
        self.charts_drawn = 0
        """How many charts were drawn so far."""
        self.cells_changed = 0
        """How many cells of the wall looked different after a repaint, in all."""
        self._smallest = Size(*smallest)
        self.sources: Sequence[ChartSource] = ()
        self._first = 0
        self.focus_index: int | None = None
        self._focused_key = ""
        self.page_layout = PageLayout(Size(0, 0), 1, 1)
        self._page: list[DrawnChart] = []
        self._wall = Cells(0, 0)
        self._strips: list[Strip | None] = []
        self._styles = RoleStyles(self)
        self._limits = ChartLimits()
        self.favourites = Favourites()
        """Charts that are marked in their title."""
        self._rendering = False
        self._next_data_at = 0.0
        self._data_timer: Timer | None = None

    # What is shown

    def show(self, sources: Sequence[ChartSource], first: int | None = None) -> None:
        """Show these; views, page and focus stay with the charts that are still there.

        Others may have been asked for: then the page of the one with the number `first` is turned to, from 0, unless
        the chart in focus is among them.
        """
        self.sources = sources
        if first is not None:
            self._first = first
        if self.focus_index is not None:
            was_on_page = self._on_page(self.focus_index)
            self.focus_index = self._place_of(self._focused_key)
            if self.focus_index is None:
                self._focused_key = ""
                self.post_message(self.Focused(self, None))
            elif was_on_page:
                self._first = self.focus_index
        self._lay_out()

    def data_changed(self) -> None:
        """There may be new data: draw what is visible and changed, now or as soon as the budget allows."""
        if self._data_timer is not None or not self._shown:
            return
        wait = self._next_data_at - time.monotonic()
        if wait > 0:
            self._data_timer = self.set_timer(wait, self._data_due)
        else:
            self._data_due()

    def paint_now(self) -> None:
        """Draw what is visible and changed, whatever the budget says."""
        if self._shown:
            self._paint()

    @property
    def page(self) -> tuple[int, int, int]:
        """Numbers of the first and last chart shown, from 1, and how many there are."""
        return min(self._first + 1, len(self.sources)), self._first + len(self._page), len(self.sources)

    @property
    def page_label(self) -> str:
        """`[13–24 of 310]`; empty where everything fits, and before it is known how much does."""
        first, last, count = self.page
        if not self.size:
            return ""
        return f"[{ranged(first, last, count)}]" if last - first + 1 < count else ""

    @property
    def focused_source(self) -> ChartSource | None:
        return None if self.focus_index is None else self.sources[self.focus_index]

    def view(self, source: ChartSource) -> ChartView:
        return self.views.get(source.key, ChartView())

    def set_view(self, source: ChartSource, view: ChartView) -> None:
        if view != self.view(source):
            self.views[source.key] = view
            self.post_message(self.ViewChanged(self, source.key, view))
            self._paint()

    def focus_chart(self, index: int | None) -> None:
        """Give the chart with this number, from 0, the focus, and turn to its page."""
        if not self.sources:
            index = None
        elif index is not None:
            index = min(max(index, 0), len(self.sources) - 1)
        self._set_focus(index)
        if index is not None and not self._on_page(index):
            self._first = index
            self._lay_out()
        else:
            self._paint()

    @property
    def active_chart(self) -> DrawnChart | None:
        """The chart that keys act on: the focused one if it stands on the page, else the first."""
        if not self._page:
            return None
        if self.focus_index is not None and self._on_page(self.focus_index):
            return self._page[self.focus_index - self._first]
        return self._page[0]

    def chart_at(self, x: int, y: int) -> DrawnChart | None:
        """The chart that covers a cell of the widget."""
        place = self.page_layout.place_at(x, y)
        return self._page[place] if place is not None and place < len(self._page) else None

    def index_of(self, chart: DrawnChart) -> int | None:
        """Its number among the sources, from 0; None when it has left the page."""
        return next((self._first + i for i, c in enumerate(self._page) if c is chart), None)

    def set_crosshair(self, x: float | None, x_label: str = "") -> None:
        """Stand at `x` on every chart whose x axis has this label; nowhere with None."""
        crosshair = None if x is None else (x, x_label)
        if crosshair != self.crosshair:
            self.crosshair, self.crosshair_time = crosshair, None
            self.post_message(self.CrosshairMoved(self, x, x_label))
            self._paint()

    # Pages

    def _turn(self, by: int) -> None:
        """Pages wrap around."""
        capacity = self.page_layout.capacity
        pages = -(-len(self.sources) // capacity)
        if pages > 1:
            self._turn_to((self._first // capacity + by) % pages * capacity)

    def _turn_to(self, index: int) -> None:
        """To the page of this chart; the focus comes along, to the same place where there is one."""
        capacity = self.page_layout.capacity
        first = max(index, 0) // capacity * capacity
        if self.focus_index is not None and first != self._first:
            self._set_focus(min(first + self.focus_index % capacity, len(self.sources) - 1))
        self._first = first
        self._lay_out()

    def _set_focus(self, index: int | None) -> None:
        if index != self.focus_index:
            self.focus_index = index
            self._focused_key = "" if index is None else self.sources[index].key
            self.post_message(self.Focused(self, self._focused_key or None))

    def _place_of(self, key: str) -> int | None:
        if isinstance(self.sources, KeyedSources):
            return self.sources.index_of(key)
        return next((i for i, source in enumerate(self.sources) if source.key == key), None)

    def _lay_out(self) -> None:
        """Find the charts of the page. Those that stay where they were are not drawn again."""
        count = len(self.sources)
        layout = lay_out(self.size, self.rows, self.columns, count, self._smallest)
        capacity = layout.capacity
        at = self._first
        if self.focus_index is not None and self._on_page(self.focus_index):
            at = self.focus_index
        first = min(at, max(count - 1, 0)) // capacity * capacity
        moved = layout != self.page_layout
        standing = {} if moved else {chart.source.key: chart for chart in self._page}
        before = self.page, [chart.source.key for chart in self._page]
        self.page_layout, self._first = layout, first
        self._page = []
        for place in range(min(capacity, count - first)):
            source, region = self.sources[first + place], layout.region(place)
            chart = standing.get(source.key)
            if chart is not None and chart.region == region:
                chart.source = source
            else:
                chart = DrawnChart(source, region)
            self._page.append(chart)
        if (self._wall.width, self._wall.height) != self.size:
            self._wall = Cells(*self.size)
            self._strips = [None] * self.size.height
        self._paint(clear=True)
        if (self.page, [chart.source.key for chart in self._page]) != before:
            self.post_message(self.PageChanged(self, *self.page))

    def _on_page(self, index: int) -> bool:
        return self._first <= index < self._first + self.page_layout.capacity

    # Painting

    @property
    def _shown(self) -> bool:
        """Whether somebody can see it: on the top screen, or below one that lets it shine through."""
        if not (self.is_attached and self.size):
            return False
        if not all(node.display for node in self.ancestors_with_self if isinstance(node, Widget)):
            return False
        top = self.app.screen
        return self.screen is top or (top.styles.background.a < 1 and self.screen.is_current)

    def _data_due(self) -> None:
        self._data_timer = None
        if not self._shown:
            return
        sent, began, now = self.cells_changed, time.thread_time(), time.monotonic()
        behind = self._paint(seconds=AT_ONCE)
        cells = self.cells_changed - sent

        def set_pace() -> None:
            """What the screen does with a changed picture costs as much as to draw it."""
            self._next_data_at = next_after(now, time.thread_time() - began, cells)

        set_pace()
        if cells:
            self.call_after_refresh(set_pace)
        if behind:
            self.data_changed()

    def _paint(self, *, clear: bool = False, seconds: float = math.inf) -> bool:
        """Draw the charts of the page that are not as they should be, and mark what that changed.

        After so many seconds of a core it ends; whether charts are still behind then, which come first the next time.
        """
        if not self._shown:
            return False
        due = [(chart, wanted) for chart in self._page if (wanted := self._wanted(chart)) != chart.drawn_from]
        if not due and not clear:
            return False
        if seconds < math.inf:
            due.sort(key=lambda one: one[0].drawn_as)
        codes, roles = self._wall.codes.copy(), self._wall.roles.copy()
        if clear:
            self._clear_free_places()
        until, drawn = time.thread_time() + seconds, 0
        for chart, wanted in due:
            self._draw(chart)
            chart.drawn_from, chart.drawn_as = wanted, self.charts_drawn
            drawn += 1
            if time.thread_time() > until:
                break
        spans = list(changed_spans(codes, roles, self._wall))
        for y, _, _ in spans:
            self._strips[y] = None
        self.cells_changed += sum(end - start for _, start, end in spans)
        if spans and not self._rendering:
            self.refresh(*(Region(start, y, end - start, 1) for y, start, end in spans))
        return drawn < len(due)

    def _clear_free_places(self) -> None:
        for place in range(len(self._page), self.page_layout.capacity):
            self._blit(self.page_layout.region(place), None)
        if not self._page:
            text = self.empty[: self.size.width]
            self._wall.put((self.size.width - len(text)) // 2, self.size.height // 2, text, Role.NOTE)

    def _wanted(self, chart: DrawnChart) -> tuple[object, ...]:
        """All that decides how a chart looks, apart from colours, which are in the strips alone."""
        source = chart.source
        return (
            source.version(),
            self.view(source),
            self.crosshair_on(chart),
            self.anchor_on(chart),
            self._has_focus(chart),
            self.ascii,
            self.guides,
            self.smoothing,
            self._color_of(chart),
            source.key in self.favourites,
        )

    def _draw(self, chart: DrawnChart) -> None:
        source, view, (_, _, width, height) = chart.source, self.view(chart.source), chart.region
        spec = replace(
            source.spec(width, replace(view, smoothing=self.smoothing)),
            focused=self._has_focus(chart),
            ascii=self.ascii,
            monochrome=self.app.no_color,
            guides=GUIDES.get(self.guides, "off"),
        )
        if (color := self._color_of(chart)) is not None:
            spec = replace(spec, traces=tuple(replace(trace, color=color) for trace in spec.traces))
        spec = self._limits.applied(spec, source, view)
        if source.key in self.favourites:
            spec = replace(spec, title=f"{MARK} {spec.title}")
        chart.spec = spec
        if (x := self.crosshair_on(chart)) is not None:
            spec = replace(spec, crosshair=x)
        if (x := self.anchor_on(chart)) is not None:
            spec = replace(spec, anchor=x)
        if not self.smoothing or any(trace.smooth is not None for trace in spec.traces):
            spec = read_exactly(spec, source)
        draw = draw_chart
        chart.heat = view.heat and source.heatmap_capable
        if chart.heat:
            from leet.charts.heatmap import draw_heatmap as draw
        self._blit(chart.region, draw(spec, width, height))
        self.charts_drawn += 1

    def _color_of(self, chart: DrawnChart) -> int | None:
        """The one colour of a chart, where it has one; None where its curves differ."""
        if not self.per_plot or (index := self.index_of(chart)) is None:
            return None
        return index % len(self._styles.palette.dark)

    def _blit(self, region: Region, cells: Cells | None) -> None:
        x, y, width, height = region
        place = slice(y, y + height), slice(x, x + width)
        self._wall.codes[place] = 32 if cells is None else cells.codes
        self._wall.roles[place] = Role.BLANK if cells is None else cells.roles

    def _has_focus(self, chart: DrawnChart) -> bool:
        return self.focus_index is not None and self.has_focus and chart.source.key == self._focused_key

    def render_lines(self, crop: Region) -> list[Strip]:
        """Ready strips, past Textual's cache of styled lines, which has nothing to add to them."""
        self._dirty_regions.clear()
        if (self._wall.width, self._wall.height) != self.size:
            # A new size: all of it is being asked for, so nothing needs to be asked for again.
            self._rendering = True
            self._lay_out()
            self._rendering = False
        # The layout in which this is asked for may be gone already: then the next one asks again.
        there = range(crop.y, min(crop.bottom, len(self._strips))) if self._wall.width else range(0)
        missing = [y for y in there if self._strips[y] is None]
        if missing:
            # Filters of colours have been at the styles already; that of ASCII terminals is for texts.
            filters = self.get_line_filters() if self.ascii else ()
            for y, strip in zip(missing, strips(self._wall, missing, self._styles), strict=True):
                for line_filter in filters:
                    strip = strip.apply_filter(line_filter, self.background_colors[1])
                self._strips[y] = strip
        rows = [made for y in there if (made := self._strips[y]) is not None]
        if crop.column_span != (0, self._wall.width):
            rows = [row.crop(crop.x, crop.right).adjust_cell_length(crop.width) for row in rows]
        return rows + [Strip.blank(crop.width)] * (crop.height - len(rows))

    def _restyle(self) -> None:
        """Make all strips again if a style is not what it was."""
        if self._styles.renew():
            self._strips = [None] * len(self._strips)
            self.refresh()

    def watch_rows(self) -> None:
        self._lay_out()

    def watch_columns(self) -> None:
        self._lay_out()

    def watch_empty(self) -> None:
        if not self._page:
            self._lay_out()

    def on_mount(self) -> None:
        self.app.screen_change_signal.subscribe(self, self._screen_changed)

    def _screen_changed(self, screen: Screen[object]) -> None:
        """What happened while another screen was on top is drawn when it has gone."""
        if self._paint(seconds=AT_ONCE):
            self.data_changed()

    def on_resize(self) -> None:
        self._lay_out()

    def on_show(self) -> None:
        self._lay_out()
