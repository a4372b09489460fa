"""What a tile shows, made from the log and the files beside it: everything here may take a while, and runs on a thread.

Wanted ─► read_value ─► Medium ─► image  ─► Picture       decoded, scaled, with masks and boxes
                               ─► table  ─► Sheet         its first rows
                               ─► other  ─► Facts         path, size, duration
         many of them ─► Histogram … ─► Distribution      a heat map over the steps
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from leet.model.media import Tile
from leet.model.media_files import NoSuchFile, find, seconds_of_wav
from leet.model.media_value import Layer, Medium, histogram_of, medium_of
from leet.model.picture_codes import kitty, sixel
from leet.model.picture_file import Color, NoPicture, Overlay, Picture, draw
from leet.model.table_file import BadTable, TableFile
from leet.model.units import BYTES, SECONDS, format_value
from leet.reading.media_values import ValueGone, read_value

Labels = Mapping[str, Mapping[str, Mapping[str, str]]]
"""`masks` or `boxes` → name of the layer → number of the class → its name."""

Fetch = Callable[[Path, str], None]
"""Brings a file that is not beside a log, by its path below `files/`. Raises NoSuchFile."""

SHEET_ROWS = 60
"""Rows of a table that a tile is given."""
REMEMBERED = 2048
"""Histograms that need not be read again."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The first rows of a table, cells as logged."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int | None
    """Rows of the whole table, where that was logged."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of something that is not drawn: (name, text) pairs, texts as logged."""

    facts: tuple[tuple[str, str], ...]


Bins = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Counts [n] and edges [n + 1] of a histogram."""


@dataclass(frozen=True, slots=True)
class Histograms:
    """Steps' histograms, in order: places in their series, counts and edges of each as logged."""

    indices: tuple[int, ...]
    values: tuple[Bins | None, ...]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why nothing can be shown: one line, which may quote the log."""

    text: str
    passing: bool = False
    """A second look may help: the file may still be on its way."""
    missing: str = ""
    """Path of a file that is not there, as logged."""


Shown = Picture | Sheet | Facts | Histograms | Trouble


@dataclass(frozen=True, slots=True)
class Content:
    """What was made of a value, and the value."""

    medium: Medium | None
    shown: Shown
    sequence: str = ""
    """Draws the picture as pixels, at the cursor; Kitty's number of it is 0 there."""
    cells: tuple[int, int] = (0, 0)
    """Columns and rows that it takes."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One thing to be shown. Equal ones look alike, so that it keys what has been made."""

    tile: Tile
    places: tuple[tuple[Path, int], ...]
    """Log and offset of its record, or of those of all the histograms: a run that was resumed has several logs."""
    indices: tuple[int, ...]
    """Places in the series, of the same length."""
    box: tuple[int, int] = (0, 0)
    """Pixels there are for a picture, (width, height)."""
    pixel_shape: float = 1.0
    ground: Color = (0, 0, 0)
    overlays: bool = False
    histogram: bool = False
    graphics: tuple[str, int, int] | None = None
    """To be drawn as pixels: the protocol, and width and height of a cell in them."""
    generation: int = 0
    """Of the store: what was read of a log that has been replaced is of no use."""


@dataclass(frozen=True, slots=True)
class Files:
    """The files beside a log, where need be after they have been fetched."""

    log: Path
    fetch: Fetch | None

    def find(self, path: str) -> Path:
        """The file that a value names. Raises NoSuchFile."""
        try:
            return find(self.log, path)
        except NoSuchFile as error:
            if not error.missing or self.fetch is None:
                raise
        self.fetch(self.log, path)
        return find(self.log, path)


def make(wanted: Wanted, labels: Labels, colors: tuple[Color, ...], fetch: Fetch | None = None) -> Content:
    """Read and decode it; `fetch` brings what is not here. Raises nothing for what a log or a file holds."""
    try:
        if wanted.histogram:
            return _histograms(wanted)
        log, offset = wanted.places[0]
        value = read_value(log, offset, wanted.tile.key)
        medium = medium_of(value, wanted.tile.piece)
    except ValueGone as error:
        return Content(None, Trouble(str(error), passing=True))
    if medium is None:
        return Content(None, Trouble(f"no piece {wanted.tile.piece} at this step"))
    try:
        if medium.kind == "image":
            return _encoded(medium, _picture(Files(log, fetch), medium, wanted, labels, colors), wanted)
        if medium.kind == "table":
            return Content(medium, _sheet(Files(log, fetch), medium))
        return Content(medium, Facts(tuple(facts_of(log, medium))))
    except NoSuchFile as error:
        return Content(medium, Trouble(str(error), passing=True, missing=medium.path if error.missing else ""))
    except (NoPicture, BadTable) as error:
        return Content(medium, Trouble(str(error), passing=True))
    except OSError as error:
        return Content(medium, Trouble(f"cannot be read: {medium.path}: {error.strerror or error}", passing=True))


