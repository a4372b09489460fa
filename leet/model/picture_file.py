"""Pictures of a run as pixels of the size in which they are shown.

Pillow decodes them, and is imported only when the first picture is looked at. A picture is data of a stranger: one of
more pixels than could be meant is refused before it is decoded.
"""

from __future__ import annotations

import json
import math
import struct
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from PIL import Image

Pixels = npt.NDArray[np.uint8]
"""uint8 [height, width, 3], red, green, blue."""
Color = tuple[int, int, int]

MOST_PIXELS = 50_000_000
LARGEST_FILE = 256 * 1024 * 1024
LARGEST_BOXES = 16 * 1024 * 1024
MOST_BOXES = 2000
MOST_CLASSES = 256
"""Of a mask, whose files have 8 bits; each costs a look at all pixels."""
_MASK_SHARE = 0.45
"""Of the colour of a class in the picture under its mask."""
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "PPM", "ICO")
"""Decoders that are tried: the rest of Pillow's are for files that nobody logs, and more code to trust."""


class NoPicture(Exception):  # noqa: N818 — named for what the file is
    """The file cannot be drawn; the message is one line for people."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One class of masks or boxes in a picture, for its legend."""

    label: str
    color: Color
    boxes: int | None = None
    """How many boxes of it; None for a mask."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it is shown; `size` is that of the file, (width, height)."""

    pixels: Pixels
    size: tuple[int, int]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Overlay:
    """A file of masks or boxes, and the names of its classes by number."""

    file: Path
    labels: Mapping[str, str]


def draw(
    file: Path,
    box: tuple[int, int],
    *,
    ground: Color = (0, 0, 0),
    pixel_shape: float = 1.0,
    masks: Sequence[Overlay] = (),
    boxes: Sequence[Overlay] = (),
    colors: Sequence[Color] = ((255, 255, 255),),
) -> Picture:
    """The picture in `file`, as large as fits into `box` (width, height in pixels), the first frame of many.

    `pixel_shape` is the height of a pixel of the box over its width; `ground` shows where the picture is
    transparent; `colors` are those of the classes. Raises NoPicture, and OSError where the file cannot be read.
    """
    try:
        with _opened(file) as image:
            size = _upright_size(image)
            target = fitted(size, box, pixel_shape)
            image.draft("RGB", (max(target) * 2, max(target) * 2))
            image.load()
            pixels = _scaled(_flat(_upright(image), ground, target), target)
    except (FileNotFoundError, PermissionError):
        raise
    except _damage() as error:
        raise NoPicture(f"cannot be decoded: {file.name}") from error
    marks: list[Mark] = []
    for overlay in masks:
        marks += _lay_mask(pixels, overlay, colors)
    for overlay in boxes:
        marks += _lay_boxes(pixels, overlay, size, colors)
    return Picture(pixels, size, tuple(marks))


def fitted(size: tuple[int, int], box: tuple[int, int], pixel_shape: float = 1.0) -> tuple[int, int]:
    """The largest size of a picture of `size` in a box, at least one pixel each way."""
    width, height = size[0], size[1] / pixel_shape
    scale = min(box[0] / max(width, 1), box[1] / max(height, 1))
    return (
        min(max(1, round(width * scale)), max(box[0], 1)),
        min(max(1, round(height * scale)), max(box[1], 1)),
    )


