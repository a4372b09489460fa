"""Tiles of media, painted a page at a time: what the media pane and the full screen have in common.

MediaStore ─► tiles of the page ─► Wanted ─► MediaLoader (a thread) ─► contents ─► lines of cells
                                                                    └─► pictures over blank cells, where the
                                                                        terminal draws pixels
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from leet.charts import palettes
from leet.model.filter import TextFilter
from leet.model.media import Tile
from leet.model.media_content import Content, Fetch, Histograms, Labels, Trouble, Wanted, spread
from leet.model.media_files import NoSuchFile
from leet.model.media_loader import MediaLoader
from leet.model.picture_file import Color, Mark, Picture
from leet.model.run import RunModel
from leet.model.safe_text import clean
from leet.model.units import format_value, ranged
from leet.tui.feed import RunFeed
from leet.tui.graphics import cell_pixels
from leet.tui.messages import PaneNoteChanged
from leet.tui.terminal import Terminal
from leet.tui.widgets.chart_grid_colors import RoleStyles
from leet.tui.widgets.image_cells import grain_of, means_of
from leet.tui.widgets.media_bodies import (
    LEAST_HISTOGRAMS,
    MOST_HISTOGRAMS,
    Distributions,
    Drawings,
    Ink,
    body_of,
    histogram_body,
)
from leet.tui.widgets.media_labels import labels_of
from leet.tui.widgets.media_page import Page, lay_out
from leet.tui.widgets.media_pixels import PixelTiles
from leet.tui.widgets.media_tile import Face, Room, TileStyles, framed, said
from leet.tui.widgets.media_view import MediaView

PICTURE_PATIENCE = 20.0
"""Seconds that a picture of the screen waits for what is still being decoded."""
LARGEST_PICTURE = 1600, 1200
"""Pixels of a picture in full resolution."""
_PARTS = ("title", "selected", "quiet", "text", "strong", "bad", "line", "knob")


class MediaMade(Message):
    """The thread that decodes has something new."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, MediaMade)