def _picture(files: Files, medium: Medium, wanted: Wanted, labels: Labels, colors: tuple[Color, ...]) -> Picture:
    masks = _overlays(files, medium.masks, labels.get("masks", {})) if wanted.overlays else []
    boxes = _overlays(files, medium.boxes, labels.get("boxes", {})) if wanted.overlays else []
    return draw(
        files.find(medium.path),
        wanted.box,
        ground=wanted.ground,
        pixel_shape=wanted.pixel_shape,
        masks=masks,
        boxes=boxes,
        colors=colors,
    )


def _encoded(medium: Medium, picture: Picture, wanted: Wanted) -> Content:
    if wanted.graphics is None:
        return Content(medium, picture)
    protocol, across, down = wanted.graphics
    height, width = picture.pixels.shape[:2]
    cells = max(1, round(width / across)), max(1, round(height / down))
    if protocol == "kitty":
        return Content(medium, picture, kitty(picture.pixels, 0, *cells), cells)
    return Content(medium, picture, sixel(picture.pixels), (-(-width // across), -(-height // down)))


def _overlays(files: Files, layers: tuple[Layer, ...], labels: Mapping[str, Mapping[str, str]]) -> list[Overlay]:
    return [Overlay(files.find(layer.path), labels.get(layer.name, {})) for layer in layers]


def _sheet(files: Files, medium: Medium) -> Sheet:
    with TableFile(files.find(medium.path)) as table:
        table.read(SHEET_ROWS)
        total = len(table.rows) if table.finished and not table.cut_short else medium.rows
        return Sheet(table.columns, tuple(table.rows), total)


def facts_of(log: Path, medium: Medium) -> list[tuple[str, str]]:
    """What can be told of a file that is not drawn. Raises NoSuchFile."""
    found = [("", medium.type)]
    if medium.columns is not None and medium.rows is not None:
        found.append(("table", f"{medium.columns} columns, {medium.rows} rows"))
    if not medium.path:
        return found
    found.append(("file", medium.path))
    file = find(log, medium.path)
    found.append(("size", format_value(float(file.stat().st_size), BYTES)))
    seconds = medium.duration
    if seconds is None and file.suffix.lower() == ".wav":
        seconds = seconds_of_wav(file)
    if seconds is not None:
        found.append(("plays", format_value(seconds, SECONDS)))
    if medium.width and medium.height:
        found.append(("picture", f"{medium.width} × {medium.height}"))
    return found


def _histograms(wanted: Wanted) -> Content:
    values: list[Bins | None] = []
    gone = 0
    for log, offset in wanted.places:
        try:
            values.append(_bins_at(log, offset, wanted.tile.key, wanted.generation))
        except ValueGone:
            values.append(None)
            gone += 1
    if gone == len(values):
        return Content(None, Trouble("its records in the log cannot be read", passing=True))
    return Content(Medium("histogram", "histogram"), Histograms(wanted.indices, tuple(values)))


@lru_cache(maxsize=REMEMBERED)
def _bins_at(log: Path, offset: int, key: str, generation: int) -> Bins | None:
    """The histogram of one record. A growing series is asked for over and over, most of it unchanged."""
    found = histogram_of(read_value(log, offset, key))
    return (np.array(found[0]), np.array(found[1])) if found is not None else None


def spread(count: int, most: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """At most `most` places of `count`, evenly far apart, the last among them.

    The distance is a power of two, so that a series that grows asks for the same ones as before and one more.
    """
    stride = 1
    while -(-count // stride) > max(most - 1, 1):
        stride *= 2
    places = np.arange(0, count, stride, dtype=np.int64)
    return places if not count or places[-1] == count - 1 else np.append(places, count - 1)
