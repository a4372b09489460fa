"""What lies over an image: boxes, masks, and the names of the classes that they are of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any

from recorder.media import png
from recorder.media.content import Content
from recorder.media.json_file import json_content
from recorder.media.media import Bundle, Files, Json, Media, file_of
from recorder.media.pixels import as_array

_DELIMITER = "_wandb_delimeter_"
"""Between the key of an image and that of its overlay, in the SDK's spelling."""


class Classes:
    """Names of classes: `Classes([{"id": 0, "name": "road"}, …])`.

    Raises TypeError for entries without an integer `id` and a `name`.
    """

    def __init__(self, class_set: Iterable[Mapping[str, Any]]) -> None:
        self.class_set = [dict(entry) for entry in class_set]
        for entry in self.class_set:
            if not isinstance(entry.get("id"), Number) or not isinstance(entry.get("name"), str):
                raise TypeError(f"a class has an integer id and a name, not {entry!r}")

    @property
    def names(self) -> dict[Any, str]:
        """Name by id."""
        return {entry["id"]: entry["name"] for entry in self.class_set}

    def hold(self, bundle: Bundle) -> Json:
        """Adds them to an artifact, and gives the object that refers to them there."""
        number = hashlib.md5(str(self.class_set).encode(), usedforsecurity=False).hexdigest()
        value = {"_type": "classes", "class_set": self.class_set}
        path, digest = bundle.hold_object(value, f"media/classes/{number}_cls.classes.json")
        return {"type": "classes-file", "path": path, "digest": digest}


class ImageMask(Media):
    """A class for every pixel.

    Args:
        val: `mask_data` [height, width] of integers 0 … 255, or `path`; and `class_labels`, number → name.
        key: what kind of mask it is: `prediction`, `ground_truth`.

    Raises TypeError for data of another kind, OSError for a file that cannot be read.
    """

    TYPE = "mask"
    DIRECTORY = "media/images/mask"
    BATCH = False

    def __init__(self, val: Mapping[str, Any], key: str = "") -> None:
        self.key = key
        self.labels: dict[Any, str] = {}
        if "path" in val:
            super().__init__(file_of(val["path"]))
            return
        if "mask_data" not in val:
            raise TypeError('a mask needs "mask_data", [height, width], or a "path"')
        data = as_array(val["mask_data"])
        if data.ndim != 2:
            raise TypeError(f"mask_data is [height, width], not of shape {list(data.shape)}")
        if not ((data >= 0).all() and (data <= 255).all()):
            raise TypeError("mask_data holds integers 0 … 255")
        data = data.astype("uint8")
        self.labels = _labels(val, lambda: sorted(set(data.ravel().tolist())))
        super().__init__(Content(png.encode(data, flat=True), extension=".mask.png"))

    def keep(self, files: Files, key: str, step: int | str, *, again: bool = False) -> Json:
        """Writes it, and its class labels into the config."""
        if self.labels:
            files.label("mask/class_labels", f"{key}{_DELIMITER}{self.key}", self.labels)
        return super().keep(files, key, step, again=again)


class BoundingBoxes2D(Media):
    """Boxes over an image.

    Args:
        val: `box_data`, a list of boxes: each a `position` (`minX, maxX, minY, maxY`, or `middle`, `width`, `height`),
            and perhaps `domain` (`pixel`), `class_id`, `scores`, `box_caption`; and `class_labels`, number → name.
        key: what kind of boxes they are.

    Raises TypeError for boxes of another form.
    """

    TYPE = "boxes2D"
    DIRECTORY = "media/metadata/boxes2D"
    BATCH = False

    def __init__(self, val: Mapping[str, Any], key: str = "") -> None:
        self.key = key
        self.boxes = val.get("box_data")
        _check_boxes(self.boxes)
        boxes: list[Any] = self.boxes or []
        self.labels = _labels(val, lambda: sorted({int(box["class_id"]) for box in boxes if "class_id" in box}))
        super().__init__(json_content(val, ".boxes2D.json"))

    def keep(self, files: Files, key: str, step: int | str, *, again: bool = False) -> Json:
        """Writes them, and their class labels into the config."""
        files.label("bounding_box/class_labels", f"{key}{_DELIMITER}{self.key}", self.labels)
        return super().keep(files, key, step, again=again)


def _labels(val: Mapping[str, Any], numbers: Any) -> dict[Any, str]:
    if "class_labels" not in val:
        return {number: f"class_{number}" for number in numbers()}
    labels = dict(val["class_labels"])
    for number, name in labels.items():
        if not isinstance(number, Number) or not isinstance(name, str):
            raise TypeError("class_labels are numbers with their names")
    return labels


def _check_boxes(boxes: Any) -> None:
    if not isinstance(boxes, list):
        raise TypeError('boxes need "box_data", a list')
    for box in boxes:
        position = box.get("position", {})
        corners = all(_is_number(position.get(side)) for side in ("minX", "maxX", "minY", "maxY"))
        middle = position.get("middle", ())
        around = len(middle) == 2 and all(_is_number(position.get(side)) for side in ("width", "height"))
        if not (corners or around):
            raise TypeError("a box has a position: minX, maxX, minY and maxY, or middle, width and height")
        scores = box.get("scores", {})
        if not isinstance(scores, dict) or not all(
            isinstance(name, str) and _is_number(score) for name, score in scores.items()
        ):
            raise TypeError("the scores of a box are names with numbers")
        if not isinstance(box.get("class_id", 0), int):
            raise TypeError("the class_id of a box is an integer")
        if not isinstance(box.get("box_caption", ""), str):
            raise TypeError("the box_caption of a box is a text")


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) or (hasattr(value, "item") and getattr(value, "shape", None) == ())


def batched(overlays: Sequence[Mapping[str, Media] | None], objects: Sequence[Json], name: str) -> list[Any] | None:
    """For a list of images: their overlays of one sort, None for an image without; None where none has any."""
    if not any(overlays):
        return None
    return [found[name] if overlay else None for overlay, found in zip(overlays, objects, strict=True)]
