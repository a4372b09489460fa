"""Images: arrays, tensors, pictures of Pillow, figures of matplotlib, and files."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recorder import notices
from recorder.media import png
from recorder.media.content import Content
from recorder.media.media import Bundle, Files, Json, Media, captions, file_of
from recorder.media.overlays import BoundingBoxes2D, Classes, ImageMask, batched
from recorder.media.picture_size import picture_size
from recorder.media.pixels import pillow, pixels_of

_FORMATS = {"png": "PNG", "jpg": "JPEG", "jpeg": "JPEG", "bmp": "BMP"}


class Image(Media):
    """An image of a row, with a caption, boxes and masks.

    Args:
        data_or_path: an array [height, width] or [height, width, 3 or 4] of 0 … 255, a tensor of torch (channels
            first), a picture of Pillow, a figure of matplotlib, another Image, or the path of a file.
        mode: a mode of Pillow's that the picture is turned into.
        caption: text below it.
        grouping: number of the group that it is shown in.
        classes: names of the classes in boxes and masks.
        boxes: boxes by name; see `BoundingBoxes2D`.
        masks: masks by name; see `ImageMask`.
        file_type: `png`, `jpg` or `bmp`, for data. All but `png` need Pillow.

    Raises:
        ValueError: data that is no image.
        OSError: a file that cannot be read.
        Error: Pillow is needed and not installed.
    """

    TYPE = "image-file"
    DIRECTORY = "media/images"
    MOST = 108

    def __init__(
        self,
        data_or_path: Any,
        mode: str | None = None,
        caption: str | None = None,
        grouping: int | None = None,
        classes: Classes | Iterable[Mapping[str, Any]] | None = None,
        boxes: Mapping[str, Any] | None = None,
        masks: Mapping[str, Any] | None = None,
        file_type: str | None = None,
    ) -> None:
        self.width: int | None = None
        self.height: int | None = None
        self.grouping = grouping
        self.classes: Classes | None = None
        if isinstance(data_or_path, Image):
            content = self._take_over(data_or_path)
            caption = data_or_path.caption if caption is None else caption
        elif isinstance(data_or_path, str | os.PathLike):
            content = file_of(data_or_path)
            self.format = content.extension[1:]
            self._measure(content)
        else:
            content = self._drawn(data_or_path, mode, file_type)
        super().__init__(content, caption)
        self._lay_over(classes, boxes, masks)

    def keep(self, files: Files, key: str, step: int | str, *, again: bool = False) -> Json:
        """Writes the picture, its boxes and its masks."""
        found = super().keep(files, key, step, again=again)
        for name, overlays in self._overlays():
            found[name] = {kind: overlay.keep(files, key, step, again=again) for kind, overlay in overlays.items()}
        return found

    def hold(self, bundle: Bundle) -> Json:
        """Adds the picture to an artifact, with boxes, masks and classes."""
        found = super().hold(bundle)
        if self.classes is not None:
            found["classes"] = self.classes.hold(bundle)
        if self.boxes:
            found["boxes"] = {kind: boxes.boxes for kind, boxes in self.boxes.items()}
        if self.masks:
            found["masks"] = {kind: mask.hold(bundle) for kind, mask in self.masks.items()}
        return found

    @classmethod
    def batch(cls, items: Sequence[Image], objects: Sequence[Json]) -> Json:
        """`images/separated`: all have the size of the first, as far as what shows them is concerned."""
        first = items[0]
        if any((item.width, item.height) != (first.width, first.height) for item in items):
            notices.warn_once("images of one list differ in size, and may be shown distorted")
        found: Json = {
            "_type": "images/separated",
            "width": first.width,
            "height": first.height,
            "format": first.format,
            "count": len(items),
            "filenames": [found["path"] for found in objects],
        }
        if texts := captions(items):
            found["captions"] = texts
        if masks := batched([item.masks for item in items], objects, "masks"):
            found["all_masks"] = masks
        if boxes := batched([item.boxes for item in items], objects, "boxes"):
            found["all_boxes"] = boxes
        return found

    def _overlays(self) -> Iterable[tuple[str, Mapping[str, Media]]]:
        return [(name, found) for name, found in (("boxes", self.boxes), ("masks", self.masks)) if found]

    def _extra(self) -> Json:
        sizes = {"width": self.width, "height": self.height}
        found: Json = {"format": self.format, **{name: size for name, size in sizes.items() if size is not None}}
        return {**found, "grouping": self.grouping} if self.grouping else found

    def _take_over(self, other: Image) -> Content:
        self.width, self.height, self.format, self.classes = other.width, other.height, other.format, other.classes
        self.grouping = other.grouping if self.grouping is None else self.grouping
        return other.content

    def _measure(self, content: Content) -> None:
        data = content.read()
        size = picture_size(data)
        if size is None:
            try:
                with pillow("the size of such a picture").open(io.BytesIO(data)) as picture:
                    size = picture.size
            except Exception as error:  # no Pillow, or any of its errors: the picture is recorded without its size
                notices.warn_once(f"the size of images like {content.path} is not known: {error}", "image size")
        if size is not None:
            self.width, self.height = size

    def _drawn(self, data: Any, mode: str | None, file_type: str | None) -> Content:
        self.format = (file_type or "png").lower()
        if self.format not in _FORMATS:
            raise ValueError(f"file_type is one of {', '.join(_FORMATS)}, not {file_type!r}")
        if _is_figure(data):
            return self._saved(_picture_of_figure(data), None)
        if hasattr(data, "getbands") and hasattr(data, "save"):  # a picture of Pillow
            return self._saved(data, mode)
        pixels = pixels_of(data)
        if self.format != "png" or mode is not None:
            return self._saved(pillow(f"file_type={self.format!r} or a mode").fromarray(pixels), mode)
        self.height, self.width = pixels.shape[:2]
        return Content(png.encode(pixels), extension=".png")

    def _saved(self, picture: Any, mode: str | None) -> Content:
        """A picture of Pillow, written by its own method."""
        if mode is not None and picture.mode != mode:
            picture = picture.convert(mode)
        if self.format in ("jpg", "jpeg") and picture.mode in ("RGBA", "LA", "P"):
            notices.warn_once("JPEG has no transparency: it is left out")
            picture = picture.convert("RGB")
        self.width, self.height = picture.size
        out = io.BytesIO()
        picture.save(out, format=_FORMATS[self.format])
        return Content(out.getvalue(), extension=f".{self.format}")

    def _lay_over(
        self,
        classes: Classes | Iterable[Mapping[str, Any]] | None,
        boxes: Mapping[str, Any] | None,
        masks: Mapping[str, Any] | None,
    ) -> None:
        for name, given in (("boxes", boxes), ("masks", masks)):
            if given is not None and not isinstance(given, Mapping):
                raise ValueError(f"the {name} of an image are a dict by name")
        self.boxes = {
            name: each if isinstance(each, BoundingBoxes2D) else BoundingBoxes2D(each, name)
            for name, each in (boxes or {}).items()
        }
        self.masks = {
            name: each if isinstance(each, ImageMask) else ImageMask(each, name) for name, each in (masks or {}).items()
        }
        names: dict[Any, str] = {}
        overlays: list[BoundingBoxes2D | ImageMask] = [*self.boxes.values(), *self.masks.values()]
        for overlay in overlays:
            names.update(overlay.labels)
        if classes is not None:
            names.update((classes if isinstance(classes, Classes) else Classes(classes)).names)
        if names:
            self.classes = Classes([{"id": number, "name": name} for number, name in names.items()])


def _is_figure(value: Any) -> bool:
    """Whether it is something of matplotlib's: a figure, axes, or `pyplot` itself."""
    name = getattr(value, "__name__", "") if type(value).__name__ == "module" else type(value).__module__
    return name.partition(".")[0] == "matplotlib"


def _picture_of_figure(value: Any) -> Any:
    """The picture that matplotlib makes of a figure."""
    if hasattr(value, "gcf"):  # pyplot
        value = value.gcf()
    figure = value if hasattr(value, "savefig") else value.figure
    out = io.BytesIO()
    figure.savefig(out, format="png")
    out.seek(0)
    return pillow("a figure of matplotlib").open(out)