class MediaPages(PixelTiles):
    """See the module."""

    COMPONENT_CLASSES: ClassVar[set[str]] = RoleStyles.COMPONENT_CLASSES | {f"media--{part}" for part in _PARTS}
    DEFAULT_CSS = RoleStyles.CSS.replace("ChartWall", "MediaPages")

    def __init__(self, *, grid: tuple[int, int], id: str | None = None) -> None:  # noqa: A002  Textual's name
        """`grid`: rows and columns of tiles at most."""
        super().__init__(id=id)
        self.grid = grid
        self.model: RunModel | None = None
        self.feed: RunFeed | None = None
        self.view = MediaView()
        self.palette = ""
        self.heat_palette = ""
        self.series_colors: dict[int, str] = {}
        self.page: Page | None = None
        self.note = ""
        """`1–2 of 14`, and in which mode the pane is."""
        self._loader: MediaLoader | None = None
        self._filter: TextFilter | None = None
        self._tiles: tuple[tuple[object, ...], tuple[Tile, ...]] = ((), ())
        self._seen: tuple[object, ...] = ()
        self._roles = RoleStyles(self)
        self._distributions = Distributions()
        self._drawings = Drawings()
        self._retry: Timer | None = None

    def on_unmount(self) -> None:
        if self._loader is not None:
            self._loader.close()

    @property
    def terminal(self) -> Terminal:
        found = getattr(self.app, "terminal", None)
        return found if isinstance(found, Terminal) else Terminal()

    # What is shown

    def show_model(self, model: RunModel, feed: RunFeed) -> None:
        """This run from now on."""
        if model is self.model:
            return
        self.model, self.feed = model, feed
        if self._loader is not None:
            self._loader.close()
        self._loader = MediaLoader(self._announce, class_colors(), _fetching(feed)) if model.path is not None else None
        self.update()

    def _announce(self) -> None:
        """Called on the thread that decodes."""
        self.post_message(MediaMade())

    def on_media_made(self, event: MediaMade) -> None:
        event.stop()
        self.repaint()

    def data_changed(self) -> None:
        """The model changed, perhaps its media."""
        if self.model is not None and self._seen != self._state():
            self.update()

    def _state(self) -> tuple[object, ...]:
        """What tells that the tiles look different, apart from what a person does."""
        assert self.model is not None
        return self.model.media.generation, self.model.media.values

    def tiles(self) -> Sequence[Tile]:
        """The tiles that pass the filter, in order."""
        if self.model is None:
            return ()
        all_tiles = self.model.media.tiles()
        made_from = (all_tiles, self._filter)
        if self._tiles[0] != made_from:
            held = self._filter
            self._tiles = made_from, tuple(t for t in all_tiles if held is None or held.matches(t.name))
        return self._tiles[1]

    @property
    def selected(self) -> Tile | None:
        """The tile that keys are about."""
        tiles = self.tiles()
        if self.view.selected not in tiles:
            self.view.selected = tiles[0] if tiles else None
        return self.view.selected

    def update(self) -> None:
        """Follow the model and what a person did."""
        if self.model is not None:
            self._seen = self._state()
        self._tell_note()
        self.repaint()

    def _tell_note(self) -> None:
        page, count = self._lay_out(*self.size), len(self.tiles())
        first, last = page.first + 1, page.first + len(page.slots)
        place = ranged(first, last, count) if 0 < len(page.slots) < count else f"{count}" if count else ""
        note = " · ".join(filter(None, ("linked" if self.view.linked else "", place)))
        if note != self.note:
            self.note = note
            if self.id:
                self.post_message(PaneNoteChanged(self.id, note))

    def paint_now(self) -> None:
        """Bring what is visible up to date at once; for pictures of the screen, with everything decoded."""
        self.update()
        if self.app.is_headless and self._loader is not None and self.size.width and self.display:
            self.paint(*self.size)
            self._loader.wait(PICTURE_PATIENCE)
            self.repaint()

    def step_text(self, tile: Tile) -> str:
        """At which step a tile is, or the first step there is one."""
        assert self.model is not None
        series, steps = self.model.media.series(tile.key), self.model.metrics.steps.view
        index = self.view.index(self.model.media, tile)
        row = int(series.rows[0 if index is None else index])
        step = _step(float(steps[row])) if row < len(steps) else "?"
        return f"step {step}" if index is not None else f"from step {step}"

    # Painting

    def paint(self, width: int, height: int) -> list[Strip]:
        self.begin_places()
        if self.model is None or self._loader is None or not self.tiles():
            self.place_later()
            return []
        ink, page = self._ink(), self._lay_out(width, height)
        self.page = page
        wanted: list[Wanted] = []
        beside: list[Wanted] = []
        rows: list[list[Strip]] = [[] for _ in range(height)]
        tiles = self.tiles()
        for slot, region in enumerate(page.slots):
            tile = tiles[page.first + slot]
            before = len(wanted)
            strips = self._tile(tile, region, slot, ink, wanted)
            if tile == self.view.selected and len(wanted) > before:
                wanted.insert(0, wanted.pop())
                beside = self._beside(wanted[0])
            if region.x:
                rows[region.y : region.bottom] = [
                    [*row, Strip([Segment(" ", ink.styles.ground)], 1)] for row in rows[region.y : region.bottom]
                ]
            for row, strip in zip(rows[region.y : region.bottom], strips, strict=False):
                row.append(strip)
        self._want([*wanted, *beside])
        self.place_later()
        return [Strip.join(row) for row in rows]

    def _beside(self, wish: Wanted) -> list[Wanted]:
        """The samples before and after the selected one: whoever scrubs comes there next."""
        assert self.model is not None
        series = self.model.media.series(wish.tile.key)
        if wish.histogram:
            return []
        near = (wish.indices[0] + 1, wish.indices[0] - 1)
        return [
            replace(wish, places=(self.record_of(wish.tile.key, i),), indices=(i,))
            for i in near
            if 0 <= i < len(series)
        ]

    def _lay_out(self, width: int, height: int) -> Page:
        tiles, chosen = self.tiles(), self.selected
        return lay_out(width, height, self.grid, len(tiles), tiles.index(chosen) if chosen in tiles else 0)

    def _tile(self, tile: Tile, region: Region, slot: int, ink: Ink, wanted: list[Wanted]) -> list[Strip]:
        assert self.model is not None
        assert self._loader is not None
        series = self.model.media.series(tile.key)
        index = self.view.index(self.model.media, tile)
        room = Room.of(region.height)
        content: Content | None = None
        body: list[Strip] = []
        caption, marks = "", tuple[Mark, ...]()
        if series.kind == "histogram":
            wish = self._wish_histograms(tile, region.width)
            wanted.append(wish)
            content = self._loader.content(wish)
            if content is not None and isinstance(content.shown, Histograms):
                body = self._histograms(tile, content.shown, index, region.width, room, ink)
                return framed(
                    Face(clean(tile.name), self.step_text(tile), index, len(series), tile == self.view.selected),
                    body, region.width, region.height, ink.styles, caption=False,
                )  # fmt: skip
        elif index is not None:
            wish = self._wish(tile, index, (region.width, room.body), ink)
            wanted.append(wish)
            content = self._loader.content(wish)
        if index is not None:
            body = body_of(content, region.width, room.body, ink, self._drawings)
        if content is not None and isinstance(content.shown, Trouble) and content.shown.missing and self._is_remote:
            text = f"on the other machine, and fetched only when it is drawn: {content.shown.missing}"
            body = said(clean(text), region.width, room.body, ink.styles.quiet)
        if content is not None and content.medium is not None and index is not None:
            caption = clean(content.medium.caption)
            if isinstance(content.shown, Picture):
                marks = content.shown.marks
                if content.sequence:
                    body = self.leave_room(content, region, slot, room)
        face = Face(
            clean(tile.name), self.step_text(tile), index, len(series), tile == self.view.selected, caption, marks
        )
        return framed(face, body, region.width, region.height, ink.styles)

    @property
    def _is_remote(self) -> bool:
        """The log is fetched from another machine, and the files beside it are not."""
        return self.feed is not None and self.feed.remote is not None

    def _histograms(
        self, tile: Tile, found: Histograms, index: int | None, width: int, room: Room, ink: Ink
    ) -> list[Strip]:
        assert self.model is not None
        series, metrics = self.model.media.series(tile.key), self.model.metrics
        at = None
        if index is not None and index != len(series) - 1:
            at = float(metrics.steps.view[series.rows[index]])
        made = self._distributions.of(found, series.rows, metrics.steps.view)
        return histogram_body(made, metrics, at, width, room.body + int(room.caption), ink)

    def record_of(self, key: str, index: int) -> tuple[Path, int]:
        """Log and offset of the record of a value."""
        assert self.model is not None
        assert self.model.path is not None
        series = self.model.media.series(key)
        return self.model.media.log_of(int(series.rows[index]), self.model.path), series.offset(index)

    def _wish(self, tile: Tile, index: int, cells: tuple[int, int], ink: Ink) -> Wanted:
        assert self.model is not None
        store = self.model.media
        grain = grain_of(ink.means)
        box, graphics = (cells[0] * grain.across, cells[1] * grain.down), None
        shape = grain.shape
        if self.full_resolution and self.protocol is not None:
            wide, high = cell_pixels()
            box = min(cells[0] * wide, LARGEST_PICTURE[0]), min(cells[1] * high, LARGEST_PICTURE[1])
            graphics, shape = (self.protocol, wide, high), 1.0
        return Wanted(
            tile,
            (self.record_of(tile.key, index),),
            (index,),
            box,
            shape,
            _rgb(ink.styles.ground),
            self.view.overlays,
            graphics=graphics,
            generation=store.generation,
        )

    def _wish_histograms(self, tile: Tile, width: int) -> Wanted:
        assert self.model is not None
        store = self.model.media
        series = store.series(tile.key)
        places = spread(len(series), min(max(width, LEAST_HISTOGRAMS), MOST_HISTOGRAMS)).tolist()
        records = tuple(self.record_of(tile.key, place) for place in places)
        return Wanted(tile, records, tuple(places), histogram=True, generation=store.generation)

    def _want(self, wanted: Sequence[Wanted]) -> None:
        """Have these made, and look again when what failed may be tried again."""
        assert self.model is not None
        assert self._loader is not None
        labels: dict[str, Labels] = {}
        if self.view.overlays:
            labels = {w.tile.key: labels_of(self.model.config, w.tile.key) for w in wanted}
        self._loader.want(wanted, labels)
        delay = self._loader.retry_in()
        if self._retry is not None:
            self._retry.stop()
            self._retry = None
        if delay is not None and self.is_mounted:
            self._retry = self.set_timer(delay + 0.01, self._try_again)

    def _try_again(self) -> None:
        self._retry = None
        if self.display and self.size.width:
            self.paint(*self.size)

    def _ink(self) -> Ink:
        terminal, theme = self.terminal, self.app.current_theme
        ground = self.ground
        styles = TileStyles(ground, *(self.part(f"media--{part}") + ground for part in _PARTS))
        return Ink(
            styles,
            self._roles,
            means_of(terminal),
            terminal.ascii,
            terminal.depth == "none",
            theme.dark,
        )

    def notify_style_update(self) -> None:
        self._roles = RoleStyles(self)
        super().notify_style_update()

    def on_resize(self) -> None:
        self._tell_note()


def class_colors() -> tuple[Color, ...]:
    """Colours of classes in masks and boxes, by their numbers."""
    palette = palettes.PALETTES["okabe-ito"].dark
    return tuple((int(c[1:3], 16), int(c[3:5], 16), int(c[5:7], 16)) for c in palette)


def _fetching(feed: RunFeed) -> Fetch | None:
    """Brings files of a run on another machine; None for one that is here."""
    if not feed.remote_logs:
        return None
    from leet.remote.run_files import NotFetched, RunFiles

    files = RunFiles(feed.remote_logs)

    def fetch(log: Path, path: str) -> None:
        try:
            files.fetch(log, path)
        except NotFetched as error:
            raise NoSuchFile(f"not fetched, {error}: {path}") from error

    return fetch


def _rgb(ground: Style) -> Color:
    """The ground as pixels have it; black for the terminal's own."""
    if ground.bgcolor is None or ground.bgcolor.triplet is None:
        return 0, 0, 0
    red, green, blue = ground.bgcolor.triplet
    return red, green, blue


def _step(step: float) -> str:
    return f"{step:,.0f}" if step == round(step) and abs(step) < 1e15 else format_value(step)