def _opened(file: Path) -> Image.Image:
    """The picture, not decoded yet."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise NoPicture("drawing pictures needs Pillow: pip install pillow") from error
    if file.stat().st_size > LARGEST_FILE:
        raise NoPicture(f"too large to draw, above {LARGEST_FILE // 1024**2} MiB: {file.name}")
    try:
        # Warnings would be written across the screen. Pillow refuses twice its bound, also
        # where a file (ICO) holds larger pictures than it says.
        warnings.filterwarnings("ignore", module=r"PIL\.")
        Image.MAX_IMAGE_PIXELS = MOST_PIXELS // 2
        image = Image.open(file, formats=FORMATS)
    except UnidentifiedImageError as error:
        raise NoPicture(f"not a picture that can be drawn: {file.name}") from error
    except Image.DecompressionBombError as error:
        raise NoPicture(f"too many pixels to draw: {file.name}") from error
    except (ValueError, SyntaxError, struct.error, OverflowError) as error:
        raise NoPicture(f"cannot be decoded: {file.name}") from error
    if image.width * image.height > MOST_PIXELS:
        image.close()
        raise NoPicture(f"too many pixels to draw, {image.width} × {image.height}: {file.name}")
    return image


def _damage() -> tuple[type[Exception], ...]:
    """What Pillow raises for damaged files, and for those that turn out to be too large."""
    from PIL import Image

    common = OSError, ValueError, SyntaxError, struct.error, zlib.error, MemoryError, OverflowError
    return *common, Image.DecompressionBombError


_TURNED = (5, 6, 7, 8)
_ORIENTATION = 0x0112


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except (ValueError, TypeError, OSError, SyntaxError, struct.error, KeyError):
        return 1


def _upright_size(image: Image.Image) -> tuple[int, int]:
    width, height = image.size
    return (height, width) if _orientation(image) in _TURNED else (width, height)


def _upright(image: Image.Image) -> Image.Image:
    """As the camera was held."""
    if _orientation(image) == 1:
        return image
    from PIL import ImageOps

    turned = ImageOps.exif_transpose(image)
    return turned if turned is not None else image


def _flat(image: Image.Image, ground: Color, target: tuple[int, int]) -> Image.Image:
    """In red, green and blue, on `ground` where it is transparent."""
    from PIL import Image

    if image.mode in ("I;16", "I;16B", "I", "F"):
        image = _grey_of_deep(image, target)
    transparent = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
    if not transparent:
        return image.convert("RGB")
    image = image.convert("RGBA")
    if image.width > 4 * target[0] or image.height > 4 * target[1]:
        image.thumbnail((max(1, 4 * target[0]), max(1, 4 * target[1])), Image.Resampling.BOX)
    under = Image.new("RGBA", image.size, (*ground, 255))
    under.alpha_composite(image)
    return under.convert("RGB")


def _grey_of_deep(image: Image.Image, target: tuple[int, int]) -> Image.Image:
    """Pixels of more than 8 bits, over the range that they take; of a large picture enough of them for `target`."""
    from PIL import Image

    enough = min(image.width, 4 * target[0]), min(image.height, 4 * target[1])
    if enough != image.size:
        image = image.resize(enough, Image.Resampling.NEAREST)
    values = np.asarray(image).astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if image.mode.startswith("I;16"):
        low, high = 0.0, 65535.0
    elif low >= 0 and high <= 255:
        low, high = 0.0, 255.0
    shares = np.clip((np.nan_to_num(values) - low) / ((high - low) or 1.0), 0, 1)
    return Image.fromarray((shares * 255).astype(np.uint8))


def _scaled(image: Image.Image, target: tuple[int, int]) -> Pixels:
    """Small pictures keep their pixels as squares, large ones are averaged."""
    from PIL import Image

    if image.size != target:
        larger = target[0] > image.width or target[1] > image.height
        way = Image.Resampling.NEAREST if larger else Image.Resampling.BOX
        image = image.resize(target, way, reducing_gap=None if larger else 2.0)
    return np.array(image)


def _lay_mask(pixels: Pixels, overlay: Overlay, colors: Sequence[Color]) -> list[Mark]:
    """Colours the pixels of each class but 0, the background; the classes that there are."""
    from PIL import Image

    try:
        with _opened(overlay.file) as image:
            image.load()
            plain = image if image.mode in ("L", "P", "I", "I;16") else image.getchannel(0)
            classes = np.array(plain.resize((pixels.shape[1], pixels.shape[0]), Image.Resampling.NEAREST))
    except _damage() as error:
        raise NoPicture(f"cannot be decoded: {overlay.file.name}") from error
    marks = []
    found = np.unique(classes)
    for number in found[found != 0][:MOST_CLASSES].tolist():
        color = colors[int(number) % len(colors)]
        there = classes == number
        mixed = pixels[there] * (1 - _MASK_SHARE) + np.array(color) * _MASK_SHARE
        pixels[there] = mixed.astype(np.uint8)
        marks.append(Mark(overlay.labels.get(str(number), f"class {number}"), color))
    return marks


def _lay_boxes(pixels: Pixels, overlay: Overlay, size: tuple[int, int], colors: Sequence[Color]) -> list[Mark]:
    """Draws the boxes of a file over a picture of `size`; how many there are of each class."""
    if overlay.file.stat().st_size > LARGEST_BOXES:
        raise NoPicture(f"too many boxes to draw: {overlay.file.name}")
    try:
        found = json.loads(overlay.file.read_bytes())
        boxes = found["box_data"]
        named = found.get("class_labels")
        named = named if isinstance(named, dict) else {}
        labels = {**overlay.labels, **{str(k): str(v) for k, v in named.items()}}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NoPicture(f"holds no boxes: {overlay.file.name}") from error
    height, width = pixels.shape[:2]
    thick = max(1, min(width, height) // 200)
    counts: dict[int, int] = {}
    for box in (boxes if isinstance(boxes, list) else [])[:MOST_BOXES]:
        corners = corners_of(box, size)
        if corners is None:
            continue
        number = box.get("class_id")
        number = number if isinstance(number, int) else -1
        counts[number] = counts.get(number, 0) + 1
        # What lies far outside is as far as just outside.
        left, right, top, bottom = (min(max(corner, -1.0), 2.0) for corner in corners)
        _frame(
            pixels,
            (
                round(left * (width - 1)),
                round(right * (width - 1)),
                round(top * (height - 1)),
                round(bottom * (height - 1)),
            ),
            colors[number % len(colors)],
            thick,
        )
    return [
        Mark(labels.get(str(number), f"class {number}") if number >= 0 else "box", colors[number % len(colors)], many)
        for number, many in sorted(counts.items())
    ]


def corners_of(box: Any, size: tuple[int, int]) -> tuple[float, float, float, float] | None:
    """(left, right, top, bottom) of a box in shares of the picture, not cut to it; None where it says nothing."""
    position = box.get("position") if isinstance(box, dict) else None
    if not isinstance(position, dict):
        return None
    try:
        if "middle" in position:
            x, y = (float(value) for value in position["middle"])
            half = float(position["width"]) / 2, float(position["height"]) / 2
            found = (x - half[0], x + half[0], y - half[1], y + half[1])
        else:
            found = (
                float(position["minX"]), float(position["maxX"]), float(position["minY"]), float(position["maxY"]),
            )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        return None
    if not all(map(math.isfinite, found)):
        return None
    if box.get("domain") == "pixel":
        across, down = max(size[0], 1), max(size[1], 1)
        found = (found[0] / across, found[1] / across, found[2] / down, found[3] / down)
    return found


def _frame(pixels: Pixels, corners: tuple[int, int, int, int], color: Color, thick: int) -> None:
    """The outline of a box, as far as it lies in the picture."""
    height, width = pixels.shape[:2]
    left, right, top, bottom = corners
    if right < 0 or bottom < 0 or left >= width or top >= height:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    for i in range(thick):
        for row in (top + i, bottom - i):
            if 0 <= row < height:
                pixels[row, columns] = color
        for column in (left + i, right - i):
            if 0 <= column < width:
                pixels[rows, column] = color
